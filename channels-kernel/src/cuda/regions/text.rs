//! The texts of parallel regions: where they are handed out, what each crew does of which, and how what its lanes gather is joined.

use super::{
    super::{
        abi,
        body::{Body, Role},
        helper::{self, Given},
        names,
        plan::{Mode, Plan},
        rvalue::binary,
        segment::write_sum,
        team::Rounds,
        types::{constant, ctype},
        writer::Writer,
    },
    Crew, Handed, Version, combine, rounds,
};
use millstream_graph::{
    flow::CallGraph,
    ir::{Arg, FuncId, Function, StmtKind},
};

/// Declares what texts of regions need.
pub(in super::super) fn declare(plan: &Plan, out: &mut Writer) {
    if !plan.regions.is_empty() {
        out.line(&format!("#define REGION_BLOCKS {}u", abi::REGION_BLOCKS));
        out.line(&format!("#define REGIONS {}u", plan.regions.all.len()));
        out.text(include_str!("../device/regions.cu"));
        out.blank();
    }
}

/// Writes what each crew does when a region is handed to it.
pub(in super::super) fn write(plan: &Plan, out: &mut Writer) {
    let program = &plan.program.program;
    if plan.regions.is_empty() {
        return;
    }
    write_sums(plan, out);
    let parts = Parts::find(plan);
    for crew in [Crew::Warp, Crew::Blocks, Crew::Device] {
        let handed = plan.regions.handed.get(&crew).into_iter().flatten();
        out.blank();
        out.open(&format!(
            "[[maybe_unused]] static __device__ __noinline__ void run_rounds_of_{}(u32 which) {{",
            crew.name()
        ));
        out.line("Thread w;");
        out.line("w.control = DeviceMemory::control();");
        out.line(&format!("auto& handed = {}::handed();", crew.structure()));
        out.open("switch (which) {");
        for (number, handed) in handed {
            let id = plan.regions.all[*number];
            parts.begin(*number, out);
            if plan.regions.is_met(id) {
                out.open(&format!("case {}: {{", which(*number, Crew::Lane)));
                write_met(plan, id, &program[id], out);
                out.line("break;");
                out.close("}");
                parts.end(*number, out);
                continue;
            }
            for by in handed.to.iter().copied().chain([Crew::Lane]) {
                out.open(&format!("case {}: {{", which(*number, by)));
                write_case(plan, (*number, handed), (crew, by), out);
                out.line("break;");
                out.close("}");
            }
            parts.end(*number, out);
        }
        out.close("}");
        out.line(&format!("{}::end(handed, w.failed);", crew.structure()));
        out.close("}");
    }
    write_own(plan, &parts, out);
}

/// Of each region the sources whose tasks come to it, unless all that are run by one lane do. A part of the program runs some tasks and has the code of
/// their regions alone, for each of them takes the compiler seconds.
struct Parts(Vec<Option<Vec<usize>>>);

impl Parts {
    fn find(plan: &Plan) -> Self {
        let program = &plan.program.program;
        let calls = CallGraph::of_calls(program);
        let masters = masters(plan);
        let reached = |i: &usize| {
            let source = &plan.sources[*i];
            let body = plan.program.segment(source.task, source.segment).body;
            let mut all = vec![false; program.functions.len()];
            for stmt in body.stmts() {
                if let StmtKind::Call { func, .. } = stmt.kind {
                    all[func.index()] = true;
                    let below = calls.reached(func);
                    all.iter_mut().zip(below).for_each(|(a, b)| *a |= b);
                }
            }
            (*i, all)
        };
        let reached: Vec<(usize, Vec<bool>)> = masters.iter().map(reached).collect();
        let sources = |region: &FuncId| {
            let of = reached.iter().filter(|(_, all)| all[region.index()]);
            let of: Vec<usize> = of.map(|(i, _)| *i).collect();
            (of.len() < masters.len()).then_some(of)
        };
        Self(plan.regions.all.iter().map(sources).collect())
    }

    /// What follows is a region's, and is left out of parts that do not come to it.
    fn begin(&self, number: usize, out: &mut Writer) {
        if let Some(of) = &self.0[number] {
            let of = of.iter().map(|i| format!(" || defined(RUNS_{i})"));
            out.line(&format!("#if !defined(PARTS){}", of.collect::<String>()));
        }
    }

