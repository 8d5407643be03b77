//! The items of a program module: its structs, constants and the signatures of its functions, with all their types resolved.

use crate::{
    consts::{self, Lent},
    diag::Diagnostics,
    enums,
    generics::{self, At, Family, FamilyId, Known, Member, Param, Template, TemplateId},
    hir::{ConstId, FnId},
    impls,
    kernels::is_role_attribute,
    library::Library,
    names::within,
};
use millstream_graph::{
    ir::{FunctionKind, Options},
    ty::{Scalar, StructDef, StructId, Structs, Type},
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
    /// Traits, and their modules.
    pub(crate) traits: Vec<(Rc<syn::ItemTrait>, String)>,
    pub(crate) templates: Vec<Rc<Template>>,
    pub(crate) families: Vec<Rc<Family>>,
    pub(crate) members: Vec<Member>,
    /// Of which family a struct is, and for which arguments.
    pub(crate) copies: BTreeMap<StructId, (FamilyId, Vec<Known>)>,
    /// Functions that constants may call, whose bodies stand there then.
    pub(crate) const_fns: BTreeMap<FnId, TemplateId>,
    pub(crate) library: Library,
    /// The type of `a..b`.
    pub(crate) range: Option<FamilyId>,
    /// The modules within the program.
    pub(crate) modules: BTreeSet<String>,
    /// Where names are looked up now.
    pub(crate) at: At,
    /// Structs that derive `Default`.
    pub(crate) defaults: BTreeSet<StructId>,
    /// Structs and enums that derive `PartialOrd`.
    pub(crate) ordered: BTreeSet<StructId>,
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
    params: Vec<Param>,
    at: At,
    /// It is being resolved: meeting it again is a cycle.
    busy: bool,
}

/// A constant.
#[derive(Debug)]
pub(crate) struct ConstItem {
    pub(crate) name: String,
    pub(crate) state: ConstState,
    pub(crate) at: At,
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
    pub(crate) at: At,
    /// Of a copy: where it was first used.
    pub(crate) used: Option<Span>,
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
        traits: Vec::new(),
        templates: Vec::new(),
        families: Vec::new(),
        members: Vec::new(),
        copies: BTreeMap::new(),
        const_fns: BTreeMap::new(),
        library: Library::default(),
        range: None,
        modules: BTreeSet::new(),
        at: At::default(),
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
    let mut all = Declared::default();
    m.declare_library();
    m.declare_all(items, &mut all);
    // A block may stand before its struct.
    for (block, at) in std::mem::take(&mut all.blocks) {
        m.at = at;
        m.declare_block(&block, &mut all);
    }
    for (id, item, at) in all.structs {
        m.elsewhere(&at, |m| m.resolve_struct(id, &item));
    }
    for i in 0..m.consts.len() {
        consts::value(&mut m, ConstId(i), Span::call_site());
    }
    for (name, item, at) in all.functions {
        m.elsewhere(&at, |m| m.resolve_fn(name, &item));
    }
    m.at = At::default();
    m
}

/// Items whose names are known and whose types are not.
#[derive(Default)]
struct Declared {
    structs: Vec<(StructId, syn::ItemStruct, At)>,
    functions: Vec<(String, syn::ItemFn, At)>,
    blocks: Vec<(syn::ItemImpl, At)>,
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
    fn declare_all(&mut self, items: &[syn::Item], all: &mut Declared) {
        for item in items.iter().filter(|i| !is_cfg_test(i)) {
            match item {
                syn::Item::Mod(m) => self.declare_module(m, all),
                syn::Item::Impl(i) => all.blocks.push((i.clone(), self.at.clone())),
                item => self.declare(item, all),
            }
        }
    }

    /// A struct of the library with parameters, by the name that it has in Rust, or what its blocks have.
    pub(crate) fn declare_library_item(&mut self, item: &syn::Item, name: &str) {
        match item {
            syn::Item::Struct(s) => {
                let params = self.params(&s.generics);
                self.families.push(Rc::new(Family {
                    name: name.to_owned(),
                    params,
                    item: Rc::new(s.clone()),
                    at: self.at.clone(),
                }));
                let id = FamilyId(self.families.len() - 1);
                self.names.insert(name.to_owned(), Item::Family(id));
            }
            syn::Item::Impl(i) => {
                if let Some(Item::Family(id)) = self.names.get(name) {
                    let (id, members) = (*id, impls::read(i, false, &mut self.diags));
                    self.declare_members(id, i, members);
                }
            }
            _ => {}
        }
    }

