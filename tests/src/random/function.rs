//! From choices to a program: the generator's state, and the frame of each function.

use super::{
    choices::Choices,
    kernel::Port,
    parallel::Gathered,
    scope::{Around, Kind, State, Var},
    shape::shape,
    types::{Func, Mode, Param, Shape, Ty, debug_value},
};
use millstream_graph::ty::Scalar;

/// What wide loops spawn.
const LEAF: &str = "
    #[task]
    pub fn leaf(i: u32, x: u32) -> u32 {
        i.wrapping_mul(77) ^ x
    }
";

/// A program and calls of its first task.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The text of a file.
    pub source: String,
    /// The task to call.
    pub task: String,
    /// Arguments of each call, as `Debug` text.
    pub calls: Vec<Vec<String>>,
    /// What overflow and bounds mean in it.
    pub mode: Mode,
}

/// Makes a program. Of some the first task spawns nothing.
#[must_use]
pub fn generate(choices: &mut Choices) -> Sample {
    let alone = choices.chance(8);
    let shape = shape(choices, alone);
    of_shape(choices, shape)
}

/// Makes a program whose first task spawns nothing, so that a whole GPU is there for its parallel loops.
#[must_use]
pub fn generate_alone(choices: &mut Choices) -> Sample {
    let shape = shape(choices, true);
    of_shape(choices, shape)
}

fn of_shape(choices: &mut Choices, shape: Shape) -> Sample {
    let mode = shape.mode;
    let mut g = Gen::new(choices, shape);
    let functions: Vec<String> = (0..g.shape.fns.len()).map(|i| g.function(i)).collect();
    let source = g.program(&functions.concat());
    let Gen { c, shape, .. } = g;
    let calls = (0..1 + c.below(4)).map(|_| arguments(c, &shape)).collect();
    Sample {
        source,
        task: shape.fns[0].name.clone(),
        calls,
        mode,
    }
}

fn arguments(c: &mut Choices, shape: &Shape) -> Vec<String> {
    let mut out = vec![(shape.depth - c.below(shape.depth + 1)).to_string()];
    for (_, param) in &shape.fns[0].params {
        out.push(debug_argument(c, param, shape));
    }
    out
}

/// What a parameter is given, as `Debug` text.
pub(super) fn debug_argument(c: &mut Choices, param: &Param, shape: &Shape) -> String {
    let list = |c: &mut Choices, elem: &Ty| {
        let values: Vec<String> = (0..c.below(9))
            .map(|_| debug_value(c, elem, shape))
            .collect();
        format!("[{}]", values.join(", "))
    };
    match param {
        Param::Value(ty) | Param::Ref { target: ty, .. } => debug_value(c, ty, shape),
        Param::Slice { elem, .. } => list(c, elem),
        Param::Atomics(s) => list(c, &Ty::Scalar(*s)),
        Param::Atomic(s) => debug_value(c, &Ty::Scalar(*s), shape),
    }
}

/// The generator, inside one function.
pub(super) struct Gen<'c> {
    pub(super) c: &'c mut Choices,
    pub(super) shape: Shape,
    /// The function, by its place in the list; a kernel stands behind them.
    pub(super) func: usize,
    signature: Func,
    /// Of a kernel: its channels, and how many elements it may still emit for kernels.
    pub(super) ports: Vec<Port>,
    pub(super) emits_left: u32,
    pub(super) task: bool,
    pub(super) vars: Vec<Var>,
    pub(super) around: Vec<Around>,
    /// In a parallel loop: how many variables there were before it.
    pub(super) rounds: Option<usize>,
    pub(super) gathers: Vec<Gathered>,
    /// Whether control comes here.
    pub(super) alive: bool,
    /// Whether `n` is known to be above 0, so that a recursion may take `n - 1`.
    pub(super) recurses: bool,
    /// How often the loops around a statement run it.
    pub(super) weight: u32,
    pub(super) spawns_left: u32,
    pub(super) calls_left: u32,
    pub(super) statements_left: u32,
    names: u32,
    out: String,
    indent: usize,
}

