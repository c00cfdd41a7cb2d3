//! The invariants of ARCHITECTURE.md that no compiler checks, read off the sources.
//!
//! What a crate may use stands in its `Cargo.toml`: the numeric core cannot name a table, a window or a command line.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use ergodic_analysis::templates;
use ergodic_core::samplers;

/// Layers of the crate of models below its root from the bottom up; each uses only those before it.
const MODELS: &[&str] = &["numerics", "formula", "design", "families"];
/// Layers within the numeric core from the bottom up; each uses only those before it.
const CORE: &[&str] = &[
    "numerics",
    "oracle",
    "estimators",
    "samplers",
    "engine",
    "fit",
];
/// Libraries with one home in the program.
const LIBRARIES: &[(&str, &str)] = &[
    ("eframe", "src/ui"),
    ("egui_plot", "src/ui"),
    ("egui_tiles", "src/ui"),
    ("rfd", "src/ui"),
    ("clap", "src/cli"),
    ("indicatif", "src/cli"),
];
/// Longest file: beyond this it has more than one subject.
const MAX_LINES: usize = 800;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Lines of code, without comments and without the tests at a file's end.
fn code(path: &Path) -> Vec<String> {
    let is_test_file = path.file_stem().is_some_and(|stem| {
        let stem = stem.to_string_lossy();
        stem.ends_with("tests")
            || stem == "testing"
            || stem == "conformance"
            || stem == "golden_draws"
    }) || path.components().any(|part| {
        let part = part.as_os_str();
        part == "tests" || part == "conformance" || part == "testing"
    });
    if is_test_file {
        return Vec::new();
    }
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .take_while(|line| line.trim() != "mod tests {")
        .map(|line| line.split("//").next().unwrap_or_default().to_owned())
        .collect()
}

/// The files of a module: `name.rs` and everything in `name/`.
fn module(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut files = vec![folder.join(format!("{name}.rs"))];
    let inside = folder.join(name);
    if inside.is_dir() {
        files.extend(sources(&inside));
    }
    files
}

