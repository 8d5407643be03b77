//! Rules 1 and 2: the program's names, types and constants.

use super::{VerifyError, repeated};
use crate::{
    ir::{Program, Span},
    ty::{HAS, Layout, StructDef, Structs, Type},
};

pub(super) fn check_program(program: &Program) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    let mut fail = |message: String| {
        errors.push(VerifyError {
            function: String::new(),
            block: None,
            code: String::new(),
            span: Span::default(),
            message,
        });
    };
    for name in repeated(program.functions.iter().map(|f| f.name.as_str())) {
        fail(format!("two functions are called `{name}`"));
    }
    for name in repeated(program.structs.iter().map(|(_, s)| s.name.as_str())) {
        fail(format!("two structs are called `{name}`"));
    }
    for (_, def) in program.structs.iter().filter(|(_, s)| s.is_enum()) {
        if let Err(problem) = check_enum(def) {
            fail(format!("enum `{}`: {problem}", def.name));
        }
    }
    for (i, data) in program.data.iter().enumerate() {
        if !data.align.is_power_of_two() {
            fail(format!("constant d{i} has alignment {}", data.align));
        }
    }
    for (i, channel) in program.channels.iter().enumerate() {
        for field in &channel.fields {
            if !field.kind.layout().is_sound() {
                fail(format!(
                    "field `{}` of channel c{i} has no layout",
                    field.name
                ));
            }
        }
    }
    let sizes = struct_sizes(&program.structs);
    for ((_, def), size) in program.structs.iter().zip(&sizes) {
        if let Err(problem) = size {
            fail(format!("struct `{}`: {problem}", def.name));
        }
    }
    if sizes.iter().all(Result::is_ok) {
        for function in &program.functions {
            for (what, ty) in function
                .params
                .iter()
                .map(|p| (p.name.as_str(), &p.ty))
                .chain([("the result", &function.ret)])
            {
                // Where channels may stand, rule 24 says.
                let ty = match ty {
                    Type::Channel(elem) if what != "the result" => elem,
                    ty => ty,
                };
                if let Err(problem) = size(ty, &sizes) {
                    fail(format!("type of {what} of `{}`: {problem}", function.name));
                }
            }
        }
    }
    errors
}

/// An enum begins with an integer, and its variants are different values of that; memory of zeros is one of them. The other fields are the variants' data, one variant's behind
/// another's.
fn check_enum(def: &StructDef) -> Result<(), String> {
    let integer = match &def.fields[..] {
        [(_, Type::Scalar(s)), ..] if s.is_int() => *s,
        _ => return Err("its first field is an integer".into()),
    };
    let mut next = 1;
    for v in &def.variants {
        if v.fields.start != next || v.fields.end < next {
            return Err(format!(
                "the data of `{}` are not where they should be",
                v.name
            ));
        }
        next = v.fields.end;
        if !v.names.is_empty() && v.names.len() != v.fields.len() {
            return Err(format!(
                "`{}` has too few or too many names of data",
                v.name
            ));
        }
    }
    if next != def.fields.len() {
        return Err("it has fields that no variant has".into());
    }
    if let Some(name) = repeated(def.variants.iter().map(|v| v.name.as_str())).first() {
        return Err(format!("two variants are called `{name}`"));
    }
    let most = u64::MAX >> (64 - integer.bits());
    let mut numbers: Vec<u64> = def.variants.iter().map(|v| v.number).collect();
    numbers.sort_unstable();
    match &numbers[..] {
        [0, ..] if numbers.windows(2).any(|two| two[0] == two[1]) => {
            Err("two variants have the same number".into())
        }
        [0, .., last] if *last > most => Err(format!("{last} does not fit `{integer}`")),
        [0, ..] => Ok(()),
        _ => Err("no variant has the number 0".into()),
    }
}

type Size = Result<u64, &'static str>;

/// An upper bound of each struct's size, or why it has none. Each round gives the structs a size whose fields have one, so that
/// those that contain themselves never get one.
fn struct_sizes(structs: &Structs) -> Vec<Size> {
    let mut sizes: Vec<Size> = vec![Err("it contains itself"); structs.len()];
    for _ in 0..structs.len() {
        for (id, def) in structs.iter() {
            if sizes[id.0 as usize].is_err() {
                sizes[id.0 as usize] = record(def.fields.iter().map(|(_, ty)| ty), &sizes);
            }
        }
    }
    sizes
}

fn record<'a>(fields: impl Iterator<Item = &'a Type>, sizes: &[Size]) -> Size {
    // 16 bytes more than the fields need: for the gaps.
    let mut sum = 0;
    for ty in fields {
        sum = bounded(sum + size(ty, sizes)? + 16)?;
    }
    Ok(sum)
}

const fn bounded(size: u64) -> Size {
    if size < Layout::MAX {
        Ok(size)
    } else {
        Err("it is too large")
    }
}

fn size(ty: &Type, sizes: &[Size]) -> Size {
    match ty {
        Type::Scalar(s) => Ok(s.size()),
        Type::Atomic(s) if s.is_int() || *s == crate::ty::Scalar::Bool => Ok(s.size()),
        Type::Atomic(_) => Err("atomics hold integers and bools"),
        Type::Tuple(fields) => record(fields.iter(), sizes),
        Type::Option(some) => record([&HAS, &**some].into_iter(), sizes),
        Type::Result(ok, err) => record([&HAS, &**ok, &**err].into_iter(), sizes),
        Type::Struct(id) => sizes
            .get(id.0 as usize)
            .copied()
            .unwrap_or(Err("there is no such struct")),
        Type::Array(elem, len) => bounded(size(elem, sizes)?.saturating_mul(*len)),
        Type::Slice { elem: target, .. } | Type::Ref { target, .. } => match target.as_ref() {
            // What is behind an address may be the struct itself.
            Type::Struct(id) if (id.0 as usize) < sizes.len() => Ok(16),
            target => size(target, sizes).map(|_| 16),
        },
        Type::Mat { elem, .. } if elem.scalar().is_some() => Ok(32),
        Type::Mat { .. } => Err("matrices hold scalars"),
        Type::Channel(_) => Err("a channel is a parameter"),
    }
}
