//! Which functions are kernels, and their signatures: the element that a kernel consumes, its channels, and what is bound to it.

use crate::items::{Module, is_mutable, is_plain, is_task_attribute};
use millstream_graph::{ir::FunctionKind, ty::Type};
use quote::ToTokens;
use syn::spanned::Spanned;

/// Whether an attribute is `#[kernel]`, however its path is written.
#[must_use]
pub fn is_kernel_attribute(attr: &syn::Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|s| s.ident == "kernel")
}

/// Whether an attribute makes a function more than a helper: `#[task]` or `#[kernel]`.
#[must_use]
pub fn is_role_attribute(attr: &syn::Attribute) -> bool {
    is_task_attribute(attr) || is_kernel_attribute(attr)
}

/// Attributes of functions that Rust knows.
const RUSTS: [&str; 20] = [
    "allow",
    "automatically_derived",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "export_name",
    "forbid",
    "ignore",
    "inline",
    "must_use",
    "no_mangle",
    "should_panic",
    "target_feature",
    "test",
    "track_caller",
    "warn",
];

impl Module {
    /// Says which attributes of a function nobody knows: what was to be a task would be none.
    pub(crate) fn know_attributes(&mut self, attrs: &[syn::Attribute]) {
        // Where `#[parallel]` stands is looked at elsewhere (`placed.rs`).
        let others = attrs
            .iter()
            .filter(|a| !is_role_attribute(a) && !a.path().is_ident("parallel"));
        for attr in others {
            let Some(name) = attr.path().get_ident().map(ToString::to_string) else {
                continue;
            };
            if !RUSTS.contains(&name.as_str()) {
                self.diags
                    .error(attr.span(), format!("there is no attribute `#[{name}]` of a function"))
                    .help("a task has `#[task]` in front of it, a kernel `#[kernel]`; a helper has neither");
            }
        }
    }
}

/// The types that only parameters of kernels have.
const HANDLES: [&str; 2] = ["Channel", "Element"];

/// What the parameters of a kernel are.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) params: Vec<(syn::Pat, Type)>,
    /// Whether the element is written `Element<T>`: the body takes it by `deq`.
    pub(crate) held: bool,
}

impl Module {
    /// What the attributes of a function say that it is.
    pub(crate) fn role(&mut self, item: &syn::ItemFn) -> FunctionKind {
        let has = |which: fn(&syn::Attribute) -> bool| item.attrs.iter().any(which);
        match (has(is_task_attribute), has(is_kernel_attribute)) {
            (false, false) => FunctionKind::Helper,
            (true, false) => FunctionKind::Task,
            (false, true) => FunctionKind::Kernel,
            (true, true) => {
                let name = &item.sig.ident;
                self.diags
                    .error(name.span(), format!("`{name}` is a task and a kernel"))
                    .help("leave out `#[task]`: a kernel may spawn tasks");
                FunctionKind::Kernel
            }
        }
    }

    /// The parameters of a kernel. What it returns, and receivers, others refuse.
    pub(crate) fn kernel_signature(&mut self, sig: &syn::Signature) -> Signature {
        let (mut params, mut held) = (Vec::new(), false);
        let typed = sig.inputs.iter().filter_map(|i| match i {
            syn::FnArg::Typed(p) => Some(p),
            syn::FnArg::Receiver(_) => None,
        });
        for (i, p) in typed.enumerate() {
            let ty = if i == 0 {
                held = self
                    .handle(&p.ty)
                    .is_some_and(|(name, _)| name == "Element");
                self.element_type(&p.ty)
            } else {
                self.kernel_param(&p.ty)
            };
            let named = matches!(&*p.pat, syn::Pat::Ident(_) | syn::Pat::Wild(_));
            if !named && (held && i == 0 || matches!(ty, Type::Channel(_))) {
                self.diags
                    .error(p.pat.span(), "this parameter needs a name")
                    .help("what is in an `Element` comes with `deq()`, and a channel has no parts");
            }
            params.push(((*p.pat).clone(), ty));
        }
        if sig.inputs.is_empty() {
            self.diags
                .error(sig.ident.span(), format!("the kernel `{}` has no element", sig.ident))
                .help("its first parameter is the element that it consumes: a value without references, or `Element<T>`");
        }
        if !matches!(sig.output, syn::ReturnType::Default)
            && sig.output.to_token_stream().to_string() != "-> ()"
        {
            self.diags
                .error(sig.output.span(), "a kernel returns nothing")
                .help("emit it into a channel, or add it to an atomic");
        }
        Signature { params, held }
    }

