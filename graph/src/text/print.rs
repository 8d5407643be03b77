//! Writing the text form.

use super::reserved;
use crate::{
    ir::{
        Arg, CheckKind, FuncId, Function, FunctionKind, Operand, Program, Rvalue, Slot, Span,
        StmtKind, TaskId, Terminator,
    },
    levelized::{Field, Levelized},
    ty::{PieceKind, Scalar, StructDef, Structs, Type, Variant},
};
use std::fmt::{self, Display, Formatter};

/// The program as text.
#[must_use]
pub fn print_program(program: &Program) -> String {
    program_text(program).to_string()
}

/// One function as text, which names the functions, structs and constants of this program.
#[must_use]
pub fn print_function(program: &Program, function: &Function) -> String {
    function_text(program, function).to_string()
}

/// A levelized program for human readers: each task with the fields of its element and frame, its segments with what they push, and
/// their bodies. The constants and helpers stand in front.
#[must_use]
pub fn print_levelized(levelized: &Levelized) -> String {
    text(|f| {
        let program = &levelized.program;
        header(program, f)?;
        for helper in program
            .functions
            .iter()
            .filter(|f| f.kind == FunctionKind::Helper)
        {
            write!(f, "\n{}", function_text(program, helper))?;
        }
        for (t, task) in levelized.tasks() {
            writeln!(f, "\n// {t}: task {}, result: {}", task.name, task.combine)?;
            lowered_task(levelized, t, f)?;
        }
        Ok(())
    })
    .to_string()
}

fn lowered_task(levelized: &Levelized, task: TaskId, f: &mut Formatter<'_>) -> fmt::Result {
    let fields = |fields: &[Field]| {
        list(
            fields
                .iter()
                .enumerate()
                .map(|(i, x)| format!(".{i} {}: {}", x.name, piece(x.kind))),
        )
    };
    writeln!(f, "//   element: {}", fields(levelized.element(task)))?;
    let frame = levelized.frame(task);
    if !frame.is_empty() {
        writeln!(f, "//   frame: {}", fields(frame))?;
    }
    for (i, segment) in levelized.segments(task).enumerate() {
        let pushes = list(segment.pushes().map(|p| {
            let max = p
                .max
                .map_or_else(|| "any number".to_owned(), |n| n.to_string());
            format!("{max} to {}", levelized.name(p.stack))
        }));
        let ret = segment
            .ret
            .map_or_else(String::new, |l| format!("; returns through {l}"));
        writeln!(
            f,
            "// s{i} pushes: {}{ret}",
            if segment.pushes().len() == 0 {
                "nothing".to_owned()
            } else {
                pushes
            }
        )?;
        write!(f, "{}", function_text(&levelized.program, segment.body))?;
    }
    Ok(())
}

fn piece(kind: PieceKind) -> String {
    match kind {
        PieceKind::Scalar(s) => s.to_string(),
        PieceKind::Blob(layout) => format!("{} bytes align {}", layout.size, layout.align),
    }
}

/// Something that is written by a closure.
pub(crate) struct Text<F>(F);

impl<F: Fn(&mut Formatter<'_>) -> fmt::Result> Display for Text<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0(f)
    }
}

fn text<F: Fn(&mut Formatter<'_>) -> fmt::Result>(f: F) -> Text<F> {
    Text(f)
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::new();
    for item in items {
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(&item.to_string());
    }
    out
}

/// A variant of an enum: its name, its number, and its data as they are written.
fn variant(v: &Variant, def: &StructDef, program: &Program) -> String {
    let types = def.fields.get(v.fields.clone()).unwrap_or_default();
    let types = types.iter().map(|(_, ty)| type_text(ty, &program.structs));
    let data = match (v.fields.is_empty(), v.names.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!(" ({})", list(types)),
        (false, false) => {
            let fields = v.names.iter().zip(types);
            format!(
                " {{ {} }}",
                list(fields.map(|(n, ty)| format!("{}: {ty}", name(n))))
            )
        }
    };
    format!("{}: {}{data}", name(&v.name), v.number)
}

