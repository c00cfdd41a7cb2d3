//! Flags and subcommands.

use std::path::PathBuf;

use clap::builder::TypedValueParser as _;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use super::source::Source;
use super::trimmed::{Trimmed, name};

use ergodic_base::numerals;
use ergodic_core::samplers::names::NUTS;
use ergodic_diagnostics::extra::Extra;
use ergodic_diagnostics::zero_variance::Order;

/// Seeds as recipes take them.
pub fn seeds() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(0..=i64::MAX as u64)
}

/// Fits Bayesian models and shows the chains while they run.
///
/// Without a subcommand the window opens; FILE may be a data file, a project, a recipe, a run folder or a file of draws.
#[derive(Debug, Parser)]
#[command(
    name = "ergodic",
    version,
    args_conflicts_with_subcommands = true,
    args_override_self = true
)]
pub struct Args {
    /// What to open in the window
    pub file: Option<PathBuf>,
    /// What to do instead
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Args {
    /// What was typed.
    ///
    /// # Errors
    /// It is not understood, or asks for help.
    pub fn read() -> Result<Self, clap::Error> {
        let mut program = Self::program();
        let mut matches = program.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut program))
    }

    /// The command line, with help that lists subcommands by their groups.
    pub fn program() -> clap::Command {
        let mut program = Self::command();
        program.build();
        let styles = program.get_styles();
        let (head, name_style) = (styles.get_header(), styles.get_literal());
        let names = program.get_subcommands().map(clap::Command::get_name);
        let width = names.map(str::len).max().unwrap_or_default();
        let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
        for (title, members) in GROUPS {
            text.push_str(&format!("{head}{title}:{head:#}\n"));
            for name in *members {
                let about = program.find_subcommand(name);
                let about = about.and_then(clap::Command::get_about);
                let about = about.map(ToString::to_string).unwrap_or_default();
                let pad = width - name.len() + 2;
                text.push_str(&format!(
                    "  {name_style}{name}{name_style:#}{:pad$}{about}\n",
                    ""
                ));
            }
            text.push('\n');
        }
        for (title, list) in [
            ("Arguments", "{positionals}\n\n"),
            ("Options", "{options}\n\n"),
            ("Exit codes", EXIT_CODES),
        ] {
            text.push_str(&format!("{head}{title}:{head:#}\n{list}"));
        }
        program.help_template(text)
    }
}

/// What the program ends with, for the help.
const EXIT_CODES: &str = "  \
  0    Done
  2    The request was wrong: a flag, a recipe, data; one sentence says what
  3    The run failed, or its results could not be saved
  130  Interrupted; what was drawn so far is saved";

/// What subcommands are for, in the order of the help and of the reference; each stands in one group.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Fit and continue", &["demo", "fit", "resume", "estimate"]),
    (
        "Look at a model before it is fitted",
        &["show", "prior-predictive"],
    ),
    (
        "Look at a run",
        &[
            "summarise",
            "effects",
            "predict",
            "check",
            "loo",
            "compare-runs",
            "score",
            "name",
            "plot",
            "report",
            "export",
        ],
    ),
    (
        "Compare and check samplers",
        &["compare", "tune", "calibrate", "bench"],
    ),
    ("See what there is", &["list", "help"]),
];

