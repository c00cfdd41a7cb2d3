//! The pictures of a run. A new one is a file with an `ENTRY` and two lines here: its `mod` and its place in [`FIGURES`]. An entry says what is
//! not as in `FigureEntry::ORDINARY`.

use super::figure::{Axis, Figure, Ink, Key, Panel, Rule, Shape, Swatch};
use super::{Chains, Needs, OtherRun, ReportError, choice};
use ergodic_base::Class;
use ergodic_base::ticks::padded;
use ergodic_diagnostics::Missing;

mod autocorrelation;
mod bias;
mod boxes;
mod clusters;
mod components;
mod convergence;
mod course;
mod density;
mod effects;
mod energy;
mod ess;
mod groups;
mod info;
mod intervals;
mod likelihood;
mod loo_pit;
mod mode;
mod moments;
mod outcomes;
mod pairs;
mod parallel;
mod pareto_k;
mod predictions;
mod predictive;
mod prior_predictive;
mod ranks;
mod residuals;
mod roc;
mod shares;
mod statistics;
mod trace;
mod trajectory;

pub use course::courses;
pub use likelihood::group_intervals;
pub use prior_predictive::outcomes_of_priors;

/// All figures, in the order in which lists show them.
pub static FIGURES: &[FigureEntry] = &[
    trace::ENTRY,
    ranks::ENTRY,
    density::ENTRY,
    intervals::ENTRY,
    boxes::ENTRY,
    groups::ENTRY,
    likelihood::ENTRY,
    effects::ENTRY,
    autocorrelation::ENTRY,
    convergence::ENTRY,
    ess::ENTRY,
    pairs::ENTRY,
    parallel::ENTRY,
    components::ENTRY,
    moments::ENTRY,
    energy::ENTRY,
    info::ENTRY,
    bias::ENTRY,
    clusters::ENTRY,
    trajectory::ENTRY,
    mode::ENTRY,
    prior_predictive::ENTRY,
    predictions::ENTRY,
    statistics::ENTRY,
    outcomes::ECDF,
    outcomes::SURVIVAL,
    outcomes::DENSITY,
    outcomes::ROOTOGRAM,
    outcomes::CALIBRATION,
    loo_pit::ENTRY,
    pareto_k::ENTRY,
    residuals::ENTRY,
    shares::ENTRY,
    roc::ENTRY,
    course::ENTRY,
];

/// How many parameters a figure takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    /// At least.
    pub least: usize,
    /// At most.
    pub most: usize,
    /// How many of those that say most about a model, where none is named.
    pub unasked: usize,
}

impl Takes {
    /// No parameters: a figure of all that there is.
    const NONE: Self = Self::of(0, 0, 0);

    /// From `least` to `most` parameters, `unasked` where none is named.
    const fn of(least: usize, most: usize, unasked: usize) -> Self {
        Self {
            least,
            most,
            unasked,
        }
    }

    /// In words.
    pub fn words(self) -> String {
        if self.most == 0 {
            "no parameters".to_owned()
        } else if self.least == self.most {
            format!("{} parameters", self.most)
        } else {
            format!("{} to {} parameters", self.least, self.most)
        }
    }
}

/// What a figure compares of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compares {
    /// Nothing: each has a panel of its own.
    Nothing,
    /// Values of the parameters, on one axis.
    Values,
    /// Draws of the parameters, whatever their units.
    Draws,
    /// Two parameters with each other: those that go most along with divergent transitions, where there are some and none is named.
    Pair,
}

/// Whether a figure shows another run beside the one that it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherShown {
    /// It shows one run alone.
    Never,
    /// Where one is named.
    WhereNamed,
    /// It compares two runs and is nothing without another.
    Always,
}

