//! Whether a `match` has an arm for every value.
//!
//! Each arm without a guard is a list of alternatives, each a list of intervals that parts of the value have to lie in. The values
//! of one part are cut where any interval begins or ends; within a piece every alternative holds or does not, so that it is enough
//! to look at each piece's first value, part by part.

use super::{
    Checker,
    sums::{Sum, wide},
};
use crate::{
    hir::{Arm, Expr, Path, Projection, Test},
    ty::{Ty, USIZE},
};
use millstream_graph::ty::Scalar;
use std::collections::{BTreeMap, BTreeSet};

/// Elements of the longest array that messages show.
const MOST_SHOWN: u64 = 16;

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

    /// The type of the part at this path.
    fn part(&self, ty: &Ty, path: &[Projection]) -> Option<Ty> {
        path.iter()
            .try_fold(self.shallow(ty), |ty, step| match (step, ty) {
                (Projection::Field(i), ty) => self.parts_of(&ty).into_iter().nth(*i),
                (Projection::Len, _) => Some(USIZE),
                (_, Ty::Ref { target: part, .. } | Ty::Array(part, _)) => Some(*part),
                (_, Ty::Slice { elem, .. }) => Some(*elem),
                _ => None,
            })
    }

    /// The numbers of all variants, if the number of one is at this path.
    fn numbers(&self, ty: &Ty, path: &[Projection]) -> Option<Vec<i128>> {
        let (Projection::Field(0), of) = path.split_last()? else {
            return None;
        };
        let of = self.part(ty, of)?;
        let scalar = self.parts_of(&of).first()?.scalar()?;
        let all = self.variants(Sum::of(&of, self)?).into_iter();
        Some(all.map(|v| wide(scalar, v.number)).collect())
    }

    fn interval(&self, ty: &Ty, path: &Path, test: Test) -> Option<(Path, i128, i128)> {
        let scalar = self.part(ty, path)?.scalar()?;
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
        let (least, greatest) = range_of(self.part(ty, &path)?.scalar()?);
        let bounds = rows
            .iter()
            .flatten()
            .filter(|(p, ..)| *p == path)
            .flat_map(|(_, lo, hi)| [*lo, *hi + 1]);
        let starts: BTreeSet<i128> = match self.numbers(ty, &path) {
            Some(all) => all.into_iter().collect(),
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
        match ty {
            Ty::Ref { target, .. } => self.witness_at(Projection::Deref, target, path, witness),
            Ty::Array(elem, len) if *len <= MOST_SHOWN => {
                let elems = (0..*len as usize)
                    .map(|i| self.witness_at(Projection::Element(i), elem, path, witness));
                format!("[{}]", elems.collect::<Vec<_>>().join(", "))
            }
            Ty::Slice { elem, .. } => {
                path.push(Projection::Len);
                let len = witness.get(path).copied();
                path.pop();
                let elems = (0..len.unwrap_or(0).min(MOST_SHOWN.into()) as usize)
                    .map(|i| self.witness_at(Projection::Element(i), elem, path, witness));
                match len {
                    Some(len) if len <= MOST_SHOWN.into() => {
                        format!("[{}]", elems.collect::<Vec<_>>().join(", "))
                    }
                    _ => "_".to_owned(),
                }
            }
            Ty::Tuple(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| self.witness_at(Projection::Field(i), ty, path, witness))
                    .collect();
                format!("({})", fields.join(", "))
            }
            Ty::Option(_) | Ty::Result(..) | Ty::Struct(_) if Sum::of(ty, self).is_some() => {
                self.shown_variant(ty, path, witness)
            }
            Ty::Struct(id) => {
                let def = self.m.structs[*id].clone();
                let fields: Vec<(String, String)> = def
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(i, (name, ty))| {
                        (
                            name.clone(),
                            self.witness_at(
                                Projection::Field(i),
                                &Ty::from_type(ty),
                                path,
                                witness,
                            ),
                        )
                    })
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

    /// The same of a part.
    fn witness_at(&self, step: Projection, ty: &Ty, path: &mut Path, witness: &Witness) -> String {
        path.push(step);
        let shown = self.witness(ty, path, witness);
        path.pop();
        shown
    }

    /// The variant that a value is as a pattern.
    fn shown_variant(&self, ty: &Ty, path: &mut Path, witness: &Witness) -> String {
        let types = self.parts_of(ty);
        let (Some(sum), Some(Ty::Scalar(number))) = (Sum::of(ty, self), types.first()) else {
            return "_".to_owned();
        };
        path.push(Projection::Field(0));
        let found = witness.get(path).copied();
        path.pop();
        let mut all = self.variants(sum).into_iter();
        let Some(variant) = all.find(|v| found == Some(wide(*number, v.number))) else {
            return "_".to_owned();
        };
        let parts: Vec<String> = variant
            .fields
            .clone()
            .map(|i| self.witness_at(Projection::Field(i), &types[i], path, witness))
            .collect();
        let name = match sum {
            Sum::Enum(id) => format!("{}::{}", self.m.structs[id].name, variant.name),
            _ => variant.name,
        };
        if parts.is_empty() {
            name
        } else if variant.names.is_empty() {
            format!("{name}({})", parts.join(", "))
        } else {
            let known = variant.names.iter().zip(&parts).filter(|(_, v)| *v != "_");
            let known: Vec<String> = known.map(|(n, v)| format!("{n}: {v}, ")).collect();
            format!("{name} {{ {}.. }}", known.concat())
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