/// Subcommands, each in one of [`GROUPS`].
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fit a bundled data set with default settings
    ///
    /// In the window where there is a display, else in the terminal.
    Demo(DemoArgs),
    /// Fit a model from a recipe, or from data and a formula
    Fit(Box<FitArgs>),
    /// Fit a mixed model by likelihood, without priors and chains
    ///
    /// ML, REML, Laplace, quadrature, Monte Carlo EM.
    Estimate(super::estimate::EstimateArgs),
    /// List templates, samplers, settings, formats, figures, data sets and more
    List(ListArgs),
    /// Summarise run folders, files of draws, or all runs of a project
    #[command(alias = "summarize")]
    Summarise(SummariseArgs),
    /// Run every sampler that suits a model, and compare bias and cost
    ///
    /// Each has its default settings and is compared with NUTS; for mixtures with dp-gibbs.
    Compare(Box<CompareArgs>),
    /// Try step sizes of a sampler by short runs and print the best
    Tune(Box<TuneArgs>),
    /// Check a template and a sampler by simulation
    ///
    /// True values must rank evenly among posterior draws.
    Calibrate(CalibrateArgs),
    /// Say how the outcome differs by each predictor, in its own unit
    Effects(EffectsArgs),
    /// Predict outcomes of rows, old or new, from a finished run
    Predict(PredictArgs),
    /// Check whether data that a fitted model makes look like those observed
    Check(super::check::CheckArgs),
    /// Score runs by leave-one-out cross-validation, and compare those of the same rows
    Loo(super::loo::LooArgs),
    /// Say what differs between two runs: settings, parameters, posteriors, predictions
    CompareRuns(super::compare_runs::CompareRunsArgs),
    /// Score runs by rows that they were not fitted to: log loss, ROC, errors, coverage
    Score(super::score::ScoreArgs),
    /// List all priors and what they expect in units of the outcome
    PriorPredictive(Box<PriorPredictiveArgs>),
    /// Give a run a name and a note, which comparisons, scores and reports show
    Name(super::name::NameArgs),
    /// Continue a stopped or finished run, without a new warm-up
    Resume(super::resume::ResumeArgs),
    /// Draw a picture of a run for a paper, as SVG, PNG or a table of what is drawn
    Plot(super::plot::PlotArgs),
    /// Write a report of a run as one page, or its results in Markdown or LaTeX
    Report(ReportArgs),
    /// Write the results of a run folder in another format
    Export(ExportArgs),
    /// Translate a model: into words, an equation, a formula, Stan or brms code
    Show(Box<ShowArgs>),
    /// Run an experiment of the papers and print its table
    Bench(super::bench::BenchArgs),
}

