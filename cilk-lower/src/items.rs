//! The items of a program module: its structs, constants and the signatures of its functions, with all their types resolved.

use crate::{
    consts::{self, Lent},
    diag::Diagnostics,
    enums,
    hir::{ConstId, FnId},
    impls,
};
use millstream_graph::{
    ir::{FunctionKind, Options},
    ty::{Scalar, StructDef, StructId, Structs, Type},
};
use proc_macro2::Span;
use quote::ToTokens;
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};
use syn::spanned::Spanned;

/// What a name at the top of the module means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    Struct(StructId),
    Const(ConstId),
    Fn(FnId),
    Alias(usize),
}

/// A module while its items are read and its functions are checked.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) options: Options,
    pub(crate) structs: Structs,
    pub(crate) consts: Vec<ConstItem>,
    pub(crate) fns: Vec<FnItem>,
    pub(crate) names: BTreeMap<String, Item>,
    pub(crate) diags: Diagnostics,
    pub(crate) aliases: Vec<(syn::Type, bool)>,
    /// Structs that derive `Default`.
    pub(crate) defaults: BTreeSet<StructId>,
    /// Structs and enums that derive `PartialOrd`.
    pub(crate) ordered: BTreeSet<StructId>,
    /// Functions that operators are, by the names of their traits' methods.
    pub(crate) operators: Vec<(String, FnId)>,
    /// Of enums that do: the number of the variant.
    pub(crate) enum_defaults: BTreeMap<StructId, u64>,
    /// What `use` brings in: the name and its whole path,
    pub(crate) imports: BTreeMap<String, Vec<String>>,
    /// and of what it brings in all.
    pub(crate) globs: Vec<String>,
}

/// A constant.
#[derive(Debug)]
pub(crate) struct ConstItem {
    pub(crate) name: String,
    pub(crate) state: ConstState,
    /// It is named by reference to its array, or as a slice of it.
    pub(crate) lent: Option<Lent>,
}

/// How far a constant is known.
#[derive(Clone, Debug)]
pub(crate) enum ConstState {
    Source(Rc<syn::ItemConst>),
    /// Its value is being computed: meeting it again is a cycle.
    InProgress,
    /// Its type and its value's memory.
    Known(Type, Vec<u8>),
    Failed,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct FnItem {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) kind: FunctionKind,
    /// Whether it is made of a parallel loop: see [`millstream_graph::ir::Function::rounds`].
    pub(crate) rounds: bool,
    pub(crate) params: Vec<(syn::Pat, Type)>,
    /// Of a kernel whose element is written `Element<T>`: the body takes it by `deq`.
    pub(crate) held: bool,
    pub(crate) ret: Type,
    pub(crate) block: Rc<syn::Block>,
}

impl FnItem {
    /// Whether it is a part of a function of the source: see [`millstream_graph::ir::Function::is_made`].
    pub(crate) fn is_made(&self) -> bool {
        self.name.contains('.')
    }
}

/// Reads the items of a module. What is wrong is added to `diags` of the result.
pub(crate) fn collect(module: &syn::ItemMod, options: Options) -> Module {
    let mut m = Module {
        name: module.ident.to_string(),
        options,
        structs: Structs::default(),
        consts: Vec::new(),
        fns: Vec::new(),
        names: BTreeMap::new(),
        diags: Diagnostics::default(),
        aliases: Vec::new(),
        defaults: BTreeSet::new(),
        ordered: BTreeSet::new(),
        operators: Vec::new(),
        enum_defaults: BTreeMap::new(),
        imports: BTreeMap::new(),
        globs: Vec::new(),
    };
    let Some((_, items)) = &module.content else {
        m.diags
            .error(module.span(), "a program needs its module's body here")
            .help("write `mod name { .. }` with the tasks in it, not `mod name;`");
        return m;
    };
    let (mut structs, mut enums) = (Vec::new(), Vec::new());
    let mut functions = Vec::new();
    // A block may stand before its struct.
    let (blocks, others): (Vec<_>, Vec<_>) = items
        .iter()
        .filter(|i| !is_cfg_test(i))
        .partition(|i| matches!(i, syn::Item::Impl(_)));
    for item in others.into_iter().chain(blocks) {
        m.declare(item, &mut structs, &mut enums, &mut functions);
    }
    if enums::names_ordering(items) {
        m.ordering();
    }
    for (id, item) in enums {
        enums::resolve(&mut m, id, item);
    }
    for (id, item) in structs {
        m.resolve_struct(id, item);
    }
    for i in 0..m.consts.len() {
        consts::value(&mut m, ConstId(i), Span::call_site());
    }
    for (name, item) in functions {
        m.resolve_fn(name, &item);
    }
    m
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(i) => &i.attrs,
        syn::Item::Enum(i) => &i.attrs,
        syn::Item::Fn(i) => &i.attrs,
        syn::Item::Mod(i) => &i.attrs,
        syn::Item::Struct(i) => &i.attrs,
        syn::Item::Use(i) => &i.attrs,
        syn::Item::Impl(i) => &i.attrs,
        _ => &[],
    }
}