/// A name: bare if it reads back as one token, else in quotes.
fn name(name: &str) -> impl Display + '_ {
    text(move |f| {
        let mut chars = name.bytes();
        let identifier = chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == b'_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == b'_');
        let number = name == "0"
            || (name.len() < 10
                && !name.starts_with('0')
                && !name.is_empty()
                && name.bytes().all(|c| c.is_ascii_digit()));
        if identifier || number {
            f.write_str(name)
        } else {
            quoted(name).fmt(f)
        }
    })
}

fn quoted(text: &str) -> impl Display + '_ {
    self::text(move |f| {
        use fmt::Write;
        f.write_char('"')?;
        for c in text.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    })
}

fn type_text<'a>(ty: &'a Type, structs: &'a Structs) -> impl Display + 'a {
    text(move |f| write_type(ty, structs, f))
}

fn write_type(ty: &Type, structs: &Structs, f: &mut Formatter<'_>) -> fmt::Result {
    let sub = |ty| type_text_boxed(ty, structs);
    let m = |mutable: bool| if mutable { "mut " } else { "" };
    match ty {
        Type::Scalar(_) | Type::Atomic(_) => ty.display(structs).fmt(f),
        Type::Struct(id) if id.0 as usize >= structs.len() => write!(f, "struct?{}", id.0),
        Type::Struct(id) => {
            let text = &structs[*id].name;
            if reserved(text) {
                quoted(text).fmt(f)
            } else {
                name(text).fmt(f)
            }
        }
        Type::Array(elem, len) => write!(f, "[{}; {len}]", sub(elem)),
        Type::Slice { mutable, elem } => write!(f, "&{}[{}]", m(*mutable), sub(elem)),
        Type::Ref { mutable, target } => write!(f, "&{}{}", m(*mutable), sub(target)),
        Type::Mat { mutable, elem } => {
            write!(f, "Mat{}<{}>", if *mutable { "Mut" } else { "" }, sub(elem))
        }
        Type::Channel(elem) => write!(f, "Channel<{}>", sub(elem)),
        Type::Option(some) => write!(f, "Option<{}>", sub(some)),
        Type::Result(ok, err) => write!(f, "Result<{}, {}>", sub(ok), sub(err)),
        Type::Tuple(fields) => write!(
            f,
            "({}{})",
            list(fields.iter().map(sub)),
            if fields.len() == 1 { "," } else { "" }
        ),
    }
}

/// [`type_text`] behind a box: the recursion needs a type that has a name.
fn type_text_boxed<'a>(ty: &'a Type, structs: &'a Structs) -> Box<dyn Display + 'a> {
    Box::new(type_text(ty, structs))
}

fn span(span: Span) -> impl Display {
    text(move |f| {
        if span == Span::default() {
            Ok(())
        } else {
            write!(f, " @{}:{}", span.line, span.col)
        }
    })
}

fn program_text(program: &Program) -> impl Display + '_ {
    text(|f| {
        header(program, f)?;
        for function in &program.functions {
            write!(f, "\n{}", function_text(program, function))?;
        }
        Ok(())
    })
}

fn header(program: &Program, f: &mut Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "program {} in {}",
        name(&program.name),
        quoted(&program.file)
    )?;
    let options = program.options;
    for (on, word) in [
        (options.checked, "checked"),
        (options.unchecked, "unchecked"),
        (options.fast_math, "fast_math"),
    ] {
        if on {
            write!(f, " {word}")?;
        }
    }
    f.write_str("\n")?;
    for (_, def) in program.structs.iter() {
        let field =
            |(n, ty): &(String, Type)| format!("{}: {}", name(n), type_text(ty, &program.structs));
        let text = &def.name;
        let struct_name = if reserved(text) {
            quoted(text).to_string()
        } else {
            name(text).to_string()
        };
        if def.is_enum() {
            let number = list(def.fields.first().map(field));
            let variants = list(def.variants.iter().map(|v| variant(v, def, program)));
            writeln!(f, "enum {struct_name}({number}) {{ {variants} }}")?;
            continue;
        }
        let fields = list(def.fields.iter().map(field));
        let (open, close) = match (def.tuple, def.fields.is_empty()) {
            (true, _) => ("(", ")"),
            (false, true) => (" {", "}"),
            (false, false) => (" { ", " }"),
        };
        writeln!(f, "struct {struct_name}{open}{fields}{close}")?;
    }
    for (i, data) in program.data.iter().enumerate() {
        write!(f, "data d{i} {} align {} \"", name(&data.name), data.align)?;
        for (i, byte) in data.bytes.iter().enumerate() {
            let gap = match i {
                0 => "",
                _ if i % 64 == 0 => "\n    ",
                _ if i % 4 == 0 => " ",
                _ => "",
            };
            write!(f, "{gap}{byte:02x}")?;
        }
        f.write_str("\"\n")?;
    }
    let field = |x: &Field| format!("{}: {}", name(&x.name), piece_text(x.kind));
    for (i, channel) in program.channels.iter().enumerate() {
        let fields = list(channel.fields.iter().map(field));
        writeln!(f, "channel c{i} {}({fields})", quoted(&channel.name))?;
    }
    for (i, uniform) in program.uniforms.iter().enumerate() {
        let (name, kind) = (quoted(&uniform.name), piece_text(uniform.kind));
        writeln!(f, "uniform a{i} {name}: {kind}")?;
    }
    Ok(())
}