/// `demo`.
#[derive(Debug, Parser)]
pub struct DemoArgs {
    /// Stay in the terminal even where there is a display
    #[arg(long)]
    pub terminal: bool,
    /// Run, in the terminal, a recipe that ends badly on purpose, and say what to look at
    #[arg(long)]
    pub bad: bool,
    /// Folder for the run
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `fit`.
#[derive(Clone, Debug, Default, Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct FitArgs {
    /// Data file or sample:NAME to fit; or a recipe to run, or a run folder whose recipe it is
    #[arg(value_name = "FILE", conflicts_with = "data", value_parser = Source::parser())]
    pub source: Option<Source>,
    /// Data file or sample:NAME, another way to write FILE
    #[arg(long, value_name = "FILE")]
    pub data: Option<String>,
    /// Model formula, such as 'y ~ x1 + x2'; guessed from the columns and said if there is none
    #[arg(long, conflicts_with_all = ["response", "predictors", "group"])]
    pub formula: Option<String>,
    /// Model as text, instead of a formula (docs/models-as-text.md); needs data only if it names columns
    #[arg(long, value_name = "FILE", conflicts_with_all = ["formula", "response", "template"])]
    pub model: Option<PathBuf>,
    /// Outcome column, instead of a formula
    #[arg(long, requires = "predictors")]
    pub response: Option<String>,
    /// Predictor columns, comma separated
    #[arg(long, value_delimiter = ',', value_parser = name(), requires = "response")]
    pub predictors: Vec<String>,
    /// Grouping column for a random intercept
    #[arg(long, requires = "response")]
    pub group: Option<String>,
    /// Model template; chosen by what the outcome holds if absent
    #[arg(long)]
    pub template: Option<String>,
    /// Sampler, or auto
    #[arg(long)]
    pub sampler: Option<String>,
    /// Keep rows out of the fit, to score it by: a share such as 0.2, a part such as 3/10, or those where a column has a value,
    /// such as split=test
    #[arg(long, value_name = "ROWS")]
    pub hold_out: Option<String>,
    /// How the posterior mode is found: auto, or an optimiser of `ergodic list optimisers`
    #[arg(long, value_name = "METHOD")]
    pub mode: Option<String>,
    /// Look for the posterior mode from the mean of the draws of this run folder
    #[arg(long, alias = "anchor-from", value_name = "DIR")]
    pub centre_from: Option<PathBuf>,
    /// Where chains start: mode, prior, values such as 'b[age]=1, intercept=0' (with ; between those of each chain), or a run
    /// folder, at whose last draws they start
    #[arg(long, value_name = "WHERE")]
    pub start: Option<String>,
    /// Number of chains
    #[arg(long)]
    pub chains: Option<usize>,
    /// Groups of neighbouring chains that begin at one point each, for many short chains: nested R-hat judges them
    #[arg(long, value_name = "N")]
    pub superchains: Option<usize>,
    /// Iterations of warm-up
    #[arg(long)]
    pub warmup: Option<u64>,
    /// Kept draws per chain
    #[arg(long)]
    pub draws: Option<u64>,
    /// Reported quantities whose draws are kept: all, or names and patterns such as 'b[*],sigma'; of the others means and standard deviations
    /// are accumulated while the chains run
    #[arg(long, value_name = "NAMES")]
    pub keep: Option<String>,
    /// Correct means and standard deviations by control variates while the run goes on, from gradients that are kept with its draws
    #[arg(long, value_name = "DEGREE")]
    pub zero_variance: Option<ControlVariates>,
    /// Seed of all random numbers
    #[arg(long, value_parser = seeds())]
    pub seed: Option<u64>,
    /// Stop after this many seconds; with sampler auto, choose one that is done by then
    #[arg(long, value_name = "SECONDS")]
    pub max_seconds: Option<f64>,
    /// Change a recipe entry (`ergodic list settings run` and others list them), such as sampler.step_size=0.1 or priors.b='laplace(0, 1)'
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Folder for the run; must be new or empty
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Afterwards check how far an approximate sampler is off: by a run of the cheapest exact sampler as a control, by the kernel Stein
    /// discrepancy, and by a run at half the step
    #[arg(long)]
    pub check_bias: bool,
    /// Draws per chain of that control run, at least 100: more of them where the check could not tell
    #[arg(long, value_name = "N", requires = "check_bias", value_parser = clap::value_parser!(u64).range(100..))]
    pub control_draws: Option<u64>,
    /// Print summary.json instead of a table
    #[arg(long)]
    pub json: bool,
}

/// What `compare` measures bias against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A NUTS run with default settings, one of dp-gibbs for mixtures.
    Nuts,
    /// The normal distribution with the posterior's mode and curvature: for more rows than NUTS can handle.
    Quadratic,
    /// A run folder.
    Run(PathBuf),
}

impl From<&str> for Reference {
    fn from(text: &str) -> Self {
        match text {
            NUTS => Self::Nuts,
            "quadratic" => Self::Quadratic,
            folder => Self::Run(folder.into()),
        }
    }
}

/// `compare`.
#[derive(Debug, Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct CompareArgs {
    /// Data, model, chains, draws, seed and time limit; all else of a run is the default of each sampler
    #[command(flatten)]
    pub model: FitArgs,
    /// What to compare with: `nuts` (default settings), `quadratic` (the normal distribution with the posterior's mode and
    /// curvature, for more rows than NUTS can handle) or the folder of a longer run, whose data and model are then taken
    #[arg(long, value_name = "REFERENCE", default_value = NUTS, value_parser = |text: &str| Ok::<_, std::convert::Infallible>(Reference::from(text)))]
    pub reference: Reference,
    /// Samplers to compare, with settings where they have some: 'hmc-ecs:order=1,sgld:batch=100:scheme=blocks'; all if absent
    #[arg(long, value_delimiter = ',', value_parser = name(), value_name = "ID,ID")]
    pub samplers: Vec<String>,
    /// Draw the posterior densities of all in one picture, on the scale of standardised predictors or that of the reference run: .svg,
    /// .png, or .csv for what is drawn
    #[arg(long, value_name = "PATH")]
    pub densities: Option<std::path::PathBuf>,
}

