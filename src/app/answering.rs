//! Answers of finished runs on the scale of the outcome, on threads of their own.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::correcting::{Source, source};
use super::entry::RunEntry;
use super::from_draws::{Draws, FromDraws, draws_of, find_from};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::effects::{
    self, Conditional, Contrast, EffectsError, EffectsOptions, ExpressionValue, MOST_CURVES,
};
use ergodic_analysis::predict::r2::R2;
use ergodic_base::Control;
use ergodic_base::draws::DrawList;

/// What is asked beside the effects of the predictors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswersAsked {
    /// Whether all predictors have pictures, however many there are.
    pub all_pictures: bool,
    /// Grouping factors whose groups are compared with each other, each with the expected outcome of its groups.
    pub groups: Vec<String>,
    /// The column at each of whose levels everything is told; of a number at its mean and one standard deviation either side.
    pub by: Option<String>,
    /// Whether all pairs of levels of predictors are compared, not each level with the reference alone.
    pub all_levels: bool,
    /// Differences that count as none: from, to.
    pub rope: Option<[f64; 2]>,
    /// Expressions of parameters.
    pub expressions: Vec<String>,
}

impl AnswersAsked {
    /// The options of the effects that are asked for.
    pub fn options(&self) -> EffectsOptions {
        EffectsOptions {
            by: self.by.clone(),
            all_pairs: self.all_levels,
            rope: self.rope,
            ..EffectsOptions::default()
        }
    }

    /// Whether the same is asked of the outcome, whatever the expressions are.
    fn is_same_of_outcome(&self, other: &Self) -> bool {
        let of_outcome = |asked: &Self| Self {
            expressions: Vec::new(),
            ..asked.clone()
        };
        of_outcome(self) == of_outcome(other)
    }
}

/// What a run says of the outcome, and of expressions of its parameters.
#[derive(Clone, Debug)]
pub struct Answered {
    /// What was asked.
    pub asked: AnswersAsked,
    /// What is told of the outcome; else why nothing is: one sentence.
    pub outcome: Result<Arc<OfOutcome>, String>,
    /// What the draws say of the expressions.
    pub expressions: Vec<ExpressionValue>,
    /// Draws of the run when they were made.
    pub draws: usize,
}

/// What a run says of the outcome, predictor by predictor.
#[derive(Clone, Debug)]
pub struct OfOutcome {
    /// Effects of all predictors; comparisons of groups where a model has grouping factors alone.
    pub effects: effects::Effects,
    /// Comparisons of the groups that were asked for.
    pub groups: Option<effects::Effects>,
    /// Names of the columns that something is told of, in the order of the formula: those with effects, and the one at whose values
    /// everything is told, which has no effect there.
    pub told: Vec<String>,
    /// Names of the predictors without levels.
    pub without_levels: Vec<String>,
    /// The expected outcome along columns in the order of `told`, and along the groups that were asked for.
    pub curves: Vec<Conditional>,
    /// Names of the grouping factors that can be asked for.
    pub groupings: Vec<String>,
    /// The share of the variance of the outcome that the model explains; `None` where it is not defined.
    pub r2: Option<R2>,
}

impl OfOutcome {
    /// Whether a predictor has more levels than two, so that its levels can be compared in more pairs than with the reference, or are.
    pub fn has_pairs(&self) -> bool {
        let contrasts = |name: &String| {
            let of = self.effects.effects.iter();
            let of = of.filter(|it| it.predictor == *name);
            let of = of.filter_map(|it| match &it.contrast {
                Contrast::Levels { level, reference } => Some((level, reference)),
                _ => None,
            });
            of.collect::<BTreeSet<_>>().len()
        };
        let predictors = self.told.iter();
        let mut predictors = predictors.filter(|name| !self.groupings.contains(name));
        predictors.any(|name| contrasts(name) > 1)
    }
}

impl RunEntry {
    /// Answers to what is asked, from the draws as they are, once they are there.
    pub fn answers(&self) -> Option<&Arc<Answered>> {
        (self.earlier_answers()).filter(|done| done.asked == self.answers_asked)
    }

    /// The last answers from the draws as they are, whatever was asked then.
    pub fn earlier_answers(&self) -> Option<&Arc<Answered>> {
        (self.answered.done()).filter(|done| done.draws == draws_of(self))
    }
}

const QUESTION: FromDraws<Answered> = FromDraws {
    kept: |entry| &mut entry.answered,
    what: "Finding the answers of",
    without_recipe: "There are no draws to answer from",
    cancelled: "Finding the answers was cancelled",
    earlier_stays: true,
};

