//! The buffers of a job, made in the order in which they need each other, and what is expected of them.

use super::{
    Problem,
    call::{self, Inline, Use},
    data::{self, Contents, Data, Edges, File},
    error::{JobError, Result, Source, Text},
    eval::{self, Scope, Written},
    npy::{self, Form},
    spec::{self, Expected, Named, Spec},
    types,
};
use crate::csr::{Csr, CsrError};
use millstream_graph::ty::{Structs, Type};
use std::collections::BTreeMap;
use syn::Expr;

/// Buffers in the making.
pub(super) struct Making<'a> {
    spec: &'a Spec,
    uses: &'a [Use],
    pub(super) scope: Scope<'a>,
    pub(super) made: BTreeMap<String, Data>,
    /// Those that wait for another that they are like, or whose size they ask for.
    open: Vec<String>,
}

impl<'a> Making<'a> {
    pub(super) const fn new(spec: &'a Spec, uses: &'a [Use], scope: Scope<'a>) -> Self {
        Self {
            spec,
            uses,
            scope,
            made: BTreeMap::new(),
            open: Vec::new(),
        }
    }

    fn structs(&self) -> &Structs {
        self.scope.structs
    }

    pub(super) fn add(&mut self, name: String, data: Data) {
        self.scope.shapes.insert(name.clone(), data.shape.clone());
        self.made.insert(name, data);
    }

    /// Makes the buffer of that name unless it is made.
    pub(super) fn buffer(&mut self, name: &str) -> Result<()> {
        if self.made.contains_key(name) {
            return Ok(());
        }
        let spec = self.spec;
        let Some(named) = spec.buffers.iter().find(|b| b.name.as_str() == name) else {
            let known: Vec<&str> = spec.buffers.iter().map(|b| b.name.as_str()).collect();
            return match self.uses.iter().find(|u| u.name.as_str() == name) {
                Some(used) => Err(call::no_buffer(used, &known, self.structs())),
                None => Err(Problem::new(format!("there is no buffer `{name}`")).into()),
            };
        };
        let used = self.uses.iter().find(|u| u.name.as_str() == name);
        if let Contents::Like(of) = &named.value {
            if self.open.iter().any(|o| o == name) {
                return Err(of
                    .problem(format!("the buffer `{name}` is like itself"), "here")
                    .into());
            }
            self.open.push(name.to_owned());
            if spec.buffers.iter().all(|b| b.name.as_str() != of.as_str()) {
                return Err(spec::unknown(
                    of,
                    "buffer",
                    spec.buffers.iter().map(|b| b.name.as_str()),
                )
                .into());
            }
            self.buffer(of.as_str())?;
        }
        self.open.push(name.to_owned());
        for asked in self.asked(&named.value) {
            self.buffer(&asked)?;
        }
        let data = self.contents(&named.value, used, name, Some(&named.name))?;
        tracing::debug!(buffer = name, shape = ?data.shape, "made");
        self.add(name.to_owned(), data);
        Ok(())
    }

    /// The buffers that the calls use and whose sizes are asked for, by parameters too, before there is this one.
    fn asked(&self, contents: &Contents) -> Vec<String> {
        let mut texts = contents.texts();
        let (mut names, mut i) = (Vec::new(), 0);
        while let Some(text) = texts.get(i) {
            i += 1;
            for name in Written::parse(text).map(|w| w.names()).unwrap_or_default() {
                if !names.contains(&name) {
                    let param = self.spec.params.iter().find(|p| p.name.as_str() == name);
                    texts.extend(param.map(|p| &p.value));
                    names.push(name);
                }
            }
        }
        let is_used = |name: &String| self.uses.iter().any(|u| u.name.as_str() == name);
        names.retain(|name| is_used(name) && !self.open.contains(name));
        names
    }