/// `tune`.
#[derive(Debug, Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct TuneArgs {
    /// Data, model, sampler and seed; the length of the run and its folder are not used
    #[command(flatten)]
    pub model: FitArgs,
}

/// `calibrate`.
#[derive(Debug, Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct CalibrateArgs {
    /// Model template
    pub template: String,
    /// Data file for covariates and groups, or sample:NAME for a bundled one; small built-in data if absent
    #[arg(long, value_name = "FILE")]
    pub data: Option<String>,
    /// Model formula, such as 'y ~ x1 + x2'; the built-in data have y (yes or no), numbers x1 and x2, categories c, counts k, groups g
    #[arg(long)]
    pub formula: Option<String>,
    /// Sampler, or auto
    #[arg(long)]
    pub sampler: Option<String>,
    /// Simulated data sets, 1 to 100,000
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000).map(|n| n as usize))]
    pub simulations: usize,
    /// Posterior draws that a true value is ranked among, 1 to 9,999
    #[arg(long, default_value_t = 99, value_parser = clap::value_parser!(u32).range(1..=9999).map(|n| n as usize))]
    pub draws: usize,
    /// Seed of all random numbers
    #[arg(long, value_parser = seeds())]
    pub seed: Option<u64>,
    /// Change a recipe entry, such as priors.b='normal(0, 1)' or model.prior_variance=4
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// File for a picture of the ranks: .svg, .png or .csv
    #[arg(long, value_name = "PATH")]
    pub plot: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `prior-predictive`.
#[derive(Debug, Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct PriorPredictiveArgs {
    /// Data, model, priors and seed; sampler, run control and folder are not used
    #[command(flatten)]
    pub model: FitArgs,
    /// File for a picture of what the priors expect: .svg, .png or .csv
    #[arg(long, value_name = "PATH")]
    pub plot: Option<PathBuf>,
}

/// In what notation `show` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Notation {
    /// A few sentences
    Words,
    /// One relation per line
    Equation,
    /// The formula of brms and lme4
    Formula,
    /// A Stan program
    Stan,
    /// R code that calls brms
    Brms,
}

/// `show`.
#[derive(Debug, Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct ShowArgs {
    /// Data and model; sampler, run control and folder are not used
    #[command(flatten)]
    pub model: FitArgs,
    /// Notation
    #[arg(long = "as", value_enum, default_value_t = Notation::Words, value_name = "NOTATION")]
    pub notation: Notation,
}

/// What `list` lists.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Listing {
    /// Model templates
    Templates,
    /// Samplers
    Samplers,
    /// Optimisers that find the posterior mode
    Optimisers,
    /// Methods of `estimate`
    Estimators,
    /// Settings of one template, sampler or optimiser, or the entries of a section of recipes: data, model, priors, mode,
    /// sampler, run, report
    Settings,
    /// Export formats
    Formats,
    /// Pictures of a run
    Figures,
    /// Bundled data sets, and public ones with where to get them
    Datasets,
    /// Experiments for `bench`
    Benches,
}

