//! What a program has in common for all its functions: options, types, constants, signatures.

use super::{
    choices::Choices,
    types::{Func, INTS, Mode, Param, Shape, Struct, Ty, scalar},
};
use millstream_graph::ty::Scalar;

/// `n` of the first call, and how many spawns one activation may make: together they bound the number of tasks.
const BOUNDS: [(u32, u32); 7] = [(2, 14), (3, 8), (4, 5), (5, 4), (6, 3), (8, 2), (24, 1)];

/// What programs have in common whose first task spawns, or is `alone` and has loops in place of children.
pub(super) fn shape(c: &mut Choices, alone: bool) -> Shape {
    let (depth, fan) = c.pick(&BOUNDS);
    let fan = if alone { 0 } else { fan };
    let mode = c.pick(&[
        Mode::Normal,
        Mode::Normal,
        Mode::Normal,
        Mode::Normal,
        Mode::Unchecked,
        Mode::Checked,
    ]);
    let risky = mode != Mode::Unchecked && c.chance(10);
    let mut shape = Shape {
        mode,
        risky,
        structs: Vec::new(),
        enums: 0,
        consts: Vec::new(),
        fns: Vec::new(),
        palette: vec![Ty::Scalar(Scalar::U32)],
        atomics: Vec::new(),
        fan,
        depth,
    };
    if c.chance(35) {
        shape.enums = 1 + c.below(2) as usize;
        shape.palette.push(Ty::Enum(0));
    }
    for i in 0..c.below(3) {
        // Of numbers alone, so that its results gather.
        let numbers = c.chance(40);
        let fields = (0..1 + c.below(3))
            .map(|f| {
                let ty = match numbers {
                    true if c.chance(25) => Ty::Scalar(Scalar::Bool),
                    true => Ty::Scalar(c.pick(&INTS)),
                    false => field_type(c, shape.enums),
                };
                (format!("f{f}"), ty)
            })
            .collect::<Vec<_>>();
        let tuple = c.chance(30);
        let fields = fields
            .into_iter()
            .enumerate()
            .map(|(i, (n, t))| if tuple { (i.to_string(), t) } else { (n, t) })
            .collect();
        shape.structs.push(Struct {
            name: format!("S{i}"),
            fields,
            tuple,
        });
        shape.palette.push(Ty::Struct(i as usize));
    }
    for _ in 0..1 + c.below(3) {
        let s = Ty::Scalar(any_scalar(c));
        shape.palette.push(s);
    }
    if c.chance(45) {
        let some = c.pick(&shape.palette);
        shape.palette.push(Ty::Option(Box::new(some)));
    }
    if c.chance(40) {
        let (a, b) = (c.pick(&shape.palette), c.pick(&shape.palette));
        shape.palette.push(Ty::Tuple(vec![a, b]));
    }
    if c.chance(30) {
        let elem = c.pick(&shape.palette[..2]);
        let len = 1 + c.below(6);
        shape.palette.push(Ty::Array(Box::new(elem), len));
    }
    for i in 0..c.below(3) {
        let (s, len) = (c.pick(&INTS), 1 + c.below(5));
        let values: Vec<String> = (0..len).map(|_| scalar(c, s, true)).collect();
        let (ty, value) = match c.chance(50) {
            true => (
                Ty::Array(Box::new(Ty::Scalar(s)), len),
                format!("[{}]", values.join(", ")),
            ),
            false => (Ty::Scalar(s), values[0].clone()),
        };
        shape.consts.push((format!("C{i}"), ty, value));
    }
    if alone || c.chance(40) {
        let ops = [
            "fetch_add",
            "fetch_or",
            "fetch_and",
            "fetch_xor",
            "fetch_max",
            "fetch_min",
            "fetch_sub",
        ];
        let (words, cell) = (c.pick(&[Scalar::U32, Scalar::I64]), Scalar::U64);
        let (a, b) = (c.pick(&ops), c.pick(&ops));
        shape.atomics.push(("at".into(), Param::Atomics(words), a));
        shape.atomics.push(("ac".into(), Param::Atomic(cell), b));
    }
    for i in 0..1 + c.below(4) {
        let func = signature(c, &shape, format!("t{i}"), true);
        shape.fns.push(func);
    }
    for i in 0..c.below(4) {
        let name = if c.chance(30) {
            format!("H::h{i}")
        } else {
            format!("h{i}")
        };
        let func = signature(c, &shape, name, false);
        shape.fns.push(func);
    }
    shape
}

fn any_scalar(c: &mut Choices) -> Scalar {
    match c.below(8) {
        0..=5 => c.pick(&INTS),
        6 => Scalar::Bool,
        _ => c.pick(&[Scalar::F64, Scalar::F32]),
    }
}

fn field_type(c: &mut Choices, enums: usize) -> Ty {
    match c.below(8) {
        6 => Ty::Option(Box::new(Ty::Scalar(any_scalar(c)))),
        7 if enums > 0 => Ty::Enum(enums - 1),
        4 => Ty::Array(Box::new(Ty::Scalar(any_scalar(c))), 1 + c.below(4)),
        5 => Ty::Tuple(vec![Ty::Scalar(any_scalar(c)), Ty::Scalar(any_scalar(c))]),
        _ => Ty::Scalar(any_scalar(c)),
    }
}

fn signature(c: &mut Choices, shape: &Shape, name: String, task: bool) -> Func {
    let mut params = Vec::new();
    for i in 0..c.below(if task { 4 } else { 3 }) {
        let param = match c.below(if task { 10 } else { 9 }) {
            4 | 5 | 9 => Param::Slice {
                mutable: true,
                elem: elem_type(c, shape),
            },
            6 => Param::Slice {
                mutable: false,
                elem: elem_type(c, shape),
            },
            7 => Param::Ref {
                mutable: true,
                target: lent_type(c, shape),
            },
            8 => Param::Ref {
                mutable: false,
                target: lent_type(c, shape),
            },
            _ => Param::Value(c.pick(&shape.palette)),
        };
        params.push((format!("p{i}"), param));
    }
    if task {
        params.extend(shape.atomics.iter().map(|(n, p, _)| (n.clone(), p.clone())));
    }
    let ret = if task && c.chance(20) {
        None
    } else {
        Some(c.pick(&shape.palette))
    };
    Func {
        name,
        task,
        params,
        ret,
    }
}

/// What a slice holds: mostly numbers.
fn elem_type(c: &mut Choices, shape: &Shape) -> Ty {
    match c.below(4) {
        3 => lent_type(c, shape),
        2 => Ty::Scalar(Scalar::I64),
        _ => shape.palette[0].clone(),
    }
}

/// What a reference may refer to.
fn lent_type(c: &mut Choices, shape: &Shape) -> Ty {
    let ty = c.pick(&shape.palette);
    if shape.may_be_lent(&ty) {
        return ty;
    }
    shape.palette[0].clone()
}
