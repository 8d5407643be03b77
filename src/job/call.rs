//! The entry call: which task, and what each parameter gets.
//!
//! Arguments are read twice: first for the buffers that they name and the types these must have, then, when the buffers are there, for
//! their values, which may ask for a buffer's length.

use super::{
    error::{JobError, Problem, Result, Source, Text},
    eval::{self, Scope, Written, name_of},
    npy::Form,
    value,
};
use millstream_aggregator::ErasedArg;
use millstream_graph::{
    graph::nearest,
    ir::{Function, FunctionKind, Param, Program},
    ty::{PieceKind, Structs, Type},
};
use std::collections::BTreeMap;
use syn::{Expr, UnOp, spanned::Spanned};

/// The task that is called and what is written for its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) task: String,
    /// One for each parameter; one without text of its own is its parameter's name.
    pub(crate) args: Vec<Written>,
}

/// A parameter and what is written for it.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) param: Param,
    pub(crate) arg: Written,
    /// ``argument `data` of `sort` ``
    pub(crate) what: String,
    /// Of what it is a parameter, as that is declared.
    pub(crate) declared: String,
    /// Which of the run's calls it is of.
    pub(crate) call: usize,
}

/// A buffer that the call names.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) name: Text,
    pub(crate) elem: Type,
    pub(crate) form: Form,
    /// Who uses it: ``argument `data` of `sort` ``.
    pub(crate) what: String,
}

/// What a parameter gets.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Arg {
    /// A value: its memory.
    Value(Vec<u8>, Type),
    /// The parts of a tuple or struct that holds references.
    Parts(Vec<Arg>),
    /// A buffer of the job.
    Buffer {
        name: String,
        mutable: bool,
        view: View,
        shown: String,
    },
}

/// What of a buffer is passed beside its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum View {
    /// Nothing.
    Ref,
    /// The length.
    Slice(u64),
    /// Rows and columns.
    Matrix(u64, u64),
}

/// `fib(n: u32) -> u64`
pub(crate) fn signature(function: &Function, structs: &Structs) -> String {
    let params: Vec<String> = function
        .params
        .iter()
        .map(|p| format!("{}: {}", p.name, p.ty.display(structs)))
        .collect();
    let ret = if function.ret.is_unit() {
        String::new()
    } else {
        format!(" -> {}", function.ret.display(structs))
    };
    format!("{}({}){ret}", function.name, params.join(", "))
}

impl Entry {
    /// Reads the call. Without one it is the only task, or the one with the program's name.
    pub(crate) fn read(text: Option<&Text>, program: &Program) -> Result<Self> {
        let Some(text) = text else {
            let name = default_task(program)?;
            let function = task(program, name)
                .ok_or_else(|| Problem::new(format!("there is no task `{name}`")))?;
            return Ok(Self {
                task: name.to_owned(),
                args: function.params.iter().map(by_name).collect(),
            });
        };
        let whole = Written::parse(text)?;
        let (callee, given) = match &whole.expr {
            Expr::Call(call) => (&*call.func, Some(&call.args)),
            other => (other, None),
        };
        let Some(name) = name_of(callee) else {
            let shown = match callee {
                Expr::Path(_) => "its name has a path",
                _ => "not a call",
            };
            let problem = whole.problem("the entry is a call of a task", shown);
            let help = match callee {
                Expr::Path(_) => {
                    "leave out the path: a task is named by its name alone, `sort(&mut data, &mut tmp)`"
                }
                _ => "write it as `sort(&mut data, &mut tmp)`",
            };
            return Err(problem.help(help).into());
        };
        let Some(function) = task(program, &name) else {
            return Err(no_task(&whole.sub(callee), &name, program).into());
        };
        let declared = format!("declared as `{}`", signature(function, &program.structs));
        let mut args: Vec<Written> = given.into_iter().flatten().map(|e| whole.sub(e)).collect();
        // `fib` and `queens(8, ..)` leave arguments to the parameters' names.
        let rest = given.is_none()
            || args.last().is_some_and(
                |a| matches!(&a.expr, Expr::Range(r) if r.start.is_none() && r.end.is_none()),
            );
        if rest {
            args.pop();
            args.extend(function.params.iter().skip(args.len()).map(by_name));
        }
        let (found, wanted) = (args.len(), function.params.len());
        if found != wanted {
            let plural = |n: usize| {
                if n == 1 {
                    "1 argument".to_owned()
                } else {
                    format!("{n} arguments")
                }
            };
            let given = if found == 1 {
                "was given"
            } else {
                "were given"
            };
            let message = format!(
                "task `{name}` takes {}, but {found} {given}",
                plural(wanted)
            );
            return Err(whole
                .problem(message, format!("{} here", plural(found)))
                .help(declared)
                .into());
        }
        Ok(Self { task: name, args })
    }

