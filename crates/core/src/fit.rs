//! A fit in a few lines: a density or a model, a sampler, how many chains and draws.
//!
//! ```
//! use ergodic_core::Fit;
//! use ergodic_core::models::density_of;
//! use ergodic_core::samplers::Nuts;
//!
//! let standard_normal = density_of(2, |u: &[f64], grad: &mut [f64]| {
//!     grad[0] = -u[0];
//!     grad[1] = -u[1];
//!     -0.5 * (u[0] * u[0] + u[1] * u[1])
//! });
//! let fit = Fit::new(standard_normal).sampler::<Nuts>().chains(2).draws(500).run()?;
//! println!("{}", fit.summary());
//! assert_eq!(fit.draws("u[1]").expect("the first coordinate").dim(), (2, 500));
//! # Ok::<(), ergodic_core::FitError>(())
//! ```

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};
use ndarray::{Array2, Array3};

use crate::design::{Columns, Design, DesignError, ModelFrame, checks};
use crate::engine::keep::Keep;
use crate::engine::{ChainState, MAX_CHAINS, Report, Run, RunSection, RunView, Sampling, Start};
use crate::estimators::{find_mode, find_modes, modes};
use crate::models::{self, DensityModel, LogDensity, Model, ModelError, ModelOptions};
use crate::oracle::Centre;
use crate::samplers::{self, ChoiceError, Nuts, Sampler, SamplerEntry, Target};
use ergodic_base::draws::DrawList;
use ergodic_base::settings::{SettingError, Settings, Value};
use ergodic_base::{Control, ParamId, Warning};
use ergodic_diagnostics::{SummaryRow, Verdict};

/// Longest time between two looks at a run that is waited for.
const LOOK: Duration = Duration::from_millis(200);

