//! What a name means: the modules within a program, paths, and what `use` brings in.
//!
//! Items are known by their whole path in the program, `inner::Point`; what is written in a module is found from there, as in Rust: its own items first, then
//! what its `use` brings in, by name and by `*`.

use crate::{
    beside,
    check::float_const,
    items::{Item, Module, ident},
};

/// How many `use` may lead from one to the next.
const MOST_STEPS: usize = 16;

/// Whether a module of Rust's library has a function, constant or range of this name that is known here by its path.
fn rust_has(module: &str, name: &str) -> bool {
    match module {
        "cmp" => ["min", "max", "min_by", "min_by_key", "max_by", "max_by_key"].contains(&name),
        "mem" => ["swap", "replace", "take", "drop", "size_of"].contains(&name),
        "iter" => [
            "from_fn",
            "once",
            "repeat",
            "repeat_n",
            "repeat_with",
            "successors",
        ]
        .contains(&name),
        "array" => name == "from_fn",
        "hint" => ["black_box", "select_unpredictable"].contains(&name),
        "ops" => ["Range", "RangeInclusive"].contains(&name),
        "consts" => float_const(name).is_some(),
        _ => false,
    }
}

/// A name in a module.
pub(crate) fn within(module: &str, name: &str) -> String {
    match module {
        "" => name.to_owned(),
        module => format!("{module}::{name}"),
    }
}

impl Module {
    /// The item that a name alone stands for.
    pub(crate) fn named(&self, name: &str) -> Option<Item> {
        let full = self.full(&[name.to_owned()])?;
        self.names.get(&full).copied()
    }

    /// The item that a path stands for, whatever its arguments.
    pub(crate) fn item(&self, path: &syn::Path) -> Option<Item> {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        match self.full(&names) {
            Some(full) => self.names.get(&full).copied(),
            None => {
                let is_it = |id: &&usize| names.last() == Some(&self.traits[**id].name);
                let rusts = self.rusts_traits.iter().find(is_it);
                let rusts = rusts.map(|id| Item::Trait(*id));
                rusts.or_else(|| self.range_named(path).map(Item::Family))
            }
        }
    }

    /// The whole path of an item.
    pub(crate) fn full(&self, names: &[String]) -> Option<String> {
        self.find(&self.at.here, names, MOST_STEPS, &[])
    }

    /// The same of what is written in a module.
    pub(crate) fn full_in(&self, module: &str, names: &[String]) -> Option<String> {
        self.find(module, names, MOST_STEPS, &[])
    }

    /// `asked` are the names that this answer is wanted for, as a `use` with `*` may bring them in: what it takes itself to find brings in nothing.
    fn find(&self, from: &str, names: &[String], steps: usize, asked: &[String]) -> Option<String> {
        let (first, rest) = names.split_first()?;
        let steps = steps.checked_sub(1)?;
        if let "self" | "super" = first.as_str()
            && let Some(around) = self.inside.get(from)
        {
            return self.find(around, names, steps, asked);
        }
        match first.as_str() {
            "self" => return self.find(from, rest, steps, asked),
            "super" => {
                let around = from.rsplit_once("::").map_or("", |(around, _)| around);
                return (!from.is_empty())
                    .then(|| self.find(around, rest, steps, asked))
                    .flatten();
            }
            _ => {}
        }
        let here = within(from, first);
        if self.modules.contains(&here) && !rest.is_empty() {
            return self.find(&here, rest, steps, asked);
        }
        if self.names.contains_key(&here) {
            return Some(rest.iter().fold(here, |all, name| within(&all, name)));
        }
        if let Some(whole) = self.imports.get(&here)
            && whole.as_slice() != [first.clone()]
        {
            let whole: Vec<String> = whole.iter().chain(rest).cloned().collect();
            return self.find(from, &whole, steps, asked);
        }
        let around = || self.find(self.inside.get(from)?, names, steps, asked);
        if asked.contains(&here) {
            return around().or_else(|| self.find_beside(from, names, steps));
        }
        let asked: Vec<String> = asked.iter().cloned().chain([here]).collect();
        let globs = self.globs.iter().filter(|(at, _)| at == from);
        globs
            .filter_map(|(_, path)| {
                let whole: Vec<String> = path.iter().chain(names).cloned().collect();
                self.find(from, &whole, steps, &asked)
            })
            .find(|full| self.names.contains_key(full))
            .or_else(around)
            .or_else(|| self.find_beside(from, names, steps))
    }

