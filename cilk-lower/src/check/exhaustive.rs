//! Whether a `match` has an arm for every value.
//!
//! Each arm without a guard is a list of alternatives, each a list of intervals that parts of the value have to lie in. The values
//! of one part are cut where any interval begins or ends; within a piece every alternative holds or does not, so that it is enough
//! to look at each piece's first value, part by part.

use super::Checker;
use crate::{
    hir::{Arm, Expr, Path, Test},
    ty::Ty,
};
use millstream_graph::ty::{Scalar, StructId};
use std::collections::{BTreeMap, BTreeSet};

/// The parts that have to lie in an interval, both ends included.
type Row = Vec<(Path, i128, i128)>;
/// A value that no arm has: what its parts are; the others may be anything.
type Witness = BTreeMap<Path, i128>;

impl Checker<'_> {
    /// Says so if a value has no arm.
    pub(super) fn covers_all(&mut self, value: &Expr, arms: &[Arm], span: proc_macro2::Span) {
        if matches!(value.ty, Ty::Error | Ty::Never) {
            return;
        }
        let rows = arms
            .iter()
            .filter(|a| a.guard.is_none())
            .flat_map(|a| &a.cases);
        let rows: Option<Vec<Row>> = rows
            .map(|case| {
                case.tests
                    .iter()
                    .map(|(path, test)| self.interval(&value.ty, path, *test))
                    .collect()
            })
            .collect();
        let Some(rows) = rows else { return };
        if let Some(witness) = self.uncovered(&value.ty, rows) {
            let shown = self.witness(&value.ty, &mut Vec::new(), &witness);
            self.error(span, format!("this `match` has no arm for `{shown}`"))
                .help("add an arm for it, or `_ => ..` for all others");
        }
    }

    fn part(&self, ty: &Ty, path: &[usize]) -> Option<Scalar> {
        match (ty, path) {
            (Ty::Scalar(s), []) => Some(*s),
            (Ty::Tuple(fields), [i, rest @ ..]) => self.part(fields.get(*i)?, rest),
            (Ty::Option(_), [0]) => Some(Scalar::Bool),
            (Ty::Array(elem, _), [_, rest @ ..]) | (Ty::Option(elem), [1, rest @ ..]) => {
                self.part(elem, rest)
            }
            (Ty::Struct(id), [i, rest @ ..]) => {
                self.part(&Ty::from_type(&self.m.structs[*id].fields.get(*i)?.1), rest)
            }
            _ => None,
        }
    }

    /// The enum whose number is at this path.
    fn variants(&self, ty: &Ty, path: &[usize]) -> Option<StructId> {
        match (ty, path) {
            (Ty::Struct(id), [0]) if self.m.structs[*id].is_enum() => Some(*id),
            (Ty::Tuple(fields), [i, rest @ ..]) => self.variants(fields.get(*i)?, rest),
            (Ty::Array(elem, _), [_, rest @ ..]) | (Ty::Option(elem), [1, rest @ ..]) => {
                self.variants(elem, rest)
            }
            (Ty::Struct(id), [i, rest @ ..]) => {
                self.variants(&Ty::from_type(&self.m.structs[*id].fields.get(*i)?.1), rest)
            }
            _ => None,
        }
    }

    fn interval(&self, ty: &Ty, path: &Path, test: Test) -> Option<(Path, i128, i128)> {
        let scalar = self.part(ty, path)?;
        let (least, greatest) = range_of(scalar);
        let wide = |bits: u64| {
            if scalar.is_signed() {
                i128::from(bits as i64)
            } else {
                i128::from(bits)
            }
        };
        let (lo, hi) = match test {
            Test::Is(bits) => (wide(bits), wide(bits)),
            Test::Range(lo, hi) => (lo.map_or(least, wide), hi.map_or(greatest, wide)),
        };
        Some((path.clone(), lo, hi))
    }

    fn uncovered(&self, ty: &Ty, rows: Vec<Row>) -> Option<Witness> {
        if rows.iter().any(Vec::is_empty) {
            return None;
        }
        let Some(path) = rows.first().map(|row| row[0].0.clone()) else {
            return Some(Witness::new());
        };
        let (least, greatest) = range_of(self.part(ty, &path)?);
        let of_enum = self.variants(ty, &path);
        let bounds = rows
            .iter()
            .flatten()
            .filter(|(p, ..)| *p == path)
            .flat_map(|(_, lo, hi)| [*lo, *hi + 1]);
        let starts: BTreeSet<i128> = match of_enum {
            Some(id) => {
                let all = self.m.structs[id].variants.iter();
                all.map(|(_, bits)| self.m.number(id, *bits)).collect()
            }
            None => bounds
                .chain([least])
                .filter(|b| (least..=greatest).contains(b))
                .collect(),
        };
        starts.into_iter().find_map(|start| {
            let holds = |row: &&Row| {
                row.iter()
                    .all(|(p, lo, hi)| *p != path || (*lo..=*hi).contains(&start))
            };
            let rest = |row: &Row| row.iter().filter(|(p, ..)| *p != path).cloned().collect();
            let mut witness = self.uncovered(ty, rows.iter().filter(holds).map(rest).collect())?;
            witness.insert(path.clone(), start);
            Some(witness)
        })
    }

    /// The value as a pattern.
    fn witness(&self, ty: &Ty, path: &mut Path, witness: &Witness) -> String {
        let mut part = |i: usize, ty: &Ty| {
            path.push(i);
            let shown = self.witness(ty, path, witness);
            path.pop();
            shown
        };
        match ty {
            Ty::Tuple(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| part(i, ty))
                    .collect();
                format!("({})", fields.join(", "))
            }
            Ty::Option(some) => {
                let value = part(1, some);
                match &*part(0, &crate::ty::BOOL) {
                    "true" => format!("Some({value})"),
                    "false" => "None".to_owned(),
                    _ => "_".to_owned(),
                }
            }
            Ty::Struct(id) if self.m.structs[*id].is_enum() => {
                path.push(0);
                let mut all = self.m.structs[*id].variants.iter();
                let name = witness.get(path).and_then(|number| {
                    let is = |(_, bits): &&(String, u64)| self.m.number(*id, *bits) == *number;
                    all.find(is)
                        .map(|(name, _)| format!("{}::{name}", self.m.structs[*id].name))
                });
                path.pop();
                name.unwrap_or("_".to_owned())
            }
            Ty::Struct(id) => {
                let def = self.m.structs[*id].clone();
                let fields: Vec<(String, String)> = def
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(i, (name, ty))| (name.clone(), part(i, &Ty::from_type(ty))))
                    .collect();
                if def.tuple {
                    return format!(
                        "{}({})",
                        def.name,
                        fields
                            .into_iter()
                            .map(|(_, v)| v)
                            .collect::<Vec<_>>()
                            .join(", ")
                    );
                }
                let known: Vec<String> = fields
                    .into_iter()
                    .filter(|(_, v)| v != "_")
                    .map(|(n, v)| format!("{n}: {v}, "))
                    .collect();
                format!("{} {{ {}.. }}", def.name, known.concat())
            }
            Ty::Scalar(Scalar::Bool) => witness
                .get(path)
                .map_or("_".to_owned(), |v| (*v != 0).to_string()),
            _ => witness
                .get(path)
                .map_or("_".to_owned(), ToString::to_string),
        }
    }
}

/// Whether an integer is a value of the type.
pub(crate) fn fits(value: i128, scalar: Scalar) -> bool {
    let (least, greatest) = range_of(scalar);
    (least..=greatest).contains(&value)
}

/// The least and the greatest value of a type.
fn range_of(scalar: Scalar) -> (i128, i128) {
    let bits = scalar.bits();
    if scalar.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}