    /// The type in `Channel<T>` or `Element<T>`, if nothing of the program has that name.
    fn handle<'t>(&self, ty: &'t syn::Type) -> Option<(&'static str, Option<&'t syn::Type>)> {
        let syn::Type::Path(path) = ty else {
            return None;
        };
        let whole = self.whole_path(&path.path);
        let name = whole.as_ref().unwrap_or(&path.path).segments.last()?;
        let name = HANDLES.into_iter().find(|h| name.ident == h)?;
        if self.named(name).is_some() {
            return None;
        }
        let inner = match &path.path.segments.last()?.arguments {
            syn::PathArguments::AngleBracketed(args) => args.args.iter().find_map(|a| match a {
                syn::GenericArgument::Type(t) => Some(t),
                _ => None,
            }),
            _ => None,
        };
        Some((name, inner))
    }

    /// The type of the element that a kernel consumes.
    fn element_type(&mut self, ty: &syn::Type) -> Type {
        match self.handle(ty) {
            Some(("Element", Some(inner))) => self.element(inner),
            Some(("Channel", _)) => {
                self.diags
                    .error(ty.span(), "the first parameter of a kernel is the element that it consumes")
                    .help("put it in front of the channels: a value without references, or `Element<T>`");
                Type::unit()
            }
            Some((name, _)) => self.no_type_held(ty, name),
            None => self.element(ty),
        }
    }

    /// A type whose values lie in a channel.
    fn element(&mut self, ty: &syn::Type) -> Type {
        let element = self.resolve_type(ty);
        if !is_plain(&element, &self.structs) {
            let shown = element.display(&self.structs).to_string();
            self.diags
                .error(ty.span(), format!("an element of a channel cannot be `{shown}`"))
                .help("elements are plain data: let them hold an index into a slice that the kernel is given as an argument");
            return Type::unit();
        }
        element
    }

    /// The type of a parameter of a kernel behind the first: a channel, or what is bound to it.
    fn kernel_param(&mut self, ty: &syn::Type) -> Type {
        match self.handle(ty) {
            Some(("Channel", Some(inner))) => return Type::Channel(Box::new(self.element(inner))),
            Some(("Element", Some(_))) => {
                self.diags
                    .error(ty.span(), "a kernel consumes one channel: only its first parameter is an element")
                    .help("let other kernels consume the other channels, and emit into one of this kernel's");
                return Type::unit();
            }
            Some((name, _)) => return self.no_type_held(ty, name),
            None => {}
        }
        if let syn::Type::Reference(r) = ty
            && let Some((name, _)) = self.handle(&r.elem)
        {
            self.diags
                .error(ty.span(), format!("a reference to a `{name}`"))
                .help(format!(
                    "a kernel takes the `{name}` itself: leave out the `&`"
                ));
            return Type::unit();
        }
        let bound = self.resolve_type(ty);
        let shown = bound.display(&self.structs).to_string();
        if is_mutable(&bound, &self.structs) {
            self.diags
                .error(ty.span(), format!("a kernel cannot have `{shown}`"))
                .help("its elements run side by side: share atomics by `&`, as in `&[AtomicU32]`, or emit what is to be written to a channel");
        } else if matches!(&bound, Type::Atomic(_)) {
            self.diags
                .error(ty.span(), "an atomic cannot be passed by value")
                .help("pass it by reference: `&AtomicU32`");
        } else if matches!(
            &bound,
            Type::Tuple(_) | Type::Option(_) | Type::Result(..) | Type::Struct(_)
        ) && !is_plain(&bound, &self.structs)
        {
            self.diags
                .error(ty.span(), format!("a kernel cannot have `{shown}`"))
                .help("give each reference a parameter of its own");
        }
        bound
    }

    fn no_type_held(&mut self, ty: &syn::Type, name: &str) -> Type {
        self.diags
            .error(ty.span(), format!("`{name}` needs the type it holds"))
            .help(format!("write `{name}<u32>`"));
        Type::unit()
    }

    /// Says what is wrong with `Channel<T>` or `Element<T>` where it is not a parameter of a kernel. Whether it is one of these.
    pub(crate) fn refuse_handle(&mut self, ty: &syn::TypePath) -> bool {
        let Some((name, _)) = self.handle(&syn::Type::Path(ty.clone())) else {
            return false;
        };
        self.diags
            .error(
                ty.span(),
                format!("`{name}` stands only in the parameters of a kernel"),
            )
            .help("a helper or task returns what is to be emitted, and the kernel emits it");
        true
    }
}