/// Why there is no fit.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The formula, or a column that no design can be made of.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The template, or what it was given.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A setting that the template does not have, or a value that it does not take.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The sampler refuses the model or a setting, or needs a mode that there is not.
    #[error(transparent)]
    Sampler(#[from] ChoiceError),
    /// No sampler of this name.
    #[error("There is no sampler `{0}`")]
    UnknownSampler(String),
    /// No chain, too many, or no draw.
    #[error("A fit takes 1 to {MAX_CHAINS} chains and at least one draw, not {chains} and {draws}")]
    Length {
        /// Chains asked for.
        chains: usize,
        /// Draws asked for.
        draws: u64,
    },
    /// The operating system gives no threads.
    #[error("No threads for the chains: {0}")]
    Threads(#[from] std::io::Error),
    /// Every chain failed; the first one's reason.
    #[error("All chains failed: {0}")]
    Failed(String),
}

type Progress = Box<dyn FnMut(&RunView) + Send>;

/// A fit that is being described. See the [module](self).
pub struct Fit {
    model: Arc<dyn Model>,
    sampler: &'static SamplerEntry,
    settings: Settings,
    run: RunSection,
    warnings: Vec<Warning>,
    progress: Option<Progress>,
}

impl Fit {
    /// A fit of a log density of one's own.
    pub fn new(density: impl LogDensity + 'static) -> Self {
        Self::of_model(Arc::new(DensityModel::new(density)))
    }

    /// A fit of any model.
    pub fn of_model(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            sampler: const { &SamplerEntry::of::<Nuts>() },
            settings: Settings::default(),
            run: RunSection {
                until_precise: false,
                ..RunSection::default()
            },
            warnings: Vec::new(),
            progress: None,
        }
    }

    /// A fit of a template, such as `logistic`, with default priors and settings, to columns in memory.
    ///
    /// # Errors
    /// No such template, a formula that is not understood, or columns that do not suit it. Remarks, such as rows left out, stand
    /// in the log of [`Fitted::view`].
    pub fn of_columns(
        template: &str,
        formula: &str,
        columns: &dyn Columns,
    ) -> Result<Self, FitError> {
        let entry = models::find(template)?;
        let settings = entry.resolve(&Settings::default())?;
        let formula = formula.parse().map_err(DesignError::from)?;
        let frame = ModelFrame {
            response_use: (entry.spec.response)(&settings),
            ..ModelFrame::new(formula)
        };
        let (design, reporter) = Design::build(columns, &frame)?;
        let mut warnings = reporter.warnings;
        warnings.extend(checks::check(&design).warnings);
        let options = ModelOptions {
            settings,
            standardize: true,
            ..ModelOptions::default()
        };
        let model = (entry.build)(Arc::new(design), &options)?;
        Ok(Self {
            warnings,
            ..Self::of_model(model)
        })
    }

    /// Samples with `S`, which may be a sampler of one's own. NUTS where none is named.
    #[must_use]
    pub fn sampler<S: Sampler>(mut self) -> Self {
        self.sampler = const { &SamplerEntry::of::<S>() };
        self
    }

    /// Samples with the registered sampler called `id`, such as `zig-zag`.
    ///
    /// # Errors
    /// There is none.
    pub fn sampler_called(mut self, id: &str) -> Result<Self, FitError> {
        self.sampler = samplers::find(id).ok_or_else(|| FitError::UnknownSampler(id.to_owned()))?;
        Ok(self)
    }

    /// Sets one of the sampler's settings; a wrong one is refused when the fit begins.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.settings.set(key, value.into());
        self
    }

    /// Number of chains; 4 where none is named.
    #[must_use]
    pub fn chains(mut self, chains: usize) -> Self {
        self.run.chains = chains;
        self
    }

    /// Iterations of warm-up; the sampler's own rule where none is named.
    #[must_use]
    pub fn warmup(mut self, iterations: u64) -> Self {
        self.run.warmup = Some(iterations);
        self
    }

    /// Draws per chain that are kept; 1,000 where none is named.
    #[must_use]
    pub fn draws(mut self, draws: u64) -> Self {
        self.run.draws = draws;
        self
    }

    /// Seed of all random numbers; 1 where none is named. The same seed gives the same draws.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.run.seed = seed;
        self
    }

    /// Names or patterns, with commas between them, of the reported quantities whose draws are kept, such as `b[*], sigma`; of the others
    /// means and standard deviations are accumulated ([`Report::estimates`]). All where none are named; a name that the model does
    /// not have is refused when the fit begins.
    #[must_use]
    pub fn keep(mut self, names: &str) -> Self {
        names.clone_into(&mut self.run.keep);
        self
    }

    /// Where chains start; around the mode by default. A start that cannot be is told when the chains begin.
    #[must_use]
    pub fn start_from(mut self, start: Start) -> Self {
        self.run.start = start;
        self
    }

    /// Calls `look` with the newest view of the draws, a few times a second, while [`Self::run`] waits.
    #[must_use]
    pub fn on_progress(mut self, look: impl FnMut(&RunView) + Send + 'static) -> Self {
        self.progress = Some(Box::new(look));
        self
    }

    /// Finds the mode, resolves the settings and checks that the sampler suits the model.
    ///
    /// # Errors
    /// Whatever makes the fit impossible, before any chain has begun.
    pub fn plan(self) -> Result<FitPlan, FitError> {
        let (chains, draws) = (self.run.chains, self.run.draws);
        if !(1..=MAX_CHAINS).contains(&chains) || draws == 0 {
            return Err(FitError::Length { chains, draws });
        }
        Keep::of(&self.run.keep, self.model.params())?;
        let found = find_mode(self.model.as_ref(), &Control::default());
        let modes = find_modes(self.model.as_ref(), &Control::default()).unwrap_or_default();
        let centre = found.map(|mode| Arc::new(mode.centre));
        let mut warnings = self.warnings;
        warnings.extend(modes::remark(&modes));
        let model = self.model.as_ref();
        let target = Target::new(&self.model, centre.as_ref().ok());
        let no_mode = centre.as_ref().err();
        let settings = (self.sampler).settle(&self.settings, model, &target, no_mode)?;
        (self.sampler).afford(&settings, model, &target, centre.as_deref().ok())?;
        Ok(FitPlan {
            model: self.model,
            sampler: self.sampler,
            settings,
            run: self.run,
            warnings,
            centre: centre.ok(),
            modes,
        })
    }

    /// Starts the chains and gives the handle by which they are watched and steered; nothing waits.
    ///
    /// # Errors
    /// As [`Self::plan`], or there are no threads.
    pub fn start(self) -> Result<Run<FitPlan>, FitError> {
        Ok(Run::start(Arc::new(self.plan()?), None, None)?)
    }

    /// Runs the chains to their end.
    ///
    /// # Errors
    /// As [`Self::start`], or every chain failed.
    pub fn run(mut self) -> Result<Fitted<FitPlan>, FitError> {
        let progress = self.progress.take();
        Fitted::of_job(Arc::new(self.plan()?), progress)
    }
}