    /// What a buffer holds at first.
    fn contents(
        &self,
        contents: &Contents,
        used: Option<&Use>,
        name: &str,
        at: Option<&Text>,
    ) -> Result<Data> {
        let structs = self.structs();
        let what = format!("buffer `{name}`");
        let elem = |ty: &Option<Text>| match (ty, used) {
            (Some(text), _) => types::parse(text, structs),
            (None, Some(used)) => Ok(used.elem.clone()),
            (None, None) if self.made.contains_key(name) => Ok(self.made[name].elem.clone()),
            (None, None) => {
                let message =
                    format!("{what} needs a type, because the entry call does not use it");
                Err(at
                    .map_or_else(
                        || Problem::new(&message),
                        |t| t.problem(&message, "of which type?"),
                    )
                    .into())
            }
        };
        let zeros = |ty: &Option<Text>, shape: &Text| {
            let shape_of = self.shape(shape, &what)?;
            Data::zeros(elem(ty)?, shape_of, structs).map_err(|e| {
                JobError::from(shape.problem(format!("{what}: {e}"), "too much").of_data())
            })
        };
        match contents {
            Contents::Zeros { ty, shape } => zeros(ty, shape),
            Contents::Iota { ty, shape } => {
                let mut data = zeros(ty, shape)?;
                data.iota(structs);
                Ok(data)
            }
            Contents::Random { ty, shape, seed } => {
                let seed = match seed {
                    Some(seed) => eval::evaluate_usize(
                        &Written::parse(seed)?,
                        &format!("seed of {what}"),
                        &self.scope,
                    )?,
                    None => 0,
                };
                let mut data = zeros(ty, shape)?;
                data.random(structs, seed);
                Ok(data)
            }
            Contents::Like(of) => match self.made.get(of.as_str()) {
                Some(other) => Data::zeros(other.elem.clone(), other.shape.clone(), structs)
                    .map_err(|e| of.problem(e, "here").into()),
                None => {
                    Err(spec::unknown(of, "buffer", self.made.keys().map(String::as_str)).into())
                }
            },
            Contents::Npy(file) => npy::read(
                file,
                used.map(|u| &u.elem),
                used.map_or(Form::Any, |u| u.form),
                structs,
            ),
            Contents::Raw { file, ty, shape } => {
                let shape = shape.as_ref().map(|s| self.shape(s, &what)).transpose()?;
                data::read_raw(file, elem(ty)?, shape, structs)
            }
            Contents::Values { ty, values } => {
                self.values(&Written::parse(values)?, elem(ty).map(Some)?, &what)
            }
            Contents::Graph(part, edges) => {
                let graph = self.graph(edges, &what, at)?;
                Data::numbers(&part.of(graph), structs)
                    .map_err(|e| Problem::new(format!("{what}: {e}")).of_data().into())
            }
        }
    }

    /// The graph of those edges.
    fn graph(&self, edges: &Edges, what: &str, at: Option<&Text>) -> Result<Csr> {
        let number = |text: &Text, of: &str| {
            let written = Written::parse(text)?;
            eval::evaluate_usize(&written, &format!("{of} of {what}"), &self.scope)
        };
        let small = |text: &Text, of: &str| {
            let n = number(text, of)?;
            u32::try_from(n).map_err(|_| {
                let message = format!("{of} of {what}: {n} is too large");
                JobError::from(text.problem(message, "here").of_data())
            })
        };
        let seed = |seed: &Option<Text>| seed.as_ref().map_or(Ok(0), |s| number(s, "seed"));
        let made = match edges {
            Edges::List(file) => return read_edges(file),
            Edges::Rmat {
                scale,
                degree,
                seed: s,
            } => Csr::rmat(small(scale, "scale")?, small(degree, "degree")?, seed(s)?),
            Edges::Grid {
                width,
                height,
                seed: s,
            } => Csr::grid(small(width, "width")?, small(height, "height")?, seed(s)?),
        };
        made.map_err(|e| {
            let message = format!("{what}: {e}");
            let problem = at.map_or_else(
                || Problem::new(&message),
                |t| t.problem(&message, "too large"),
            );
            problem.of_data().into()
        })
    }