/// A piece as it reads back ([`parse_piece`](super::parse_piece)).
#[must_use]
pub fn piece_text(kind: PieceKind) -> String {
    match kind {
        PieceKind::Scalar(s) => s.to_string(),
        PieceKind::Blob(layout) => format!("{} align {}", layout.size, layout.align),
    }
}

fn function_text<'a>(program: &'a Program, function: &'a Function) -> impl Display + 'a {
    text(move |f| {
        let kind = match function.kind {
            FunctionKind::Task => "task",
            FunctionKind::Helper => "fn",
            FunctionKind::Kernel => "kernel",
            FunctionKind::Segment => "segment",
        };
        let params = function
            .params
            .iter()
            .map(|p| format!("{}: {}", name(&p.name), type_text(&p.ty, &program.structs)));
        write!(f, "{kind} {}({})", name(&function.name), list(params))?;
        if !function.ret.is_unit() {
            write!(f, " -> {}", type_text(&function.ret, &program.structs))?;
        }
        if !function.args.is_empty() {
            let arg = |arg: &Arg| match arg {
                Arg::Local(l) => l.to_string(),
                Arg::Slot(s) => s.to_string(),
            };
            write!(f, " takes {}", list(function.args.iter().map(arg)))?;
        }
        if function.rounds {
            f.write_str(" rounds")?;
        }
        if let Some(team) = function.team {
            write!(f, " {team}")?;
        }
        writeln!(f, "{} {{", span(function.span))?;
        let given = |n: &Option<String>| {
            n.as_ref()
                .map_or_else(String::new, |n| format!(" {}", name(n)))
        };
        wrapped(
            "let",
            function
                .locals
                .iter()
                .enumerate()
                .map(|(i, l)| format!("%{i}{}: {}", given(&l.name), l.ty)),
            f,
        )?;
        wrapped(
            "slot",
            function
                .slots
                .iter()
                .enumerate()
                .map(|(i, s)| format!("${i}{}: {}", given(&s.name), slot(s))),
            f,
        )?;
        for (i, block) in function.blocks.iter().enumerate() {
            writeln!(f, "b{i}:")?;
            for stmt in &block.stmts {
                writeln!(
                    f,
                    "    {}{}",
                    stmt_text(program, &stmt.kind),
                    span(stmt.span)
                )?;
            }
            writeln!(f, "    {}{}", terminator(&block.term), span(block.span))?;
        }
        f.write_str("}\n")
    })
}

fn slot(slot: &Slot) -> String {
    let layout = slot.layout;
    match slot.scalar {
        Some(s) if PieceKind::Scalar(s).layout() == layout => s.to_string(),
        Some(s) => format!("{s} {} align {}", layout.size, layout.align),
        None => format!("{} align {}", layout.size, layout.align),
    }
}

/// Declarations, several to a line.
fn wrapped(
    keyword: &str,
    items: impl Iterator<Item = String>,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    let mut column = 0;
    for item in items {
        if column > 0 && column + item.len() < 110 {
            write!(f, ", {item}")?;
            column += item.len() + 2;
        } else {
            write!(
                f,
                "{}    {keyword} {item}",
                if column > 0 { "\n" } else { "" }
            )?;
            column = 5 + keyword.len() + item.len();
        }
    }
    if column > 0 {
        f.write_str("\n")
    } else {
        Ok(())
    }
}

