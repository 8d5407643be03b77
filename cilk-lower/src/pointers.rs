//! Functions as values, `let f: fn(u32) -> u32 = g;`. A value of such a type is the number of a function among those of the program that are values of it
//! somewhere, and what calls one is a function that asks for the number: no device calls what it does not know.

use crate::{
    generics::At,
    hir::{Arm, Body, Case, Expr, ExprKind, FnId, Projection, Test, Var, VarId},
    items::{FnItem, Module},
    ty::Ty,
};
use millstream_graph::{
    ir::FunctionKind,
    ty::{Scalar, StructDef, StructId, Type},
};
use proc_macro2::Span;
use quote::ToTokens;
use std::rc::Rc;
use syn::{parse_quote_spanned, spanned::Spanned};

/// A type of functions.
#[derive(Debug)]
pub(crate) struct Pointer {
    /// What its values are.
    pub(crate) id: StructId,
    pub(crate) inputs: Vec<Type>,
    pub(crate) output: Type,
    /// What calls one of them, if anything does.
    call: Option<FnId>,
    members: Vec<Member>,
}

/// A function that is a value.
#[derive(Debug)]
struct Member {
    /// What tells it from others: how it is written, and where.
    key: String,
    of: syn::Expr,
    at: At,
    made: Option<FnId>,
}

impl Module {
    /// The type `fn(A) -> B`.
    pub(crate) fn resolve_pointer(&mut self, f: &syn::TypeFnPtr) -> Type {
        let inputs: Vec<Type> = f.inputs.iter().map(|a| self.resolve_type(&a.ty)).collect();
        let output = match &f.output {
            syn::ReturnType::Default => Type::unit(),
            syn::ReturnType::Type(_, ty) if matches!(**ty, syn::Type::Never(_)) => Type::unit(),
            syn::ReturnType::Type(_, ty) => self.resolve_type(ty),
        };
        self.pointer_to(inputs, output)
    }

    /// The type of functions that take and give these.
    pub(crate) fn pointer_to(&mut self, inputs: Vec<Type>, output: Type) -> Type {
        let mut known = self.pointers.iter();
        if let Some(known) = known.find(|p| p.inputs == inputs && p.output == output) {
            return Type::Struct(known.id);
        }
        let shown = |ty: &Type| ty.display(&self.structs).to_string();
        let takes = inputs.iter().map(shown).collect::<Vec<_>>().join(", ");
        let name = match output == Type::unit() {
            true => format!("fn({takes})"),
            false => format!("fn({takes}) -> {}", shown(&output)),
        };
        let id = self.structs.push(StructDef {
            name,
            fields: vec![("number".to_owned(), Type::Scalar(Scalar::U32))],
            tuple: true,
            variants: Vec::new(),
        });
        self.pointers.push(Pointer {
            id,
            inputs,
            output,
            call: None,
            members: Vec::new(),
        });
        Type::Struct(id)
    }

    /// Which type of functions that is, if it is one.
    pub(crate) fn pointer(&self, id: StructId) -> Option<usize> {
        self.pointers.iter().position(|p| p.id == id)
    }

    /// Whether values of a type are functions, or hold any.
    pub(crate) fn holds_pointer(&self, ty: &Type) -> bool {
        if let Type::Struct(id) = ty
            && self.pointer(*id).is_some()
        {
            return true;
        }
        let elem = match ty {
            Type::Array(elem, _) | Type::Slice { elem, .. } | Type::Ref { target: elem, .. } => {
                Some(&**elem)
            }
            _ => None,
        };
        let fields = ty.fields(&self.structs);
        elem.is_some_and(|ty| self.holds_pointer(ty))
            || fields.iter().any(|(ty, _)| self.holds_pointer(ty))
    }

    /// The number of a function as a value of that type.
    pub(crate) fn pointed(&mut self, pointer: usize, of: &syn::Expr) -> u64 {
        let (here, env) = (&self.at.here, &self.at.env);
        let key = format!("{} {here} {env:?}", of.to_token_stream());
        let at = self.at.clone();
        let members = &mut self.pointers[pointer].members;
        let known = members.iter().position(|member| member.key == key);
        let number = known.unwrap_or_else(|| {
            members.push(Member {
                key,
                of: of.clone(),
                at,
                made: None,
            });
            members.len() - 1
        });
        number as u64
    }