/// A model, a sampler with its settings and a plan: what the chains of a [`Fit`] share.
pub struct FitPlan {
    model: Arc<dyn Model>,
    sampler: &'static SamplerEntry,
    settings: Settings,
    run: RunSection,
    warnings: Vec<Warning>,
    centre: Option<Arc<Centre>>,
    modes: Vec<Arc<Centre>>,
}

impl Sampling for FitPlan {
    fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    fn sampler(&self) -> &'static SamplerEntry {
        self.sampler
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn run_section(&self) -> &RunSection {
        &self.run
    }

    fn centre(&self) -> Option<&Arc<Centre>> {
        self.centre.as_ref()
    }

    fn modes(&self) -> &[Arc<Centre>] {
        &self.modes
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// A finished fit: draws, diagnostics and verdict.
pub struct Fitted<J> {
    job: Arc<J>,
    view: Arc<RunView>,
    report: Arc<Report>,
}

impl<J: Sampling + 'static> Fitted<J> {
    /// Runs the chains of `job` to their end, with a look at them a few times a second.
    ///
    /// # Errors
    /// There are no threads, or every chain failed.
    pub fn of_job(job: Arc<J>, mut progress: Option<Progress>) -> Result<Self, FitError> {
        let (wake, woken) = bounded::<()>(1);
        let waker = move || {
            // Full: somebody is about to look anyway.
            if wake.try_send(()).is_err() {}
        };
        let mut run = Run::start(job, None, Some(Arc::new(waker)))?;
        while !run.is_finished() {
            if matches!(
                woken.recv_timeout(LOOK),
                Ok(()) | Err(RecvTimeoutError::Timeout)
            ) && let Some(look) = &mut progress
            {
                look(&run.view());
            }
        }
        run.join();
        let (view, report) = (run.view(), run.report());
        let failure = |chain: &crate::engine::ChainView| match &chain.state {
            ChainState::Failed(reason) => Some(reason.clone()),
            _ => None,
        };
        let failures: Vec<String> = view.chains.iter().filter_map(failure).collect();
        if failures.len() == view.chains.len() {
            let first = failures.into_iter().next().unwrap_or_default();
            return Err(FitError::Failed(first));
        }
        Ok(Self {
            job: Arc::clone(run.job()),
            view,
            report,
        })
    }
}

impl<J: Sampling> Fitted<J> {
    /// What was sampled, and how.
    pub fn job(&self) -> &Arc<J> {
        &self.job
    }

    /// All that the chains have made: draws, information columns, times.
    pub fn view(&self) -> &RunView {
        &self.view
    }

    /// Diagnostics, with everything that the verdict is made of.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// One word about the draws.
    pub fn verdict(&self) -> Verdict {
        self.report.verdict
    }

    /// Divergent transitions among kept draws.
    pub fn divergences(&self) -> u64 {
        self.report.divergences
    }

    /// A row per reported quantity; `Display` writes a table.
    pub fn summary(&self) -> Summary<'_> {
        Summary(&self.report)
    }

    /// Names of the reported quantities whose draws are kept (Q).
    pub fn variables(&self) -> Vec<ParamId> {
        self.job.variables()
    }