fn operand(operand: Operand) -> impl Display {
    text(move |f| {
        let (ty, bits) = match operand {
            Operand::Local(id) => return write!(f, "{id}"),
            Operand::Const(ty, bits) => (ty, bits),
        };
        if ty.size() < 8 && bits >> (ty.size() * 8) != 0 {
            return write!(f, "{ty}#{bits:x}");
        }
        match ty {
            Scalar::Bool if bits <= 1 => write!(f, "{}", bits == 1),
            Scalar::Bool => write!(f, "{ty}#{bits:x}"),
            Scalar::F32 if f32::from_bits(bits as u32).is_finite() => {
                write!(f, "{:?}{ty}", f32::from_bits(bits as u32))
            }
            Scalar::F64 if f64::from_bits(bits).is_finite() => {
                write!(f, "{:?}{ty}", f64::from_bits(bits))
            }
            Scalar::F32 | Scalar::F64 => write!(f, "{ty}#{bits:x}"),
            ty if ty.is_signed() => {
                let shift = 64 - ty.bits();
                write!(f, "{}{ty}", ((bits << shift) as i64) >> shift)
            }
            ty => write!(f, "{bits}{ty}"),
        }
    })
}

fn operands(operands: &[Operand]) -> String {
    list(operands.iter().map(|o| operand(*o)))
}

fn place(addr: Operand, offset: u64) -> impl Display {
    text(move |f| {
        if offset == 0 {
            operand(addr).fmt(f)
        } else {
            write!(f, "{} + {offset}", operand(addr))
        }
    })
}

fn callee(program: &Program, func: FuncId) -> impl Display + '_ {
    text(move |f| match program.functions.get(func.index()) {
        Some(function) => write!(f, "@{}", name(&function.name)),
        None => write!(f, "@?{func}"),
    })
}

/// One statement, without its place.
pub(crate) fn stmt_text<'a>(program: &'a Program, stmt: &'a StmtKind) -> impl Display + 'a {
    text(move |f| match stmt {
        StmtKind::Assign { dst, value } => write!(f, "{dst} = {}", rvalue(value)),
        StmtKind::Store {
            addr,
            offset,
            value,
        } => write!(f, "store {} -> {}", operand(*value), place(*addr, *offset)),
        StmtKind::Copy { dst, src, size } => {
            write!(f, "copy {} -> {} {size}", operand(*src), operand(*dst))
        }
        StmtKind::Zero { dst, size } => write!(f, "zero {} {size}", operand(*dst)),
        StmtKind::Call {
            func,
            args,
            dst,
            ret_addr,
        } => {
            if let Some(dst) = dst {
                write!(f, "{dst} = ")?;
            }
            write!(f, "call {}({})", callee(program, *func), operands(args))?;
            ret_addr.map_or(Ok(()), |addr| write!(f, " -> {}", operand(addr)))
        }
        StmtKind::Spawn {
            func,
            args,
            dest,
            leaf,
        } => {
            write!(f, "spawn {}({})", callee(program, *func), operands(args))?;
            if let Some(dest) = dest {
                write!(f, " -> {} {}", operand(dest.addr), dest.combine)?;
            }
            leaf.map_or(Ok(()), |leaf| write!(f, " unless {}", operand(leaf)))
        }
        StmtKind::Emit { channel, args } => write!(f, "emit {channel}({})", operands(args)),
        StmtKind::Check { cond, kind, values } => {
            write!(
                f,
                "check {} {}({})",
                operand(*cond),
                check_kind(kind),
                operands(values)
            )
        }
        StmtKind::Atomic {
            op,
            ty,
            addr,
            args,
            dst,
            order,
        } => {
            if let Some(dst) = dst {
                write!(f, "{dst} = ")?;
            }
            write!(
                f,
                "atomic {} {ty} {}({}) {}",
                op.name(),
                operand(*addr),
                operands(args),
                order.name()
            )
        }
        StmtKind::FrameAlloc => f.write_str("frame_alloc"),
        StmtKind::FrameStore { field, value } => write!(f, "store {} -> {field}", operand(*value)),
    })
}