    fn end(&self, number: usize, out: &mut Writer) {
        if self.0[number].is_some() {
            out.line("#endif");
        }
    }
}

/// The sources of the tasks that one lane runs.
pub(in super::super) fn masters(plan: &Plan) -> Vec<usize> {
    let is_one = |i: &usize| plan.sources[*i].mode == Mode::Master;
    (0..plan.sources.len()).filter(is_one).collect()
}

/// Writes what the master's own block does: the lanes' part of what it may keep from the others.
fn write_own(plan: &Plan, parts: &Parts, out: &mut Writer) {
    out.blank();
    out.open(
        "[[maybe_unused]] static __device__ __noinline__ void run_rounds_of_master(u32 which) {",
    );
    out.line("Thread w;");
    out.line("w.control = DeviceMemory::control();");
    out.line(&format!("auto& handed = {OF_MASTER}::handed();"));
    out.open("switch (which) {");
    let handed = plan.regions.handed.get(&Crew::Device).into_iter().flatten();
    for (number, handed) in handed.filter(|(_, handed)| handed.is_own()) {
        let id = plan.regions.all[*number];
        let function = &plan.program.program[id];
        let version = Version::Served(Crew::Lane);
        if let Some(rounds) = rounds(&plan.program, function, version) {
            parts.begin(*number, out);
            out.open(&format!("case {}: {{", which(*number, Crew::Lane)));
            write_parts(&rounds, out);
            let args = called_with(function, OF_MASTER, Crew::Lane, handed);
            let text = helper::name(function, id, version);
            out.line(&format!("called<{text}>({args});"));
            write_joins(function, OF_MASTER, *number, &rounds, out);
            out.line("break;");
            out.close("}");
            parts.end(*number, out);
        }
    }
    out.close("}");
    out.line(&format!("{OF_MASTER}::end(handed, w.failed);"));
    out.close("}");
}

/// The master's own block in `device/regions.cu`.
const OF_MASTER: &str = "OfMaster";

/// What a crew is told: which region, and who takes single rounds.
fn which(number: usize, by: Crew) -> String {
    format!("told({number}, {})", by.taking())
}

impl Handed {
    /// Whether the master's own block may run the rounds, where they are few: if there is nothing to share out in them.
    fn is_own(&self) -> bool {
        self.once && self.to.is_empty()
    }

    /// Whether it does when the crew's first lane comes to it.
    fn own(&self, crew: Crew) -> &'static str {
        match (crew, self.is_own(), self.team) {
            (Crew::Device, true, Some(0..=abi::kernel::BLOCK)) => "ALWAYS",
            (Crew::Device, true, None) => "IF_FASTER",
            _ => "NEVER",
        }
    }

    /// Of so many parts of a crew, those that are the team's: warps whose lanes or who take single rounds, or crews of blocks.
    fn limited(&self, parts: String, by: Crew) -> String {
        match (self.team, by) {
            (None | Some(u32::MAX), _) => parts,
            (Some(n), Crew::Blocks) => format!("min_of({parts}, {}u)", n / abi::kernel::BLOCK),
            (Some(n), _) => format!("min_of({parts}, {}u)", n.div_ceil(32)),
        }
    }

    /// Who takes single rounds, of `rounds`: where there are many each lane takes its own, and where there are few blocks do.
    fn by(&self, of: &str, rounds: &str) -> String {
        let lane = Crew::Lane.taking();
        let lanes = match self.team {
            None | Some(u32::MAX) => format!("{of}::lanes()"),
            Some(n) => format!("min_of({of}::lanes(), {n}ull)"),
        };
        let few = match (
            self.to.contains(&Crew::Warp),
            self.to.contains(&Crew::Blocks),
        ) {
            (false, false) => return lane.to_owned(),
            (true, false) => Crew::Warp.taking().to_owned(),
            (false, true) => Crew::Blocks.taking().to_owned(),
            (true, true) => format!(
                "{rounds} <= {lanes} / BLOCK ? {} : {}",
                Crew::Blocks.taking(),
                Crew::Warp.taking()
            ),
        };
        let most = if self.once { " / WARP" } else { "" };
        format!("{rounds} > {lanes}{most} ? {lane} : {few}")
    }
}

