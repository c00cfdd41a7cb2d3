//! Reports of mixtures.

use super::*;

/// Rows that a mixture holds out are further rows, not those that it was fitted to; all reports list its clusters.
#[test]
fn reports_of_mixtures_have_their_clusters_and_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.csv");
    let rows = (0..40).map(|row| format!("{}\n", f64::from(row % 2 * 50 + row * 7 % 11)));
    std::fs::write(&path, format!("x\n{}", rows.collect::<String>())).unwrap();
    let recipe = Recipe::new(path.to_str().unwrap(), "dp-mixture", "~ x");
    let mut recipe = recipe.changed(&["model.held_out=0.2".to_owned()]).unwrap();
    (recipe.run.chains, recipe.run.warmup) = (2, Some(20));
    (recipe.run.draws, recipe.run.until_precise) = (30, false);
    let ran = ran(Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap());
    let report = report_of(&ran);
    let manifest = &report.manifest;
    assert_eq!((manifest.rows_total, manifest.rows_used), (32, 32));
    assert_eq!(manifest.rows_held_out, 8);
    assert!(report.found.get::<Clusters>().is_some());
    for (id, list) in [
        ("html", "<h3>Clusters</h3>"),
        ("markdown", "### Clusters\n\nThe point partition has"),
        ("latex", "The point partition has"),
    ] {
        let text = written(&report, id);
        assert!(text.contains(list), "{id}: {text}");
        assert!(
            text.contains("was fitted to all 32 rows of "),
            "{id}: {text}"
        );
        let further = ", 8 further rows being held out, with ";
        assert!(text.contains(further), "{id}: {text}");
    }
}
