//! Structs and enums with parameters, and what their `impl` blocks hold: members are copied when they are first named.

use super::{Env, FamilyId, Kind, Known, Param, Template, TemplateId};
use crate::{
    impls::{DEFAULT, full_name, name_by},
    items::{Item, Module, with_lifetimes},
};
use millstream_graph::ty::{StructDef, StructId, Type};
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;

/// A struct or enum with parameters.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    pub(crate) item: FamilyItem,
    pub(crate) at: super::At,
}

#[derive(Clone, Debug)]
pub(crate) enum FamilyItem {
    Struct(Rc<syn::ItemStruct>),
    Enum(Rc<syn::ItemEnum>),
}

impl Family {
    /// The types of its parts, as they are written: its fields, or behind the number the data of all variants.
    pub(crate) fn part(&self, i: usize) -> Option<&syn::Type> {
        let field = match &self.item {
            FamilyItem::Struct(s) => s.fields.iter().nth(i),
            FamilyItem::Enum(e) => {
                let mut data = e.variants.iter().flat_map(|v| &v.fields);
                data.nth(i.checked_sub(1)?)
            }
        };
        field.map(|f| &f.ty)
    }

    /// The names of its fields; none if it is an enum.
    pub(crate) fn fields(&self) -> Option<Vec<String>> {
        let FamilyItem::Struct(s) = &self.item else {
            return None;
        };
        let name = |(i, field): (usize, &syn::Field)| {
            let named = field.ident.as_ref();
            named.map_or_else(|| i.to_string(), ToString::to_string)
        };
        Some(s.fields.iter().enumerate().map(name).collect())
    }

    /// Whether it is a struct whose fields have numbers.
    pub(crate) fn is_tuple(&self) -> bool {
        matches!(&self.item, FamilyItem::Struct(s) if matches!(s.fields, syn::Fields::Unnamed(_)))
    }

    /// An enum's variants, of which only their types are not known.
    pub(crate) fn shape(&self) -> Option<StructDef> {
        match &self.item {
            FamilyItem::Struct(_) => None,
            FamilyItem::Enum(e) => Some(crate::enums::shape(&self.name, e)),
        }
    }
}

/// A function or constant of an `impl` block of a family.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) family: FamilyId,
    pub(crate) name: String,
    /// For which structs of the family the block is.
    pub(crate) of: Rc<syn::Type>,
    pub(crate) params: Vec<Param>,
    pub(crate) item: MemberItem,
    pub(crate) at: super::At,
    /// The trait of Rust that it is of, and of an operator's what it is given, if that is said.
    pub(crate) by: Option<String>,
    pub(crate) operand: Option<Rc<syn::Type>>,
}

