//! What types of the source mean.

use crate::{
    consts, enums,
    generics::{Bound, FamilyId, Known, TraitUse},
    items::{Item, Module, split_path},
    library::Ranges,
};
use millstream_graph::ty::{Scalar, Type};
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;

impl Module {
    /// Whether values of a type are ranges, or hold any.
    pub(crate) fn holds_range(&self, ty: &Type) -> bool {
        let both = self.ranges.map(Ranges::both).into_iter().flatten();
        both.into_iter().any(|range| self.holds(ty, range))
    }

    /// Whether a task may take a value of a type, as far as ranges in it are concerned: these are taken as their two ends, and lie in no memory.
    pub(crate) fn takes_ranges(&self, ty: &Type) -> bool {
        if self.is_range(ty) || !self.holds_range(ty) {
            return true;
        }
        match ty {
            Type::Struct(id) if !self.structs[*id].is_enum() => {
                let fields = &self.structs[*id].fields;
                fields.iter().all(|(_, ty)| self.takes_ranges(ty))
            }
            _ => false,
        }
    }

    /// Whether a type is that of ranges.
    pub(crate) fn is_range(&self, ty: &Type) -> bool {
        let Type::Struct(id) = ty else { return false };
        let both = self.ranges.map(Ranges::both).into_iter().flatten();
        let family = self.copies.get(id).map(|(family, _)| *family);
        both.into_iter().any(|range| family == Some(range))
    }

    /// The type of Rust's library, written beside the program's, that values of a type are, or have parts of.
    pub(crate) fn holds_beside(&self, ty: &Type) -> Option<FamilyId> {
        let families = [
            "std::cmp::Reverse",
            "std::num::Wrapping",
            "std::num::NonZero",
            "std::wide::Wide",
        ];
        let known = families
            .iter()
            .filter_map(|name| match self.names.get(*name) {
                Some(Item::Family(id)) => Some(*id),
                _ => None,
            });
        known.into_iter().find(|family| self.holds(ty, *family))
    }

    /// Whether values of a type refer to some of a family.
    pub(crate) fn lends(&self, ty: &Type, family: FamilyId) -> bool {
        let of = |ty: &Type| self.lends(ty, family);
        match ty {
            Type::Slice { elem, .. } | Type::Ref { target: elem, .. } | Type::Mat { elem, .. } => {
                self.holds(elem, family)
            }
            Type::Tuple(fields) => fields.iter().any(of),
            Type::Array(elem, _) | Type::Option(elem) => of(elem),
            Type::Result(ok, err) => of(ok) || of(err),
            Type::Struct(id) => self.structs[*id].fields.iter().any(|(_, ty)| of(ty)),
            Type::Scalar(_) | Type::Atomic(_) | Type::Channel(_) => false,
        }
    }

