//! A run that ends badly on purpose, with what to look at in it, so that a good verdict means something.

use std::sync::LazyLock;

use super::recipe::{Recipe, RecipeError};

const TEXT: &str = include_str!("../../../sample_data/bad_run.toml");

/// What to look at, one sentence each.
pub const POINTS: [&str; 3] = [
    "Traces: each chain wanders slowly through a place of its own; good chains look alike and cross all the time",
    "R-hat compares the chains: far above 1.01, they have not yet found the same answer",
    "Effective sample size: thousands of draws are worth only a few, because each is nearly the one before",
];
/// Why the run went wrong, and what to do.
pub const CAUSE: &str = "Its steps are a hundredth of what they should be. More draws would hardly help; another sampler, or steps that \
     it tunes itself, will";

/// The recipe of that run.
///
/// # Errors
/// It is part of the program, and a test reads it.
pub fn recipe() -> Result<Recipe, RecipeError> {
    Recipe::parse(TEXT, &[])
}

/// Whether `asked` is the recipe of the lesson, defaults filled in or not.
pub fn is_lesson(asked: &Recipe) -> bool {
    /// Read once: the window asks in every frame.
    static LESSON: LazyLock<Option<Recipe>> = LazyLock::new(|| recipe().ok());
    LESSON.as_ref().is_some_and(|lesson| {
        lesson.data.source == asked.data.source
            && lesson.sampler.id == asked.sampler.id
            && lesson.sampler.settings.get("step_scale") == asked.sampler.settings.get("step_scale")
            && lesson.run.seed == asked.run.seed
    })
}

#[cfg(test)]
mod tests {
    use ergodic_base::Control;
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::{Job, Run};
    use ergodic_diagnostics::Verdict;

    #[test]
    fn the_lesson_ends_bad() {
        let recipe = recipe().unwrap();
        assert!(is_lesson(&recipe));
        assert!(!is_lesson(&Recipe::new(
            "sample:churn",
            "logistic",
            "churned ~ age"
        )));
        let job = Job::prepare(&recipe, Path::new("."), None, &Control::default()).unwrap();
        assert!(is_lesson(&job.recipe));
        let mut run = Run::start(Arc::new(job), None, None).unwrap();
        run.join();
        let report = run.report();
        assert_eq!(report.verdict, Verdict::Bad, "{}", report.sentence);
        let rhat = |row: &ergodic_diagnostics::SummaryRow| row.rhat.unwrap_or(f64::NAN);
        let worst = report.summary.iter().map(rhat).fold(1.0, f64::max);
        assert!(worst > 1.2, "R-hat {worst}");
    }
}
