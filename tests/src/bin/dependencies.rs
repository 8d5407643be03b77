//! Makes `examples/data/dependencies.edges` of this workspace's `Cargo.lock`: a line a dependency, numbers in the order of the file.
//!
//! ```console
//! $ cargo run -p millstream-tests --bin dependencies > examples/data/dependencies.edges
//! ```

use std::{collections::HashMap, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let lock = fs::read_to_string(millstream_tests::root().join("Cargo.lock"))?;
    print!("{}", edges(&lock));
    Ok(())
}

/// A package: name, version, and what it depends on, by name or by name and version.
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    needs: Vec<&'a str>,
}

fn packages(lock: &str) -> Vec<Package<'_>> {
    lock.split("[[package]]")
        .skip(1)
        .map(|block| {
            let said = |key: &str| {
                let line = block.lines().find_map(|l| l.strip_prefix(key));
                line.unwrap_or_default().trim_matches([' ', '=', '"'])
            };
            let needs = block.lines().filter_map(|l| l.strip_prefix(" \""));
            Package {
                name: said("name"),
                version: said("version"),
                needs: needs.map(|l| l.trim_matches(['"', ','])).collect(),
            }
        })
        .collect()
}

/// The edge list: first who has which number, as remarks; the vertex 0 is the package `millstream`, which needs the others.
fn edges(lock: &str) -> String {
    let mut packages = packages(lock);
    packages.sort_by_key(|p| p.name != "millstream");
    let mut numbers = HashMap::new();
    let mut out = "# Who depends on whom in this workspace: FROM TO. Made by tests/src/bin/dependencies.rs.\n".to_owned();
    for (number, package) in packages.iter().enumerate() {
        numbers.insert(package.name.to_owned(), number);
        numbers.insert(format!("{} {}", package.name, package.version), number);
        out += &format!("# {number} {} {}\n", package.name, package.version);
    }
    for (from, package) in packages.iter().enumerate() {
        for to in package.needs.iter().filter_map(|need| numbers.get(*need)) {
            out += &format!("{from} {to}\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_for_each_dependency() {
        let lock = r#"
[[package]]
name = "cfg-if"
version = "1.0.4"

[[package]]
name = "millstream"
version = "0.1.0"
dependencies = [
 "cfg-if",
 "syn 2.0.1",
]

[[package]]
name = "syn"
version = "1.0.9"

[[package]]
name = "syn"
version = "2.0.1"
"#;
        let edges = super::edges(lock);
        let lines: Vec<&str> = edges.lines().skip(1).collect();
        let names = [
            "# 0 millstream 0.1.0",
            "# 1 cfg-if 1.0.4",
            "# 2 syn 1.0.9",
            "# 3 syn 2.0.1",
        ];
        assert_eq!(lines, [&names[..], &["0 1", "0 3"]].concat());
    }
}
