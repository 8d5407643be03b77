//! How the lanes of a warp divide the turns of a loop: see [`team`](super::team).

use super::{
    body::{Body, Crowd},
    rvalue::binary,
    team::{Gather, Rounds, Share},
    types::{constant, ctype},
};
use millstream_graph::{
    ir::{Arg, BlockId, LocalId, Operand, Rvalue, StmtKind, Terminator},
    ty::Scalar,
};

/// What only one lane of a team does.
pub(super) const FIRST_LANE: &str = "lane_id() == 0";

impl Body<'_, '_> {
    fn rounds_around(&self) -> Option<(usize, &Rounds)> {
        let mut all = self.team.iter().enumerate();
        all.find(|(_, r)| r.inside.contains(self.here))
    }

    /// The label at which all lanes meet after each turn of the loop with this header, if they do.
    pub(super) fn meeting(&self, header: BlockId) -> Option<String> {
        let is_it = |r: &Rounds| r.header == header && r.share == Share::Meeting;
        self.team.iter().position(is_it).map(|i| format!("meet{i}"))
    }

    /// Whether a lane has a turn, of a loop whose lanes meet.
    pub(super) fn has_turn(&self, header: BlockId) -> String {
        let rounds = self.team.iter().find(|r| r.header == header);
        rounds.map_or_else(String::new, |r| {
            format!("({} < {})", self.local(r.counter), self.operand(r.limit))
        })
    }

    /// Declares what each lane knows of its turns.
    pub(super) fn declare_team(&mut self) {
        let mut lines = Vec::new();
        if self.crowd == Crowd::Served {
            lines.push("u64 turns;  // from one of the thread's to the next".to_owned());
        }
        if self.crowd == Crowd::First && !self.team.is_empty() {
            lines.push(self.arguments_of_region());
        }
        for (i, rounds) in self.team.iter().enumerate() {
            if rounds.share == Share::Parts {
                lines.push(format!("u64 end{i};  // of the lane's turns"));
            }
            for (g, gather) in ordered(rounds) {
                let ty = self.local_type(gather.local);
                lines.push(format!(
                    "bool has{i}_{g};  // whether the turn adds something"
                ));
                lines.push(format!("[[maybe_unused]] {ty} more{i}_{g};"));
            }
        }
        for line in lines {
            self.out.line(&line);
        }
    }

    /// Before the loop that a block goes to: the lane's first turn.
    pub(super) fn begin_rounds(&mut self, term: &Terminator) {
        let Terminator::Goto(to) = term else { return };
        let mut all = self.team.iter().enumerate();
        let Some((i, rounds)) = all.find(|(_, r)| r.header == *to && !r.inside.contains(self.here))
        else {
            return;
        };
        match self.crowd {
            Crowd::Warp => {}
            Crowd::First => return self.hand_out(i),
            Crowd::Served => return self.take_share(i),
        }
        let (counter, limit) = (self.local(rounds.counter), self.operand(rounds.limit));
        let mut lines = vec![match rounds.share {
            Share::Strided | Share::Meeting => format!("{counter} += lane_id();"),
            Share::Parts => format!(
                "{{ const u64 all = {limit} > {counter} ? {limit} - {counter} : 0, each = (all + WARP - 1) / WARP, own = each * lane_id(); \
                 end{i} = {counter} + min_of(all, own + each); {counter} += min_of(all, own); }}"
            ),
        }];
        for gather in &rounds.gathers {
            if let Some(bits) = gather.neutral {
                let (local, ty) = (self.local(gather.local), self.scalar_of(gather.local));
                lines.push(format!(
                    "if (lane_id() != 0) {local} = {};",
                    constant(ty, bits)
                ));
            }
        }
        for line in lines {
            self.out.line(&line);
        }
    }

    /// Writes a statement that says which turn a lane has, or adds to what all gather. False if it is none of these.
    pub(super) fn team_stmt(&mut self, at: usize, stmt: &StmtKind) -> bool {
        let Some((i, rounds)) = self.rounds_around() else {
            return false;
        };
        match self.crowd {
            Crowd::Warp => {}
            Crowd::Served if (self.here, at) == rounds.turn => {
                let text = format!("{} += turns;", self.local(rounds.counter));
                self.out.line(&text);
                return true;
            }
            Crowd::Served | Crowd::First => return false,
        }
        let (here, counter) = ((self.here, at), self.local(rounds.counter));
        let mut lines = Vec::new();
        if here == rounds.test {
            let has = self.local(stmt.def().unwrap_or(rounds.counter));
            match rounds.share {
                Share::Strided => return false,
                Share::Parts => lines.push(format!("{has} = {counter} < end{i};")),
                Share::Meeting => {
                    lines.extend(ordered(rounds).map(|(g, _)| format!("has{i}_{g} = false;")));
                    // Of all lanes the same: whether the first one has a turn.
                    let limit = self.operand(rounds.limit);
                    lines.push(format!("{has} = {counter} - lane_id() < {limit};"));
                }
            }
        } else if here == rounds.turn {
            match rounds.share {
                Share::Parts => return false,
                Share::Strided => {}
                Share::Meeting => {
                    lines.push(format!("meet{i}:;"));
                    lines.push("__syncwarp();".to_owned());
                    lines.extend(
                        ordered(rounds).map(|(g, gather)| self.joined_in_order(i, g, gather)),
                    );
                }
            }
            lines.push(format!("{counter} += WARP;"));
        } else {
            if ordered(rounds).any(|(_, gather)| gather.copies.contains(&here)) {
                return true;
            }
            let gathered = ordered(rounds).find(|(_, gather)| gather.at.contains(&here));
            let (
                Some((g, gather)),
                StmtKind::Assign {
                    value: Rvalue::Binary(_, a, b),
                    ..
                },
            ) = (gathered, stmt)
            else {
                return false;
            };
            let more = if *a == Operand::Local(gather.local) {
                b
            } else {
                a
            };
            lines.push(format!(
                "more{i}_{g} = {}; has{i}_{g} = true;",
                self.operand(*more)
            ));
        }
        for line in lines {
            match line.ends_with(":;") {
                true => self.out.label(&line),
                false => self.out.line(&line),
            }
        }
        true
    }

