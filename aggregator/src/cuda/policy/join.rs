//! Sources of one level run one after another before the level below begins, where all that the level has of each finds room: their children are one level then.
//! Else what comes of the first would run before the second begins, and of two tasks that each spawn both a level would have twice as many runs as the one
//! above.

use super::Policy;

impl Policy<'_> {
    /// Whether a source may run before the level of the children begins.
    pub(super) fn others_join(&self) -> bool {
        let levels = &self.levels;
        let fits = |s: usize| {
            // Neighbouring children are stored two at a time.
            let even = levels.top[s].is_multiple_of(2) || !self.plan.is_paired(s);
            // What is promised to elements that run alone is for the ancestors of what comes next.
            levels.top[s] <= self.wide(s) && (levels.young[s] == 0 || even)
        };
        (0..levels.top.len()).all(fits) && (0..self.plan.sources.len()).any(|s| self.may_join(s))
    }

    /// Whether a source has elements at this level that may run while children wait. What one pushes that data decides on may be more than there is room
    /// for: then it has to be able to wait for the levels below, which an element that runs alone is not.
    fn may_join(&self, source: usize) -> bool {
        let (from, have) = (&self.plan.sources[source], self.have(source));
        from.is_entry() && have > 0 && (from.most() > 0 || (from.gives_back() && have > 1))
    }

    /// While children wait: what runs before their level begins. If nothing does, it begins.
    pub(super) fn join(&mut self) -> Option<(usize, u32)> {
        if !self.levels.is_pending() {
            return None;
        }
        let share = self.share();
        let joins = |s: &usize| self.may_join(*s) && self.run_of(*s, share).0 == self.have(*s);
        let sources = (0..self.plan.sources.len()).filter(joins);
        let most = sources.max_by_key(|s| (self.have(*s), std::cmp::Reverse(*s)));
        if most.is_none() {
            self.down();
        }
        most.map(|s| (s, self.have(s)))
    }
}