fn is_cfg_test(item: &syn::Item) -> bool {
    attributes(item).iter().any(|a| {
        a.path().is_ident("cfg")
            && a.meta.to_token_stream().to_string().replace(' ', "") == "cfg(test)"
    })
}

/// A name of the source again: a raw one where a keyword would be.
#[must_use]
pub fn ident(name: &str, span: Span) -> syn::Ident {
    name.strip_prefix("r#").map_or_else(
        || syn::Ident::new(name, span),
        |raw| syn::Ident::new_raw(raw, span),
    )
}

/// Whether an attribute is `#[task]`, however its path is written.
#[must_use]
pub fn is_task_attribute(attr: &syn::Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|s| s.ident == "task")
}

impl Module {
    fn declare<'a>(
        &mut self,
        item: &'a syn::Item,
        structs: &mut Vec<(StructId, &'a syn::ItemStruct)>,
        enums: &mut Vec<(StructId, &'a syn::ItemEnum)>,
        functions: &mut Vec<(String, Cow<'a, syn::ItemFn>)>,
    ) {
        match item {
            syn::Item::Struct(s) => {
                if !s.generics.params.is_empty() {
                    let borrows = s.generics.lifetimes().count() == s.generics.params.len();
                    self.diags
                        .error(s.generics.span(), format!("the struct `{}` has parameters", s.ident))
                        .help(match borrows {
                            true => format!("a struct holds no references; a tuple may: `type {}<'a> = (&'a [u32], &'a [f32]);`", s.ident),
                            false => "structs of a program are plain data: write one struct for each type you need".to_owned(),
                        });
                }
                let tuple = matches!(s.fields, syn::Fields::Unnamed(_));
                let id = self.structs.push(StructDef {
                    name: s.ident.to_string(),
                    fields: Vec::new(),
                    tuple,
                    variants: Vec::new(),
                });
                self.define(&s.ident.to_string(), s.ident.span(), Item::Struct(id));
                if derives(&s.attrs, "Default") {
                    self.defaults.insert(id);
                }
                if derives(&s.attrs, "PartialOrd") {
                    self.ordered.insert(id);
                }
                structs.push((id, s));
            }
            syn::Item::Enum(e) => enums.push((enums::declare(self, e), e)),
            syn::Item::Const(c) => {
                if c.ident == "_" {
                    return;
                }
                self.declare_const(&c.ident.to_string(), c.clone());
            }
            syn::Item::Fn(f) => {
                let name = f.sig.ident.to_string();
                self.define(&name, f.sig.ident.span(), Item::Fn(FnId(functions.len())));
                functions.push((name, Cow::Borrowed(f)));
            }
            syn::Item::Impl(i) => {
                let members = impls::read(i, &mut self.diags);
                let Some(owner) = members.owner else { return };
                let known = match &members.operator {
                    Some(_) if Scalar::from_name(&owner.to_string()).is_some() => true,
                    _ => matches!(self.names.get(&owner.to_string()), Some(Item::Struct(_))),
                };
                if !known {
                    let d = self.diags.error(
                        owner.span(),
                        format!("there is no struct `{owner}` in this program"),
                    );
                    d.help("an `impl` block belongs to a struct of this module");
                    return;
                }
                for f in members.fns {
                    let method = f.sig.ident.to_string();
                    let mut name = impls::full_name(&owner.to_string(), &method);
                    if let Some(of) = &members.operator {
                        name += of;
                        self.operators.push((method, FnId(functions.len())));
                    }
                    self.define(&name, f.sig.ident.span(), Item::Fn(FnId(functions.len())));
                    functions.push((name, Cow::Owned(f)));
                }
                for c in members.consts {
                    let name = impls::full_name(&owner.to_string(), &c.ident.to_string());
                    self.declare_const(&name, c);
                }
            }
            syn::Item::Type(t) => {
                self.aliases.push(((*t.ty).clone(), false));
                let id = self.aliases.len() - 1;
                self.define(&t.ident.to_string(), t.ident.span(), Item::Alias(id));
            }
            syn::Item::Use(u) => self.import(u),
            other => self.refuse_item(other),
        }
    }

    /// Functions may have constants of one name, which are numbered then.
    pub(crate) fn declare_const(&mut self, name: &str, item: syn::ItemConst) -> ConstId {
        let id = ConstId(self.consts.len());
        self.define(name, item.ident.span(), Item::Const(id));
        let same = self.consts.iter().any(|c| c.name == name);
        let (item, lent) = consts::behind(item);
        self.consts.push(ConstItem {
            name: match same {
                true => format!("{name}.{}", id.0),
                false => name.to_owned(),
            },
            state: ConstState::Source(Rc::new(item)),
            lent,
        });
        id
    }

    fn refuse_item(&mut self, item: &syn::Item) {
        let (what, help) = match item {
            syn::Item::Static(_) => ("a static", "use a `const`, or pass a buffer as an argument"),
            syn::Item::Trait(_) | syn::Item::TraitAlias(_) => (
                "a trait",
                "write the functions it would have for the types you use",
            ),
            syn::Item::Mod(_) => ("a module", "a program is one module: move its items up"),
            syn::Item::Macro(_) => (
                "a macro",
                "write out what it would expand to, or use a function",
            ),
            syn::Item::Union(_) => ("a union", "use a struct, or `to_bits` and `from_bits`"),
            _ => (
                "this item",
                "a program has structs, constants, type aliases, tasks, kernels and helper functions",
            ),
        };
        self.diags
            .error(
                item.span(),
                format!("{what} is not part of the task language"),
            )
            .help(help);
    }

    pub(crate) fn define(&mut self, name: &str, span: Span, item: Item) {
        if self.names.insert(name.to_owned(), item).is_some() {
            self.diags.error(
                span,
                format!("the name `{name}` is defined more than once in this program"),
            );
        }
    }

    fn resolve_struct(&mut self, id: StructId, item: &syn::ItemStruct) {
        if !item.generics.params.is_empty() {
            return;
        }
        let mut fields = Vec::new();
        for (i, field) in item.fields.iter().enumerate() {
            let name = field
                .ident
                .as_ref()
                .map_or_else(|| i.to_string(), ToString::to_string);
            let ty = self.resolve_type(&field.ty);
            if !is_plain(&ty) {
                let shown = ty.display(&self.structs).to_string();
                self.diags
                    .error(field.ty.span(), format!("a struct field cannot be `{shown}`"))
                    .help(match shown.contains("Atomic") {
                        true => "structs hold plain data; pass atomics beside them, as `&AtomicU32` or `&[AtomicU32; 4]`",
                        false => "structs hold plain data: numbers, bools, arrays, tuples and other structs; pass references as arguments, several in a tuple",
                    });
            }
            if contains_struct(&ty, id, &self.structs) {
                self.diags
                    .error(
                        field.ty.span(),
                        format!("the struct `{}` would contain itself", item.ident),
                    )
                    .help("keep the other element's index into a slice instead");
                continue;
            }
            fields.push((name, ty));
        }
        self.structs[id].fields = fields;
    }

    fn resolve_fn(&mut self, name: String, item: &syn::ItemFn) {
        let sig = &item.sig;
        if let Some(p) = sig
            .generics
            .params
            .iter()
            .find(|p| !matches!(p, syn::GenericParam::Lifetime(_)))
        {
            self.diags
                .error(
                    p.span(),
                    format!("the function `{}` has a type parameter", sig.ident),
                )
                .help("write it for the types you use; lifetimes are fine");
            return;
        }
        let mut refuse = |span: Option<Span>, what: &str, help: &str| {
            if let Some(span) = span {
                self.diags
                    .error(span, format!("{what} is not part of the task language"))
                    .help(help);
            }
        };
        refuse(
            sig.asyncness.map(|t| t.span()),
            "an `async` function",
            "make it a task, and `spawn!` it",
        );
        refuse(
            sig.abi.as_ref().map(Spanned::span),
            "a foreign ABI",
            "leave out the `extern`",
        );
        let unsafety = sig.safety.to_token_stream();
        refuse(
            (!unsafety.is_empty()).then(|| unsafety.span()),
            "an `unsafe` function",
            "leave out the `unsafe`",
        );
        let kind = self.role(item);
        let (mut params, mut held) = (Vec::new(), false);
        if kind == FunctionKind::Kernel {
            crate::kernels::Signature { params, held } = self.kernel_signature(sig);
        }
        for input in &sig.inputs {
            match input {
                syn::FnArg::Typed(_) if kind == FunctionKind::Kernel => {}
                syn::FnArg::Typed(p) => {
                    let ty = self.resolve_type(&p.ty);
                    if matches!(ty, Type::Atomic(_)) {
                        self.diags
                            .error(p.ty.span(), "an atomic cannot be passed by value")
                            .help("pass it by reference: `&AtomicU32`");
                    }
                    params.push(((*p.pat).clone(), ty));
                }
                syn::FnArg::Receiver(r) => {
                    self.diags
                        .error(r.span(), "`self` is not part of the task language")
                        .help("give the argument a name and a type");
                }
            }
        }
        let ret = match &sig.output {
            _ if kind == FunctionKind::Kernel => Type::unit(),
            syn::ReturnType::Default => Type::unit(),
            syn::ReturnType::Type(_, ty) if matches!(**ty, syn::Type::Never(_)) => Type::unit(),
            syn::ReturnType::Type(_, ty) => self.resolve_type(ty),
        };
        if kind == FunctionKind::Task && !is_plain(&ret) {
            let shown = ret.display(&self.structs).to_string();
            self.diags
                .error(sig.output.span(), format!("a task cannot return `{shown}`"))
                .help("a child's result is plain data; pass a `&mut` slice to write to instead");
        }
        let block = Rc::new((*item.block).clone());
        self.fns.push(FnItem {
            name,
            span: sig.ident.span(),
            kind,
            rounds: false,
            params,
            held,
            ret,
            block,
        });
    }
}

/// Whether a struct or enum with these attributes derives a trait.
pub(crate) fn derives(attrs: &[syn::Attribute], name: &str) -> bool {
    let derive = |a: &&syn::Attribute| a.path().is_ident("derive");
    attrs.iter().filter(derive).any(|a| {
        let tokens = a.meta.to_token_stream().to_string();
        tokens
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == name)
    })
}

/// Whether values of the type hold no reference and no atomic.
pub(crate) fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Struct(_) => true,
        Type::Tuple(t) => t.iter().all(is_plain),
        Type::Array(e, _) | Type::Option(e) => is_plain(e),
        Type::Result(ok, err) => is_plain(ok) && is_plain(err),
        Type::Slice { .. }
        | Type::Ref { .. }
        | Type::Mat { .. }
        | Type::Atomic(_)
        | Type::Channel(_) => false,
    }
}

pub(crate) fn contains_struct(ty: &Type, id: StructId, structs: &Structs) -> bool {
    match ty {
        Type::Struct(other) => {
            *other == id
                || structs[*other]
                    .fields
                    .iter()
                    .any(|(_, t)| contains_struct(t, id, structs))
        }
        Type::Tuple(t) => t.iter().any(|t| contains_struct(t, id, structs)),
        Type::Array(e, _) | Type::Option(e) => contains_struct(e, id, structs),
        Type::Result(ok, err) => [ok, err].iter().any(|t| contains_struct(t, id, structs)),
        _ => false,
    }
}
