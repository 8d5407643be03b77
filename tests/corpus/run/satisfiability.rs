//! DPLL on clauses of three literals: unit propagation, then the variable that stands in most open clauses; counts models.
#[millstream::program]
pub mod program {
    pub type Clause = [i8; 3];

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Known {
        pub yes: u64,
        pub no: u64,
    }

    impl Known {
        fn is_true(&self, literal: i8) -> bool {
            let bit = 1 << literal.unsigned_abs();
            if literal > 0 { self.yes & bit != 0 } else { self.no & bit != 0 }
        }

        fn is_false(&self, literal: i8) -> bool {
            self.is_true(-literal)
        }

        fn with(self, literal: i8) -> Self {
            let bit = 1 << literal.unsigned_abs();
            if literal > 0 { Self { yes: self.yes | bit, ..self } } else { Self { no: self.no | bit, ..self } }
        }

        fn satisfies(&self, clause: &Clause) -> bool {
            clause.iter().any(|&l| self.is_true(l))
        }

        fn open(&self, clause: &Clause) -> usize {
            clause.iter().filter(|&&l| !self.is_false(l)).count()
        }
    }

    #[task]
    pub fn models(clauses: &[Clause], vars: u32, known: Known) -> u64 {
        let mut known = known;
        // A clause with one literal left decides it.
        while let Some(unit) = clauses.iter().find(|c| !known.satisfies(c) && known.open(c) == 1) {
            let literal = *unit.iter().find(|&&l| !known.is_false(l)).unwrap();
            known = known.with(literal);
        }
        if clauses.iter().any(|c| known.open(c) == 0) {
            return 0;
        }
        let set = known.yes | known.no;
        // Those in no open clause are free: each doubles the models.
        let Some((v, _)) = (1..=vars as i8)
            .filter(|v| set >> v & 1 == 0)
            .map(|v| (v, clauses.iter().filter(|c| !known.satisfies(c) && c.iter().any(|l| l.abs() == v)).count()))
            .filter(|&(_, n)| n > 0)
            .max_by_key(|&(_, n)| n)
        else {
            return 1 << (vars - set.count_ones());
        };
        let mut all = 0;
        for l in [v, -v] {
            all += spawn!(models(clauses, vars, known.with(l)));
        }
        sync!();
        all
    }
}

millstream_tests::cases! {
    models(&[[1, 2, 3], [-1, -2, 3], [1, -3, 4]], 4, program::Known { yes: 0, no: 0 });
    models(&[[1, 1, 1], [-1, -1, 2], [-2, -2, -1]], 2, program::Known { yes: 0, no: 0 });
    models(&[], 3, program::Known { yes: 0, no: 0 });
}
