//! The items of a program module: its structs, constants and the signatures of its functions, with all their types resolved.

use crate::{
    consts::{self, Lent},
    declare::Declared,
    diag::Diagnostics,
    enums,
    generics::{At, Family, FamilyId, Known, Member, Param, Template, TemplateId},
    hir::{ConstId, FnId},
    library::{Library, Ranges},
    orders::Orders,
    pointers::Pointer,
    rows::Rows,
    traits::{Impl, OpenImpl, Trait},
};
use millstream_graph::{
    ir::{FunctionKind, Options, Team},
    ty::{StructId, Structs, Type},
};
use proc_macro2::Span;
use quote::ToTokens;
use std::{
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
    /// A function with parameters, and a struct with parameters.
    Template(TemplateId),
    Family(FamilyId),
    Trait(usize),
}

/// A module while its items are read and its functions are checked.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) options: Options,
    pub(crate) structs: Structs,
    pub(crate) consts: Vec<ConstItem>,
    pub(crate) fns: Vec<FnItem>,
    /// By their whole paths.
    pub(crate) names: BTreeMap<String, Item>,
    pub(crate) diags: Diagnostics,
    pub(crate) aliases: Vec<Alias>,
    pub(crate) traits: Vec<Trait>,
    /// What types do by traits, and the blocks of these that have parameters.
    pub(crate) impls: Vec<Impl>,
    pub(crate) open_impls: Vec<OpenImpl>,
    pub(crate) templates: Vec<Rc<Template>>,
    /// Those that take closures and call themselves, and what they are for these.
    pub(crate) recursive: BTreeSet<crate::generics::TemplateId>,
    pub(crate) lifted: Vec<crate::check::MadeLifted>,
    pub(crate) families: Vec<Rc<Family>>,
    pub(crate) members: Vec<Member>,
    /// Of which family a struct is, and for which arguments.
    pub(crate) copies: BTreeMap<StructId, (FamilyId, Vec<Known>)>,
    /// Functions that constants may call, whose bodies stand there then.
    pub(crate) const_fns: BTreeMap<FnId, TemplateId>,
    /// The types of functions that are values.
    pub(crate) pointers: Vec<Pointer>,
    /// Names of functions that give iterators or closures.
    pub(crate) codes: BTreeMap<String, crate::generics::Code>,
    /// Names of functions that give ranges, and whether with their ends.
    pub(crate) giving_ranges: BTreeMap<String, bool>,
    /// Names of functions that do not.
    pub(crate) giving_others: BTreeSet<String>,
    pub(crate) library: Library,
    /// The types of `a..b` and `a..=b`.
    pub(crate) ranges: Option<Ranges>,
    /// Rust's traits of which the program has blocks.
    pub(crate) rusts_traits: Vec<usize>,
    /// That of them which is `From`, where the program has blocks of it.
    pub(crate) conversions: Option<usize>,
    /// The same of `Iterator`.
    pub(crate) iterators: Option<usize>,
    /// The modules within the program.
    pub(crate) modules: BTreeSet<String>,
    /// Functions that have items of their own, as modules, and the modules around them.
    pub(crate) inside: BTreeMap<String, String>,
    /// Where names are looked up now.
    pub(crate) at: At,
    /// The fields of structs without parameters, as they are written.
    pub(crate) written_fields: BTreeMap<StructId, Rc<syn::Fields>>,
    /// Structs that derive `Default`.
    pub(crate) defaults: BTreeSet<StructId>,
    /// By which of Rust's traits structs and enums are compared.
    pub(crate) orders: Orders,
    /// Functions that operators are, by the names of their traits' methods.
    pub(crate) operators: Vec<(String, FnId)>,
    /// Of enums that do: the number of the variant.
    pub(crate) enum_defaults: BTreeMap<StructId, u64>,
    /// What `use` brings in: the name, in its module, and the path that it is short for,
    pub(crate) imports: BTreeMap<String, Vec<String>>,
    /// and of what it brings in all, and where.
    pub(crate) globs: Vec<(String, Vec<String>)>,
}

/// Another name of a type.
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    pub(crate) ty: Rc<syn::Type>,
    pub(crate) params: Vec<Param>,
    pub(crate) at: At,
    /// It is being resolved: meeting it again is a cycle.
    pub(crate) busy: bool,
}