    fn declare_module(&mut self, item: &syn::ItemMod, all: &mut Declared) {
        let Some((_, items)) = &item.content else {
            self.diags
                .error(item.span(), "a module within a program needs its body here")
                .help("write `mod name { .. }`, not `mod name;`");
            return;
        };
        let here = within(&self.at.here, &item.ident.to_string());
        self.modules.insert(here.clone());
        let at = At {
            here,
            ..At::default()
        };
        self.elsewhere(&at, |m| m.declare_all(items, all));
    }

    /// A name of the module that is read, as the program knows it.
    fn here(&self, name: &syn::Ident) -> String {
        within(&self.at.here, &name.to_string())
    }

    fn declare(&mut self, item: &syn::Item, all: &mut Declared) {
        match item {
            syn::Item::Struct(s) => self.declare_struct(s, all),
            syn::Item::Enum(e) => enums::declare(self, e),
            syn::Item::Const(c) => {
                if c.ident == "_" {
                    return;
                }
                self.declare_const(&self.here(&c.ident), c.clone());
            }
            // Nothing writes to it, so that it is a constant on a device.
            syn::Item::Static(s) if matches!(s.mutability, syn::StaticMutability::None) => {
                let (ident, ty, expr) = (&s.ident, &s.ty, &s.expr);
                let constant = syn::parse_quote_spanned!(s.span()=> const #ident: #ty = #expr;);
                self.declare_const(&self.here(ident), constant);
            }
            syn::Item::Fn(f) => {
                let name = self.here(&f.sig.ident);
                if let Some(role) = f.attrs.iter().find(|a| is_role_attribute(a))
                    && !self.at.here.is_empty()
                {
                    self.diags
                        .error(
                            role.span(),
                            "a task or kernel stands at the top of the program",
                        )
                        .help("move it there; it may call what the modules within have");
                }
                self.declare_fn(name, f.clone(), all);
            }
            syn::Item::Type(t) => {
                let params = self.params(&t.generics);
                self.aliases.push(Alias {
                    ty: Rc::new((*t.ty).clone()),
                    params,
                    at: self.at.clone(),
                    busy: false,
                });
                let id = self.aliases.len() - 1;
                self.define(&self.here(&t.ident), t.ident.span(), Item::Alias(id));
            }
            syn::Item::Trait(t) => {
                self.traits.push((Rc::new(t.clone()), self.at.here.clone()));
                let id = self.traits.len() - 1;
                self.define(&self.here(&t.ident), t.ident.span(), Item::Trait(id));
            }
            syn::Item::Use(u) => self.import(u),
            other => self.refuse_item(other),
        }
    }

    fn declare_struct(&mut self, s: &syn::ItemStruct, all: &mut Declared) {
        let (name, span) = (self.here(&s.ident), s.ident.span());
        if generics::has_params(&s.generics) {
            let params = self.params(&s.generics);
            self.families.push(Rc::new(Family {
                name: name.clone(),
                params,
                item: Rc::new(s.clone()),
                at: self.at.clone(),
            }));
            let id = FamilyId(self.families.len() - 1);
            return self.define(&name, span, Item::Family(id));
        }
        let tuple = matches!(s.fields, syn::Fields::Unnamed(_));
        let id = self.structs.push(StructDef {
            name: with_lifetimes(&name, &s.generics, ""),
            fields: Vec::new(),
            tuple,
            variants: Vec::new(),
        });
        self.define(&name, span, Item::Struct(id));
        self.note_derives(id, &s.attrs);
        all.structs.push((id, s.clone(), self.at.clone()));
    }

    /// Remembers what a struct derives that the language asks for.
    pub(crate) fn note_derives(&mut self, id: StructId, attrs: &[syn::Attribute]) {
        if derives(attrs, "Default") {
            self.defaults.insert(id);
        }
        if derives(attrs, "PartialOrd") {
            self.ordered.insert(id);
        }
    }

    /// The number of a function, if it is one before it is known what its parameters are.
    fn declare_fn(&mut self, name: String, item: syn::ItemFn, all: &mut Declared) -> Option<FnId> {
        let span = item.sig.ident.span();
        if generics::is_generic(&item.sig) {
            if let Some(role) = item.attrs.iter().find(|a| is_role_attribute(a)) {
                self.diags
                    .error(role.span(), format!("`{}` has parameters of types or numbers, and is a task or kernel", item.sig.ident))
                    .help("write a task for each type you need; what they have in common is a helper with parameters");
            }
            let id = self.template(name.clone(), item);
            self.define(&name, span, Item::Template(id));
            return None;
        }
        let id = FnId(all.functions.len());
        if item.sig.constness.is_some() {
            let of = self.template(name.clone(), item.clone());
            self.const_fns.insert(id, of);
        }
        self.define(&name, span, Item::Fn(id));
        all.functions.push((name, item, self.at.clone()));
        Some(id)
    }

    /// The members of an `impl` block.
    fn declare_block(&mut self, block: &syn::ItemImpl, all: &mut Declared) {
        let defaults = self.defaults_of(block);
        let own_trait = defaults.is_some();
        let members = impls::read(block, own_trait, &mut self.diags);
        let Some(owner) = members.owner.clone() else {
            return;
        };
        let name = owner.to_string();
        let scalar = Scalar::from_name(&name).filter(|_| own_trait || members.operator.is_some());
        let ty = match (self.named(&name), scalar) {
            (Some(Item::Family(family)), _) => {
                let block = self.joined(block, defaults);
                let members = impls::read(&block, own_trait, &mut self.diags);
                return self.declare_members(family, &block, members);
            }
            (Some(Item::Struct(id)), _) => Type::Struct(id),
            (None, Some(scalar)) => Type::Scalar(scalar),
            _ => {
                let d = self.diags.error(
                    owner.span(),
                    format!("there is no struct `{owner}` in this program"),
                );
                d.help("an `impl` block belongs to a struct of this program");
                return;
            }
        };
        let known = ty.display(&self.structs).to_string();
        self.declare_own(&known, members, all);
        if let Some((mut block, here)) = defaults {
            // What a trait says is said where it stands.
            *block.self_ty = syn::parse_quote!(Self);
            let env = [("Self".to_owned(), Known::Type(ty))].into();
            let at = At {
                here,
                ..At::default()
            }
            .with(env);
            let members = impls::read(&block, true, &mut self.diags);
            let around = std::mem::replace(&mut self.at, at);
            self.declare_own(&known, members, all);
            self.at = around;
        }
    }

    /// The block of a struct with parameters with what its trait says for all.
    fn joined(
        &mut self,
        block: &syn::ItemImpl,
        defaults: Option<(syn::ItemImpl, String)>,
    ) -> syn::ItemImpl {
        let mut block = block.clone();
        if let Some((defaults, here)) = defaults {
            if here != self.at.here && !defaults.items.is_empty() {
                self.diags
                    .error(
                        block.self_ty.span(),
                        "this takes what the trait says for all from another module",
                    )
                    .help("write it here, or put the trait into the module of the struct");
            }
            block.items.extend(defaults.items);
        }
        block
    }

    /// The members of a block of a struct without parameters, which is known as that.
    fn declare_own(&mut self, known: &str, members: impls::Members, all: &mut Declared) {
        for f in members.fns {
            let method = f.sig.ident.to_string();
            let mut name = impls::full_name(known, &method);
            if let Some(of) = &members.operator {
                name += of;
            }
            let id = self.declare_fn(name, f, all);
            if members.operator.is_some() {
                self.operators.extend(id.map(|id| (method, id)));
            }
        }
        for c in members.consts {
            let name = impls::full_name(known, &c.ident.to_string());
            self.declare_const(&name, c);
        }
        for t in members.types {
            self.aliases.push(Alias {
                ty: Rc::new(t.ty),
                params: Vec::new(),
                at: self.at.clone(),
                busy: false,
            });
            let id = self.aliases.len() - 1;
            let name = impls::full_name(known, &t.ident.to_string());
            self.define(&name, t.ident.span(), Item::Alias(id));
        }
    }

    /// The members of an `impl` block of a struct with parameters, which are copied when they are named.
    fn declare_members(
        &mut self,
        family: FamilyId,
        block: &syn::ItemImpl,
        members: impls::Members,
    ) {
        if let Some(t) = members.types.first() {
            self.diags
                .error(t.span(), "a type of a trait, for a struct with parameters")
                .help("write the type out where it is used");
        }
        let params = self.params(&block.generics);
        let of = Rc::new((*block.self_ty).clone());
        let fns = members.fns.into_iter().map(|f| {
            let name = f.sig.ident.to_string();
            (name, generics::MemberItem::Fn(Rc::new(f)))
        });
        let consts = members.consts.into_iter().map(|c| {
            let name = c.ident.to_string();
            (name, generics::MemberItem::Const(Rc::new(c)))
        });
        for (name, item) in fns.chain(consts) {
            self.members.push(Member {
                family,
                name,
                of: Rc::clone(&of),
                params: params.clone(),
                item,
                at: self.at.clone(),
                operator: members.operator.clone(),
            });
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
            at: self.at.clone(),
        });
        id
    }