/// The arguments of a region, as they were written down.
fn arguments(function: &Function) -> impl Iterator<Item = String> + '_ {
    let locals = function.args.iter().filter_map(|arg| match arg {
        Arg::Local(l) => Some(ctype(function.locals[l.index()].ty)),
        Arg::Slot(_) => None,
    });
    let number = |(i, ty)| format!("from_bits<{ty}>(handed.args[{i}])");
    locals.enumerate().map(number)
}

/// All rounds of a region whose lanes meet. All come to the same result, and the first gives it.
fn write_met(plan: &Plan, id: FuncId, function: &Function, out: &mut Writer) {
    let mut args: Vec<String> = ["w".to_owned()]
        .into_iter()
        .chain(arguments(function))
        .collect();
    let name = helper::name(function, id, Version::Met);
    match helper::given(plan, function) {
        Given::Value(ty) => {
            out.line(&format!("const {ty} value = {name}({});", args.join(", ")));
            out.line("if (OfWarp::leads()) handed.gathered[0] = bits_of(value);");
        }
        Given::Memory => {
            args.push(format!(
                "from_bits<ptr>(handed.args[{}])",
                function.args.len()
            ));
            out.line(&format!("{name}({});", args.join(", ")));
        }
        Given::Nothing => out.line(&format!("{name}({});", args.join(", "))),
    }
}

/// What the first lane of a warp calls where its lanes meet.
pub(in super::super) fn write_first_met(
    plan: &Plan,
    id: FuncId,
    function: &Function,
    out: &mut Writer,
) {
    let Some(number) = plan.regions.number(id) else {
        return;
    };
    let args = function.args.iter().filter_map(|arg| match arg {
        Arg::Local(l) => Some(format!("bits_of({})", names::local(function, *l))),
        Arg::Slot(_) => None,
    });
    let mut args: Vec<String> = args.collect();
    let given = helper::given(plan, function);
    if let Given::Memory = given {
        args.push("bits_of(result)".to_owned());
    }
    args.push("0ull".to_owned());
    out.line(&format!(
        "const u64 args[] = {{{}}}, none[] = {{0ull}};",
        args.join(", ")
    ));
    out.line(&format!(
        "share_out<OfWarp, NEVER>(w, {number}, {}, 0, 0, args, none);",
        Crew::Lane.taking()
    ));
    if let Given::Value(ty) = given {
        out.line(&format!(
            "return from_bits<{ty}>(OfWarp::handed().gathered[0]);"
        ));
    }
}

/// Its part of the rounds of one region: each by such a smaller crew.
fn write_case(
    plan: &Plan,
    (number, handed): (usize, &Handed),
    (crew, by): (Crew, Crew),
    out: &mut Writer,
) {
    let id = plan.regions.all[number];
    let function = &plan.program.program[id];
    let version = Version::Served(by);
    let Some(rounds) = rounds(&plan.program, function, version) else {
        return;
    };
    write_parts(&rounds, out);
    let args = called_with(function, crew.structure(), by, handed);
    let mut text = helper::name(function, id, version);
    if crew != Crew::Warp && plan.regions.is_shared(number, by) {
        text = format!("called<{text}>");
    }
    let call = format!("{text}({args});");
    match by {
        Crew::Lane => out.line(&call),
        _ => {
            let by = by.structure();
            if crew == Crew::Device {
                out.line("if (takes_part())");
            }
            out.line(&format!(
                "if ({by}::leads()) {{ {call} dismiss<{by}>(); }} else serve<{by}>();"
            ));
            out.line("__syncwarp();");
        }
    }
    write_joins(function, crew.structure(), number, &rounds, out);
}

/// What a lane gathers begins with nothing.
fn write_parts(rounds: &Rounds, out: &mut Writer) {
    out.line(&format!("u64 parts[{}];", rounds.gathers.len().max(1)));
    for (g, gather) in rounds.gathers.iter().enumerate() {
        out.line(&format!("parts[{g}] = {}ull;", gather.neutral.unwrap_or(0)));
    }
}

/// What the text of a crew's part is called with.
fn called_with(function: &Function, crew: &str, by: Crew, handed: &Handed) -> String {
    let part = format!("Part<{crew}, {}>", by.structure());
    let all = handed.limited(format!("{part}::all()"), by);
    let part = format!("{part}::own(), {all}");
    let first = ["w".to_owned(), "parts".to_owned(), part].into_iter();
    let args: Vec<String> = first.chain(arguments(function)).collect();
    args.join(", ")
}