    /// The same of what stands beside the program's items for Rust's library.
    fn find_beside(&self, from: &str, names: &[String], steps: usize) -> Option<String> {
        match names {
            [name] if beside::is_wide(name) && self.wide().is_some() => {
                Some(within("std::wide", name))
            }
            [name, _] if beside::is_wide(name) && self.wide().is_some() => Some(
                names
                    .iter()
                    .fold("std::wide".to_owned(), |all, name| within(&all, name)),
            ),
            [first, rest @ ..]
                if matches!(first.as_str(), "std" | "core")
                    && (!from.is_empty() || first == "core")
                    && self.modules.contains("std") =>
            {
                self.find("std", rest, steps, &[])
            }
            _ => None,
        }
    }

    /// What to do about a name that is known elsewhere in the program.
    pub(crate) fn known_elsewhere(&self, name: &str) -> Option<String> {
        if self.named(name).is_some() {
            return None;
        }
        let end = format!("::{name}");
        let modules = |n: &&String| match n.strip_suffix(&end) {
            Some(around) => self.modules.contains(around),
            None => *n == name,
        };
        let full = self.names.keys().find(modules)?;
        Some(match full.contains("::") {
            true => format!(
                "it is `{full}`, seen from the top of the program: name it by its path, or bring it in by `use`"
            ),
            false => format!(
                "it stands further up: `super::{name}`, or bring it in by `use super::{name};`"
            ),
        })
    }

    /// Remembers what a `use` brings in.
    pub(crate) fn import(&mut self, item: &syn::ItemUse) {
        self.import_tree(&item.tree, &mut Vec::new());
    }

    fn import_tree(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(p) => {
                path.push(p.ident.to_string());
                self.import_tree(&p.tree, path);
                path.pop();
            }
            syn::UseTree::Group(g) => g.items.iter().for_each(|t| self.import_tree(t, path)),
            syn::UseTree::Name(n) if n.ident != "self" => {
                self.import_as(&n.ident, path, Some(&n.ident))
            }
            syn::UseTree::Rename(r) => self.import_as(&r.rename, path, Some(&r.ident)),
            syn::UseTree::Name(n) => {
                if let Some(last) = path.last().cloned() {
                    self.import_as(&ident(&last, n.ident.span()), path, None);
                }
            }
            syn::UseTree::Glob(_) => self.globs.push((self.at.here.clone(), path.clone())),
        }
    }

    fn import_as(&mut self, name: &syn::Ident, path: &[String], last: Option<&syn::Ident>) {
        let whole = path
            .iter()
            .cloned()
            .chain(last.filter(|l| *l != "self").map(ToString::to_string))
            .collect();
        let name = within(&self.at.here, &name.to_string());
        self.imports.insert(name, whole);
    }

    /// The whole path of a name that a `use` with `*` brings into a module from Rust's library, if nothing of the program has it.
    fn brought_by_star(&self, module: &str, name: &syn::Ident) -> Option<Vec<String>> {
        let name = name.to_string();
        let mut globs = self.globs.iter().filter(|(at, path)| {
            let of_rust = matches!(path.first().map(String::as_str), Some("std" | "core"));
            at == module && of_rust && path.last().is_some_and(|last| rust_has(last, &name))
        });
        let (_, path) = globs.next()?;
        let is_own = self.full_in(module, std::slice::from_ref(&name)).is_some();
        (!is_own).then(|| path.iter().cloned().chain([name]).collect())
    }

    /// A path with what its first name was imported as, if it was and nothing of the program has that name.
    pub(crate) fn whole_path(&self, path: &syn::Path) -> Option<syn::Path> {
        let first = path.segments.first()?;
        let mut here = Some(&self.at.here);
        let whole = loop {
            let name = within(here?, &first.ident.to_string());
            if self.names.contains_key(&name) {
                return None;
            }
            match self.imports.get(&name) {
                Some(whole) if whole.len() > 1 => break whole.clone(),
                _ => {}
            }
            match self.brought_by_star(here?, &first.ident) {
                Some(whole) => break whole,
                None => here = self.inside.get(here?),
            }
        };
        let mut out = path.clone();
        let mut segments: syn::punctuated::Punctuated<syn::PathSegment, syn::Token![::]> =
            syn::punctuated::Punctuated::new();
        for part in whole {
            segments.push(ident(&part, first.ident.span()).into());
        }
        if let Some(last) = segments.last_mut() {
            last.arguments = first.arguments.clone();
        }
        segments.extend(path.segments.iter().skip(1).cloned());
        out.segments = segments;
        Some(out)
    }
}