/// A picture of a run.
#[derive(Debug)]
pub struct FigureEntry {
    /// Identifier on the command line.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What the figure shows.
    pub about: &'static str,
    /// Which parameters it takes.
    pub takes: Takes,
    /// What the figure is drawn of.
    pub needs: Needs,
    /// Whether it shows another run.
    pub other: OtherShown,
    /// What of its parameters it compares.
    compares: Compares,
    /// Makes the figure of n parameters.
    make: fn(&Chains<'_>, &[usize]) -> Result<Figure, Trouble>,
}

/// Why there is no picture.
enum Trouble {
    /// The draws of a parameter cannot be drawn.
    Draws { parameter: usize, missing: Missing },
    /// The run has nothing of what the picture shows: a clause that says so.
    Nothing(&'static str),
}

/// What is wrong with the draws of `parameter`.
fn trouble(parameter: usize) -> impl Fn(Missing) -> Trouble {
    move |missing| Trouble::Draws { parameter, missing }
}

impl FigureEntry {
    /// What most figures are: drawn of the draws of one run, without parameters to name or to compare. An entry says the rest.
    const ORDINARY: Self = Self {
        id: "",
        title: "",
        about: "",
        takes: Takes::NONE,
        needs: Needs::Draws,
        other: OtherShown::Never,
        compares: Compares::Nothing,
        make: |_, _| Err(Trouble::Nothing("")),
    };

    /// Whether it is drawn of the draws of one run alone, with nothing else.
    pub fn is_of_draws(&self) -> bool {
        self.needs == Needs::Draws && self.other != OtherShown::Always
    }

    /// The picture of these parameters; of those that say most about the model where none is named.
    ///
    /// # Errors
    /// There are too few or too many of them, or a picture of their draws cannot be drawn.
    pub fn draw(&self, chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, ReportError> {
        let unasked;
        let parameters = if parameters.is_empty() {
            unasked = self.of_its_own(chains);
            unasked.as_slice()
        } else {
            parameters
        };
        if !(self.takes.least..=self.takes.most).contains(&parameters.len()) {
            return Err(ReportError::Number {
                figure: self.id,
                takes: self.takes.words(),
                named: parameters.len(),
            });
        }
        (self.make)(chains, parameters).map_err(|trouble| match trouble {
            Trouble::Draws { parameter, missing } => ReportError::Missing {
                figure: self.id,
                name: chains.names()[parameter].to_string(),
                missing,
            },
            Trouble::Nothing(why) => ReportError::Unsuitable {
                figure: self.id,
                why: why.to_owned(),
            },
        })
    }

    /// Refuses another run where the figure shows one alone.
    ///
    /// # Errors
    /// It does.
    pub fn check_other(&self, other: Option<&OtherRun<'_>>) -> Result<(), ReportError> {
        if other.is_none() || self.other != OtherShown::Never {
            return Ok(());
        }
        let of_two = FIGURES.iter().filter(|it| it.other != OtherShown::Never);
        let of_two: Vec<String> = of_two.map(|it| format!("`{}`", it.id)).collect();
        Err(ReportError::Unsuitable {
            figure: self.id,
            why: format!(
                "it shows one run alone; leave --with out, or draw {}",
                of_two.join(" or ")
            ),
        })
    }

    /// Refuses names of sampler columns where the figure draws none.
    ///
    /// # Errors
    /// It draws none.
    pub fn check_columns(&self, columns: &[String]) -> Result<(), ReportError> {
        if columns.is_empty() || self.needs == Needs::Info {
            return Ok(());
        }
        Err(ReportError::Unsuitable {
            figure: self.id,
            why: format!(
                "it draws no columns of the sampler; leave --columns out, or draw `{}`",
                info::ENTRY.id
            ),
        })
    }

    /// The parameters that it shows to somebody who looks at `parameter`: it alone where one is enough, with the main one of the
    /// others where it takes two, and the main ones where it compares many.
    pub fn around(&self, chains: &Chains<'_>, parameter: usize) -> Vec<usize> {
        let has_no_choice =
            matches!(self.compares, Compares::Values | Compares::Draws) || self.takes.most == 0;
        if has_no_choice || parameter >= chains.names().len() {
            return Vec::new();
        }
        let others = self.of_its_own(chains).into_iter();
        let others = others.filter(|&other| other != parameter);
        let mut around = vec![parameter];
        around.extend(others.take(self.takes.least.saturating_sub(1)));
        around
    }

    /// The parameters that it shows where none is named: those that move, for a constant has no picture. Of a run
    /// with divergent transitions a pair is the worst one ([`ergodic_diagnostics::worst_pairs`]).
    pub fn of_its_own(&self, chains: &Chains<'_>) -> Vec<usize> {
        if self.compares == Compares::Pair
            && let Some(worst) = chains.worst_pair()
        {
            return worst.parameters.to_vec();
        }
        let telling = choice::telling(chains.names(), usize::MAX);
        let moves = |index: &usize| {
            let row = chains.summary(*index);
            row.is_none_or(|row| row.missing.is_none() && row.mean.is_some())
        };
        let mut found: Vec<usize> = telling.into_iter().filter(moves).collect();
        if self.compares == Compares::Values {
            // On one scale: neither the intercept nor spreads.
            let is_slope = |index: &usize| {
                let name = &chains.names()[*index];
                let of_term = matches!(
                    name.class(),
                    Class::Coefficient | Class::LevelCoefficient | Class::Mean
                );
                of_term && !name.is_intercept()
            };
            let slopes: Vec<usize> = found.iter().copied().filter(is_slope).collect();
            if !slopes.is_empty() {
                found = slopes;
            }
        }
        found.truncate(self.takes.unasked);
        found
    }
}

/// The figure called `id`; the error lists the known ones.
///
/// # Errors
/// There is no such figure.
pub fn find(id: &str) -> Result<&'static FigureEntry, ReportError> {
    FIGURES.iter().find(|entry| entry.id == id).ok_or_else(|| {
        let known: Vec<&str> = FIGURES.iter().map(|entry| entry.id).collect();
        ReportError::UnknownFigure {
            id: id.to_owned(),
            known: known.join(", "),
        }
    })
}

/// "Trace of `b[age]`", "Traces of 4 parameters".
fn title(one: &str, many: &str, chains: &Chains<'_>, parameters: &[usize]) -> String {
    match parameters {
        [one_parameter] => format!("{one} of `{}`", chains.names()[*one_parameter]),
        all => format!("{many} of {} parameters", all.len()),
    }
}

/// Another run, its draws, and where it has some parameters.
type Beside<'a> = (&'a OtherRun<'a>, Chains<'a>, Vec<usize>);

/// The other run with the places of these parameters; `None` where there is one run alone.
fn other<'a>(chains: &Chains<'a>, parameters: &[usize]) -> Result<Option<Beside<'a>>, Trouble> {
    let Some(other) = chains.inputs().and_then(|inputs| inputs.other.as_ref()) else {
        return Ok(None);
    };
    let theirs = Chains::of(other.results)
        .map_err(|_no_draws| Trouble::Nothing("the other run has no draws"))?;
    let places = parameters.iter().map(|&parameter| {
        let mut all = theirs.names().iter();
        all.position(|name| *name == chains.names()[parameter])
    });
    let places: Vec<usize> = places.collect::<Option<_>>().ok_or(Trouble::Nothing(
        "the other run has not all of these parameters; name those that both have",
    ))?;
    Ok(Some((other, theirs, places)))
}