    /// Draws of the quantity called `name`, chains × draws; `None` if draws of none of this name are kept. Chains that failed have as
    /// many draws as the shortest one.
    pub fn draws(&self, name: &str) -> Option<Array2<f64>> {
        let j = self.variables().iter().position(|it| *it == *name)?;
        let (chains, length) = self.chains();
        Some(Array2::from_shape_fn(
            (chains.len(), length),
            |(chain, draw)| chains[chain].value(draw, j),
        ))
    }

    /// All draws, chains × draws × quantities, as many of each chain as the shortest has.
    pub fn array(&self) -> Array3<f64> {
        let (chains, length) = self.chains();
        let width = self.variables().len();
        Array3::from_shape_fn((chains.len(), length, width), |(chain, draw, j)| {
            chains[chain].value(draw, j)
        })
    }

    /// Draws of the chains that have any to be used, and the length of the shortest.
    fn chains(&self) -> (Vec<&DrawList>, usize) {
        let chains: Vec<&DrawList> = self.view.usable().map(|it| &it.draws.draws).collect();
        let length = chains.iter().map(|draws| draws.len()).min().unwrap_or(0);
        (chains, length)
    }
}

/// The rows of a summary, see [`Fitted::summary`].
pub struct Summary<'a>(&'a Report);

impl<'a> Summary<'a> {
    /// One row per reported quantity.
    pub fn rows(&self) -> &'a [SummaryRow] {
        &self.0.summary
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = [
            "mean", "sd", "q5", "q50", "q95", "R-hat", "ESS bulk", "ESS tail",
        ];
        let names = self.rows().iter().map(|row| row.variable.chars().count());
        let first = names.max().unwrap_or(0).max("variable".len());
        write!(f, "{:first$}", "variable")?;
        for head in heads {
            write!(f, " {head:>10}")?;
        }
        for row in self.rows() {
            write!(f, "\n{:first$}", row.variable)?;
            for value in [row.mean, row.sd, row.q5, row.q50, row.q95, row.rhat] {
                match value {
                    Some(value) => write!(f, " {value:>10.3}")?,
                    None => write!(f, " {:>10}", "-")?,
                }
            }
            for value in [row.ess_bulk, row.ess_tail] {
                match value {
                    Some(value) => write!(f, " {value:>10.0}")?,
                    None => write!(f, " {:>10}", "-")?,
                }
            }
        }
        write!(f, "\n{}", self.0.sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::density_of;
    use crate::samplers::{Hmc, HmcEcs, Metropolis, SgldCv, Slice, ZigZag};

    fn correlated() -> impl LogDensity + 'static {
        // Precision [[2, -1], [-1, 2]], so that covariance is [[2, 1], [1, 2]]/3, around (1, -1).
        density_of(2, |u: &[f64], grad: &mut [f64]| {
            let (x, y) = (u[0] - 1.0, u[1] + 1.0);
            grad[0] = -2.0 * x + y;
            grad[1] = x - 2.0 * y;
            -(x * x - x * y + y * y)
        })
    }

    #[track_caller]
    fn has_its_moments(fit: &Fitted<FitPlan>) {
        for (row, mean) in fit.summary().rows().iter().zip([1.0, -1.0]) {
            let error = row.mcse_mean.unwrap();
            assert!((row.mean.unwrap() - mean).abs() < 4.0 * error, "{row:?}");
            // The sd of an estimated sd is sd/sqrt(2 ESS) at most, as draws are normal.
            let sd = (2.0_f64 / 3.0).sqrt();
            let allowed =
                4.0 * sd / (2.0 * row.ess_bulk.unwrap().min(row.ess_tail.unwrap())).sqrt();
            assert!((row.sd.unwrap() - sd).abs() < allowed, "{row:?}");
        }
    }

    #[test]
    fn a_density_goes_through_every_sampler_that_needs_no_rows() {
        let fit = || Fit::new(correlated()).chains(2).draws(4000);
        has_its_moments(&fit().run().unwrap());
        has_its_moments(&fit().sampler::<Hmc>().run().unwrap());
        has_its_moments(&fit().sampler::<Slice>().run().unwrap());
        has_its_moments(&fit().sampler::<Metropolis>().draws(20_000).run().unwrap());
        has_its_moments(&fit().sampler_called("mala").unwrap().run().unwrap());
        has_its_moments(&fit().sampler_called("osgfs-cv").unwrap().run().unwrap());
    }