/// A constant.
#[derive(Debug)]
pub(crate) struct ConstItem {
    pub(crate) name: String,
    pub(crate) state: ConstState,
    pub(crate) at: At,
    /// It is named by reference to its array, or as a slice of it.
    pub(crate) lent: Option<Lent>,
    /// It holds references, and is made of others.
    pub(crate) rows: Option<Rc<Rows>>,
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
    /// And who is to share it out on a GPU, if that is written.
    pub(crate) team: Option<Team>,
    /// Whether a task that a wide device runs as a function comes to it (`outline::alone`).
    pub(crate) alone: bool,
    pub(crate) params: Vec<(syn::Pat, Type)>,
    /// Of a kernel whose element is written `Element<T>`: the body takes it by `deq`.
    pub(crate) held: bool,
    pub(crate) ret: Type,
    /// As it is written; none if it is made.
    pub(crate) sig: Option<Rc<syn::Signature>>,
    pub(crate) block: Rc<syn::Block>,
    pub(crate) at: At,
    /// Of a copy: where it was first used.
    pub(crate) used: Option<Span>,
    /// Of a copy that calls itself: the closures that it was given.
    pub(crate) lifted: Option<Rc<crate::check::Lifted>>,
}

impl FnItem {
    /// One that is not resolved yet.
    fn declared((name, item, at): &(String, syn::ItemFn, At)) -> Self {
        Self {
            name: name.clone(),
            span: item.sig.ident.span(),
            kind: FunctionKind::Helper,
            rounds: false,
            team: None,
            alone: false,
            params: Vec::new(),
            held: false,
            ret: Type::unit(),
            sig: None,
            block: Rc::new((*item.block).clone()),
            at: at.clone(),
            used: None,
            lifted: None,
        }
    }

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
        traits: Vec::new(),
        impls: Vec::new(),
        open_impls: Vec::new(),
        templates: Vec::new(),
        recursive: BTreeSet::new(),
        lifted: Vec::new(),
        families: Vec::new(),
        members: Vec::new(),
        copies: BTreeMap::new(),
        const_fns: BTreeMap::new(),
        pointers: Vec::new(),
        codes: BTreeMap::new(),
        giving_ranges: BTreeMap::new(),
        giving_others: BTreeSet::new(),
        library: Library::default(),
        ranges: None,
        rusts_traits: Vec::new(),
        conversions: None,
        iterators: None,
        inside: BTreeMap::new(),
        modules: BTreeSet::new(),
        at: At::default(),
        written_fields: BTreeMap::new(),
        defaults: BTreeSet::new(),
        orders: Orders::default(),
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
    let beside = crate::beside::beside(items);
    let items = &items.iter().cloned().chain(beside).collect::<Vec<_>>()[..];
    let mut all = Declared::default();
    m.declare_library();
    m.declare_all(items, &mut all);
    crate::impls::share_outputs(&mut all.blocks);
    crate::impls::one_of_each(&all.blocks, &mut m.diags);
    m.declare_rusts(&all.blocks);
    // A block may stand before its struct.
    while !all.blocks.is_empty() {
        for (block, at) in std::mem::take(&mut all.blocks) {
            m.at = at;
            m.declare_block(&block, &mut all);
        }
    }
    // Constants may come to copies of functions before these are resolved, and have numbers behind theirs.
    m.fns = all.functions.iter().map(FnItem::declared).collect();
    m.declare_late_rows();
    m.ask_for_orders();
    if enums::names_ordering(items) {
        m.ordering();
    }
    for (id, item, at) in all.enums {
        m.elsewhere(&at, |m| enums::resolve(m, id, &item));
    }
    for (id, item, at) in all.structs {
        let env = [("Self".to_owned(), Known::Type(Type::Struct(id)))].into();
        m.elsewhere(&at.with(env), |m| m.resolve_struct(id, &item));
    }
    for i in 0..m.consts.len() {
        consts::value(&mut m, ConstId(i), Span::call_site());
    }
    for (i, (name, item, at)) in all.functions.into_iter().enumerate() {
        m.elsewhere(&at, |m| m.resolve_fn(name, &item));
        m.fns.swap_remove(i);
    }
    m.at = At::default();
    m
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
    pub(crate) fn resolve_struct(&mut self, id: StructId, item: &syn::ItemStruct) {
        let mut fields = Vec::new();
        for (i, field) in item.fields.iter().enumerate() {
            let name = field
                .ident
                .as_ref()
                .map_or_else(|| i.to_string(), ToString::to_string);
            let ty = self.resolve_type(&field.ty);
            if ty.has_atomics(&self.structs) {
                let shown = ty.display(&self.structs).to_string();
                self.diags
                    .error(field.ty.span(), format!("a struct field cannot be `{shown}`"))
                    .help("a struct holds plain data and what it borrows: give it the atomic by `&`, as `&'a AtomicU32`");
            }
            if let Some(at) = without_lifetime(&field.ty) {
                let name = item.ident.to_string();
                self.diags
                    .error(at, "a reference in a struct needs a lifetime")
                    .help(format!(
                        "write `struct {name}<'a>`, and `&'a` in front of what it refers to"
                    ));
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

    pub(crate) fn resolve_fn(&mut self, name: String, item: &syn::ItemFn) -> FnId {
        let sig = &item.sig;
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
        if kind != FunctionKind::Helper {
            // A range is no value that lies in memory: a task takes one as its two ends.
            let mut takes = params.iter().map(|(_, ty)| ty);
            let within = match kind {
                FunctionKind::Kernel => takes.any(|ty| self.holds_range(ty)),
                _ => !takes.all(|ty| self.takes_ranges(ty)),
            };
            if within || self.holds_range(&ret) {
                let message = match kind {
                    FunctionKind::Kernel => "a kernel cannot take a range",
                    _ if within => {
                        "a task cannot take ranges but by value, as they are or in structs"
                    }
                    _ => "a task cannot return a range",
                };
                self.diags
                    .error(sig.span(), message)
                    .help("give it the two ends");
            }
            let mut types = params.iter().map(|(_, ty)| ty).chain([&ret]);
            if types.clone().any(|ty| self.holds_pointer(ty)) {
                self.diags
                    .error(sig.span(), "a task or kernel cannot take or return a function")
                    .help("give it what says which function is meant, an enum or a number, and choose it there");
            }
            let stays = |ty: &Type| match self.holds_beside(ty) {
                Some(family) if kind == FunctionKind::Task && Some(family) == self.wide() => {
                    self.lends(ty, family)
                }
                family => family.is_some(),
            };
            if let Some(at) = types.position(stays) {
                self.refuse_beside(sig, params.get(at).map_or(&ret, |(_, ty)| ty), at);
            }
        }
        if kind == FunctionKind::Task {
            self.refuse_lent_structs(&params);
        }
        if kind == FunctionKind::Task && !is_plain(&ret, &self.structs) {
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
            team: None,
            alone: false,
            params,
            held,
            ret,
            sig: Some(Rc::new(sig.clone())),
            block,
            at: self.at.clone(),
            used: None,
            lifted: None,
        });
        FnId(self.fns.len() - 1)
    }
}

impl Module {
    /// `Reverse`, `Wrapping` and their kin stay within a task, and integers of 128 bits in memory. `at`: which parameter it is; behind all the result.
    fn refuse_beside(&mut self, sig: &syn::Signature, ty: &Type, at: usize) {
        let Some(family) = self.holds_beside(ty) else {
            return;
        };
        let name = self.families[family.0].name.clone();
        let is_lent = matches!(ty, Type::Slice { .. } | Type::Ref { .. } | Type::Mat { .. });
        let what = match ty {
            Type::Channel(_) => "emit",
            _ if is_lent => "be lent",
            _ => "take or return",
        };
        let (name, help) = match (name.ends_with("Wide"), is_lent) {
            (true, false) => (
                "an integer of 128 bits".to_owned(),
                "give it two halves, `x as u64` and `(x >> 64) as u64`",
            ),
            (true, true) => (
                "an integer of 128 bits".to_owned(),
                "lend it elements of two halves, `&[[u64; 2]]`",
            ),
            (false, false) => (
                format!("a `{name}`"),
                "give it what that holds: `x.0` or `x.get()`",
            ),
            (false, true) => (
                format!("a `{name}`"),
                "lend it elements of what that holds, `&mut [u64]` for `&mut [Reverse<u64>]`, and wrap each where it is used",
            ),
        };
        let span = match (sig.inputs.iter().nth(at), &sig.output) {
            (Some(syn::FnArg::Typed(p)), _) => p.ty.span(),
            (None, syn::ReturnType::Type(_, ty)) => ty.span(),
            _ => sig.span(),
        };
        self.diags
            .error(span, format!("a task or kernel cannot {what} {name}"))
            .help(help);
    }

    /// What is lent to a child to write to is an argument of its own: what lies in structs is not followed that far.
    fn refuse_lent_structs(&mut self, params: &[(syn::Pat, Type)]) {
        for (pat, ty) in params {
            if has_borrowing_enum(ty, &self.structs) {
                let shown = ty.display(&self.structs).to_string();
                self.diags
                    .error(pat.span(), format!("a task cannot take `{shown}`: a variant holds references"))
                    .help("give it what the variant holds: a slice or reference of its own, beside plain data");
            }
            let behind = match ty {
                Type::Slice { elem: ty, .. } | Type::Ref { target: ty, .. } => ty,
                ty => ty,
            };
            if has_struct(behind) && is_mutable(behind, &self.structs) {
                let shown = ty.display(&self.structs).to_string();
                self.diags
                    .error(
                        pat.span(),
                        format!("a task cannot take `{shown}`, which holds what is written"),
                    )
                    .help(
                        "give it the `&mut` itself as an argument, and make the struct in the task",
                    );
            }
        }
    }
}

/// Whether there is an enum in a type that holds references.
fn has_borrowing_enum(ty: &Type, structs: &Structs) -> bool {
    let of = |ty: &Type| has_borrowing_enum(ty, structs);
    match ty {
        Type::Struct(id) if structs[*id].is_enum() => ty.has_addresses(structs),
        Type::Struct(id) => structs[*id].fields.iter().any(|(_, ty)| of(ty)),
        Type::Tuple(fields) => fields.iter().any(of),
        Type::Slice { elem: ty, .. }
        | Type::Ref { target: ty, .. }
        | Type::Array(ty, _)
        | Type::Option(ty) => of(ty),
        Type::Result(ok, err) => of(ok) || of(err),
        _ => false,
    }
}

/// Whether there is a struct in a type, whatever that holds.
fn has_struct(ty: &Type) -> bool {
    match ty {
        Type::Struct(_) => true,
        Type::Tuple(fields) => fields.iter().any(has_struct),
        Type::Array(elem, _) | Type::Option(elem) => has_struct(elem),
        Type::Result(ok, err) => has_struct(ok) || has_struct(err),
        _ => false,
    }
}

/// A path's last name, and what stands before it.
pub(crate) fn split_path(path: &syn::Path) -> Option<(syn::Path, syn::PathSegment)> {
    let mut segments: Vec<syn::PathSegment> = path.segments.iter().cloned().collect();
    let last = segments.pop()?;
    let owner = syn::Path {
        leading_colon: path.leading_colon,
        segments: segments.into_iter().collect(),
    };
    (!owner.segments.is_empty()).then_some((owner, last))
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
pub(crate) fn is_plain(ty: &Type, structs: &Structs) -> bool {
    !ty.has_addresses(structs) && !ty.has_atomics(structs)
}

/// Whether what a value of the type borrows may be changed by way of it.
pub(crate) fn is_mutable(ty: &Type, structs: &Structs) -> bool {
    let of = |ty: &Type| is_mutable(ty, structs);
    match ty {
        Type::Slice { mutable, .. } | Type::Ref { mutable, .. } | Type::Mat { mutable, .. } => {
            *mutable
        }
        Type::Tuple(fields) => fields.iter().any(of),
        Type::Struct(id) => structs[*id].fields.iter().any(|(_, ty)| of(ty)),
        Type::Array(elem, _) | Type::Option(elem) => of(elem),
        Type::Result(ok, err) => of(ok) || of(err),
        Type::Scalar(_) | Type::Atomic(_) | Type::Channel(_) => false,
    }
}

/// A name with `'_` for each lifetime that it has, as types are shown.
pub(crate) fn with_lifetimes(name: &str, generics: &syn::Generics, args: &str) -> String {
    let lifetimes = generics.lifetimes().map(|_| "'_");
    let args: Vec<&str> = lifetimes
        .chain(Some(args).filter(|a| !a.is_empty()))
        .collect();
    match args.as_slice() {
        [] => name.to_owned(),
        args => format!("{name}<{}>", args.join(", ")),
    }
}

/// A reference in a type that has no lifetime.
pub(crate) fn without_lifetime(ty: &syn::Type) -> Option<Span> {
    struct Search(Option<Span>);
    impl syn::visit::Visit<'_> for Search {
        fn visit_type_reference(&mut self, r: &syn::TypeReference) {
            if r.lifetime.is_none() {
                self.0 = Some(r.span());
            }
            syn::visit::visit_type_reference(self, r);
        }

        // What a function takes has a lifetime of its own each time.
        fn visit_type_fn_ptr(&mut self, _: &syn::TypeFnPtr) {}
    }
    let mut search = Search(None);
    syn::visit::Visit::visit_type(&mut search, ty);
    search.0
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