/// What a chain is called.
fn chain_name(number: usize) -> String {
    format!("chain {}", number + 1)
}

/// A key of the legend for each chain.
fn chain_keys(chains: &Chains<'_>, swatch: Swatch) -> Vec<Key> {
    let numbers = chains.numbers().iter();
    numbers
        .map(|&number| Key::new(chain_name(number), Ink::Chain(number), swatch))
        .collect()
}

/// A range with some room at both ends, for an axis.
fn roomy(range: (f64, f64)) -> (f64, f64) {
    padded(range, 0.04)
}

/// Panels beside each other for n parameters: one that is alone has all the width.
fn columns_for(parameters: usize) -> usize {
    parameters.clamp(1, 2)
}

/// A panel with a row for each name: a shape in the ink of the posterior, over a dashed line at a number, each after what it is called.
fn in_rows(
    title: impl Into<String>,
    names: Vec<String>,
    (line, at): (&str, f64),
    (series, shape): (&str, impl Shape + 'static),
) -> Panel {
    let mut panel = Panel::new(title, Axis::hidden((0.0, 1.0)), Axis::rows(names));
    panel.add(line, Ink::Threshold, Rule::Up(at));
    panel.add(series, Ink::Posterior, shape);
    panel.x = Axis::numbers("", roomy(panel.extent().x));
    panel
}

/// What weighted draws mean for a picture that counts them.
const WEIGHTED: &str = "Each draw counts as much as its weight";
/// What weighted draws mean for a picture that shows each draw alike.
const UNWEIGHTED: &str = "Draws have weights, which this picture does not show";