    /// A shape: a length, or `[rows, columns]`.
    fn shape(&self, text: &Text, what: &str) -> Result<Vec<u64>> {
        let written = Written::parse(text)?;
        let what = format!("length of {what}");
        let one = |e: &Expr| eval::evaluate_usize(&written.sub(e), &what, &self.scope);
        match &written.expr {
            Expr::Array(array) if (1..=2).contains(&array.elems.len()) => {
                array.elems.iter().map(one).collect()
            }
            Expr::Array(_) => Err(written
                .problem(format!("{what}: a buffer has one dimension or two"), "here")
                .into()),
            other => Ok(vec![one(other)?]),
        }
    }

    /// What is written into the call.
    pub(super) fn inline(&self, inline: &Inline) -> Result<Data> {
        let (written, elem) = (&inline.written, inline.elem.clone());
        if inline.is_array {
            return self.values(written, Some(elem), "an array in the call");
        }
        let one = eval::evaluate(written, &elem, "a value in the call", &self.scope)?;
        self.filled(written, elem, vec![1], |_| one.clone())
    }

    /// Values that are written out: `[1, 2, 3]`, `[[1, 2], [3, 4]]` for two dimensions, `[0; 100]`.
    pub(super) fn values(&self, written: &Written, elem: Option<Type>, what: &str) -> Result<Data> {
        let structs = self.structs();
        let Some(elem) = elem else {
            return Err(written
                .problem(format!("{what} needs a type"), "here")
                .into());
        };
        let rows: Vec<&Expr> = match &written.expr {
            Expr::Array(array) => array.elems.iter().collect(),
            Expr::Repeat(repeat) => {
                let len = eval::evaluate_usize(&written.sub(&repeat.len), what, &self.scope)?;
                let one = eval::evaluate(&written.sub(&repeat.expr), &elem, what, &self.scope)?;
                return self.filled(written, elem, vec![len], |_| one.clone());
            }
            _ => {
                return Err(written
                    .problem(
                        format!("{what}: values are written as `[1, 2, 3]`"),
                        "not an array",
                    )
                    .into());
            }
        };
        // Arrays in the array are rows of a matrix, unless they are the elements.
        let is_matrix =
            !matches!(elem, Type::Array(..)) && rows.iter().any(|r| matches!(r, Expr::Array(_)));
        let (shape, cells) = if is_matrix {
            let cols = |r: &&Expr| {
                if let Expr::Array(a) = r {
                    a.elems.len()
                } else {
                    0
                }
            };
            let width = rows.first().map_or(0, cols);
            if let Some(odd) = rows
                .iter()
                .find(|r| !matches!(r, Expr::Array(a) if a.elems.len() == width))
            {
                return Err(written
                    .sub(odd)
                    .problem(
                        format!("{what}: each row has {width} values"),
                        "a row of another length",
                    )
                    .into());
            }
            let cells = rows
                .iter()
                .flat_map(|r| {
                    if let Expr::Array(a) = r {
                        a.elems.iter().collect()
                    } else {
                        Vec::new()
                    }
                })
                .collect();
            (vec![rows.len() as u64, width as u64], cells)
        } else {
            (vec![rows.len() as u64], rows)
        };
        let values = cells
            .into_iter()
            .map(|c| eval::evaluate(&written.sub(c), &elem, what, &self.scope));
        let mut values = values.collect::<Result<Vec<_>>>()?;
        let data = self.filled(written, elem, shape, |i| {
            std::mem::take(&mut values[i as usize])
        })?;
        debug_assert!(data.validate(structs).is_ok());
        Ok(data)
    }

