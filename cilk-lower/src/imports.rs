//! What `use` brings in.

use crate::items::{Module, ident};

impl Module {
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
            syn::UseTree::Glob(_) => self.globs.extend(path.last().cloned()),
        }
    }

    fn import_as(&mut self, name: &syn::Ident, path: &[String], last: Option<&syn::Ident>) {
        let whole = path
            .iter()
            .cloned()
            .chain(last.filter(|l| *l != "self").map(ToString::to_string))
            .collect();
        self.imports.insert(name.to_string(), whole);
    }

    /// A path with what its first name was imported as, if it was and nothing of the program has that name.
    pub(crate) fn whole_path(&self, path: &syn::Path) -> Option<syn::Path> {
        let first = path.segments.first()?;
        let name = first.ident.to_string();
        let whole = self
            .imports
            .get(&name)
            .filter(|w| w.len() > 1 && !self.names.contains_key(&name))?;
        let mut out = path.clone();
        let mut segments: syn::punctuated::Punctuated<syn::PathSegment, syn::Token![::]> =
            syn::punctuated::Punctuated::new();
        for part in whole {
            segments.push(ident(part, first.ident.span()).into());
        }
        if let Some(last) = segments.last_mut() {
            last.arguments = first.arguments.clone();
        }
        segments.extend(path.segments.iter().skip(1).cloned());
        out.segments = segments;
        Some(out)
    }
}