    /// What calls a function of that type by its number.
    pub(crate) fn caller(&mut self, pointer: usize) -> FnId {
        if let Some(id) = self.pointers[pointer].call {
            return id;
        }
        let of = &self.pointers[pointer];
        let mut types = vec![Type::Struct(of.id)];
        types.extend(of.inputs.iter().cloned());
        let (name, output) = (self.structs[of.id].name.clone(), of.output.clone());
        let body = syn::parse_quote!({});
        let id = self.push_made(name, types, output, body, At::default(), Span::call_site());
        self.pointers[pointer].call = Some(id);
        id
    }

    fn push_made(
        &mut self,
        name: String,
        types: Vec<Type>,
        ret: Type,
        block: syn::Block,
        at: At,
        span: Span,
    ) -> FnId {
        let params = types.into_iter().enumerate().map(|(i, ty)| {
            let name = given(i, span);
            (parse_quote_spanned!(span=> #name), ty)
        });
        self.fns.push(FnItem {
            name,
            span,
            kind: FunctionKind::Helper,
            rounds: false,
            team: None,
            alone: false,
            params: params.collect(),
            held: false,
            ret,
            sig: None,
            block: Rc::new(block),
            at,
            used: None,
            lifted: None,
        });
        FnId(self.fns.len() - 1)
    }

    /// Makes functions of those that are values of a type whose values are called. Whether there are new ones.
    pub(crate) fn make_pointed(&mut self) -> bool {
        let before = self.fns.len();
        for pointer in 0..self.pointers.len() {
            let of = &self.pointers[pointer];
            if of.call.is_none() {
                continue;
            }
            let (inputs, output) = (of.inputs.clone(), of.output.clone());
            for i in 0..of.members.len() {
                let member = &self.pointers[pointer].members[i];
                if member.made.is_some() {
                    continue;
                }
                let (of, at, span) = (member.of.clone(), member.at.clone(), member.of.span());
                let args = (0..inputs.len()).map(|i| given(i, span));
                let block = parse_quote_spanned!(span=> { (#of)(#(#args),*) });
                let name = format!("{} {i}", self.structs[self.pointers[pointer].id].name);
                let id = self.push_made(name, inputs.clone(), output.clone(), block, at, span);
                self.pointers[pointer].members[i].made = Some(id);
            }
        }
        self.fns.len() > before
    }

    /// The bodies of what calls functions by their numbers, when all of these are known.
    pub(crate) fn callers(&self) -> impl Iterator<Item = (FnId, Body)> {
        let called = self.pointers.iter().filter_map(|p| Some((p, p.call?)));
        called.map(|(pointer, id)| (id, calling(pointer, &self.fns[id.0])))
    }

    /// Whether a function calls others by their numbers.
    pub(crate) fn is_caller(&self, id: FnId) -> bool {
        self.pointers.iter().any(|p| p.call == Some(id))
    }
}

/// The name of an argument.
fn given(i: usize, span: Span) -> syn::Ident {
    syn::Ident::new(&format!("given{i}"), span)
}

fn calling(pointer: &Pointer, item: &FnItem) -> Body {
    let span = item.span;
    let vars = item.params.iter().enumerate().map(|(i, (_, ty))| Var {
        name: format!("given{i}"),
        ty: Ty::from_type(ty),
        addressed: false,
        awaits: false,
        fixed: None,
        guarded: false,
        lent: false,
    });
    let vars: Vec<Var> = vars.collect();
    let ret = Ty::from_type(&item.ret);
    let var = |i: usize| Expr::new(ExprKind::Var(VarId(i)), vars[i].ty.clone(), span);
    let call = |member: &Member| {
        let args = (1..vars.len()).map(var).collect();
        let kind = ExprKind::Call(member.made.unwrap_or(FnId(0)), args);
        Expr::new(kind, ret.clone(), span)
    };
    let count = pointer.members.len();
    let arms = pointer.members.iter().enumerate().map(|(i, member)| {
        // There are no other numbers than these.
        let tests = match i + 1 < count {
            true => vec![(vec![Projection::Field(0)], Test::Is(i as u64))],
            false => Vec::new(),
        };
        Arm {
            cases: vec![Case {
                tests,
                binds: Vec::new(),
            }],
            guard: None,
            body: call(member),
        }
    });
    let root = match count {
        0 => ExprKind::Panic("there is no such function".to_owned()),
        _ => ExprKind::Match(var(0), arms.collect()),
    };
    let root = Expr::new(root, ret, span);
    Body::made(vars, root)
}