    fn function<'p>(&self, program: &'p Program) -> Result<&'p Function> {
        task(program, &self.task)
            .ok_or_else(|| Problem::new(format!("there is no task `{}`", self.task)).into())
    }

    /// The task's parameters and what each is given.
    pub(crate) fn given(&self, program: &Program) -> Result<Vec<Given>> {
        let function = self.function(program)?;
        let params = function.params.iter().zip(&self.args);
        Ok(params
            .map(|(param, arg)| Given::new(param, arg.clone(), &self.task, function, program))
            .collect())
    }

    /// The call with its values in it, for readers.
    pub(crate) fn shown(&self, args: &[Arg], structs: &Structs) -> String {
        let shown: Vec<String> = args.iter().map(|a| a.shown(structs)).collect();
        format!("{}({})", self.task, shown.join(", "))
    }
}

impl Given {
    /// Of a parameter of this function, which goes by that name.
    pub(crate) fn new(
        param: &Param,
        arg: Written,
        of: &str,
        function: &Function,
        program: &Program,
    ) -> Self {
        Self {
            what: format!("argument `{}` of `{of}`", param.name),
            param: param.clone(),
            arg,
            declared: signature(function, &program.structs),
            call: 0,
        }
    }

    fn bind(&self, scope: &Scope<'_>) -> Result<Arg> {
        let Self {
            param, arg, what, ..
        } = self;
        let missing = name_of(&arg.expr)
            .filter(|n| *n == param.name && is_by_name(arg) && !scope.params.contains_key(n));
        if let (Some(name), false) = (missing, param.ty.has_addresses(scope.structs)) {
            let message = format!(
                "{what} has no value; a `{}` is expected",
                param.ty.display(scope.structs)
            );
            return Err(Problem::new(message)
                .help(format!(
                    "give it by `--set {name}=..`, or in the call; it is declared as `{}`",
                    self.declared
                ))
                .into());
        }
        bind_arg(arg, &param.ty, self, scope)
    }
}

/// The buffers that the arguments name.
pub(crate) fn uses(given: &[Given], structs: &Structs) -> Result<Vec<Use>> {
    let mut out = Vec::new();
    for Given {
        param, arg, what, ..
    } in given
    {
        collect_uses(arg, &param.ty, what, structs, &mut out)?;
    }
    Ok(out)
}

/// The values of the arguments.
pub(crate) fn bind(given: &[Given], scope: &Scope<'_>) -> Result<Vec<Arg>> {
    given.iter().map(|g| g.bind(scope)).collect()
}

impl Arg {
    fn shown(&self, structs: &Structs) -> String {
        match self {
            Self::Value(bytes, ty) => value::text(bytes, ty, structs),
            Self::Parts(parts) => format!(
                "({})",
                parts
                    .iter()
                    .map(|p| p.shown(structs))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            Self::Buffer { shown, .. } => shown.clone(),
        }
    }

    /// The buffers in it, and whether they are written.
    pub(crate) fn buffers(&self) -> Vec<(&str, bool)> {
        match self {
            Self::Value(..) => Vec::new(),
            Self::Parts(parts) => parts.iter().flat_map(Self::buffers).collect(),
            Self::Buffer { name, mutable, .. } => vec![(name, *mutable)],
        }
    }

    /// The pieces of a value.
    pub(crate) fn value_pieces<'a>(
        bytes: &[u8],
        ty: &Type,
        structs: &Structs,
    ) -> Vec<ErasedArg<'a>> {
        let piece = |p: millstream_graph::ty::Piece| match p.kind {
            PieceKind::Scalar(s) => ErasedArg::Scalar(value::read_bits(bytes, p.offset, s)),
            PieceKind::Blob(layout) => {
                ErasedArg::Blob(bytes[p.offset as usize..][..layout.size as usize].to_vec())
            }
        };
        ty.pieces(structs).into_iter().map(piece).collect()
    }
}

/// The task of that name.
pub(crate) fn task<'p>(program: &'p Program, name: &str) -> Option<&'p Function> {
    program.callable().map(|(_, f)| f).find(|f| f.name == name)
}

