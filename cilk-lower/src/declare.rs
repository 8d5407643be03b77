//! Which items there are, by their names: those of the module, of modules within, of functions and of `impl` blocks.

use crate::{
    consts, enums,
    generics::{self, At, Family, FamilyId, FamilyItem, Known, Member, MemberItem},
    hir::{ConstId, FnId},
    impls::{self, Of},
    items::{Alias, ConstItem, ConstState, Item, Module, derives, with_lifetimes},
    kernels::is_role_attribute,
    names::within,
    traits::Trait,
};
use millstream_graph::ty::{Scalar, StructDef, StructId, Type};
use proc_macro2::Span;
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;

/// Items whose names are known and whose types are not.
#[derive(Default)]
pub(crate) struct Declared {
    pub(crate) structs: Vec<(StructId, syn::ItemStruct, At)>,
    pub(crate) enums: Vec<(StructId, syn::ItemEnum, At)>,
    pub(crate) functions: Vec<(String, syn::ItemFn, At)>,
    pub(crate) blocks: Vec<(syn::ItemImpl, At)>,
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

/// What `Self` is called in a block: the type's name, if that is a name alone. In one of a trait it is known as that.
fn self_name(block: &syn::ItemImpl, of: &Of) -> syn::Ident {
    let named = match &*block.self_ty {
        syn::Type::Path(p) if p.qself.is_none() => match p.path.segments.last() {
            Some(only) if p.path.segments.len() == 1 && !impls::has_args(only) => Some(only),
            _ => None,
        },
        _ => None,
    };
    let is_known = *of == Of::Own || generics::has_params(&block.generics);
    let by_name = named.filter(|_| !is_known);
    by_name.map_or_else(
        || syn::Ident::new("Self", block.self_ty.span()),
        |only| only.ident.clone(),
    )
}

/// What a block with parameters holds, by the names.
fn items_of(members: impls::Members) -> Vec<(String, MemberItem)> {
    let fns = members.fns.into_iter();
    let fns = fns.map(|mut f| {
        generics::let_be_values(&mut f);
        (f.sig.ident.to_string(), MemberItem::Fn(Rc::new(f)))
    });
    let consts = members.consts.into_iter();
    let consts = consts.map(|c| (c.ident.to_string(), MemberItem::Const(Rc::new(c))));
    let types = members.types.into_iter();
    let types = types.map(|t| (t.ident.to_string(), MemberItem::Type(Rc::new(t))));
    fns.chain(consts).chain(types).collect()
}

impl Module {
    pub(crate) fn declare_all(&mut self, items: &[syn::Item], all: &mut Declared) {
        for item in items.iter().filter(|i| !is_cfg_test(i)) {
            match item {
                syn::Item::Mod(m) => self.declare_module(m, all),
                syn::Item::Impl(i) => all.blocks.push((i.clone(), self.at.clone())),
                item => self.declare(item, all),
            }
        }
    }