    fn refuse_item(&mut self, item: &syn::Item) {
        let (what, help) = match item {
            syn::Item::Static(_) => (
                "a `static mut`",
                "leave out the `mut` if nothing writes to it, else pass a buffer as an argument",
            ),
            syn::Item::TraitAlias(_) => ("a trait alias", "write the bounds out"),
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

    pub(crate) fn resolve_struct(&mut self, id: StructId, item: &syn::ItemStruct) {
        let mut fields = Vec::new();
        for (i, field) in item.fields.iter().enumerate() {
            let name = field
                .ident
                .as_ref()
                .map_or_else(|| i.to_string(), ToString::to_string);
            let ty = self.resolve_type(&field.ty);
            let mutable = is_mutable(&ty, &self.structs);
            if mutable || ty.has_atomics(&self.structs) {
                let shown = ty.display(&self.structs).to_string();
                self.diags
                    .error(field.ty.span(), format!("a struct field cannot be `{shown}`"))
                    .help(match mutable {
                        true => "a struct holds plain data and what it shares: pass what is written beside it, as an argument of its own",
                        false => "a struct holds plain data and what it shares: give it the atomic by `&`, as `&'a AtomicU32`",
                    });
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
        if kind != FunctionKind::Helper
            && let Some(range) = self.range
        {
            let mut types = params.iter().map(|(_, ty)| ty).chain([&ret]);
            if types.any(|ty| self.holds(ty, range)) {
                self.diags
                    .error(sig.span(), "a task or kernel cannot take or return a range")
                    .help("give it the two ends");
            }
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
            params,
            held,
            ret,
            block,
            at: self.at.clone(),
            used: None,
        });
        FnId(self.fns.len() - 1)
    }

    /// Whether values of a type are, or have parts, of a family.
    fn holds(&self, ty: &Type, family: FamilyId) -> bool {
        if let Type::Struct(id) = ty
            && self.copies.get(id).is_some_and(|(of, _)| *of == family)
        {
            return true;
        }
        let elem = match ty {
            Type::Array(elem, _) | Type::Slice { elem, .. } | Type::Ref { target: elem, .. } => {
                Some(&**elem)
            }
            _ => None,
        };
        elem.is_some_and(|ty| self.holds(ty, family))
            || ty
                .fields(&self.structs)
                .iter()
                .any(|(ty, _)| self.holds(ty, family))
    }

    /// What a type of the source means. An error gives the unit type.
    pub(crate) fn resolve_type(&mut self, ty: &syn::Type) -> Type {
        match ty {
            syn::Type::Paren(p) => self.resolve_type(&p.elem),
            syn::Type::Group(g) => self.resolve_type(&g.elem),
            syn::Type::Tuple(t) => {
                Type::Tuple(t.elems.iter().map(|t| self.resolve_type(t)).collect())
            }
            syn::Type::Array(a) => {
                let elem = self.resolve_type(&a.elem);
                let len = consts::eval_usize(self, &a.len).unwrap_or(0);
                Type::Array(Box::new(elem), len)
            }
            syn::Type::Reference(r) => self.resolve_reference(r),
            syn::Type::Path(p) if self.refuse_handle(p) => Type::unit(),
            syn::Type::Path(p) if p.qself.is_none() => self.resolve_path(&p.path),
            syn::Type::Slice(s) => {
                self.diags
                    .error(s.span(), "a slice needs a reference in front")
                    .help("write `&[T]` or `&mut [T]`");
                Type::unit()
            }
            syn::Type::Infer(i) => {
                self.diags
                    .error(i.span(), "the type must be written out here");
                Type::unit()
            }
            syn::Type::ImplTrait(i) => {
                self.diags
                    .error(
                        i.span(),
                        "an `impl` type stands only in the parameters of a function",
                    )
                    .help("write the type that it is; a closure is not returned: write a function");
                Type::unit()
            }
            syn::Type::TraitObject(t) => {
                self.diags
                    .error(t.span(), "a `dyn` type is not part of the task language: which function is called is known beforehand")
                    .help("take any type that has the trait: `impl Trait`, or `impl Fn(..) -> ..`, without a reference");
                Type::unit()
            }
            other => {
                self.diags
                    .error(other.span(), format!("the type `{}` is not part of the task language", other.to_token_stream()))
                    .help("there are numbers, bool, arrays, tuples, structs, `Option`, slices, references, atomics, `Mat<T>` and `MatMut<T>`");
                Type::unit()
            }
        }
    }

    fn resolve_reference(&mut self, r: &syn::TypeReference) -> Type {
        let mutable = r.mutability.is_some();
        let (target, slice) = match &*r.elem {
            // Of references to references the last alone says enough.
            syn::Type::Reference(inner) => {
                let mut last = inner;
                while let syn::Type::Reference(next) = &*last.elem {
                    last = next;
                }
                (self.resolve_reference(last), false)
            }
            syn::Type::Slice(s) => (self.resolve_type(&s.elem), true),
            other => (self.resolve_type(other), false),
        };
        if mutable && matches!(target, Type::Atomic(_)) {
            self.diags
                .error(r.span(), "an atomic behind `&mut`")
                .help("share it: write `&` instead of `&mut`");
        }
        let holds_reference = matches!(
            target,
            Type::Slice { .. } | Type::Ref { .. } | Type::Mat { .. }
        );
        if holds_reference {
            let shown = target.display(&self.structs).to_string();
            self.diags
                .error(
                    r.span(),
                    format!("a reference to `{shown}` is not part of the task language"),
                )
                .help(format!("pass `{shown}` itself"));
            return target;
        }
        if slice {
            Type::Slice {
                mutable,
                elem: Box::new(target),
            }
        } else {
            Type::Ref {
                mutable,
                target: Box::new(target),
            }
        }
    }

    fn resolve_path(&mut self, path: &syn::Path) -> Type {
        match self.known(path).cloned() {
            Some(Known::Type(ty)) => return ty,
            Some(Known::Number(..)) => {
                self.diags
                    .error(path.span(), "this parameter is a number, not a type");
                return Type::unit();
            }
            None => {}
        }
        let path = &self.whole_path(path).unwrap_or_else(|| path.clone());
        let Some(last) = path.segments.last() else {
            return Type::unit();
        };
        let name = last.ident.to_string();
        if let Some(scalar) = Scalar::from_name(&name).filter(|s| *s != Scalar::Ptr) {
            return Type::Scalar(scalar);
        }
        if let Some(inner) = name
            .strip_prefix("Atomic")
            .and_then(|s| Scalar::from_name(&s.to_lowercase()))
            && (inner.is_int() || inner == Scalar::Bool)
        {
            return Type::Atomic(inner);
        }
        if name == "Mat" || name == "MatMut" {
            return self.resolve_mat(last, name == "MatMut");
        }
        match self.item(path) {
            None if name == "Option" => return self.resolve_option(last),
            Some(Item::Struct(id)) => return Type::Struct(id),
            Some(Item::Family(id)) => {
                let of = self.written(id, last);
                return of.map_or_else(Type::unit, Type::Struct);
            }
            Some(Item::Alias(id)) => return self.resolve_alias(id, last),
            _ => {}
        }
        if let Some(ty) = self.type_of_owner(path) {
            return ty;
        }
        let help = match name.as_str() {
            "u128" | "i128" => "the widest integers are 64 bits: use two of them".to_owned(),
            "char" | "str" | "String" => {
                "there is no text on a device: use `u8` and `u32`".to_owned()
            }
            "Vec" | "Box" => {
                "nothing is allocated in a task: use an array, or pass a slice".to_owned()
            }
            "int" | "int32" | "int32_t" => "did you mean `i32`?".to_owned(),
            "uint" | "unsigned" | "uint32" | "uint32_t" => "did you mean `u32`?".to_owned(),
            "long" | "int64" | "int64_t" => "did you mean `i64`?".to_owned(),
            "ulong" | "uint64" | "uint64_t" => "did you mean `u64`?".to_owned(),
            "float" => "did you mean `f32`?".to_owned(),
            "double" => "did you mean `f64`?".to_owned(),
            "Mutex" | "RwLock" | "Cell" | "RefCell" | "Rc" | "Arc" => {
                "children share atomics by `&`, and are lent parts of a slice by `&mut`".to_owned()
            }
            "Result" => "use an `Option`, or an enum that says what went wrong".to_owned(),
            _ => {
                let mut known: Vec<&str> = Scalar::ALL.into_iter().map(Scalar::name).collect();
                known.extend(self.structs.iter().map(|(_, d)| d.name.as_str()));
                let near = crate::check::nearest(&name, known.into_iter());
                near.map_or_else(
                    || "define it as a struct in this module".to_owned(),
                    |n| format!("did you mean `{n}`?"),
                )
            }
        };
        self.diags
            .error(
                path.span(),
                format!("there is no type `{name}` in this program"),
            )
            .help(help);
        Type::unit()
    }

    fn resolve_alias(&mut self, id: usize, segment: &syn::PathSegment) -> Type {
        let (alias, span) = (self.aliases[id].clone(), segment.span());
        if alias.busy {
            self.diags.error(span, "this type alias stands for itself");
            return Type::unit();
        }
        let Some(known) = self.arguments(&alias.params, &segment.arguments, span) else {
            return Type::unit();
        };
        if known.len() < alias.params.len() {
            self.diags.error(
                span,
                format!("`{}` needs its parameters here", segment.ident),
            );
            return Type::unit();
        }
        self.aliases[id].busy = true;
        let names = alias.params.iter().map(|p| p.name.clone());
        let at = alias.at.with(names.zip(known).collect());
        let resolved = self.elsewhere(&at, |m| m.resolve_type(&alias.ty));
        self.aliases[id].busy = false;
        resolved
    }

    /// `Self::Item`: a type that an `impl` block of the type in front has.
    fn type_of_owner(&mut self, path: &syn::Path) -> Option<Type> {
        let (owner, last) = split_path(path)?;
        let owner = match self.known(&owner).cloned() {
            Some(Known::Type(ty)) => ty,
            _ => match self.item(&owner)? {
                Item::Struct(id) => Type::Struct(id),
                _ => return None,
            },
        };
        let owner = owner.display(&self.structs).to_string();
        match self
            .names
            .get(&impls::full_name(&owner, &last.ident.to_string()))
        {
            Some(Item::Alias(id)) => Some(self.resolve_alias(*id, &last)),
            _ => None,
        }
    }

    fn resolve_option(&mut self, segment: &syn::PathSegment) -> Type {
        let some = match &segment.arguments {
            syn::PathArguments::AngleBracketed(args) => args.args.first(),
            _ => None,
        };
        let Some(syn::GenericArgument::Type(some)) = some else {
            self.diags
                .error(segment.span(), "`Option` needs the type it holds")
                .help("write `Option<u32>`");
            return Type::unit();
        };
        let ty = self.resolve_type(some);
        if ty.has_atomics(&self.structs) {
            self.diags
                .error(some.span(), "an `Option` cannot hold an atomic")
                .help("give the atomic by reference, and a `bool` beside it");
        }
        Type::Option(Box::new(ty))
    }

    fn resolve_mat(&mut self, segment: &syn::PathSegment, mutable: bool) -> Type {
        let elem = match &segment.arguments {
            syn::PathArguments::AngleBracketed(args) => args.args.iter().find_map(|a| match a {
                syn::GenericArgument::Type(t) => Some(t.clone()),
                _ => None,
            }),
            _ => None,
        };
        let Some(elem) = elem else {
            self.diags
                .error(
                    segment.span(),
                    format!("`{}` needs the type it holds", segment.ident),
                )
                .help(format!("write `{}<f32>`", segment.ident));
            return Type::unit();
        };
        let ty = self.resolve_type(&elem);
        if ty.scalar().is_none() {
            self.diags
                .error(elem.span(), "a matrix holds numbers")
                .help("write `Mat<f32>`, `Mat<f64>` or another number type");
        }
        Type::Mat {
            mutable,
            elem: Box::new(ty),
        }
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
    match ty {
        Type::Slice { mutable, .. } | Type::Ref { mutable, .. } | Type::Mat { mutable, .. } => {
            *mutable
        }
        Type::Tuple(fields) => fields.iter().any(|t| is_mutable(t, structs)),
        Type::Array(elem, _) | Type::Option(elem) => is_mutable(elem, structs),
        Type::Struct(_) | Type::Scalar(_) | Type::Atomic(_) | Type::Channel(_) => false,
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
fn without_lifetime(ty: &syn::Type) -> Option<Span> {
    struct Search(Option<Span>);
    impl syn::visit::Visit<'_> for Search {
        fn visit_type_reference(&mut self, r: &syn::TypeReference) {
            if r.lifetime.is_none() {
                self.0 = Some(r.span());
            }
            syn::visit::visit_type_reference(self, r);
        }
    }
    let mut search = Search(None);
    syn::visit::Visit::visit_type(&mut search, ty);
    search.0
}

fn contains_struct(ty: &Type, id: StructId, structs: &Structs) -> bool {
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
        _ => false,
    }
}