/// The only task, or the one that has the program's name.
fn default_task(program: &Program) -> Result<&str> {
    let names: Vec<&str> = program.callable().map(|(_, f)| f.name.as_str()).collect();
    match names[..] {
        [one] => Ok(one),
        [] => {
            let problem = Problem::new(format!(
                "the program `{}` has kernels, and no task that could be called",
                program.name
            ));
            Err(problem.help(GRAPH).into())
        }
        _ => names
            .iter()
            .find(|n| **n == program.name)
            .copied()
            .ok_or_else(|| {
                let problem = Problem::new(format!(
                    "which task? the program `{}` has `{}`",
                    program.name,
                    names.join("`, `")
                ));
                problem.help("name it: `--entry 'TASK(..)'`").into()
            }),
    }
}

/// What to do with a kernel.
const GRAPH: &str = "a graph runs it over the elements of a channel: docs/graph.md";

fn no_task(callee: &Written, name: &str, program: &Program) -> Problem {
    if program.kernels().any(|(_, f)| f.name == name) {
        let problem = callee.problem(format!("`{name}` is a kernel, not a task"), "not a task");
        return problem.help(GRAPH);
    }
    let is_helper = |f: &Function| f.kind == FunctionKind::Helper && f.name == name;
    if program.functions.iter().any(is_helper) {
        let problem = callee.problem(
            format!("`{name}` is a helper function, not a task"),
            "not a task",
        );
        return problem.help("put `#[task]` in front of it");
    }
    let problem = callee.problem(
        format!("the program `{}` has no task `{name}`", program.name),
        "no such task",
    );
    problem.meant(name, program.callable().map(|(_, f)| f.name.as_str()))
}

/// An argument that is left to the parameter's name. Its text stands nowhere, so that problems with it have no place.
fn by_name(param: &Param) -> Written {
    let source = Source::file("entry", param.name.clone());
    let ident = syn::Ident::new_raw(&param.name, proc_macro2::Span::call_site());
    let ident = syn::parse_str(&param.name).unwrap_or(ident);
    let path = Expr::Path(syn::ExprPath {
        attrs: Vec::new(),
        qself: None,
        path: syn::Path::from(ident),
    });
    Written {
        text: Text::within(&source, &param.name),
        expr: path,
    }
}

fn is_by_name(arg: &Written) -> bool {
    arg.text.is_of("entry")
}

/// An argument without `&`, parentheses and `Mat::new`: the buffer's expression, whether it was borrowed as mutable (none if it was not
/// borrowed at all), and what `Mat::new` was given.
struct Place<'e> {
    expr: &'e Expr,
    borrowed: Option<bool>,
    shape: Option<[&'e Expr; 2]>,
}

fn place(expr: &Expr) -> Place<'_> {
    match expr {
        Expr::Paren(inner) => place(&inner.expr),
        Expr::Group(inner) => place(&inner.expr),
        Expr::Reference(r) => Place {
            borrowed: Some(r.mutability.is_some()),
            ..place(&r.expr)
        },
        // `*x` and `&*x` are as good as `x`.
        Expr::Unary(syn::ExprUnary {
            op: UnOp::Deref(_),
            expr,
            ..
        }) => place(expr),
        Expr::Call(call) if call.args.len() == 3 && is_mat_new(&call.func) => Place {
            shape: Some([&call.args[1], &call.args[2]]),
            ..place(&call.args[0])
        },
        other => Place {
            expr: other,
            borrowed: None,
            shape: None,
        },
    }
}

fn is_mat_new(func: &Expr) -> bool {
    let Expr::Path(p) = func else { return false };
    let names: Vec<String> = p
        .path
        .segments
        .iter()
        .map(|s| s.ident.to_string())
        .collect();
    matches!(&names[..], [ty, new] if (ty == "Mat" || ty == "MatMut") && new == "new")
}

/// The elements of the buffer that a parameter takes, and their shape.
fn form_of<'t>(ty: &'t Type, place: &Place<'_>) -> Option<(&'t Type, Form)> {
    Some(match ty {
        Type::Slice { elem, .. } => (elem, Form::Slice),
        Type::Mat { elem, .. } if place.shape.is_some() => (elem, Form::Any),
        Type::Mat { elem, .. } => (elem, Form::Matrix),
        Type::Ref { target, .. } => match &**target {
            Type::Array(elem, len) => (elem, Form::Array(*len)),
            one => (one, Form::One),
        },
        _ => return None,
    })
}