/// `list`.
#[derive(Debug, Parser)]
pub struct ListArgs {
    /// What to list
    pub what: Listing,
    /// Template, sampler, optimiser or section, for settings
    pub id: Option<String>,
    /// For samplers: rank them for this data file, or sample:NAME
    #[arg(long, value_name = "FILE")]
    pub data: Option<String>,
    /// For samplers: rank them for the model in this text file, with --data where it has rows
    #[arg(long, value_name = "FILE", conflicts_with_all = ["formula", "template"])]
    pub model: Option<PathBuf>,
    /// Model formula for that; bundled data sets have one
    #[arg(long, requires = "data")]
    pub formula: Option<String>,
    /// Model template for that
    #[arg(long, requires = "data")]
    pub template: Option<String>,
    /// Time limit of a run, in seconds, for that
    #[arg(long, value_name = "SECONDS", requires = "data")]
    pub max_seconds: Option<f64>,
    /// Change a recipe entry for that, such as model.success=yes
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "data")]
    pub set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Degree of zero-variance control variates.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ControlVariates {
    /// Exact for the means of a normal posterior
    Linear,
    /// Also for its variances; needs many draws for the number of parameters
    Quadratic,
}

impl From<ControlVariates> for Order {
    fn from(degree: ControlVariates) -> Self {
        match degree {
            ControlVariates::Linear => Self::Linear,
            ControlVariates::Quadratic => Self::Quadratic,
        }
    }
}

/// Further columns of a summary.
#[derive(Clone, Debug, Default, Parser)]
pub struct ExtraArgs {
    /// Further columns, separated by commas, or `all` of them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Trimmed(extra_columns()))]
    pub columns: Vec<String>,
    /// Groups of neighbouring chains that began at the same points, for the column `rhat_nested`; those of the run if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub superchains: Option<u64>,
    /// Add the ends of the interval of this probability, such as 0.8
    #[arg(long, value_name = "PROBABILITY")]
    pub interval: Option<f64>,
    /// Take the shortest interval (highest density) instead of that between quantiles
    #[arg(long)]
    pub hdi: bool,
    /// Add how probable values between these are, which count as 0
    #[arg(long, value_name = "FROM,TO", value_parser = numerals::range, allow_hyphen_values = true)]
    pub rope: Option<[f64; 2]>,
}

/// The word for all further columns.
const ALL_COLUMNS: &str = "all";

fn extra_columns() -> clap::builder::PossibleValuesParser {
    use clap::builder::PossibleValue;
    let all = PossibleValue::new(ALL_COLUMNS).help("All of them");
    let words = Extra::ALL.map(|extra| PossibleValue::new(extra.word()).help(extra.about()));
    clap::builder::PossibleValuesParser::new(words.into_iter().chain([all]))
}

impl ExtraArgs {
    /// The first of the flags that were given.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            (!self.columns.is_empty(), "--columns"),
            (self.superchains.is_some(), "--superchains"),
            (self.interval.is_some(), "--interval"),
            (self.hdi, "--hdi"),
            (self.rope.is_some(), "--rope"),
        ];
        (flags.into_iter()).find_map(|(is_given, flag)| is_given.then_some(flag))
    }

    /// What was asked for of a run whose chains began in groups if it says how many, in the order of the columns.
    pub fn wanted(&self, of_run: Option<u64>) -> Vec<Extra> {
        let asked = |word: &str| self.columns.iter().any(|it| it == word);
        let groups = self.superchains.or(of_run);
        // What needs a number is there where it is given.
        let nested = |extra: &Extra| match extra {
            Extra::RhatNested => groups.is_some(),
            Extra::InRope => self.rope.is_some(),
            Extra::Low | Extra::High => self.interval.is_some(),
            _ => true,
        };
        let all = |extra: &Extra| asked(ALL_COLUMNS) && nested(extra);
        let named = |extra: &Extra| {
            let by_flag = match extra {
                Extra::RhatNested => self.superchains.is_some(),
                Extra::InRope => self.rope.is_some(),
                Extra::Low | Extra::High => self.interval.is_some() && !self.hdi,
                Extra::HdiLow | Extra::HdiHigh => self.hdi,
                _ => false,
            };
            asked(extra.word()) || by_flag
        };
        let wanted = Extra::ALL.into_iter();
        wanted.filter(|extra| all(extra) || named(extra)).collect()
    }
}