    fn filled(
        &self,
        written: &Written,
        elem: Type,
        shape: Vec<u64>,
        mut value: impl FnMut(u64) -> Vec<u8>,
    ) -> Result<Data> {
        let stride = elem.layout(self.structs()).size as usize;
        let mut data =
            Data::zeros(elem, shape, self.structs()).map_err(|e| written.problem(e, "too much"))?;
        for i in 0..data.len() {
            data.bytes_mut()[i as usize * stride..][..stride].copy_from_slice(&value(i));
        }
        Ok(data)
    }

    /// A buffer has the type that the task wants.
    pub(super) fn check_use(&self, used: &Use) -> Result<()> {
        let Some(data) = self.made.get(used.name.as_str()) else {
            return Ok(());
        };
        if plain(&data.elem) == plain(&used.elem) {
            return Ok(());
        }
        let (found, wanted) = (
            data.elem.display(self.structs()),
            used.elem.display(self.structs()),
        );
        let message = format!(
            "{}: the buffer `{}` holds `{found}`, but `{wanted}` is wanted",
            used.what,
            used.name.as_str()
        );
        let problem = used.name.problem(message, format!("`{wanted}` is wanted"));
        Err(match used.form {
            Form::One => problem.help(format!("make a buffer of one element: `zeros:{wanted}:1`")),
            Form::Array(len) => problem.help(format!(
                "make a buffer of {len} elements: `zeros:{wanted}:{len}`"
            )),
            _ => problem,
        }
        .into())
    }

    pub(super) fn expected_result(
        &self,
        ret: &Type,
        task: &str,
    ) -> Result<Option<(Vec<u8>, Text)>> {
        let Some(text) = &self.spec.result else {
            return Ok(None);
        };
        if ret.is_unit() {
            return Err(text
                .problem(
                    format!("task `{task}` returns nothing, so no result can be expected"),
                    "here",
                )
                .into());
        }
        Ok(Some((
            eval::evaluate(&Written::parse(text)?, ret, "expected result", &self.scope)?,
            text.clone(),
        )))
    }

    pub(super) fn expected_buffers(&self) -> Result<Vec<(Named<Expected>, Data)>> {
        let mut out = Vec::new();
        for named in &self.spec.after {
            let name = named.name.as_str();
            let Some(first) = self.made.get(name) else {
                return Err(spec::unknown(
                    &named.name,
                    "buffer",
                    self.uses.iter().map(|u| u.name.as_str()),
                )
                .into());
            };
            let used = self.uses.iter().find(|u| u.name.as_str() == name);
            let wanted = match &named.value {
                Expected::Is(contents) => self.contents(contents, used, name, Some(&named.name))?,
                Expected::Sorted if data::scalar(&first.elem).is_none() => {
                    let elem = first.elem.display(self.structs());
                    return Err(named
                        .name
                        .problem(format!("there is no order of `{elem}`"), "cannot be sorted")
                        .into());
                }
                Expected::Sorted => {
                    let mut sorted = first.clone();
                    sorted.sort(self.structs());
                    sorted
                }
            };
            out.push((named.clone(), wanted));
        }
        Ok(out)
    }
}

/// The graph of an edge list; what is wrong with a line is shown where it stands.
fn read_edges(file: &File) -> Result<Csr> {
    let bytes = data::read_bytes(file)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| data::unreadable(file, "it is no text, but an edge list was expected"))?;
    Csr::parse(&text).map_err(|error| match error {
        CsrError::Line { why, span, .. } => {
            let name = file.path.display().to_string();
            Problem::new(why)
                .at(&Source::file(&name, text.clone()), span, "here")
                .of_data()
                .into()
        }
        other => data::unreadable(file, &other.to_string()).into(),
    })
}

/// A type with numbers for its atomics: the same memory.
fn plain(ty: &Type) -> Type {
    match ty {
        Type::Atomic(s) => Type::Scalar(*s),
        Type::Array(elem, len) => Type::Array(Box::new(plain(elem)), *len),
        other => other.clone(),
    }
}