#[test]
fn layers_of_the_core_use_only_those_below() {
    let folder = root().join("crates/core/src");
    for (place, layer) in CORE.iter().enumerate() {
        let files = module(&folder, layer);
        assert!(files[0].is_file(), "{layer}");
        for path in files {
            for line in code(&path) {
                for above in &CORE[place + 1..] {
                    assert!(
                        !line.contains(&format!("crate::{above}::")),
                        "{} may not use {above}: {line}",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn designs_and_families_know_no_model() {
    let folder = root().join("crates/models/src");
    for (place, layer) in MODELS.iter().enumerate() {
        let files = module(&folder, layer);
        assert!(files[0].is_file(), "{layer}");
        for path in files {
            for line in code(&path) {
                for used in line.split("crate::").skip(1) {
                    let below = MODELS[..=place].iter();
                    assert!(
                        below.clone().any(|it| used.starts_with(it)),
                        "{} may not use {used}: {line}",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn panels_and_command_line_stand_on_the_state_and_not_the_other_way_round() {
    for path in sources(&root().join("src/app")) {
        for line in code(&path) {
            for above in ["crate::ui::", "crate::cli::"] {
                assert!(!line.contains(above), "{}: {line}", path.display());
            }
        }
    }
    for path in sources(&root().join("src/cli")) {
        for line in code(&path) {
            assert!(!line.contains("crate::app::"), "{}: {line}", path.display());
        }
    }
}

#[test]
fn libraries_stay_at_home() {
    for path in sources(&root().join("src")) {
        for line in code(&path) {
            for (library, home) in LIBRARIES {
                let named = line.contains(&format!("{library}::"))
                    || line.trim() == format!("use {library};");
                let at_home = path.starts_with(root().join(home))
                    || path == root().join(format!("{home}.rs"));
                assert!(
                    !named || at_home,
                    "{} may not name {library}: {line}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn nothing_below_the_engine_knows_time_or_environment() {
    let core = root().join("crates/core/src");
    let below = CORE
        .iter()
        .filter(|layer| !["engine", "fit"].contains(layer));
    let mut files: Vec<PathBuf> = below.flat_map(|layer| module(&core, layer)).collect();
    files.extend(sources(&root().join("crates/models/src")));
    files.extend(sources(&root().join("crates/base/src")));
    for path in files {
        for line in code(&path) {
            for forbidden in [
                "Instant::now",
                "SystemTime",
                "std::env::",
                "std::fs::",
                "println!",
                "eprintln!",
            ] {
                assert!(
                    !line.contains(forbidden),
                    "{} may not use {forbidden}: {line}",
                    path.display()
                );
            }
        }
    }
}

/// Families are told apart by their type; `poisson` and `student` are names of templates too. What distributions are called in other
/// languages is no family.
#[test]
fn response_families_are_named_in_their_files_only() {
    let mut files = sources(&root().join("src"));
    files.extend(sources(&root().join("crates")));
    let families = root().join("crates/models/src/families");
    let foreign = root().join("crates/language/src/foreign.rs");
    let others = (files.iter()).filter(|path| !path.starts_with(&families) && **path != foreign);
    for path in others {
        for line in code(path) {
            for id in ["gaussian", "bernoulli", "binomial", "negative_binomial"] {
                assert!(
                    !line.contains(&format!("\"{id}\"")),
                    "{} may not name the family {id} by its text: {line}",
                    path.display()
                );
            }
        }
    }
}

/// Words that are names of templates or samplers and mean something else where they stand: the start of a path, and the word.
const HOMONYMS: &[(&str, &str)] = &[
    ("crates/models/src/families/", "ordered"),
    ("crates/models/src/families/", "poisson"),
    ("crates/models/src/families/", "student"),
    ("crates/models/src/formula/", "ordered"),
    ("crates/core/src/samplers/partition/dp_stochastic.rs", "own"),
    ("crates/core/src/samplers/output.rs", "topics"),
    ("crates/core/src/samplers/topics.rs", "topics"),
    ("crates/data/src/profile.rs", "categorical"),
    ("crates/diagnostics/src/zero_variance.rs", "linear"),
    ("crates/language/src/equation.rs", "ordered"),
    ("crates/language/src/foreign.rs", "ordered"),
    ("crates/language/src/functions.rs", "logistic"),
    ("crates/language/src/lower/tails.rs", "logistic"),
    ("crates/language/src/limits.rs", "poisson"),
    ("crates/language/src/lower/", "categorical"),
    ("crates/language/src/lower/", "ordered"),
    ("src/ui/panels/runs/topics.rs", "topics"),
];

/// Who chooses a template or sampler takes its name from where it is defined (`names`), so that a wrong one does not compile.
/// The experiments are recipes of the papers and write names as users do.
#[test]
fn templates_and_samplers_are_named_in_their_files_only() {
    let ids: Vec<&str> = (templates::all().map(|entry| entry.spec.id))
        .chain(samplers::REGISTRY.iter().map(|entry| entry.spec.id))
        .collect();
    let mut defined = vec![0; ids.len()];
    let mut files = sources(&root().join("src"));
    files.extend(sources(&root().join("crates")));
    for path in &files {
        let short = path.strip_prefix(root()).unwrap().to_str().unwrap();
        if short.starts_with("crates/experiments/") || !short.contains("src/") {
            continue;
        }
        let mut lines = code(path);
        lines.retain(|line| line.contains('"'));
        for (id, defined) in ids.iter().zip(&mut defined) {
            let text = format!("\"{id}\"");
            let defines = [
                "id: ",
                "const ID: &'static str = ",
                "const TEMPLATE: &str = ",
            ];
            let is_definition = |line: &String| {
                let mut ways = defines.iter();
                ways.any(|it| line.contains(&format!("{it}{text}")))
            };
            // The file that defines it may name it again.
            if lines.iter().any(is_definition) {
                *defined += 1;
                continue;
            }
            for line in lines.iter().filter(|line| line.contains(&text)) {
                let is_other =
                    |(start, word): &&(&str, &str)| short.starts_with(start) && word == id;
                assert!(
                    HOMONYMS.iter().any(|it| is_other(&it)),
                    "{short} may not name {id} by its text: {line}"
                );
            }
        }
    }
    for (id, defined) in ids.iter().zip(defined) {
        assert!(defined > 0, "{id} is defined nowhere");
    }
}

#[test]
fn the_core_builds_without_tables_windows_and_command_lines() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let lock: toml::Table = lock.parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let needs = |name: &str| -> Vec<String> {
        let of_name = packages
            .iter()
            .filter(|package| package["name"].as_str() == Some(name));
        let needed = of_name.filter_map(|package| package.get("dependencies")?.as_array());
        let words = needed.flatten().filter_map(|it| it.as_str());
        words
            .map(|it| it.split(' ').next().unwrap().to_owned())
            .collect()
    };
    let mut open = vec!["ergodic-core".to_owned()];
    let mut seen = Vec::new();
    while let Some(name) = open.pop() {
        if !seen.contains(&name) {
            open.extend(needs(&name));
            seen.push(name);
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
    for heavy in ["polars", "clap", "egui", "eframe"] {
        assert!(!seen.iter().any(|name| name.starts_with(heavy)), "{heavy}");
    }
}

#[test]
fn tests_of_a_file_stand_in_its_folder() {
    for folder in [root().join("src"), root().join("crates")] {
        for file in sources(&folder) {
            let stem = file.file_stem().unwrap().to_string_lossy();
            assert!(
                !stem.ends_with("_tests"),
                "tests of `foo.rs` stand in `foo/tests.rs` or `foo/tests/`: {}",
                file.display()
            );
        }
    }
}

#[test]
fn files_stay_readable() {
    let mut files = sources(&root().join("src"));
    files.extend(sources(&root().join("crates")));
    for path in files {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= MAX_LINES,
            "{} has {lines} lines; give each subject its file",
            path.display()
        );
    }
}

#[test]
fn every_spec_is_registered() {
    // Samplers that only blocks may have are listed where blocks are.
    for (folder, registries) in [
        ("crates/core/src/samplers", &["registry.rs", "gibbs.rs"][..]),
        ("crates/models/src", &["lib.rs"]),
    ] {
        let folder = root().join(folder);
        let listed: String = (registries.iter())
            .map(|registry| fs::read_to_string(folder.join(registry)).unwrap())
            .collect();
        for path in sources(&folder) {
            let text = fs::read_to_string(&path).unwrap();
            for line in text.lines() {
                let implements = ["impl Sampler for ", "impl Template for "]
                    .iter()
                    .find_map(|start| line.strip_prefix(start));
                if let Some(name) = implements
                    && !path.ends_with("testing.rs")
                    && !path.ends_with("conformance.rs")
                {
                    let name = name.trim_end_matches([' ', '{']);
                    assert!(
                        listed.contains(&format!("::of::<{name}>()"))
                            || listed.contains(&format!("<{name}>()"))
                            || listed.contains(&format!("::{name}>()"))
                            || listed.contains(&format!("known form: {name}")),
                        "{name} of {} is not registered",
                        path.display()
                    );
                }
            }
        }
    }
}