fn collect_uses(
    arg: &Written,
    ty: &Type,
    what: &str,
    structs: &Structs,
    out: &mut Vec<Use>,
) -> Result<()> {
    if let Type::Tuple(fields) = ty
        && let (Expr::Tuple(tuple), true) = (&arg.expr, ty.has_addresses(structs))
        && tuple.elems.len() == fields.len()
    {
        return fields
            .iter()
            .zip(&tuple.elems)
            .try_for_each(|(field, e)| collect_uses(&arg.sub(e), field, what, structs, out));
    }
    let place = place(&arg.expr);
    let Some((elem, form)) = form_of(ty, &place) else {
        return Ok(());
    };
    let place_text = arg.sub(place.expr);
    match (name_of(place.expr), place.expr) {
        (Some(name), _) => {
            let span = place.expr.span().byte_range();
            let text = if is_by_name(arg) {
                arg.text.clone()
            } else {
                arg.text.part(span)
            };
            debug_assert_eq!(text.as_str(), name);
            out.push(Use {
                name: text,
                elem: elem.clone(),
                form,
                what: what.to_owned(),
            });
            Ok(())
        }
        (None, Expr::Array(_) | Expr::Repeat(_)) if form != Form::One => Ok(()),
        (None, _) if form == Form::One && is_value(&place) => Ok(()),
        (None, _) => {
            let wanted = ty.display(structs);
            let problem = place_text.problem(
                format!(
                    "{what}: expected `{wanted}`, found `{}`",
                    place_text.shown()
                ),
                "not a buffer",
            );
            Err(problem.help("pass a whole buffer by its name, as in `&mut data`, or what it holds, as in `&[1, 2, 3]`").into())
        }
    }
}

/// Buffers that hold arrays written into a call are named by their place, of which each call has its own.
fn inline_name(given: &Given, expr: &Expr) -> String {
    let at = expr.span().byte_range();
    format!("[{} {}: {}..{}]", given.call, given.what, at.start, at.end)
}

/// An array, or a value behind `&`, that is written into the call.
pub(crate) struct Inline {
    pub(crate) name: String,
    /// Which parameter takes it, by its name alone and in full.
    pub(crate) param: String,
    pub(crate) what: String,
    pub(crate) written: Written,
    /// The type of the elements, or of the value.
    pub(crate) elem: Type,
    pub(crate) is_array: bool,
}

/// All of them.
pub(crate) fn inlines(given: &[Given]) -> Vec<Inline> {
    let mut out = Vec::new();
    for one in given {
        let Given {
            param, arg, what, ..
        } = one;
        let place = place(&arg.expr);
        let Some((elem, form)) = form_of(&param.ty, &place) else {
            continue;
        };
        let is_array = form != Form::One;
        let array = matches!(place.expr, Expr::Array(_) | Expr::Repeat(_));
        if is_array && array || !is_array && is_value(&place) {
            out.push(Inline {
                name: inline_name(one, place.expr),
                param: param.name.clone(),
                what: what.clone(),
                written: arg.sub(place.expr),
                elem: elem.clone(),
                is_array,
            });
        }
    }
    out
}

/// Whether it is a value behind `&` and no buffer's name.
fn is_value(place: &Place<'_>) -> bool {
    place.borrowed.is_some() && place.shape.is_none() && name_of(place.expr).is_none()
}