fn check_kind(kind: &CheckKind) -> impl Display + '_ {
    text(move |f| match kind {
        CheckKind::Bounds => f.write_str("bounds"),
        CheckKind::RangeOrder => f.write_str("range_order"),
        CheckKind::RangeEnd => f.write_str("range_end"),
        CheckKind::Split => f.write_str("split"),
        CheckKind::Lengths => f.write_str("lengths"),
        CheckKind::Overflow(op) => write!(f, "overflow {}", op.name()),
        CheckKind::NegOverflow => f.write_str("neg_overflow"),
        CheckKind::DivisionByZero => f.write_str("division_by_zero"),
        CheckKind::DivisionOverflow => f.write_str("division_overflow"),
        CheckKind::RemainderByZero => f.write_str("remainder_by_zero"),
        CheckKind::RemainderOverflow => f.write_str("remainder_overflow"),
        CheckKind::Assert(t) => write!(f, "assert {}", quoted(t)),
        CheckKind::AssertEq(t) => write!(f, "assert_eq {}", quoted(t)),
        CheckKind::AssertNe(t) => write!(f, "assert_ne {}", quoted(t)),
        CheckKind::Panic(t) => write!(f, "panic {}", quoted(t)),
    })
}

fn rvalue(value: &Rvalue) -> impl Display + '_ {
    text(move |f| match value {
        Rvalue::Use(a) => operand(*a).fmt(f),
        Rvalue::Unary(op, a) => write!(f, "{} {}", op.name(), operand(*a)),
        Rvalue::Binary(op, a, b) => write!(f, "{} {}", op.name(), operands(&[*a, *b])),
        Rvalue::MulAdd(a, b, c) => write!(f, "mul_add {}", operands(&[*a, *b, *c])),
        Rvalue::Select(a, b, c) => write!(f, "select {}", operands(&[*a, *b, *c])),
        Rvalue::Cast(ty, a) => write!(f, "cast {ty} {}", operand(*a)),
        Rvalue::Bitcast(ty, a) => write!(f, "bitcast {ty} {}", operand(*a)),
        Rvalue::Load { ty, addr, offset } => write!(f, "load {ty} {}", place(*addr, *offset)),
        Rvalue::SlotAddr(id) => write!(f, "addr {id}"),
        Rvalue::DataAddr(id) => write!(f, "addr {id}"),
        Rvalue::Wide => write!(f, "wide"),
        Rvalue::Lanes => write!(f, "lanes"),
        Rvalue::PtrAdd {
            base,
            index,
            scale,
            offset,
        } => {
            write!(
                f,
                "ptr_add {}, {} * {scale}",
                operand(*base),
                operand(*index)
            )?;
            if *offset == 0 {
                Ok(())
            } else {
                write!(f, " + {offset}")
            }
        }
        Rvalue::Uniform { id, ty } => write!(f, "uniform {id} {ty}"),
        Rvalue::FrameLoad(field) => write!(f, "load {field}"),
        Rvalue::FrameAddr(field) => write!(f, "addr {field}"),
    })
}

/// How a block ends, without its place.
pub(crate) fn terminator(term: &Terminator) -> impl Display + '_ {
    text(move |f| match term {
        Terminator::Goto(b) => write!(f, "goto {b}"),
        Terminator::Branch { cond, then, other } => {
            write!(f, "branch {} {then} {other}", operand(*cond))
        }
        Terminator::Switch { value, arms, other } => {
            write!(f, "switch {} {{ ", operand(*value))?;
            for (bits, block) in arms {
                write!(f, "{bits}: {block}, ")?;
            }
            write!(f, "_: {other} }}")
        }
        Terminator::Return(values) if values.is_empty() => f.write_str("return"),
        Terminator::Return(values) => write!(f, "return {}", operands(values)),
        Terminator::Sync(b) => write!(f, "sync {b}"),
        Terminator::Room {
            children,
            then,
            other,
        } => write!(f, "room {children} {then} {other}"),
        Terminator::Continue(s) => write!(f, "continue {s}"),
        Terminator::Unreachable => f.write_str("unreachable"),
    })
}
