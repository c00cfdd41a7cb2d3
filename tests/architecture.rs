//! The invariants of ARCHITECTURE.md, read off the sources.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the bottom up, with those each may use besides itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("diagnostics", &["base"]),
    ("data", &["base"]),
    ("models", &["base", "data"]),
    ("oracle", &["base", "data", "models"]),
    ("samplers", &["base", "data", "models", "oracle"]),
    ("estimators", &["base", "data", "models", "oracle"]),
    (
        "engine",
        &[
            "base",
            "data",
            "models",
            "oracle",
            "samplers",
            "estimators",
            "diagnostics",
        ],
    ),
    (
        "export",
        &[
            "base",
            "data",
            "models",
            "oracle",
            "samplers",
            "estimators",
            "diagnostics",
            "engine",
        ],
    ),
    (
        "app",
        &[
            "base",
            "data",
            "models",
            "oracle",
            "samplers",
            "estimators",
            "diagnostics",
            "engine",
            "export",
        ],
    ),
    (
        "ui",
        &[
            "base",
            "data",
            "models",
            "oracle",
            "samplers",
            "estimators",
            "diagnostics",
            "engine",
            "export",
            "app",
        ],
    ),
    // `cli` opens the window where there is one, and nothing more.
    (
        "cli",
        &[
            "base",
            "data",
            "models",
            "oracle",
            "samplers",
            "estimators",
            "diagnostics",
            "engine",
            "export",
            "ui",
        ],
    ),
];

/// Libraries and the layers that may name them.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("eframe", &["ui"]),
    ("egui_plot", &["ui"]),
    ("egui_tiles", &["ui"]),
    ("egui_extras", &["ui"]),
    ("rfd", &["ui"]),
    ("polars", &["data", "export"]),
    ("crossbeam_channel", &["engine", "app"]),
    ("rayon", &["oracle", "diagnostics", "engine", "data"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
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
    }) || path.components().any(|part| part.as_os_str() == "tests");
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

fn in_layers(mut check: impl FnMut(&str, &Path, &str)) {
    for (layer, _) in LAYERS {
        for path in sources(&root().join("src").join(layer)) {
            for line in code(&path) {
                check(layer, &path, &line);
            }
        }
    }
}

#[test]
fn layers_use_only_those_below() {
    in_layers(|layer, path, line| {
        let allowed = LAYERS.iter().find(|(name, _)| *name == layer).unwrap().1;
        for (other, _) in LAYERS {
            let names = line.contains(&format!("crate::{other}::"))
                || line.contains(&format!("crate::{other},"));
            let grouped = line.trim_start().starts_with("use crate::{")
                && line.contains(&format!("{other}::"));
            assert!(
                !(names || grouped) || *other == layer || allowed.contains(other),
                "{} may not use {other}: {line}",
                path.display()
            );
        }
    });
}

#[test]
fn libraries_stay_in_their_layers() {
    in_layers(|layer, path, line| {
        for (library, layers) in LIBRARIES {
            let named =
                line.contains(&format!("{library}::")) || line.trim() == format!("use {library};");
            assert!(
                !named || layers.contains(&layer),
                "{} may not name {library}: {line}",
                path.display()
            );
        }
    });
}

#[test]
fn nothing_below_the_engine_knows_time_or_environment() {
    in_layers(|layer, path, line| {
        if !["base", "models", "oracle", "samplers", "estimators"].contains(&layer) {
            return;
        }
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
    });
}

#[test]
fn files_stay_readable() {
    for path in sources(&root().join("src")) {
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
    for (folder, registry) in [
        ("samplers", "samplers/registry.rs"),
        ("models", "models/mod.rs"),
    ] {
        let listed = fs::read_to_string(root().join("src").join(registry)).unwrap();
        for path in sources(&root().join("src").join(folder)) {
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
                            || listed.contains(&format!("::{name}>()")),
                        "{name} of {} is not registered",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn the_readme_lists_what_there_is() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for entry in ergodic_core::samplers::REGISTRY {
        assert!(
            readme.contains(&format!("| `{}` |", entry.spec.id)),
            "README lacks the sampler {}",
            entry.spec.id
        );
    }
    for entry in ergodic_core::models::REGISTRY {
        assert!(
            readme.contains(&format!("| `{}` |", entry.spec.id)),
            "README lacks the template {}",
            entry.spec.id
        );
    }
    for sample in ergodic_data::samples::all() {
        assert!(
            readme.contains(&format!("`{}`", sample.id)),
            "README lacks the data set {}",
            sample.id
        );
    }
}