    /// A struct of the library with parameters, by the name that it has in that module of Rust's, or what its blocks have.
    pub(crate) fn declare_library_item(&mut self, item: &syn::Item, module: &str) {
        match item {
            syn::Item::Struct(s) => {
                let name = within(module, &s.ident.to_string());
                let params = self.params(&s.generics);
                self.families.push(Rc::new(Family {
                    name: name.clone(),
                    params,
                    item: FamilyItem::Struct(Rc::new(s.clone())),
                    at: self.at.clone(),
                }));
                let id = FamilyId(self.families.len() - 1);
                self.names.insert(name, Item::Family(id));
            }
            syn::Item::Impl(i) => {
                let of = match &*i.self_ty {
                    syn::Type::Path(p) => p.path.segments.last(),
                    _ => None,
                };
                let name = of.map(|of| within(module, &of.ident.to_string()));
                if let Some(Item::Family(id)) = name.and_then(|name| self.names.get(&name)) {
                    let id = *id;
                    let members =
                        impls::read(i, &Of::Itself, &self_name(i, &Of::Itself), &mut self.diags);
                    self.declare_members(id, i, &Of::Itself, members);
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
            syn::Item::Enum(e) => {
                if let Some(id) = enums::declare(self, e) {
                    all.enums.push((id, e.clone(), self.at.clone()));
                }
            }
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
                self.know_attributes(&f.attrs);
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
                let params = self.params(&t.generics);
                self.traits.push(Trait {
                    name: self.here(&t.ident),
                    item: Rc::new(t.clone()),
                    params,
                    here: self.at.here.clone(),
                });
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
            self.note_derived(&name, &s.attrs, span);
            let item = FamilyItem::Struct(Rc::new(s.clone()));
            return self.declare_family(&name, &s.generics, item, span);
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
        let owner = self.structs[id].name.clone();
        self.note_derived(&owner, &s.attrs, span);
        self.written_fields.insert(id, Rc::new(s.fields.clone()));
        all.structs.push((id, s.clone(), self.at.clone()));
    }

    /// Takes note of a struct or enum with parameters.
    pub(crate) fn declare_family(
        &mut self,
        name: &str,
        generics: &syn::Generics,
        item: FamilyItem,
        span: Span,
    ) {
        let params = self.params(generics);
        self.families.push(Rc::new(Family {
            name: name.to_owned(),
            params,
            item,
            at: self.at.clone(),
        }));
        let id = FamilyId(self.families.len() - 1);
        self.define(name, span, Item::Family(id));
    }

    /// Remembers whether a struct derives `Default`.
    pub(crate) fn note_derives(&mut self, id: StructId, attrs: &[syn::Attribute]) {
        if derives(attrs, "Default") {
            self.defaults.insert(id);
        }
    }

    /// The number of a function, if it is one before it is known what its parameters are.
    fn declare_fn(&mut self, name: String, item: syn::ItemFn, all: &mut Declared) -> Option<FnId> {
        let around = self.at.clone();
        self.at = self.declare_inside(&name, &item, all);
        let id = self.declare_fn_here(name, item, all);
        self.at = around;
        id
    }

    /// Declares the items in a function's body, and says where its names are looked up.
    fn declare_inside(&mut self, name: &str, item: &syn::ItemFn, all: &mut Declared) -> At {
        let inner = item.block.stmts.iter().filter_map(|stmt| match stmt {
            syn::Stmt::Item(syn::Item::Const(_) | syn::Item::Use(_) | syn::Item::Mod(_)) => None,
            syn::Stmt::Item(item) => Some(item.clone()),
            _ => None,
        });
        let inner: Vec<syn::Item> = inner.collect();
        let uses = |stmt: &syn::Stmt| matches!(stmt, syn::Stmt::Item(syn::Item::Use(_)));
        if inner.is_empty() && !item.block.stmts.iter().any(uses) {
            return self.at.clone();
        }
        let here = format!("{name}{{}}");
        self.inside.insert(here.clone(), self.at.here.clone());
        let at = At {
            here,
            ..self.at.clone()
        };
        let of_items = At {
            here: at.here.clone(),
            ..At::default()
        };
        self.elsewhere(&of_items, |m| m.declare_all(&inner, all));
        at
    }

    /// Whether an item in a function's body is known by its name.
    pub(crate) fn is_inside(&self, item: &syn::Item) -> bool {
        let name = match item {
            syn::Item::Fn(i) => &i.sig.ident,
            syn::Item::Struct(i) => &i.ident,
            syn::Item::Enum(i) => &i.ident,
            syn::Item::Type(i) => &i.ident,
            syn::Item::Trait(i) => &i.ident,
            syn::Item::Static(i) => &i.ident,
            syn::Item::Impl(_) => return self.inside.contains_key(&self.at.here),
            _ => return false,
        };
        self.names.contains_key(&self.here(name))
    }

    fn declare_fn_here(
        &mut self,
        name: String,
        mut item: syn::ItemFn,
        all: &mut Declared,
    ) -> Option<FnId> {
        if !item.attrs.iter().any(is_role_attribute) {
            generics::let_be_values(&mut item);
        }
        let span = item.sig.ident.span();
        if generics::is_generic(&item.sig) {
            if let Some(role) = item.attrs.iter().find(|a| is_role_attribute(a)) {
                let (what, help) = match generics::has_params(&item.sig.generics) {
                    true => (
                        "has parameters of types or numbers",
                        "write a task for each type you need; what they have in common is a helper with parameters",
                    ),
                    false => (
                        "takes or gives what only an `impl` or a `fn` type says",
                        "a task takes and returns values; what is code goes to a helper, which a task calls",
                    ),
                };
                self.diags
                    .error(
                        role.span(),
                        format!("`{}` {what}, and is a task or kernel", item.sig.ident),
                    )
                    .help(help);
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
        self.note_code(&item.sig);
        self.define(&name, span, Item::Fn(id));
        let at = self.at.bounded(&item.sig.generics);
        all.functions.push((name, item, at));
        Some(id)
    }

    /// The members of an `impl` block.
    pub(crate) fn declare_block(&mut self, block: &syn::ItemImpl, all: &mut Declared) {
        let own = self.trait_of(block);
        let mut of = match (&block.trait_, &own) {
            (None, _) => Of::Itself,
            (Some(_), Some(_)) => Of::Own,
            (Some((path, _)), None) => match impls::rusts(path, block, &mut self.diags) {
                Some(of) => of,
                None => return,
            },
        };
        for item in &block.items {
            if let syn::ImplItem::Fn(f) = item {
                self.note_code(&f.sig);
            }
        }
        let mut block = self.by_its_name(block);
        if let Of::Rusts(of) = &mut of {
            self.note_order(of, &block);
            impls::take_reference(&mut block, of);
        }
        let block = &block;
        if let syn::Type::Reference(_) | syn::Type::Slice(_) = &*block.self_ty {
            self.diags
                .error(
                    block.self_ty.span(),
                    "an `impl` block for references or slices is not part of the task language",
                )
                .help("write it for what they refer to, or a function that takes them; there are operators of references, `impl Add for &Point`");
            return;
        }
        let family = match &*block.self_ty {
            syn::Type::Path(p) if p.qself.is_none() => match self.item(&p.path) {
                Some(Item::Family(id)) => Some(id),
                _ => None,
            },
            _ => None,
        };
        match (own, family) {
            (Some((id, path)), family)
                if family.is_some() || generics::has_params(&block.generics) =>
            {
                self.left_out(block, id);
                let members = impls::read(block, &of, &self_name(block, &of), &mut self.diags);
                self.implement_open(id, path, block, items_of(members));
            }
            (None, Some(family)) => {
                let members = impls::read(block, &of, &self_name(block, &of), &mut self.diags);
                self.declare_members(family, block, &of, members);
            }
            (None, None) if generics::has_params(&block.generics) => {
                self.diags
                    .error(
                        block.generics.span(),
                        "an `impl` with parameters of one of Rust's traits belongs to a struct that has parameters",
                    )
                    .help("write one for each type that is meant, as `impl Mul<V<3>> for f32`, or a function with parameters");
            }
            (own, _) => {
                let Some(ty) = self.owner_of(block, &of) else {
                    return;
                };
                self.declare_of(&ty, block, &of, own, all);
            }
        }
    }

    /// A block with the type that an alias in the place of its type is.
    fn by_its_name(&self, block: &syn::ItemImpl) -> syn::ItemImpl {
        let mut block = block.clone();
        while let syn::Type::Path(p) = &*block.self_ty
            && let Some(Item::Alias(id)) = self.item(&p.path)
            && let alias = &self.aliases[id]
            && alias.params.is_empty()
            && alias.at.here == self.at.here
            && !matches!(&*alias.ty, syn::Type::Path(to) if to.path == p.path)
        {
            block.self_ty = Box::new((*alias.ty).clone());
        }
        block
    }

    /// The type whose block it is, which has no parameters.
    fn owner_of(&mut self, block: &syn::ItemImpl, of: &Of) -> Option<Type> {
        let span = block.self_ty.span();
        let refused = "an `impl` block belongs to a struct of this program";
        let named = match &*block.self_ty {
            syn::Type::Path(p) if p.qself.is_none() => Some(&p.path),
            _ => None,
        };
        let known = named.map(|path| (path.segments.last(), self.item(path)));
        match (known, of) {
            (Some((_, Some(Item::Struct(id)))), _) => Some(Type::Struct(id)),
            (Some((Some(last), None)), Of::Own | Of::Rusts(_))
                if Scalar::from_name(&last.ident.to_string()).is_some() =>
            {
                Some(self.resolve_type(&block.self_ty))
            }
            (_, Of::Own) => {
                let before = self.diags.0.len();
                let ty = self.resolve_type(&block.self_ty);
                if self.diags.0.len() > before {
                    return None;
                }
                if let Type::Mat { .. } | Type::Channel(_) | Type::Atomic(_) = ty {
                    let shown = ty.display(&self.structs).to_string();
                    self.diags
                        .error(span, format!("there are no traits for `{shown}`"))
                        .help("write a function that takes the value");
                    return None;
                }
                Some(ty)
            }
            (Some((Some(last), _)), _) => {
                let name = &last.ident;
                self.diags
                    .error(span, format!("there is no struct `{name}` in this program"))
                    .help(refused);
                None
            }
            _ => {
                self.diags
                    .error(span, "an `impl` block belongs to a struct of this module")
                    .help("write a function that takes the value");
                None
            }
        }
    }

    /// The members of a block for a type.
    fn declare_of(
        &mut self,
        ty: &Type,
        block: &syn::ItemImpl,
        of: &Of,
        own: Option<(usize, syn::Path)>,
        all: &mut Declared,
    ) {
        let env = [("Self".to_owned(), Known::Type(ty.clone()))].into();
        let mut at = self.at.with(env);
        let known = ty.display(&self.structs).to_string();
        let by = match own {
            None => None,
            Some((id, path)) => {
                let used = self.elsewhere(&at, |m| m.trait_use(id, &path, ty));
                let Some(used) = used else {
                    let message = format!("`{}` needs its parameters here", self.traits[id].name);
                    self.diags.error(path.span(), message);
                    return;
                };
                let Some(name) = self.implement(&used, ty, block) else {
                    return;
                };
                at = at.by(&used);
                Some((used, name))
            }
        };
        let members = impls::read(block, of, &self_name(block, of), &mut self.diags);
        let prefix = match (of, &by) {
            (_, Some((_, name))) => name.clone(),
            (Of::Rusts(of), None) => format!("<{known} as {of}>"),
            _ => known,
        };
        self.elsewhere(&at, |m| m.declare_own(&prefix, of, members, all));
        if let Some((used, _)) = by {
            let left = self.left_out(block, used.id);
            // What a trait says is said where it stands.
            let at = self.trait_at(&used, ty);
            let members = impls::read(&left, of, &self_name(&left, of), &mut self.diags);
            self.elsewhere(&at, |m| m.declare_own(&prefix, of, members, all));
        }
    }

    /// The members of a block of a type without parameters, which are known behind that.
    fn declare_own(&mut self, known: &str, of: &Of, members: impls::Members, all: &mut Declared) {
        for f in members.fns {
            let method = f.sig.ident.to_string();
            let id = self.declare_fn(impls::full_name(known, &method), f, all);
            if matches!(of, Of::Rusts(of) if of != impls::DEFAULT) {
                self.operators.extend(id.map(|id| (method, id)));
            }
        }
        for c in members.consts {
            let name = impls::full_name(known, &c.ident.to_string());
            self.declare_const(&name, c);
        }
        for t in members.types {
            let name = impls::full_name(known, &t.ident.to_string());
            let item = self.declare_type(&t);
            self.define(&name, t.ident.span(), item);
        }
    }

    /// A type of a trait in a block of it.
    pub(crate) fn declare_type(&mut self, item: &syn::ImplItemType) -> Item {
        self.aliases.push(Alias {
            ty: Rc::new(item.ty.clone()),
            params: Vec::new(),
            at: self.at.clone(),
            busy: false,
        });
        Item::Alias(self.aliases.len() - 1)
    }

    /// The members of an `impl` block of a struct with parameters, which are copied when they are named.
    fn declare_members(
        &mut self,
        family: FamilyId,
        block: &syn::ItemImpl,
        of: &Of,
        members: impls::Members,
    ) {
        let params = self.params(&block.generics);
        let this = Rc::new((*block.self_ty).clone());
        let at = self.at.bounded(&block.generics).of(&this);
        let last = block
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last());
        let operand = last.and_then(|last| match &last.arguments {
            syn::PathArguments::AngleBracketed(args) => match args.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Some(Rc::new(ty.clone())),
                _ => None,
            },
            _ => None,
        });
        for (name, item) in items_of(members) {
            self.members.push(Member {
                family,
                name,
                of: Rc::clone(&this),
                params: params.clone(),
                item,
                at: at.clone(),
                by: match of {
                    Of::Rusts(of) => Some(of.clone()),
                    _ => None,
                },
                operand: operand.clone(),
            });
        }
    }

    /// Functions may have constants of one name, which are numbered then.
    pub(crate) fn declare_const(&mut self, name: &str, item: syn::ItemConst) -> ConstId {
        let id = ConstId(self.consts.len());
        self.define(name, item.ident.span(), Item::Const(id));
        self.push_const(name.to_owned(), item.clone());
        if let Some(rows) = self.declare_rows(name, &item, false) {
            self.consts[id.0].rows = Some(Rc::new(rows));
        }
        id
    }

    /// A constant that nothing has the name of yet.
    pub(crate) fn push_const(&mut self, name: String, item: syn::ItemConst) -> ConstId {
        let id = ConstId(self.consts.len());
        let same = self.consts.iter().any(|c| c.name == name);
        let (item, lent) = consts::behind(item);
        self.consts.push(ConstItem {
            name: match same {
                true => format!("{name}.{}", id.0),
                false => name,
            },
            state: ConstState::Source(Rc::new(item)),
            lent,
            rows: None,
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
                "write out what it would expand to, use a function, or write the macro in the program: `macro_rules!`",
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
}