    /// What the turns of all lanes add, in the order of the turns.
    fn joined_in_order(&self, i: usize, g: usize, gather: &Gather) -> String {
        let (local, ty) = (self.local(gather.local), self.scalar_of(gather.local));
        let first = gather
            .at
            .first()
            .map(|(b, s)| &self.function.blocks[b.index()].stmts[*s].kind);
        let is_left = matches!(
            first,
            Some(StmtKind::Assign { value: Rvalue::Binary(_, a, _), .. }) if *a == Operand::Local(gather.local)
        );
        let (a, b) = if is_left {
            (local.as_str(), "x")
        } else {
            ("x", local.as_str())
        };
        let next = binary(gather.op, ty, a, b);
        format!(
            "in_order(has{i}_{g}, more{i}_{g}, [&]({} x) {{ {local} = {next}; }});",
            ctype(ty)
        )
    }

    /// Behind a loop: all lanes have left it, and what they have gathered is joined.
    pub(super) fn end_rounds(&mut self, l: usize) {
        let header = self.loops[l].header;
        let Some(rounds) = self.team.iter().find(|r| r.header == header) else {
            return;
        };
        match self.crowd {
            Crowd::Warp => {}
            // They end where the loop's way out leads.
            Crowd::First | Crowd::Served => return,
        }
        let exits = &self.loops[l].exits;
        let way = exits
            .iter()
            .position(|e| *e == rounds.exit)
            .map_or(0, |i| i + 1);
        let mut lines = vec![
            format!("if (any_lane(way{l} != {way})) {};", self.leave()),
            "__syncwarp();".to_owned(),
        ];
        for gather in rounds.gathers.iter().filter(|g| g.neutral.is_some()) {
            let (local, ty) = (self.local(gather.local), self.scalar_of(gather.local));
            let next = binary(gather.op, ty, &local, "x");
            lines.push(format!(
                "for (u32 o = WARP / 2; o; o >>= 1) {{ const {0} x = from_bits<{0}>(shuffle_xor_wide(bits_of({local}), o)); {local} = {next}; }}",
                ctype(ty)
            ));
        }
        for line in lines {
            self.out.line(&line);
        }
    }

    /// Of a region: what it is called with, before anything changes it.
    fn arguments_of_region(&self) -> String {
        let args = self.function.args.iter().filter_map(|arg| match arg {
            Arg::Local(l) => Some(format!("bits_of({})", self.local(*l))),
            Arg::Slot(_) => None,
        });
        let args: Vec<String> = args.chain(["0ull".to_owned()]).collect();
        format!("const u64 args[] = {{{}}};", args.join(", "))
    }

    /// Of a region that is served: the loop whose rounds are over where this block begins.
    pub(super) fn shares_until(&self, block: BlockId) -> Option<&Rounds> {
        let served = self.crowd == Crowd::Served;
        self.team.iter().find(|r| served && r.exit == block)
    }

    /// Gives what the thread has gathered, if its rounds are over here.
    pub(super) fn end_share(&mut self) -> bool {
        let Some(rounds) = self.shares_until(self.here) else {
            return false;
        };
        let all = rounds.gathers.iter().enumerate();
        let given =
            |(g, of): (usize, &Gather)| format!("parts[{g}] = bits_of({});", self.local(of.local));
        let lines: Vec<String> = all.map(given).chain(["return;".to_owned()]).collect();
        for line in lines {
            self.out.line(&line);
        }
        true
    }

    fn scalar_of(&self, local: LocalId) -> Scalar {
        self.function.locals[local.index()].ty
    }
}

/// What the turns of a loop add in their order, by number.
fn ordered(rounds: &Rounds) -> impl Iterator<Item = (usize, &Gather)> {
    let all = rounds.gathers.iter().enumerate();
    all.filter(|(_, g)| g.neutral.is_none())
}