impl Member {
    /// Whether the block is for all of the family, with the parameters in their order.
    pub(crate) fn in_order(&self) -> bool {
        let syn::Type::Path(p) = &*self.of else {
            return false;
        };
        let args = match p.path.segments.last().map(|s| &s.arguments) {
            Some(syn::PathArguments::AngleBracketed(args)) => args.args.iter(),
            _ => return false,
        };
        let args = args.filter(|a| !matches!(a, syn::GenericArgument::Lifetime(_)));
        let named = |(arg, param): (&syn::GenericArgument, &Param)| matches!(arg, syn::GenericArgument::Type(syn::Type::Path(p)) if p.path.is_ident(&param.name));
        args.zip(&self.params).all(named)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum MemberItem {
    Fn(Rc<syn::ItemFn>),
    Const(Rc<syn::ItemConst>),
    Type(Rc<syn::ImplItemType>),
}

/// How long the name of a struct may get: longer ones come of structs in structs without an end.
const LONGEST: usize = 400;

impl Module {
    /// The struct of a family with the arguments that are written, `Stack<u32, 8>`.
    pub(crate) fn written(&mut self, id: FamilyId, segment: &syn::PathSegment) -> Option<StructId> {
        let family = Rc::clone(&self.families[id.0]);
        let span = segment.span();
        let known = self.arguments(&family.params, &segment.arguments, span)?;
        if known.len() < family.params.len() {
            let names: Vec<&str> = family.params.iter().map(|p| p.name.as_str()).collect();
            self.diags
                .error(span, format!("`{}` needs its parameters here", family.name))
                .help(format!("write `{}<{}>`", segment.ident, names.join(", ")));
            return None;
        }
        Some(self.copy_struct(id, &known, span))
    }

    /// What the parameters are by what is written; fewer if less is.
    pub(crate) fn arguments(
        &mut self,
        params: &[Param],
        written: &syn::PathArguments,
        span: Span,
    ) -> Option<Vec<Known>> {
        let args: Vec<&syn::GenericArgument> = match written {
            syn::PathArguments::AngleBracketed(args) => args.args.iter().collect(),
            _ => Vec::new(),
        };
        let args = args.into_iter();
        let args: Vec<_> = args
            .filter(|a| !matches!(a, syn::GenericArgument::Lifetime(_)))
            .collect();
        if args.len() > params.len() {
            self.diags.error(
                span,
                format!("{} parameters where there are {}", args.len(), params.len()),
            );
            return None;
        }
        let mut out: Vec<Known> = Vec::new();
        for (i, param) in params.iter().enumerate() {
            let given = args.get(i).copied().cloned();
            let is_default = given.is_none();
            let Some(arg) = given.or_else(|| param.default.clone()) else {
                break;
            };
            // A default may name the parameters before it.
            let at = match is_default {
                true => {
                    let names = params.iter().map(|p| p.name.clone());
                    self.at.with(names.zip(out.iter().cloned()).collect())
                }
                false => self.at.clone(),
            };
            let known = self.elsewhere(&at, |m| match (&param.kind, &arg) {
                (Kind::Number(s), arg) => {
                    m.param_number(arg, *s).map(|bits| Known::Number(*s, bits))
                }
                (_, syn::GenericArgument::Type(ty)) => Some(Known::Type(m.resolve_type(ty))),
                (_, other) => {
                    m.diags.error(other.span(), "expected a type here");
                    None
                }
            });
            out.push(known?);
        }
        Some(out)
    }

    /// The struct of a family for these arguments.
    pub(crate) fn copy_struct(&mut self, id: FamilyId, known: &[Known], span: Span) -> StructId {
        let family = Rc::clone(&self.families[id.0]);
        let args = self.shown(known);
        let (generics, attrs) = match &family.item {
            FamilyItem::Struct(s) => (&s.generics, &s.attrs),
            FamilyItem::Enum(e) => (&e.generics, &e.attrs),
        };
        let name = with_lifetimes(&family.name, generics, &args);
        if let Some(Item::Struct(id)) = self.names.get(&name) {
            return *id;
        }
        let this = self.structs.push(match &family.item {
            FamilyItem::Struct(_) => StructDef {
                name: name.clone(),
                fields: Vec::new(),
                tuple: family.is_tuple(),
                variants: Vec::new(),
            },
            FamilyItem::Enum(e) => crate::enums::empty(&name, e),
        });
        self.names.insert(name.clone(), Item::Struct(this));
        if name.len() > LONGEST {
            self.diags
                .error(
                    span,
                    format!(
                        "structs `{}` have no end: each holds one with a larger type",
                        family.name
                    ),
                )
                .help("let it hold what does not grow");
            return this;
        }
        self.copies.insert(this, (id, known.to_vec()));
        self.note_derives(this, attrs);
        let names = family.params.iter().map(|p| p.name.clone());
        let mut env: Env = names.zip(known.iter().cloned()).collect();
        env.insert("Self".to_owned(), Known::Type(Type::Struct(this)));
        let at = family.at.with(env);
        self.elsewhere(&at, |m| match &family.item {
            FamilyItem::Struct(s) => m.resolve_struct(this, s),
            FamilyItem::Enum(e) => crate::enums::resolve(m, this, e),
        });
        this
    }

    /// A function or constant of a struct: one that stands in its `impl` blocks, or in those of its family.
    pub(crate) fn member(&mut self, owner: StructId, name: &str) -> Option<Item> {
        let full = full_name(&self.structs[owner].name, name);
        if let Some(item) = self.names.get(&full) {
            return Some(*item);
        }
        self.members_of(owner, name, |by| by.is_none()).pop()
    }

    /// What a struct's `impl` of Rust's `Default` gives.
    pub(crate) fn own_default(&mut self, owner: StructId) -> Option<Item> {
        let full = name_by(&self.structs[owner].name, DEFAULT, "default");
        if let Some(item) = self.names.get(&full) {
            return Some(*item);
        }
        let is_default = |by: Option<&str>| by == Some(DEFAULT);
        self.members_of(owner, "default", is_default).pop()
    }

    /// Copies the operators of a struct's family by that name, so that they are among the program's.
    pub(crate) fn operators_of(&mut self, owner: StructId, method: &str) {
        let is_operator = |by: Option<&str>| by.is_some_and(|by| by != DEFAULT);
        for item in self.members_of(owner, method, is_operator) {
            if let Item::Fn(id) = item
                && !self.operators.iter().any(|(_, known)| *known == id)
            {
                self.operators.push((method.to_owned(), id));
            }
        }
    }

    /// The same of blocks whose parameters follow from the other operand, too.
    pub(crate) fn operators_beside(&mut self, owner: StructId, method: &str, other: &Type) {
        let Some((family, _)) = self.copies.get(&owner).cloned() else {
            return;
        };
        let named = |m: &&Member| m.family == family && m.name == method && m.operand.is_some();
        let members: Vec<Member> = self.members.iter().filter(named).cloned().collect();
        for member in members {
            let (Some(operand), Some(by)) = (&member.operand, &member.by) else {
                continue;
            };
            let operand = match &**operand {
                syn::Type::Reference(r) => (*r.elem).clone(),
                operand => operand.clone(),
            };
            let (mut env, ty) = (Env::new(), Type::Struct(owner));
            let params = &member.params;
            let fits = self.elsewhere(&member.at, |m| {
                m.fits(&member.of, &ty, params, &mut env)
                    && env.len() < params.len()
                    && m.fits(&operand, other, params, &mut env)
            });
            let known = params.iter().map(|p| env.get(&p.name).cloned());
            let Some(known) = known.collect::<Option<Vec<_>>>().filter(|_| fits) else {
                continue;
            };
            let name = name_by(&self.structs[owner].name, by, method);
            let full = format!("{name}<{}>", self.shown(&known));
            if self.names.contains_key(&full) {
                continue;
            }
            env.insert("Self".to_owned(), Known::Type(ty));
            if let Item::Fn(id) = self.copy_item(&member.item, member.at.with(env), full) {
                self.operators.push((method.to_owned(), id));
            }
        }
    }

    /// The members of that name in the blocks of a struct's family, of these traits.
    fn members_of(
        &mut self,
        owner: StructId,
        name: &str,
        by: impl Fn(Option<&str>) -> bool,
    ) -> Vec<Item> {
        let Some((family, _)) = self.copies.get(&owner).cloned() else {
            return Vec::new();
        };
        let named = |m: &&Member| m.family == family && m.name == name && by(m.by.as_deref());
        let members: Vec<Member> = self.members.iter().filter(named).cloned().collect();
        let mut out = Vec::new();
        for member in members {
            let owner_name = &self.structs[owner].name;
            let full = match &member.by {
                Some(of) => name_by(owner_name, of, name),
                None => full_name(owner_name, name),
            };
            if let Some(item) = self.names.get(&full) {
                out.push(*item);
            } else if let Some(env) = self.block_of(&member, owner) {
                out.push(self.copy_item(&member.item, member.at.with(env), full));
            }
        }
        out
    }

    /// A member of a block with parameters, where these are known.
    pub(crate) fn copy_item(&mut self, item: &MemberItem, at: super::At, full: String) -> Item {
        let item = match item {
            MemberItem::Const(c) => {
                let id = self.elsewhere(&at, |m| m.declare_const(&full, (**c).clone()));
                return Item::Const(id);
            }
            MemberItem::Type(t) => {
                let item = self.elsewhere(&at, |m| m.declare_type(t));
                self.names.insert(full, item);
                return item;
            }
            MemberItem::Fn(f) => f,
        };
        if super::is_generic(&item.sig) || item.sig.constness.is_some() {
            let of = self.elsewhere(&at, |m| m.template(full.clone(), (**item).clone()));
            if super::is_generic(&item.sig) {
                self.names.insert(full, Item::Template(of));
                return Item::Template(of);
            }
            let id = self.copy_plain(full, item, at);
            self.const_fns.insert(id, of);
            return Item::Fn(id);
        }
        Item::Fn(self.copy_plain(full, item, at))
    }

    /// A function of a block whose parameters are found by its arguments, with those of the function itself. Its `Self` is the type as the block names it.
    pub(crate) fn open_member(&mut self, member: &Member, item: &Rc<syn::ItemFn>) -> TemplateId {
        let mut item = (**item).clone();
        spell_out(&mut item.sig, &member.of);
        let own = self.elsewhere(&member.at, |m| m.params_of_fn(&mut item));
        let block = self.families[member.family.0].name.clone();
        self.templates.push(Rc::new(Template {
            name: full_name(&block, &member.name),
            params: member.params.iter().cloned().chain(own).collect(),
            at: member.at.bounded(&item.sig.generics),
            item: Rc::new(item),
            of: Some(Rc::clone(&member.of)),
            lifted: None,
        }));
        TemplateId(self.templates.len() - 1)
    }

    fn copy_plain(
        &mut self,
        name: String,
        item: &Rc<syn::ItemFn>,
        at: super::At,
    ) -> crate::hir::FnId {
        let template = Template {
            name,
            params: Vec::new(),
            item: Rc::clone(item),
            at: at.bounded(&item.sig.generics),
            of: None,
            lifted: None,
        };
        self.copy_fn(&template, &[], item.sig.ident.span())
    }

    /// What a block's parameters are for this struct, if the block is for it.
    fn block_of(&mut self, member: &Member, owner: StructId) -> Option<Env> {
        let mut env = Env::new();
        let at = member.at.clone();
        let ty = Type::Struct(owner);
        let of = Rc::clone(&member.of);
        let fits = self.elsewhere(&at, |m| m.fits(&of, &ty, &member.params, &mut env));
        env.insert("Self".to_owned(), Known::Type(ty));
        (fits && member.params.iter().all(|p| env.contains_key(&p.name))).then_some(env)
    }

    /// Whether a written type is this one, and what its parameters are then.
    pub(crate) fn fits(
        &mut self,
        written: &syn::Type,
        ty: &Type,
        params: &[Param],
        env: &mut Env,
    ) -> bool {
        let syn::Type::Path(p) = written else {
            // With its parameters inside it would have to be taken apart.
            return match (written, ty) {
                (syn::Type::Tuple(t), Type::Tuple(of)) => {
                    t.elems.len() == of.len()
                        && t.elems
                            .iter()
                            .zip(of)
                            .all(|(t, of)| self.fits(t, of, params, env))
                }
                (syn::Type::Array(a), Type::Array(elem, len)) => {
                    let len = Known::Number(millstream_graph::ty::Scalar::Usize, *len);
                    let named = params.iter().find(|p| is_name(&a.len, &p.name));
                    let fits = match named {
                        Some(p) => same(env, &p.name, len),
                        None => crate::consts::eval_usize(self, &a.len).is_some_and(|n| {
                            Known::Number(millstream_graph::ty::Scalar::Usize, n) == len
                        }),
                    };
                    fits && self.fits(&a.elem, elem, params, env)
                }
                (syn::Type::Reference(r), Type::Ref { mutable, target }) => {
                    *mutable == r.mutability.is_some() && self.fits(&r.elem, target, params, env)
                }
                (syn::Type::Reference(r), Type::Slice { mutable, elem }) => match &*r.elem {
                    syn::Type::Slice(s) => {
                        *mutable == r.mutability.is_some() && self.fits(&s.elem, elem, params, env)
                    }
                    _ => false,
                },
                (syn::Type::Paren(p), ty) => self.fits(&p.elem, ty, params, env),
                (syn::Type::Tuple(_) | syn::Type::Array(_) | syn::Type::Reference(_), _) => false,
                _ => self.resolve_type(written) == *ty,
            };
        };
        if let Some(param) = params.iter().find(|param| p.path.is_ident(&param.name)) {
            return same(env, &param.name, Known::Type(ty.clone()));
        }
        let Some(last) = p.path.segments.last() else {
            return false;
        };
        let family = match (self.item(&p.path), last.ident.to_string().as_str()) {
            (Some(Item::Family(family)), _) => family,
            (None, "Option" | "Result" | "Mat" | "MatMut") => {
                let parts: Vec<Type> = match ty {
                    Type::Option(some) if last.ident == "Option" => vec![(**some).clone()],
                    Type::Result(ok, err) if last.ident == "Result" => {
                        vec![(**ok).clone(), (**err).clone()]
                    }
                    _ => return false,
                };
                let syn::PathArguments::AngleBracketed(args) = &last.arguments else {
                    return false;
                };
                let args = args.args.iter();
                return args.zip(parts).all(|(arg, part)| match arg {
                    syn::GenericArgument::Type(t) => self.fits(t, &part, params, env),
                    _ => false,
                });
            }
            _ => return self.resolve_type(written) == *ty,
        };
        let Type::Struct(id) = ty else { return false };
        let Some((of, known)) = self.copies.get(id).cloned() else {
            return false;
        };
        let syn::PathArguments::AngleBracketed(args) = &last.arguments else {
            // All of them are what they are if nothing is said.
            return of == family && self.written(family, last) == Some(*id);
        };
        let args: Vec<&syn::GenericArgument> = args
            .args
            .iter()
            .filter(|a| !matches!(a, syn::GenericArgument::Lifetime(_)))
            .collect();
        of == family
            && args.len() == known.len()
            && args
                .into_iter()
                .zip(known)
                .all(|(arg, known)| self.arg_fits(arg, known, params, env))
    }

    /// The same of what is given as a parameter.
    pub(crate) fn arg_fits(
        &mut self,
        arg: &syn::GenericArgument,
        known: Known,
        params: &[Param],
        env: &mut Env,
    ) -> bool {
        let (s, bits) = match (arg, known) {
            (syn::GenericArgument::Type(t), Known::Type(ty)) => {
                return self.fits(t, &ty, params, env);
            }
            (_, Known::Type(_)) => return false,
            (_, Known::Number(s, bits)) => (s, bits),
        };
        let named = params.iter().find(|param| match arg {
            syn::GenericArgument::Type(syn::Type::Path(p)) => p.path.is_ident(&param.name),
            syn::GenericArgument::Const(e) => is_name(e, &param.name),
            _ => false,
        });
        match named {
            Some(param) => same(env, &param.name, Known::Number(s, bits)),
            None => self.param_number(arg, s) == Some(bits),
        }
    }
}

/// Whether a parameter is this, which it is from now on if nothing was known of it.
fn same(env: &mut Env, name: &str, known: Known) -> bool {
    match env.get(name) {
        Some(other) => *other == known,
        None => {
            env.insert(name.to_owned(), known);
            true
        }
    }
}

/// Writes the type of a block for `Self` in a signature.
fn spell_out(sig: &mut syn::Signature, of: &syn::Type) {
    struct SpellOut<'a>(&'a syn::Type);
    impl syn::visit_mut::VisitMut for SpellOut<'_> {
        fn visit_type_mut(&mut self, ty: &mut syn::Type) {
            match ty {
                syn::Type::Path(p) if p.path.is_ident("Self") => *ty = self.0.clone(),
                _ => syn::visit_mut::visit_type_mut(self, ty),
            }
        }
    }
    syn::visit_mut::VisitMut::visit_signature_mut(&mut SpellOut(of), sig);
}

/// Whether an expression is that name alone, perhaps in braces.
pub(crate) fn is_name(e: &syn::Expr, name: &str) -> bool {
    match e {
        syn::Expr::Path(p) => p.path.is_ident(name),
        syn::Expr::Block(b) => match b.block.stmts.as_slice() {
            [syn::Stmt::Expr(e, None)] => is_name(e, name),
            _ => false,
        },
        _ => false,
    }
}