    #[test]
    fn samplers_that_need_more_than_a_density_refuse_it_with_a_reason() {
        let refused = |fit: Fit| fit.run().err().unwrap().to_string();
        let sentence = refused(Fit::new(correlated()).sampler::<SgldCv>());
        assert_eq!(
            sentence,
            "Sampler `sgld-cv` estimates gradients from rows of data, and this density has none"
        );
        let sentence = refused(Fit::new(correlated()).sampler::<ZigZag>());
        assert!(sentence.starts_with("Sampler `zig-zag` "), "{sentence}");
        let sentence = refused(Fit::new(correlated()).set("target_acept", 0.9));
        assert!(sentence.contains("target_acept"), "{sentence}");
        assert!(matches!(
            Fit::new(correlated()).chains(0).run(),
            Err(FitError::Length { .. })
        ));
        assert!(matches!(
            Fit::new(correlated()).sampler_called("nutz"),
            Err(FitError::UnknownSampler(_))
        ));
    }

    #[test]
    fn the_same_seed_gives_the_same_draws_and_progress_is_told() {
        let seen = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let count = Arc::clone(&seen);
        let fit = Fit::new(correlated())
            .chains(2)
            .draws(300)
            .seed(7)
            .on_progress(move |_view| {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            })
            .run()
            .unwrap();
        let again = Fit::new(correlated()).chains(2).draws(300).seed(7).run();
        assert_eq!(fit.array(), again.unwrap().array());
        assert_eq!(fit.array().dim(), (2, 300, 2));
        assert!(fit.draws("u[3]").is_none());
        assert!(fit.summary().to_string().contains("u[2]"));
        assert!(seen.load(std::sync::atomic::Ordering::Relaxed) > 0);
    }

    /// Measuring what minibatches add to gradients takes longer than finding the mode.
    #[test]
    fn only_samplers_with_minibatches_measure_their_noise() {
        let measured = |choose: fn(Fit) -> Fit| {
            let (model, _centre) = crate::samplers::testing::logistic_with_centre();
            let fit = choose(Fit::of_model(model).chains(2).draws(10))
                .run()
                .unwrap();
            fit.job().centre().unwrap().has_noise()
        };
        assert!(!measured(|fit| fit));
        assert!(!measured(Fit::sampler::<Hmc>));
        assert!(!measured(Fit::sampler::<ZigZag>));
        assert!(!measured(Fit::sampler::<HmcEcs>));
        assert!(measured(Fit::sampler::<SgldCv>));
    }

    #[test]
    fn columns_in_memory_are_fitted_by_a_template() {
        use crate::design::{MemoryColumns, Values};
        let x: Vec<f64> = (0..200).map(|i| f64::from(i % 20) - 9.5).collect();
        let y = x.iter().zip(0..).map(|(x, i)| {
            let odds = (0.3 * x).exp();
            f64::from(u8::from(
                f64::from(i * 37 % 101) / 101.0 < odds / (1.0 + odds),
            ))
        });
        let mut with_gap = x.clone();
        with_gap[3] = f64::NAN;
        let columns = MemoryColumns::new(
            "made",
            vec![
                ("y".to_owned(), Values::Numbers(y.collect())),
                ("x".to_owned(), Values::Numbers(with_gap)),
            ],
        )
        .unwrap();
        let fit = Fit::of_columns("logistic", "y ~ x", &columns).unwrap();
        let fit = fit.chains(2).draws(500).run().unwrap();
        let log: Vec<&str> = (fit.view().log.iter())
            .map(|entry| entry.warning.message.as_str())
            .collect();
        assert!(log.iter().any(|told| told.contains("199")), "{log:?}");
        let slope = &fit.summary().rows()[1];
        assert_eq!(slope.variable, "b[x]");
        let from_truth = (slope.mean.unwrap() - 0.3).abs();
        assert!(from_truth < 4.0 * slope.sd.unwrap(), "{slope:?}");
    }
}