/// Finds the answers of a run to what `asked` says, in place of what was asked before; the same is asked once more of everything.
pub(super) fn ask(state: &mut AppState, id: u64, asked: AnswersAsked, fx: &mut dyn Effects) {
    let mut before = None;
    if let Some(entry) = state.run_mut(id) {
        let done = entry.earlier_answers();
        before = done
            .filter(|done| done.asked != asked && done.asked.is_same_of_outcome(&asked))
            .map(|done| done.outcome.clone());
        match entry.answers_asked == asked {
            true => entry.answered.forget(),
            false => entry.answered.supersede(),
        }
        entry.answers_asked = asked;
    }
    answer_after(state, id, before, fx);
}

/// Finds the answers of a run, unless that is done or being done. Where they could not be found before, what the predictors do is
/// asked alone; what was cancelled is asked again.
pub(super) fn answer(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    answer_after(state, id, None, fx);
}

/// As [`answer`], with what was found `before` of the outcome from the same draws, if that is what is asked again: it may take long.
fn answer_after(
    state: &mut AppState,
    id: u64,
    before: Option<Result<Arc<OfOutcome>, String>>,
    fx: &mut dyn Effects,
) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if entry.is_active() || entry.answers().is_some() || entry.answered.working().is_some() {
        return;
    }
    let refusal = entry.answered.refusal();
    if refusal.is_some_and(|why| why != QUESTION.cancelled) {
        entry.answers_asked = AnswersAsked::default();
    }
    let asked = entry.answers_asked.clone();
    let names = entry.variables();
    let no_outcome = no_outcome(entry);
    let source = source(entry);
    let answer = move |draws: &Draws<'_, Option<Source>>, control: &Control| {
        if draws.count == 0 {
            return Err(EffectsError::NoDraws);
        }
        let (lists, weights) = (draws.lists, draws.weights);
        let expressions = match asked.expressions.as_slice() {
            [] => Vec::new(),
            texts => effects::expressions(texts, &names, lists, weights, &asked.options())?,
        };
        let outcome = match (before, draws.source, no_outcome) {
            (Some(before), ..) => before,
            (None, Some(source), None) => {
                match of_outcome(source, &asked, (lists, weights), control) {
                    Err(error) if error.is_of_question() => return Err(error),
                    found => found.map(Arc::new).map_err(|why| why.to_string()),
                }
            }
            (None, _, why) => Err(why.unwrap_or(UNKNOWN_MODEL).to_owned()),
        };
        control.check(EffectsError::Cancelled)?;
        Ok(Answered {
            asked,
            outcome,
            expressions,
            draws: draws.count,
        })
    };
    find_from(state, (id, source), &QUESTION, fx, answer);
}

const UNKNOWN_MODEL: &str =
    "The model of these draws is not known, so there are no effects to report";

/// Why nothing can be told of an outcome of the run, if that is known of its recipe.
fn no_outcome(entry: &RunEntry) -> Option<&'static str> {
    match (&entry.recipe, entry.can_predict()) {
        (Some(_), true) => None,
        (Some(_), false) => Some(
            "The model does not explain one outcome by predictors, so there are no effects to report",
        ),
        (None, _) => Some(UNKNOWN_MODEL),
    }
}