/// `summarise`.
#[derive(Debug, Parser)]
pub struct SummariseArgs {
    /// Run folders, each summarised on its own; one project; or CSV files of draws, which are chains of one run and may have a column
    /// `weight`, or `.log_weight` as in the R package posterior
    #[arg(required = true, value_name = "DIR|FILE")]
    pub sources: Vec<PathBuf>,
    /// Correct means and standard deviations of a run folder by control variates from gradients at its draws
    #[arg(long, value_name = "DEGREE")]
    pub zero_variance: Option<ControlVariates>,
    /// Say how much prior and likelihood matter, by power scaling at the draws of a run folder
    #[arg(long)]
    pub sensitivity: bool,
    /// Add Bayes factors of coefficients against 0, by the Savage-Dickey ratio
    #[arg(long)]
    pub bayes_factor: bool,
    /// Further columns
    #[command(flatten)]
    pub extras: ExtraArgs,
    /// Print summary.json instead of a table; of several runs or a project a list of them
    #[arg(long)]
    pub json: bool,
}

/// Whether predictions use the effects of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EffectsUsed {
    /// Every row in its group; of a group that the fit did not have predictions draw the effect from the population of groups, and effects
    /// take an average group
    With,
    /// Every row in an average group
    Without,
}

/// The effect of numbers that sentences and table of `effects` tell; JSON and files have all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChangeShown {
    /// One unit more, or one standard deviation where a unit is much less or much more than rows differ by
    Readable,
    /// The slope at each row
    Slope,
    /// One unit more than each row has
    Unit,
    /// One standard deviation more than each row has
    Sd,
}

/// What predictors are while the expected outcome is followed along another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OthersHeld {
    /// Numbers at their mean, categories at their most frequent level, in an average group
    Typical,
    /// As each row has them, averaged over the rows
    Rows,
}

/// Reads `NAME=VALUE`.
fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("write NAME=VALUE, such as plan=pro")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// `effects`.
#[derive(Debug, Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct EffectsArgs {
    /// Run folder
    pub run: PathBuf,
    /// Predictors, comma separated; all if absent
    #[arg(long, value_delimiter = ',', value_parser = name(), value_name = "NAME,NAME")]
    pub of: Vec<String>,
    /// Predictors and grouping factors of which all pairs of levels are compared, comma separated
    #[arg(long, value_delimiter = ',', value_parser = name(), value_name = "NAME,NAME")]
    pub contrasts: Vec<String>,
    /// Repeat each effect at each level of this column, or at its mean and one standard deviation either side, set in all rows; of a
    /// grouping factor with the expected outcome in each group
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Set a column to a value in all rows; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub at: Vec<(String, String)>,
    /// Expected outcome along these predictors, comma separated; repeated by --by
    #[arg(long, value_delimiter = ',', value_parser = name(), value_name = "NAME,NAME")]
    pub along: Vec<String>,
    /// Places along a number
    #[arg(long, default_value_t = 11, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000).map(|n| n as usize))]
    pub places: usize,
    /// What the other predictors are along one
    #[arg(long, value_enum, default_value_t = OthersHeld::Typical, value_name = "OTHERS")]
    pub others: OthersHeld,
    /// Expression of parameters, such as 'exp(10*b[age])'; may be repeated
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub expression: Vec<String>,
    /// Effect of numbers in sentences and table
    #[arg(long, value_enum, default_value_t = ChangeShown::Readable, value_name = "CHANGE")]
    pub change: ChangeShown,
    /// With or without the effects of groups
    #[arg(long, value_enum, default_value_t = EffectsUsed::With)]
    pub effects: EffectsUsed,
    /// Probability in intervals
    #[arg(long, default_value_t = ergodic_analysis::predict::INTERVAL, value_name = "PROBABILITY")]
    pub interval: f64,
    /// Differences that count as none: how probable it is that an effect is one of them
    #[arg(long, value_name = "FROM,TO", value_parser = numerals::range, allow_hyphen_values = true)]
    pub rope: Option<[f64; 2]>,
    /// Most draws used, evenly spaced; all if absent, fewer where rows are many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..).map(|n| n as usize))]
    pub draws: Option<usize>,
    /// File for the effects as CSV
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Print JSON instead of sentences and tables
    #[arg(long)]
    pub json: bool,
}