fn bind_arg(arg: &Written, ty: &Type, given: &Given, scope: &Scope<'_>) -> Result<Arg> {
    let what = &given.what;
    if !ty.has_addresses(scope.structs) {
        return Ok(Arg::Value(
            eval::evaluate(arg, ty, what, scope)?,
            ty.clone(),
        ));
    }
    let wanted = ty.display(scope.structs).to_string();
    if let Type::Tuple(fields) = ty
        && let Expr::Tuple(tuple) = &arg.expr
        && tuple.elems.len() == fields.len()
    {
        let parts = fields
            .iter()
            .zip(&tuple.elems)
            .map(|(field, e)| bind_arg(&arg.sub(e), field, given, scope));
        return Ok(Arg::Parts(parts.collect::<Result<_>>()?));
    }
    let (mutable, elem) = match ty {
        Type::Slice { mutable, elem } | Type::Mat { mutable, elem } => (*mutable, elem),
        Type::Ref { mutable, target } => (*mutable, target),
        _ => {
            return Err(arg
                .problem(
                    format!("{what}: a `{wanted}` cannot be given from here"),
                    "",
                )
                .into());
        }
    };
    let place = place(&arg.expr);
    let name = match (name_of(place.expr), place.expr) {
        (Some(name), _) => name,
        (None, expr) => inline_name(given, expr),
    };
    if place.borrowed == Some(false) && mutable {
        let problem = arg.problem(
            format!("{what}: expected `{wanted}`, found a shared borrow"),
            "not mutable",
        );
        let held = arg.sub(place.expr);
        return Err(problem
            .help(format!("write `&mut {}`", held.shown()))
            .into());
    }
    let shape = scope.shapes.get(&name).cloned().unwrap_or_default();
    let len: u64 = shape.iter().product();
    let view = match (ty, place.shape) {
        (Type::Slice { .. }, _) => View::Slice(len),
        (Type::Ref { target, .. }, _) => {
            let count = match **target {
                Type::Array(_, count) => count,
                _ => 1,
            };
            if len != count {
                let has = match name_of(place.expr) {
                    Some(name) => format!("`{name}` has"),
                    None => "there are".to_owned(),
                };
                let elements = |n| if n == 1 { "element" } else { "elements" };
                let message = format!(
                    "{what}: expected `{wanted}`, but {has} {len} {}",
                    elements(len)
                );
                let label = match count {
                    1 => "one element is wanted".to_owned(),
                    _ => format!("{count} elements are wanted"),
                };
                return Err(arg.problem(message, label).into());
            }
            View::Ref
        }
        (_, Some([rows, cols])) => {
            let rows = eval::evaluate_usize(&arg.sub(rows), what, scope)?;
            let cols = eval::evaluate_usize(&arg.sub(cols), what, scope)?;
            if rows.checked_mul(cols) != Some(len) {
                let message =
                    format!("{what}: {rows} rows of {cols} are not the {len} elements of `{name}`");
                return Err(arg.problem(message, "here").into());
            }
            View::Matrix(rows, cols)
        }
        (_, None) => match shape[..] {
            [rows, cols] => View::Matrix(rows, cols),
            _ => {
                let problem = arg.problem(
                    format!("{what}: expected `{wanted}`, but `{name}` has one dimension"),
                    "two are wanted",
                );
                return Err(problem
                    .help(format!(
                        "give it a shape of two, or write `Mat::new(&{name}, rows, cols)`"
                    ))
                    .into());
            }
        },
    };
    let shown = if is_by_name(arg) {
        format!("&{}{name}", if mutable { "mut " } else { "" })
    } else {
        arg.shown().to_owned()
    };
    // Tasks write to atomics through a shared reference.
    let mutable = mutable || elem.has_atomics(scope.structs);
    Ok(Arg::Buffer {
        name,
        mutable,
        view,
        shown,
    })
}

/// Refuses a buffer that is passed twice unless both only read it, as Rust would; or both take it for atomics, where `shared` is so.
pub(crate) fn no_aliases(given: &[Given], args: &[Arg], shared: bool) -> Result<()> {
    let mut seen: BTreeMap<&str, bool> = BTreeMap::new();
    for (arg, Given { arg: written, .. }) in args.iter().zip(given) {
        for (name, mutable) in arg.buffers() {
            if let Some(before) = seen.get(name)
                && (*before || mutable)
                && !(shared && *before && mutable)
            {
                let (message, help) = if shared {
                    (
                        format!("the buffer `{name}` is passed for numbers and for atomics"),
                        "kernels may share a buffer if all of them read it, or all take it for atomics",
                    )
                } else {
                    (
                        format!("the buffer `{name}` is passed twice, and a task writes to it"),
                        "tasks may share a buffer only if all of them read it",
                    )
                };
                let problem = if is_by_name(written) {
                    Problem::new(message)
                } else {
                    written.problem(message, "passed again")
                };
                return Err(problem.help(help).into());
            }
            seen.insert(name, mutable);
        }
    }
    Ok(())
}

/// The problem of a buffer that the call names and nobody has given.
pub(crate) fn no_buffer(used: &Use, known: &[&str], structs: &Structs) -> JobError {
    let (name, elem) = (used.name.as_str(), used.elem.display(structs));
    let message = format!("there is no buffer `{name}`, which {} takes", used.what);
    let problem = if used.name.is_of("entry") {
        Problem::new(message)
    } else {
        used.name.problem(message, "not there")
    };
    match nearest(name, known) {
        Some(near) => problem.help(format!("did you mean `{near}`?")).into(),
        None => {
            let len = match used.form {
                Form::One => 1,
                Form::Array(len) => len,
                Form::Slice | Form::Matrix | Form::Any => 1000,
            };
            let help = format!(
                "give it by `--input {name}=FILE.npy` or `--buffer {name}=zeros:{elem}:{len}`"
            );
            problem.help(help).into()
        }
    }
}