/// Joins what the lanes of a crew have gathered with what all have.
fn write_joins(function: &Function, crew: &str, number: usize, rounds: &Rounds, out: &mut Writer) {
    for (g, gather) in rounds.gathers.iter().enumerate() {
        let ty = ctype(function.locals[gather.local.index()].ty);
        out.line(&format!(
            "{crew}::join<Region{number}Sum{g}>(&handed.gathered[{g}], from_bits<{ty}>(parts[{g}]));"
        ));
    }
}

/// How what the lanes of each region gather is joined.
fn write_sums(plan: &Plan, out: &mut Writer) {
    for (number, id) in plan.regions.all.iter().enumerate() {
        let function = &plan.program.program[*id];
        let rounds = rounds(&plan.program, function, Version::Served(Crew::Lane));
        for (g, gather) in rounds.iter().flat_map(|r| r.gathers.iter().enumerate()) {
            let ty = function.locals[gather.local.index()].ty;
            if let Some(combine) = combine(gather.op) {
                out.blank();
                write_sum(&format!("Region{number}Sum{g}"), combine, ty, out);
            }
        }
    }
}

impl Body<'_, '_> {
    /// The crew whose first lane runs this: what it has in local memory is where that crew sees it.
    pub(in super::super) fn crew(&self) -> Crew {
        match self.role {
            Role::Helper { version, .. } => version.crew(),
            Role::Segment { task, .. } => self.plan.regions.crew_of(task),
            Role::Node { .. } => Crew::Lane,
        }
    }

    /// Before the loop of a region: it is handed out, and who did so goes on behind it.
    pub(in super::super) fn hand_out(&mut self, i: usize) {
        let Role::Helper { func, .. } = self.role else {
            return;
        };
        let Some(number) = self.plan.regions.number(func) else {
            return;
        };
        let rounds = &self.team[i];
        let crew = self.crew();
        let (counter, limit) = (self.local(rounds.counter), self.operand(rounds.limit));
        let none = rounds
            .gathers
            .iter()
            .map(|g| format!("{}ull", g.neutral.unwrap_or(0)));
        let none: Vec<String> = none.chain(["0ull".to_owned()]).collect();
        let handed = &self.plan.regions.handed[&crew][&number];
        let (of, turns) = (crew.structure(), format!("{limit} - {counter}"));
        let mut lines = vec![
            format!(
                "if ({of}::is_there() && {limit} > {counter} && {limit} - {counter} > {}) {{",
                handed.in_turn
            ),
            format!("const u64 none[] = {{{}}};", none.join(", ")),
            format!("auto& handed = {of}::handed();"),
            format!(
                "share_out<{of}, {}>(w, {number}, {}, {}, {turns}, args, none);",
                handed.own(crew),
                handed.by(of, &turns),
                handed.most,
            ),
            format!("if (w.failed) {};", self.leave()),
        ];
        for (g, gather) in rounds.gathers.iter().enumerate() {
            let local = self.local(gather.local);
            let ty = self.function.locals[gather.local.index()].ty;
            let gathered = format!("from_bits<{}>(handed.gathered[{g}])", ctype(ty));
            lines.push(format!(
                "{local} = {};",
                binary(gather.op, ty, &local, &gathered)
            ));
        }
        lines.push(self.go(rounds.exit));
        lines.push("}".to_owned());
        for line in lines {
            self.out.line(&line);
        }
    }

    /// Before the loop of a region whose rounds are served: the first turn.
    pub(in super::super) fn take_share(&mut self, i: usize) {
        let rounds = &self.team[i];
        let (counter, limit) = (self.local(rounds.counter), self.operand(rounds.limit));
        let mut lines = vec![format!(
            "{{ u64 first; share({of}(), {limit} > {counter} ? {limit} - {counter} : 0, part, all_parts, first, turns); {counter} += first; }}",
            of = self.crew().structure()
        )];
        for gather in &rounds.gathers {
            let ty = self.function.locals[gather.local.index()].ty;
            let none = constant(ty, gather.neutral.unwrap_or(0));
            lines.push(format!("{} = {none};", self.local(gather.local)));
        }
        for line in lines {
            self.out.line(&line);
        }
    }
}
