//! Which items there are, by their names: those of the module, of modules within, of functions and of `impl` blocks.

use crate::{
    consts, enums,
    generics::{self, At, Family, FamilyId, Known, Member},
    hir::{ConstId, FnId},
    impls,
    items::{Alias, ConstItem, ConstState, Item, Module, derives, with_lifetimes},
    kernels::is_role_attribute,
    names::within,
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
            syn::Item::Enum(e) => {
                let id = enums::declare(self, e);
                all.enums.push((id, e.clone(), self.at.clone()));
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
        if inner.is_empty() {
            return self.at.clone();
        }
        let here = format!("{name}{{}}");
        self.inside.insert(here.clone(), self.at.here.clone());
        let at = At {
            here,
            env: Rc::clone(&self.at.env),
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
        item: syn::ItemFn,
        all: &mut Declared,
    ) -> Option<FnId> {
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
    pub(crate) fn declare_block(&mut self, block: &syn::ItemImpl, all: &mut Declared) {
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
        if let (Type::Scalar(scalar), true) = (&ty, own_trait) {
            let names = block.items.iter().filter_map(impls::name_of);
            let defaults = defaults.iter().flat_map(|(block, _)| &block.items);
            for name in names.chain(defaults.filter_map(impls::name_of)) {
                self.refuse_inherent(*scalar, name, owner.span());
            }
        }
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

    /// What a number's type has by itself comes before what a trait gives it: the two are not told apart here.
    fn refuse_inherent(&mut self, of: Scalar, name: &syn::Ident, at: Span) {
        if impls::is_inherent(of, &name.to_string()) {
            self.diags
                .error(
                    at,
                    format!("`{of}` has a `{name}` of its own, which comes before the trait's"),
                )
                .note(name.span(), "it is this name")
                .help("give it another name in the trait");
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
}