/// `predict`.
#[derive(Debug, Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct PredictArgs {
    /// Run folder
    pub run: PathBuf,
    /// Data file with rows to predict, coded as those of the run; the run's own rows if absent
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// With or without the effects of groups
    #[arg(long, value_enum, default_value_t = EffectsUsed::With)]
    pub effects: EffectsUsed,
    /// Probability in intervals
    #[arg(long, default_value_t = ergodic_analysis::predict::INTERVAL, value_name = "PROBABILITY")]
    pub interval: f64,
    /// Most draws used, evenly spaced
    #[arg(long, default_value_t = ergodic_analysis::predict::DRAWS, value_name = "N", value_parser = clap::value_parser!(u64).range(1..).map(|n| n as usize))]
    pub draws: usize,
    /// File for the predictions as CSV; standard output if absent
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `export`.
#[derive(Debug, Parser)]
pub struct ExportArgs {
    /// Run folder
    pub folder: PathBuf,
    /// Format; `ergodic list formats` shows them
    #[arg(long, value_name = "ID")]
    pub format: String,
    /// Add estimates corrected by control variates to a summary
    #[arg(long, value_name = "DEGREE")]
    pub zero_variance: Option<ControlVariates>,
    /// Further columns of a summary
    #[command(flatten)]
    pub extras: ExtraArgs,
    /// File to write; standard output if absent
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

/// `report`.
#[derive(Debug, Parser)]
pub struct ReportArgs {
    /// Run folder
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// html: all on one page; markdown, latex: the results to paste
    #[arg(long, value_name = "ID", default_value = ergodic_report::report::FORMATS[0].id)]
    pub format: String,
    /// File to write; standard output if absent
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_may_have_blanks_after_their_commas() {
        let fit = FitArgs::try_parse_from(["fit", "--response", "y", "--predictors", "x, f"]);
        assert_eq!(fit.unwrap().predictors, ["x", "f"]);
        let effects = EffectsArgs::try_parse_from(["effects", "run", "--of", "x , f"]);
        assert_eq!(effects.unwrap().of, ["x", "f"]);
        let extras = ExtraArgs::try_parse_from(["summarise", "--columns", "mcse_sd, ess_sd"]);
        assert_eq!(extras.unwrap().columns, ["mcse_sd", "ess_sd"]);
    }

    #[test]
    fn predictions_take_a_draw_at_least() {
        let none = PredictArgs::try_parse_from(["predict", "run", "--draws", "0"]);
        assert!(none.unwrap_err().to_string().contains("0 is not in 1.."));
        let one = PredictArgs::try_parse_from(["predict", "run", "--draws", "1"]);
        assert_eq!(one.unwrap().draws, 1);
    }

    #[test]
    fn every_subcommand_is_listed_in_one_group() {
        let mut program = Args::program();
        let help = program.render_help().to_string();
        let longest = help.lines().map(|line| line.chars().count()).max();
        assert!(
            longest <= Some(100),
            "clap wraps no lines of a template: {help}"
        );
        let listed = |name: &str| {
            let lines = help.lines().filter(|line| !line.starts_with("   "));
            lines
                .filter(|line| line.split_whitespace().next() == Some(name))
                .count()
        };
        let all: Vec<&str> = program
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        for name in &all {
            let groups = GROUPS.iter().filter(|(_, members)| members.contains(name));
            assert_eq!(groups.count(), 1, "groups of `{name}`");
            assert_eq!(listed(name), 1, "`{name}` in:\n{help}");
        }
        let grouped = GROUPS.iter().map(|(_, members)| members.len());
        assert_eq!(
            grouped.sum::<usize>(),
            all.len(),
            "a group names what is no subcommand"
        );
    }
}