    /// Whether values of a type are, or have parts, of a family.
    fn holds(&self, ty: &Type, family: FamilyId) -> bool {
        if let Type::Struct(id) = ty
            && self.copies.get(id).is_some_and(|(of, _)| *of == family)
        {
            return true;
        }
        let elem = match ty {
            Type::Array(elem, _)
            | Type::Slice { elem, .. }
            | Type::Ref { target: elem, .. }
            | Type::Mat { elem, .. }
            | Type::Channel(elem) => Some(&**elem),
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
            syn::Type::Path(p) => match &p.qself {
                None => self.resolve_path(&p.path),
                Some(q) => self.resolve_part(p, q),
            },
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
                        "an `impl` type stands only in the parameters of a function, and for what one gives",
                    )
                    .help("write the type that it is");
                Type::unit()
            }
            syn::Type::FnPtr(f) => self.resolve_pointer(f),
            syn::Type::TraitObject(t) => {
                self.diags
                    .error(t.span(), "a `dyn` type is not part of the task language: which function is called is known beforehand")
                    .help("take any type that has the trait: `impl Trait`, or `impl Fn(..) -> ..`, without a reference");
                Type::unit()
            }
            other => {
                self.diags
                    .error(other.span(), format!("the type `{}` is not part of the task language", other.to_token_stream()))
                    .help("there are numbers, bool, arrays, tuples, structs, enums, `Option`, `Result`, slices, references, atomics, `Mat<T>` and `MatMut<T>`");
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
                .help(match target {
                    Type::Mat { mutable: true, .. } => format!(
                        "take `{shown}` itself, and give it `m.reborrow()` where `m` is still wanted behind the call"
                    ),
                    _ => format!("pass `{shown}` itself"),
                });
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
        match self.item(path) {
            // Unless the program has its own.
            None if name == "Mat" || name == "MatMut" => {
                return self.resolve_mat(last, name == "MatMut");
            }
            None if name == "Option" => return self.resolve_option(last),
            None if name == "Result" => return self.resolve_result(last),
            None if name == "Ordering" && !enums::is_of_atomics(path) => {
                return Type::Struct(self.ordering());
            }
            Some(Item::Struct(id)) => return Type::Struct(id),
            Some(Item::Family(id)) => {
                let of = self.written(id, last);
                return of.map_or_else(Type::unit, Type::Struct);
            }
            Some(Item::Alias(id)) => return self.resolve_alias(id, last),
            _ => {}
        }
        if let Some(ty) = self.part_named(path) {
            return ty;
        }
        let help = match name.as_str() {
            "char" | "str" | "String" => {
                "there is no text on a device: use `u8` and `u32`".to_owned()
            }
            "Vec" | "Box" | "VecDeque" | "BinaryHeap" | "LinkedList" | "HashMap" | "BTreeMap"
            | "HashSet" | "BTreeSet" => {
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

    /// The type that an alias without parameters stands for.
    pub(crate) fn resolve_named(&mut self, id: usize) -> Type {
        let segment = syn::Ident::new("Self", proc_macro2::Span::call_site()).into();
        self.resolve_alias(id, &segment)
    }

    /// `Self::Item`, `T::Item` or `<T as Trait>::Item`: a type that the type in front has by a trait.
    fn type_of_owner(
        &mut self,
        owner: &Type,
        by: Option<&syn::Path>,
        key: Option<&str>,
        last: &syn::PathSegment,
    ) -> Option<Type> {
        let name = last.ident.to_string();
        let by: Vec<TraitUse> = match by.and_then(|path| Some((self.item(path)?, path))) {
            Some((Item::Trait(id), path)) => self.trait_use(id, path, owner).into_iter().collect(),
            _ => self.said_types(owner, key, &name),
        };
        let impls = match by.is_empty() {
            true => self.given_to(owner, &name),
            false => by.iter().filter_map(|by| self.impl_by(by, owner)).collect(),
        };
        let mut types: Vec<Type> = impls
            .iter()
            .filter_map(|i| self.type_given(i, &name))
            .collect();
        types.dedup();
        if types.len() > 1 {
            let shown = owner.display(&self.structs).to_string();
            self.diags
                .error(
                    last.span(),
                    format!("several traits give `{shown}` a type `{name}`"),
                )
                .help(format!("say which: `<{shown} as Trait>::{name}`"));
        }
        types.pop()
    }

    /// The traits that a parameter, or a block, says its type has, and that have a type of that name.
    fn said_types(&mut self, owner: &Type, key: Option<&str>, name: &str) -> Vec<TraitUse> {
        let Some(key) = key else { return Vec::new() };
        let bounds = Rc::clone(&self.at.bounds);
        let mut said = Vec::new();
        for path in bounds.get(key).unwrap_or_default() {
            self.said_by(path, owner, &mut said);
        }
        let said = said.into_iter().filter_map(|bound| match bound {
            Bound::Own(of) => Some(of),
            Bound::Rusts(..) => None,
        });
        let of_block = bounds.by.iter().filter(|_| key == "Self").cloned();
        let has = |of: &TraitUse| {
            let item = self.traits[of.id].get(name);
            matches!(item, Some(syn::TraitItem::Type(_)))
        };
        of_block.chain(said).filter(has).collect()
    }

    /// The type in front of the last name of a path.
    fn owner_in(&mut self, path: &syn::Path) -> Option<(Type, syn::PathSegment)> {
        let (owner, last) = split_path(path)?;
        let ty = match self.known(&owner).cloned() {
            Some(Known::Type(ty)) => ty,
            _ => match self.item(&owner)? {
                Item::Struct(id) => Type::Struct(id),
                Item::Family(_) | Item::Alias(_) => self.resolve_path(&owner),
                _ => return None,
            },
        };
        Some((ty, last))
    }

    /// The type of a type that a path names, `T::Item`.
    pub(crate) fn part_named(&mut self, path: &syn::Path) -> Option<Type> {
        let (owner, last) = self.owner_in(path)?;
        let key = path.segments.first().map(|s| s.ident.to_string());
        let key = key.filter(|_| path.segments.len() == 2);
        self.type_of_owner(&owner, None, key.as_deref(), &last)
    }

    /// `<T as Trait>::Item`, `<T>::Item`
    fn resolve_part(&mut self, p: &syn::TypePath, q: &syn::QSelf) -> Type {
        let owner = self.resolve_type(&q.ty);
        let (by, last) = match split_path(&p.path) {
            Some((by, last)) => (Some(by), Some(last)),
            None => (None, p.path.segments.last().cloned()),
        };
        let Some(last) = last else {
            return Type::unit();
        };
        self.type_of_owner(&owner, by.as_ref(), None, &last)
            .unwrap_or_else(|| {
                let (shown, name) = (owner.display(&self.structs).to_string(), &last.ident);
                self.diags
                    .error(
                        last.span(),
                        format!("no trait gives `{shown}` a type `{name}`"),
                    )
                    .help(format!(
                        "an `impl` of the trait says what it is: `type {name} = ..;`"
                    ));
                Type::unit()
            })
    }

    fn resolve_option(&mut self, segment: &syn::PathSegment) -> Type {
        match &self.held_by(segment, 1, "write `Option<u32>`")[..] {
            [some] => Type::Option(Box::new(some.clone())),
            _ => Type::unit(),
        }
    }

    fn resolve_result(&mut self, segment: &syn::PathSegment) -> Type {
        match &self.held_by(segment, 2, "write `Result<u32, Fault>`")[..] {
            [ok, err] => Type::Result(Box::new(ok.clone()), Box::new(err.clone())),
            _ => Type::unit(),
        }
    }

    /// The types that an `Option` or a `Result` holds; none if something is wrong, and has been said.
    fn held_by(&mut self, segment: &syn::PathSegment, count: usize, help: &str) -> Vec<Type> {
        let name = &segment.ident;
        let given = types_in(&segment.arguments);
        if given.len() != count {
            let holds = match count {
                1 => "the type it holds",
                _ => "the types of its value and of its error",
            };
            self.diags
                .error(segment.span(), format!("`{name}` needs {holds}"))
                .help(help);
            return Vec::new();
        }
        let article = if count == 1 { "an" } else { "a" };
        let mut types = Vec::new();
        for given in given {
            let ty = self.resolve_type(given);
            if ty.has_atomics(&self.structs) {
                self.diags
                    .error(
                        given.span(),
                        format!("{article} `{name}` cannot hold an atomic"),
                    )
                    .help("give the atomic by reference, and a `bool` beside it");
            }
            types.push(ty);
        }
        types
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

/// The types among a path's arguments.
pub(crate) fn types_in(arguments: &syn::PathArguments) -> Vec<&syn::Type> {
    let syn::PathArguments::AngleBracketed(given) = arguments else {
        return Vec::new();
    };
    let types = given.args.iter().filter_map(|arg| match arg {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}