impl<'c> Gen<'c> {
    pub(super) fn new(c: &'c mut Choices, shape: Shape) -> Self {
        Self {
            c,
            signature: shape.fns[0].clone(),
            shape,
            func: 0,
            ports: Vec::new(),
            emits_left: 0,
            task: false,
            vars: Vec::new(),
            around: Vec::new(),
            rounds: None,
            gathers: Vec::new(),
            alive: true,
            recurses: false,
            weight: 1,
            spawns_left: 0,
            calls_left: 0,
            statements_left: 0,
            names: 0,
            out: String::new(),
            indent: 2,
        }
    }

    pub(super) const fn signature(&self) -> &Func {
        &self.signature
    }

    /// The text of a file with these functions.
    pub(super) fn program(&self, functions: &str) -> String {
        let option = match self.shape.mode {
            Mode::Normal => "",
            Mode::Checked => "(checked)",
            Mode::Unchecked => "(unchecked)",
        };
        let mut items = self.shape.items();
        if functions.contains("!(leaf(") {
            items += LEAF;
        }
        if functions.contains("impl H ") {
            items += "    pub struct H(u32);\n";
        }
        format!("#[millstream::program{option}]\npub mod program {{\n{items}{functions}}}\n")
    }

    /// The lines of the function.
    pub(super) fn text(&self) -> &str {
        &self.out
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out += &"    ".repeat(self.indent);
        self.out += text;
        self.out.push('\n');
    }

    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn between(&mut self, text: &str) {
        self.close(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.line(text);
    }

    /// How deep the statement stands.
    pub(super) const fn nesting(&self) -> usize {
        self.indent - 2
    }

    pub(super) fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(super) fn declare(&mut self, name: &str, kind: Kind, writable: bool) -> usize {
        let name = name.to_owned();
        self.vars.push(Var {
            name,
            kind,
            state: State::Free,
            writable,
            exact: false,
            origins: Vec::new(),
            hidden: 0,
        });
        self.vars.len() - 1
    }

    /// A variable whose memory is a part of others'.
    pub(super) fn declare_part(
        &mut self,
        name: &str,
        kind: Kind,
        writable: bool,
        origins: &[usize],
    ) -> usize {
        let id = self.declare(name, kind, writable);
        self.vars[id].origins = origins.to_vec();
        origins.iter().for_each(|&o| self.vars[o].hidden += 1);
        id
    }

    pub(super) fn states(&self, count: usize) -> Vec<State> {
        self.vars[..count].iter().map(|v| v.state.clone()).collect()
    }

    pub(super) fn restore(&mut self, states: &[State]) {
        self.vars
            .iter_mut()
            .zip(states)
            .for_each(|(v, s)| v.state = s.clone());
    }

    pub(super) fn sync(&mut self) {
        self.line("sync!();");
        // A round waits for its own children alone.
        let own = self.rounds.unwrap_or(0);
        self.vars[own..]
            .iter_mut()
            .for_each(|v| v.state = State::Free);
    }

    /// Whether memory of variables from there on is in children's hands, or might hold the result of an earlier turn of a loop.
    pub(super) fn must_sync(&self, from: usize) -> bool {
        self.vars[from..].iter().any(|v| {
            let owned = matches!(v.kind, Kind::Value(_) | Kind::OwnAtomic(_));
            owned
                && match v.state {
                    State::Free => false,
                    State::Awaits(_) => !self.around.is_empty(),
                    _ => true,
                }
        })
    }

    /// The end of a scope that began when there were so many variables.
    pub(super) fn leave(&mut self, from: usize) {
        if self.alive && self.must_sync(from) {
            self.sync();
        }
        for v in self.vars.split_off(from) {
            for origin in v.origins {
                self.vars[origin].hidden -= 1;
            }
        }
    }

    /// Begins a function.
    pub(super) fn enter(&mut self, i: usize, f: Func) {
        (self.func, self.task, self.alive, self.recurses, self.weight) =
            (i, f.task, true, false, 1);
        self.spawns_left = self.shape.fan;
        self.calls_left = if f.task { 12 } else { 4 };
        self.statements_left = if f.task {
            8 + self.c.below(10)
        } else {
            2 + self.c.below(6)
        };
        self.vars.clear();
        self.out.clear();
        self.signature = f;
    }

    /// Declares the parameters of the function but for the first, and says how they are written.
    pub(super) fn parameters(&mut self) -> Vec<String> {
        let mut params = Vec::new();
        for (name, param) in &self.signature.params.clone() {
            let (mutable, kind) = match param {
                Param::Value(ty) => (self.c.chance(50), Kind::Value(ty.clone())),
                Param::Slice { mutable, elem } => (
                    false,
                    Kind::Slice {
                        mutable: *mutable,
                        elem: elem.clone(),
                    },
                ),
                Param::Ref { mutable, target } => (
                    false,
                    Kind::Ref {
                        mutable: *mutable,
                        target: target.clone(),
                    },
                ),
                Param::Atomics(s) => (false, Kind::Atomics(*s)),
                Param::Atomic(s) => (false, Kind::Atomic(*s)),
            };
            params.push(format!(
                "{}{name}: {}",
                if mutable { "mut " } else { "" },
                self.shape.show_param(param)
            ));
            let writable = match param {
                Param::Value(_) => mutable,
                Param::Slice { mutable, .. } | Param::Ref { mutable, .. } => *mutable,
                _ => false,
            };
            self.declare(name, kind, writable);
        }
        params
    }

    pub(super) fn function(&mut self, i: usize) -> String {
        let f = self.shape.fns[i].clone();
        self.enter(i, f.clone());
        let params = [vec!["n: u32".to_owned()], self.parameters()].concat();
        let task = if f.task {
            "\n    #[task]\n    pub "
        } else {
            "\n    "
        };
        let ret = f
            .ret
            .as_ref()
            .map_or(String::new(), |t| format!(" -> {}", self.shape.show(t)));
        let (impl_, name, end) = match f.name.split_once("::") {
            Some((owner, name)) => (format!("\n    impl {owner} {{"), name, "    }\n"),
            None => (String::new(), &*f.name, ""),
        };
        let head = format!("{impl_}{task}fn {name}({}){ret} {{\n", params.join(", "));
        self.body();
        format!("{head}{}    }}\n{end}", self.out)
    }

    /// Where `n` is 0 a function ends without a recursion: by an early return, or because what recurses stands in a branch.
    pub(super) fn body(&mut self) {
        let reduces = self.task && self.c.chance(35);
        let most = if reduces { 3 } else { 12 };
        match self.c.below(3) {
            0 => {
                let count = self.c.below(3);
                self.base_case("if n == 0 {", count);
                self.recurses = true;
                self.block(most);
            }
            1 => {
                self.block(3);
                if self.alive {
                    self.branch("if n > 0 {", |g| {
                        g.recurses = true;
                        g.block(10);
                        g.recurses = false;
                    });
                    self.block(3);
                }
            }
            _ => {
                self.block(2);
                if self.alive {
                    self.base_case("if n < 1 {", 0);
                    self.recurses = true;
                    self.block(most);
                }
            }
        }
        if self.alive && self.recurses && reduces {
            self.reduction();
        }
        if !self.alive {
            // Nothing comes here, but the types must be right.
            self.vars.clear();
        } else if self.task && self.shape.fan > 0 && self.c.chance(70) {
            self.sync();
            if self.signature().ret.is_none() {
                self.after_all();
            }
        }
        if let Some(ty) = self.signature().ret.clone() {
            let value = self.result(&ty, 2);
            if self.c.chance(70) {
                self.line(&value)
            } else {
                self.line(&format!("return {value};"))
            }
        }
        self.vars.clear();
    }

    fn base_case(&mut self, head: &str, statements: u32) {
        self.branch(head, |g| {
            g.block(statements);
            if g.alive {
                g.give_back();
            }
        });
        self.alive = true;
    }

    /// `return`.
    pub(super) fn give_back(&mut self) {
        match self.signature().ret.clone() {
            Some(ty) => {
                let value = self.result(&ty, 1);
                self.line(&format!("return {value};"));
            }
            None => self.line("return;"),
        }
        self.alive = false;
    }

    /// What a function returns. Tasks return floats that are small whole numbers, so that their sum does not depend on the order.
    fn result(&mut self, ty: &Ty, d: u32) -> String {
        match ty {
            Ty::Scalar(s) if s.is_float() && self.task => {
                let whole = self.expr(&Ty::Scalar(Scalar::I8), d);
                format!("({whole} as {})", s.name())
            }
            _ => self.expr(ty, d),
        }
    }
}
