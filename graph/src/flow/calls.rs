//! Who calls or spawns whom.

use crate::ir::{FuncId, Program, StmtKind};
use petgraph::{algo::tarjan_scc, graph::DiGraph};

/// An edge from each function to each that it names, as often as it does.
#[derive(Clone, Debug)]
pub struct CallGraph {
    callees: Vec<Vec<FuncId>>,
    /// Each after those that it comes to, but for cycles.
    order: Vec<FuncId>,
    recursive: Vec<bool>,
}

impl CallGraph {
    /// By calls.
    #[must_use]
    pub fn of_calls(program: &Program) -> Self {
        Self::new(program, |s| match s {
            StmtKind::Call { func, .. } => Some(*func),
            _ => None,
        })
    }

    /// By spawns.
    #[must_use]
    pub fn of_spawns(program: &Program) -> Self {
        Self::new(program, |s| match s {
            StmtKind::Spawn { func, .. } => Some(*func),
            _ => None,
        })
    }

    fn new(program: &Program, named: impl Fn(&StmtKind) -> Option<FuncId>) -> Self {
        let callees: Vec<Vec<FuncId>> = program
            .functions
            .iter()
            .map(|f| f.stmts().filter_map(|s| named(&s.kind)).collect())
            .collect();
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = callees.iter().map(|_| graph.add_node(())).collect();
        for (i, to) in callees.iter().enumerate() {
            for callee in to {
                graph.add_edge(nodes[i], nodes[callee.index()], ());
            }
        }
        let mut out = Self {
            order: Vec::with_capacity(callees.len()),
            recursive: vec![false; callees.len()],
            callees,
        };
        for component in tarjan_scc(&graph) {
            let cycle = component.len() > 1 || graph.contains_edge(component[0], component[0]);
            for node in component {
                out.recursive[node.index()] = cycle;
                out.order.push(FuncId::new(node.index()));
            }
        }
        out
    }

    /// Those that a function names, as often as it does.
    #[must_use]
    pub fn callees(&self, function: FuncId) -> &[FuncId] {
        &self.callees[function.index()]
    }

    /// All functions, each after those that it comes to, but for cycles.
    #[must_use]
    pub fn callees_first(&self) -> &[FuncId] {
        &self.order
    }

    /// Whether a function can come to itself.
    #[must_use]
    pub fn is_recursive(&self, function: FuncId) -> bool {
        self.recursive[function.index()]
    }

    /// For each function whether one can come to it; itself only if it comes back.
    #[must_use]
    pub fn reached(&self, function: FuncId) -> Vec<bool> {
        let mut seen = vec![false; self.callees.len()];
        let mut work: Vec<FuncId> = self.callees(function).to_vec();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at.index()], true) {
                work.extend(self.callees(at));
            }
        }
        seen
    }
}