/// What draws say of the outcome, each list with its weights.
fn of_outcome(
    source: &Source,
    asked: &AnswersAsked,
    (lists, weights): (&[&DrawList], &[Vec<f64>]),
    control: &Control,
) -> Result<OfOutcome, EffectsError> {
    let options = asked.options();
    let fitted = source.fitted(control)?;
    let groupings = fitted.groupings();
    let compare = |groups: &[String]| {
        let pairs = groups.to_vec();
        let options = EffectsOptions {
            pairs,
            ..options.clone()
        };
        fitted.effects(lists, weights, &options, control)
    };
    // Groups of the column that is set do not differ.
    let is_set = |name: &String| asked.by.as_ref() == Some(name);
    let mut pairs = asked.groups.clone();
    pairs.retain(|name| !is_set(name));
    let (effects, groups) = match fitted.effects(lists, weights, &options, control) {
        Err(EffectsError::NoPredictors) if !groupings.is_empty() => {
            let others = groupings.iter().find(|name| !is_set(name));
            let first = others.unwrap_or(&groupings[0]);
            if !pairs.contains(first) {
                pairs.push(first.clone());
            }
            (compare(&pairs)?, None)
        }
        found => {
            let effects = found?;
            let groups = match pairs.as_slice() {
                [] => None,
                pairs => Some(compare(pairs)?),
            };
            (effects, groups)
        }
    };
    let mut told = fitted.predictors();
    told.extend(groupings.iter().cloned());
    let with_effects: BTreeSet<&str> = effects.predictors().into_iter().collect();
    told.retain(|name| with_effects.contains(name.as_str()) || is_set(name));
    let most = match asked.all_pictures {
        true => usize::MAX,
        false => MOST_CURVES,
    };
    let pictured = told.iter().enumerate();
    let pictured = pictured.filter(|(k, name)| *k < most || is_set(name));
    let mut followed: Vec<&str> = pictured.map(|(_, name)| name.as_str()).collect();
    followed.extend(groups.iter().flat_map(effects::Effects::predictors));
    let curves = fitted.along_each((lists, weights), &followed, &options, control)?;
    let r2 = fitted.r2(lists, weights, control)?;
    let without_levels = fitted.without_levels()?;
    Ok(OfOutcome {
        r2,
        effects,
        groups,
        told,
        without_levels,
        curves,
        groupings,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{AnswersAsked, OfOutcome};
    use crate::app::testing::Session;
    use crate::app::{
        Command, DataCommand, DraftChange, NoticeCommand, Page, Question, ViewCommand,
    };
    use ergodic_base::settings::Value;

    fn outcome_of(session: &Session, id: u64) -> Arc<OfOutcome> {
        let answers = session.state.run(id).unwrap().answers().unwrap();
        Arc::clone(answers.outcome.as_ref().unwrap())
    }

    fn run_with_formula(session: &mut Session, formula: &str) -> u64 {
        if formula.contains('|') {
            session.send(DraftChange::Template("mixed".to_owned()));
            let family = Some(Value::Text("bernoulli".to_owned()));
            session.send(DraftChange::ModelSetting("family".to_owned(), family));
        }
        session.send(DraftChange::Formula(formula.to_owned()));
        session.run(1, 20, 30);
        session.state.runs.last().unwrap().id
    }

    #[test]
    fn groups_are_compared_and_everything_is_told_at_their_values() {
        let mut session = Session::with_draft("schools");
        let id = run_with_formula(&mut session, "passed ~ hours + (1 | school)");
        session.send(Question::FindAnswers(id));
        let answers = outcome_of(&session, id);
        assert_eq!(answers.groupings, ["school"]);
        assert!(answers.groups.is_none() && answers.curves.len() == 1);
        let groups = AnswersAsked {
            groups: vec!["school".to_owned()],
            ..AnswersAsked::default()
        };
        session.send(Question::AskAnswers(id, groups));
        let answers = outcome_of(&session, id);
        // All pairs of 12 schools.
        let compared = answers.groups.as_ref().unwrap();
        assert_eq!(compared.effects.len(), 66);
        assert_eq!(answers.effects.predictors(), ["hours"]);
        let followed = answers.curves.iter().find(|it| it.predictor == "school");
        assert_eq!(followed.unwrap().curves[0].points.len(), 12);
        let by = AnswersAsked {
            by: Some("school".to_owned()),
            ..AnswersAsked::default()
        };
        session.send(Question::AskAnswers(id, by));
        let answers = outcome_of(&session, id);
        assert!(answers.groups.is_none());
        assert_eq!(answers.curves[0].curves.len(), 12);
        let effects = &answers.effects;
        let told = |it: &&ergodic_analysis::effects::Effect| effects.is_told(it);
        assert_eq!(effects.effects.iter().filter(told).count(), 12);
        let first = effects.effects.iter().find(told).unwrap();
        let sentence = effects.sentence(first);
        assert!(sentence.contains(" where school is S01"), "{sentence}");
        // What cannot be found is not asked again.
        let wrong = AnswersAsked {
            groups: vec!["hours".to_owned()],
            ..AnswersAsked::default()
        };
        session.send(Question::AskAnswers(id, wrong));
        let entry = session.state.run(id).unwrap();
        assert!(entry.answers().is_none() && entry.answered.refusal().is_some());
        session.send(Question::FindAnswers(id));
        let entry = session.state.run(id).unwrap();
        assert_eq!(entry.answers().unwrap().asked, AnswersAsked::default());
    }

    #[test]
    fn levels_ranges_and_expressions_have_the_numbers_of_the_command_line() {
        use ergodic_analysis::effects::{Derived, EffectsOptions, expressions};
        use ergodic_base::Control;
        use ergodic_export::RunFolder;
        let same = |here: &Derived, there: &Derived| {
            let numbers = |of: &Derived| {
                let [low, high] = of.interval;
                let rhat = of.summary.rhat.unwrap_or(f64::NAN);
                [of.mean(), low, high, of.above, of.in_rope.unwrap(), rhat]
            };
            for (a, b) in numbers(here).into_iter().zip(numbers(there)) {
                let is_same = (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * (1.0 + b.abs());
                assert!(is_same, "{here:?} {there:?}");
            }
        };
        let mut session = Session::with_draft("churn");
        let id = run_with_formula(&mut session, "churned ~ age + plan");
        let asked = AnswersAsked {
            all_levels: true,
            rope: Some([-0.01, 0.01]),
            ..AnswersAsked::default()
        };
        session.send(Question::AskAnswers(id, asked.clone()));
        let with_expression = AnswersAsked {
            expressions: vec!["exp(10*b[age])".to_owned()],
            ..asked
        };
        session.send(Question::AskAnswers(id, with_expression.clone()));
        let entry = session.state.run(id).unwrap();
        let answers = entry.answers().unwrap();
        let told = answers.outcome.as_ref().unwrap();
        assert!(told.has_pairs());
        let folder = RunFolder::open(entry.place().unwrap()).unwrap();
        let results = folder.results().unwrap();
        let control = Control::default();
        let fitted = folder.fitted(&results, &control).unwrap();
        let (draws, weights) = results.usable();
        let options = EffectsOptions {
            pairs: vec!["plan".to_owned()],
            rope: with_expression.rope,
            ..EffectsOptions::default()
        };
        let by_name = (fitted.effects(&draws, &weights, &options, &control)).unwrap();
        let effects = told.effects.effects.iter();
        let of_plan: Vec<_> = effects.filter(|it| it.predictor == "plan").collect();
        assert_eq!((of_plan.len(), by_name.effects.len()), (3, 3));
        for (here, there) in of_plan.into_iter().zip(&by_name.effects) {
            assert_eq!(here.contrast, there.contrast);
            same(&here.value, &there.value);
        }
        let (texts, names) = (&with_expression.expressions, &results.variables);
        let found = expressions(texts, names, &draws, &weights, &options).unwrap();
        same(&answers.expressions[0].value, &found[0].value);
        // An expression that is none is refused in a sentence.
        let wrong = AnswersAsked {
            expressions: vec!["exp(".to_owned()],
            ..with_expression
        };
        session.send(Question::AskAnswers(id, wrong));
        let refusal = session.state.run(id).unwrap().answered.refusal();
        assert!(
            refusal
                .unwrap()
                .starts_with("The expression cannot be read")
        );
    }

    #[test]
    fn the_column_that_is_set_keeps_its_picture() {
        let mut session = Session::with_draft("schools");
        let id = run_with_formula(&mut session, "passed ~ hours + (1 | school)");
        let by = |by: &str, groups: &[&str]| AnswersAsked {
            by: Some(by.to_owned()),
            groups: groups.iter().map(|&name| name.to_owned()).collect(),
            ..AnswersAsked::default()
        };
        session.send(Question::AskAnswers(id, by("hours", &["school"])));
        let answers = outcome_of(&session, id);
        assert!(answers.effects.effects.is_empty());
        assert_eq!(answers.told, ["hours"]);
        assert_eq!(answers.without_levels, ["hours"]);
        let followed: Vec<&str> = (answers.curves.iter())
            .map(|curve| curve.predictor.as_str())
            .collect();
        assert_eq!(followed, ["hours", "school"]);
        assert_eq!(answers.curves[0].curves.len(), 1);
        // All pairs of 12 schools at three values of hours.
        let compared = answers.groups.as_ref().unwrap();
        assert_eq!(compared.effects.len(), 3 * 66);
        // Groups do not differ where all rows are of one.
        session.send(Question::AskAnswers(id, by("school", &["school"])));
        let answers = outcome_of(&session, id);
        assert!(answers.groups.is_none());
        assert_eq!(answers.told, ["hours", "school"]);
        assert_eq!(answers.curves[1].curves[0].points.len(), 12);
    }

    #[test]
    fn groups_of_models_without_predictors_are_compared_together() {
        let mut session = Session::with_draft("churn");
        let id = run_with_formula(&mut session, "churned ~ 1 + (1 | plan) + (1 | region)");
        let mut told = |groups: &[&str], by: Option<&str>| {
            let asked = AnswersAsked {
                groups: groups.iter().map(|&name| name.to_owned()).collect(),
                by: by.map(str::to_owned),
                ..AnswersAsked::default()
            };
            session.send(Question::AskAnswers(id, asked));
            let answers = outcome_of(&session, id);
            assert!(answers.groups.is_none());
            let compared = answers.effects.predictors().join(" ");
            (compared, answers.told.join(" "))
        };
        let words = |compared: &str, told: &str| (compared.to_owned(), told.to_owned());
        assert_eq!(told(&[], None), words("plan", "plan"));
        let both = words("plan region", "plan region");
        assert_eq!(told(&["region"], None), both);
        assert_eq!(told(&["plan", "region"], None), both);
        let at_each_plan = words("region", "plan region");
        assert_eq!(told(&["plan"], Some("plan")), at_each_plan);
    }

    #[test]
    fn a_question_that_was_cancelled_is_asked_again() {
        let mut session = Session::with_draft("schools");
        let id = run_with_formula(&mut session, "passed ~ hours + (1 | school)");
        let asked = AnswersAsked {
            by: Some("school".to_owned()),
            ..AnswersAsked::default()
        };
        let work = session.begin(Question::AskAnswers(id, asked.clone()));
        let task = session.state.tasks.running()[0].id;
        session.send(NoticeCommand::CancelTask(task));
        for work in work {
            session.end(work());
        }
        let entry = session.state.run(id).unwrap();
        assert_eq!(entry.answered.refusal(), Some(super::QUESTION.cancelled));
        session.send(Question::FindAnswers(id));
        let entry = session.state.run(id).unwrap();
        assert_eq!(entry.answers().unwrap().asked, asked);
        // What was wrong before is none of what is asked now.
        let wrong = AnswersAsked {
            groups: vec!["hours".to_owned()],
            ..AnswersAsked::default()
        };
        session.send(Question::AskAnswers(id, wrong));
        session.send(Question::AskAnswers(id, asked.clone()));
        let entry = session.state.run(id).unwrap();
        assert_eq!(entry.answers().unwrap().asked, asked);
    }

    #[test]
    fn pictures_of_all_of_many_predictors_are_made_when_they_are_asked_for() {
        use ergodic_analysis::effects::MOST_CURVES;
        use std::fmt::Write as _;
        let count = MOST_CURVES + 2;
        let names: Vec<String> = (1..=count).map(|j| format!("x{j}")).collect();
        let mut text = format!("y,{}\n", names.join(","));
        for row in 0..100_usize {
            // Digits of a congruence: columns that no other explains.
            let number = |j: usize| ((row + 1) * (row + 7 * j + 3) * (j + 1) % 101) as f64 / 10.0;
            let cells: Vec<String> = (0..=count).map(|j| number(j).to_string()).collect();
            writeln!(text, "{}", cells.join(",")).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::with_file(&folder, "many.csv", &text);
        session.send(DataCommand::AcceptImport);
        let id = run_with_formula(&mut session, &format!("y ~ {}", names.join(" + ")));
        session.send(Question::FindAnswers(id));
        let answers = outcome_of(&session, id);
        assert_eq!(answers.effects.predictors().len(), count);
        assert_eq!(answers.curves.len(), MOST_CURVES);
        let all = AnswersAsked {
            all_pictures: true,
            ..AnswersAsked::default()
        };
        session.send(Question::AskAnswers(id, all));
        let answers = outcome_of(&session, id);
        assert_eq!(answers.curves.len(), count);
    }

    #[test]
    fn answers_are_for_the_run_that_is_shown_and_for_the_draws_that_it_has() {
        let (mut session, id) = Session::with_run("churn");
        let work = session.begin(Question::FindAnswers(id)).remove(0);
        // Asked twice is asked once.
        assert!(session.begin(Question::FindAnswers(id)).is_empty());
        let flag = session.state.runs[0].answered.working().unwrap().flag();
        session.send(Command::GoTo(Page::Data));
        assert!(flag.load(std::sync::atomic::Ordering::Relaxed));
        session.end(work());
        assert!(session.state.runs[0].answered.is_idle() && !session.state.is_busy());
        session.send(ViewCommand::SelectRun(id));
        session.send(Question::FindAnswers(id));
        assert_eq!(session.state.runs[0].answers().unwrap().draws, 30);
        let answers = outcome_of(&session, id);
        assert_eq!(answers.curves.len(), answers.effects.predictors().len());
        let sentences = |session: &Session, id: u64| -> Vec<String> {
            let answers = outcome_of(session, id);
            let effects = &answers.effects;
            effects
                .effects
                .iter()
                .map(|it| effects.sentence(it))
                .collect()
        };
        // A run read from its folder reads its data again and says the same.
        let folder = session.state.runs[0].place().unwrap().to_owned();
        session.send(DataCommand::Open(folder));
        let read = session.state.selected().unwrap().id;
        session.send(Question::FindAnswers(read));
        assert_eq!(sentences(&session, id), sentences(&session, read));
    }
}
