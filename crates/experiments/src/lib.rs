//! Experiments that are run with one command, each a function that returns a table.
//!
//! To add one, write `my_experiment.rs` with a function of [`BenchOptions`], and add an entry to [`REGISTRY`]:
//! the command line lists, runs, prints, draws ([`Plot`]) and saves it.
//!
//! ```
//! let experiment = ergodic_experiments::find("simplex").expect("an experiment of this name");
//! println!("{}: {}", experiment.title, experiment.about);
//! ```

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ergodic_base::Control;
use serde::Serialize;

mod burn_in;
mod certificate_cost;
mod certificates;
mod chain;
mod control_orders;
mod corrected;
mod dimension;
mod double_well;
mod ellipses;
mod error;
mod factorization;
mod friction;
mod hierarchical;
mod log_loss;
mod mixture;
mod mixture_normal;
mod network_optimisers;
mod neural_net;
mod nine_modes;
mod normal_gamma;
mod plot;
mod problem;
mod rates;
mod scaling;
mod shards;
mod simplex;
mod six_samplers;
mod split_merge;
mod subsampling;
mod tall;
mod tall_means;
mod topics;
mod topics_control;
mod verdicts;
mod welling_teh;

pub use error::{BadImages, BenchError};
pub use plot::{Plot, PlotMark};

/// What a caller can choose.
#[derive(Clone, Debug, Default)]
pub struct BenchOptions {
    /// File with the experiment's data, for those that read some.
    pub data: Option<PathBuf>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Whether a small version is enough.
    pub quick: bool,
    /// Tells how far the experiment is.
    pub control: Arc<Control>,
}

impl BenchOptions {
    /// What the small version takes, or the whole one.
    fn sized<T>(&self, quick: T, whole: T) -> T {
        if self.quick { quick } else { whole }
    }

    /// Says that `runs` runs of about the same length begin.
    fn expect_runs(&self, runs: usize) {
        self.control.enter("runs");
        self.control.expect(runs as u64);
    }
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A word.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number; NaN where there is none.
    Number(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// A claim of a source, and what the numbers of a table say of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What the source says, in one sentence.
    pub claim: &'static str,
    /// Whether the numbers say the same.
    pub reproduced: bool,
    /// The numbers, and why they differ where they do.
    pub because: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.reproduced {
            true => "Reproduced",
            false => "Not reproduced",
        };
        write!(f, "Claim: {}. {verdict}: {}", self.claim, self.because)
    }
}

/// What an experiment found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchTable {
    /// Names of the columns.
    pub columns: Vec<&'static str>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<Cell>>,
    /// What to know when reading it, one sentence each.
    pub notes: Vec<String>,
    /// The claims of the source, judged by the rows.
    pub findings: Vec<Finding>,
    /// Tables beside this one, such as the points of curves.
    pub further: Vec<FurtherTable>,
    /// Pictures of these tables.
    pub plots: Vec<Plot>,
}

/// A table that stands beside the first one of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FurtherTable {
    /// One word; the name of a file that holds the table ends with it.
    pub name: &'static str,
    /// Names of the columns.
    pub columns: Vec<&'static str>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<Cell>>,
}

/// An experiment.
pub struct Bench {
    /// Identifier on the command line.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// One sentence: what is compared.
    pub about: &'static str,
    /// Author, year and section that it repeats; empty for experiments of our own.
    pub source: &'static str,
    /// About how long the whole version takes on two cores, by processor time where other work ran beside it; `None` where that was not measured.
    pub seconds: Option<u32>,
    /// Whether [`BenchOptions::data`] may name data for it.
    pub reads_data: bool,
    /// Runs it.
    pub run: fn(&BenchOptions) -> Result<BenchTable, BenchError>,
}

/// All experiments.
pub static REGISTRY: &[Bench] = &[
    Bench {
        id: "simplex",
        seconds: Some(30),
        title: "Probabilities of categories from minibatches",
        about: "Kolmogorov-Smirnov distance of SCIR and SGRLD from exact draws, sparse and dense, at every share of rows \
                per minibatch",
        source: "Baker, Fearnhead, Fox and Nemeth (2018), section 3.2",
        reads_data: false,
        run: simplex::run,
    },
    Bench {
        id: "mixture",
        seconds: None,
        title: "Users held out, predicted from clusters of others",
        about: "Perplexity of exact and stochastic samplers of a Dirichlet-process mixture, with and without split-merge \
                moves",
        source: "Baker, Fearnhead, Fox and Nemeth (2018), section 5.2",
        reads_data: true,
        run: mixture::run,
    },
    Bench {
        id: "mixture-normal",
        seconds: None,
        title: "Two clusters of points in the plane",
        about: "Number of clusters found and time per draw for 100,000 points, far apart and overlapping",
        source: "",
        reads_data: false,
        run: mixture_normal::run,
    },
    Bench {
        id: "split-merge",
        seconds: None,
        title: "Clusters found with and without split-merge moves",
        about: "Sweeps and seconds until chains from one cluster and from many reach the common level, and whether they \
                agree then; --data FILE clusters users by pages (columns user, page) or rows by all columns, otherwise \
                points",
        source: "Jain and Neal (2004)",
        reads_data: true,
        run: split_merge::run,
    },
    Bench {
        id: "topics",
        seconds: Some(1_200),
        title: "Topics of documents from minibatches",
        about: "Perplexity of SCIR, SGRLD and collapsed Gibbs sampling against iterations and seconds, with the source's priors and with \
                the same; --data FILE with columns document, word, count, otherwise sparse topics",
        source: "Baker, Fearnhead, Fox and Nemeth (2018), section 5.1",
        reads_data: true,
        run: topics::run,
    },
    Bench {
        id: "topics-control",
        seconds: Some(700),
        title: "Topics of documents with control variates",
        about: "Perplexity of SGLD, SGLD with control variates and SAGA against passes as the number of documents grows; --data FILE with \
                columns document, word, count, otherwise sparse topics",
        source: "Baker (2018), section 3.5.3",
        reads_data: true,
        run: topics_control::run,
    },
    Bench {
        id: "factorization",
        seconds: Some(400),
        title: "Ratings held out, predicted from factors of users and items",
        about: "Error and log predictive density of SGLD, SGLD with control variates and SAGA against passes, with a step for each block, as \
                the number of users grows; --data FILE with columns user, item, rating, otherwise ratings drawn from factors",
        source: "Baker (2018), section 3.5.2",
        reads_data: true,
        run: factorization::run,
    },
    Bench {
        id: "neural-net",
        seconds: Some(1_320),
        title: "A neural network from minibatches",
        about: "Log loss of images that are predicted against passes, for a network with one hidden layer, by samplers with control variates \
                and without; --data FOLDER with the four files of MNIST or FILE with labels and pixels, otherwise drawn images",
        source: "Baker (2018), section 4.6.3",
        reads_data: true,
        run: neural_net::run,
    },
    Bench {
        id: "network-optimisers",
        seconds: Some(90),
        title: "Optimisers of a neural network",
        about: "Share of images with a wrong label after searches by Santa, Adam, RMSprop, SGD with and without momentum, and by draws of SGLD, \
                in a network with two hidden layers; --data as `neural-net`, otherwise drawn images",
        source: "Chen (2016), slides on Santa",
        reads_data: true,
        run: network_optimisers::run,
    },
    Bench {
        id: "hierarchical",
        seconds: Some(200),
        title: "A logistic regression in each of 25 groups",
        about: "Time per effective draw of Gibbs sampling with OSGFS, with a normal approximation and exactly; --data \
                FILE with columns B, G, R, skin, otherwise simulated rows",
        source: "El Hanchi (2018), section 3.2",
        reads_data: true,
        run: hierarchical::run,
    },
    Bench {
        id: "scaling",
        seconds: None,
        title: "Cost of an effective draw as the table grows",
        about: "Rows touched per effective draw from 10,000 to 10,000,000 rows: with control variates it does not grow, \
                without it does",
        source: "Baker, Fearnhead, Fox and Nemeth (2019), section 3.2",
        reads_data: false,
        run: scaling::run,
    },
    Bench {
        id: "shards-tails",
        seconds: None,
        title: "Divide and conquer with heavy tails",
        about: "Divergence from NUTS of every way to combine draws of shards, beside SGLD and SGHMC at the same cost: the \
                centre of a bivariate t",
        source: "Baker (2018), section 2.4.2",
        reads_data: false,
        run: shards::heavy_tails,
    },
    Bench {
        id: "shards-modes",
        seconds: Some(900),
        title: "Divide and conquer with two modes",
        about: "The same for the centres of two clusters that nearly coincide",
        source: "Baker (2018), section 2.4.2",
        reads_data: false,
        run: shards::two_modes,
    },
    Bench {
        id: "shards-curved",
        seconds: None,
        title: "Divide and conquer with a curved posterior",
        about: "The same for a warped Gaussian",
        source: "Baker (2018), section 2.4.2",
        reads_data: false,
        run: shards::curved,
    },
    Bench {
        id: "shards-dimension",
        seconds: None,
        title: "Divide and conquer in more dimensions",
        about: "The same for normal posteriors of 2 to 20 parameters",
        source: "Baker (2018), section 2.4.2",
        reads_data: false,
        run: shards::dimensions,
    },
    Bench {
        id: "double-well",
        seconds: Some(1),
        title: "Optimisers in the higher of two wells",
        about: "How often SGD, Adam, RMSprop and Santa leave the higher well of a double well for the deeper one",
        source: "Chen (2016), slides on Santa",
        reads_data: false,
        run: double_well::run,
    },
    Bench {
        id: "nine-modes",
        seconds: Some(4),
        title: "Metropolis beside HMC on nine components",
        about: "How far apart successive draws are, how often they change the component, and effective draws per evaluation",
        source: "Chen (2016), slide \"Demo: MH vs. HMC\"",
        reads_data: false,
        run: nine_modes::run,
    },
    Bench {
        id: "two-modes",
        seconds: Some(13),
        title: "SGLD on a mixture with two modes",
        about: "Distance of the draws of SGLD with decreasing steps from the posterior of the two centres of 100 numbers",
        source: "Chen (2016), slide \"Example\" of SGLD; Welling and Teh (2011), section 5.1",
        reads_data: false,
        run: welling_teh::run,
    },
    Bench {
        id: "friction",
        seconds: Some(4),
        title: "Momentum without and with friction",
        about: "Standard deviations of SGHMC without friction, with friction, and with friction that balances the noise of gradients",
        source: "Chen (2016), slides on SGHMC",
        reads_data: false,
        run: friction::friction,
    },
    Bench {
        id: "thermostat",
        seconds: Some(2),
        title: "Friction beside a thermostat",
        about: "Variance of SGHMC with friction 0.1, 1 and 10 and of SGNHT with as much injected noise, over the true one",
        source: "Chen (2016), slides on SGNHT",
        reads_data: false,
        run: friction::thermostat,
    },
    Bench {
        id: "rates",
        seconds: Some(132),
        title: "Errors against the number of steps",
        about: "Slope of the mean squared error against the number of steps for steps that shrink in several ways, and order of the bias",
        source: "Chen (2016), slides \"Synthetic experiments\"; Chen, Ding and Carin (2015)",
        reads_data: false,
        run: rates::run,
    },
    Bench {
        id: "dimension",
        seconds: Some(42),
        title: "Steps in more and more dimensions",
        about: "How the step that HMC-ECS, HMC, MALA and Metropolis adapt falls as the number of parameters grows",
        source: "Dang, Quiroz, Kohn, Tran and Villani (2019), section 6.7",
        reads_data: false,
        run: dimension::run,
    },
    Bench {
        id: "control-orders",
        seconds: Some(2),
        title: "Worse and worse control variates",
        about: "Variance, acceptance and bias of HMC-ECS with expansions of order 2, 1 and 0",
        source: "Dang, Quiroz, Kohn, Tran and Villani (2019), section 6.8",
        reads_data: false,
        run: control_orders::run,
    },
    Bench {
        id: "normal-gamma",
        seconds: Some(2),
        title: "Gibbs sampling beside exact marginals",
        about: "Kolmogorov-Smirnov distance of draws of the mean and the precision of normal numbers from their marginals",
        source: "Chen (2016), slides on Gibbs sampling",
        reads_data: false,
        run: normal_gamma::run,
    },
    Bench {
        id: "burn-in",
        seconds: Some(12),
        title: "The burn-in criterion of OSGFS",
        about: "Means and standard deviations of OSGFS from far starts, with the criterion that ends the burn-in and without",
        source: "El Hanchi (2018), section 3.1, figure 2",
        reads_data: false,
        run: burn_in::run,
    },
    Bench {
        id: "ellipses",
        seconds: Some(19),
        title: "OSGFS beside Metropolis",
        about: "Ellipses along the largest and the smallest principal component, and passes per effective draw; --data FILE with the \
                outcome in its last column, otherwise simulated rows",
        source: "El Hanchi (2018), section 3.1, figure 1",
        reads_data: true,
        run: ellipses::run,
    },
    Bench {
        id: "log-loss-sizes",
        seconds: Some(188),
        title: "Control variates at three sizes of the data",
        about: "Log loss of rows held out, draw by draw, and passes to get there, of SGLD, SGLD-CV and SAGA; --data FILE with the outcome \
                in its last column, otherwise simulated rows",
        source: "Baker (2018), section 3.5.1",
        reads_data: true,
        run: log_loss::sizes,
    },
    Bench {
        id: "log-loss-six",
        seconds: Some(133),
        title: "Six samplers by their predictions",
        about: "The same of SGLD, SGHMC and SGNHT, each with and without control variates",
        source: "Baker (2018), sections 4.5 and 4.6.2",
        reads_data: true,
        run: log_loss::six,
    },
    Bench {
        id: "tall-means",
        seconds: Some(103),
        title: "SGLD-CV beside NUTS as the rows grow",
        about: "Divergence from a posterior that is known, and gradients of rows, from 1,000 to 1,000,000 rows",
        source: "Baker (2018), section 4.2",
        reads_data: false,
        run: tall_means::run,
    },
    Bench {
        id: "six-samplers",
        seconds: Some(53),
        title: "Six samplers on two clusters that nearly coincide",
        about: "Divergence from NUTS of six samplers from given starts, and whether their chains visit both modes",
        source: "Baker (2018), section 4.6.1",
        reads_data: false,
        run: six_samplers::run,
    },
    Bench {
        id: "subsampling",
        seconds: Some(240),
        title: "HMC on subsamples beside its rivals",
        about: "Relative computational time, bias and ROC curves of HMC, HMC-ECS, SG-HMC and SGLD; --data FILE with the outcome in its last \
                column, otherwise simulated rows",
        source: "Dang, Quiroz, Kohn, Tran and Villani (2019), section 6.5",
        reads_data: true,
        run: subsampling::higgs,
    },
    Bench {
        id: "subsampling-splines",
        seconds: Some(2_700),
        title: "The same with splines and a rare outcome",
        about: "The same for splines of eight predictors and an outcome that one row in a hundred has, and its realised and predicted share \
                along a predictor",
        source: "Dang, Quiroz, Kohn, Tran and Villani (2019), section 6.6",
        reads_data: true,
        run: subsampling::bankruptcy,
    },
    Bench {
        id: "verdicts",
        seconds: None,
        title: "How often a run that is called Good is right",
        about: "200 runs each of posteriors that are known: how often intervals hold, and how often a run was called Good \
                with a mean that is off by more than 0.2 standard deviations",
        source: "",
        reads_data: false,
        run: verdicts::run,
    },
    Bench {
        id: "certificates",
        seconds: Some(1_800),
        title: "Which approximate runs the bias check certifies",
        about: "SGLD on a grid of steps, SGLD-CV and HMC-ECS at their defaults, by their true bias: how often each is \
                certified, and how often one that is off by more than 0.3 standard deviations",
        source: "",
        reads_data: false,
        run: certificates::run,
    },
    Bench {
        id: "certificate-cost",
        seconds: None,
        title: "What a certificate costs as the table grows",
        about: "Passes over the rows of the control, of scores and of the run at half the step that certify a run of \
                SGLD-CV, from 10,000 to 10,000,000 rows",
        source: "",
        reads_data: false,
        run: certificate_cost::run,
    },
];

/// The experiment called `id`.
pub fn find(id: &str) -> Option<&'static Bench> {
    REGISTRY.iter().find(|bench| bench.id == id)
}

impl BenchTable {
    /// Columns and rows of the table that `plot` is of; `None` where there is none of its name.
    pub fn drawn_by(&self, plot: &Plot) -> Option<(&[&'static str], &[Vec<Cell>])> {
        let Some(name) = plot.table else {
            return Some((&self.columns, &self.rows));
        };
        let further = self.further.iter().find(|it| it.name == name)?;
        Some((&further.columns, &further.rows))
    }

    /// As CSV, without the further tables.
    pub fn to_csv(&self) -> String {
        csv(&self.columns, &self.rows)
    }
}

impl FurtherTable {
    /// As CSV.
    pub fn to_csv(&self) -> String {
        csv(&self.columns, &self.rows)
    }
}

/// A header and one line per row; words have no commas.
fn csv(columns: &[&str], rows: &[Vec<Cell>]) -> String {
    let mut text = columns.join(",") + "\n";
    for row in rows {
        let cells: Vec<String> = row.iter().map(Cell::plain).collect();
        text.push_str(&(cells.join(",") + "\n"));
    }
    text
}

impl Cell {
    /// The number; `None` of words and where there is none.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Text(_) => None,
            Self::Count(count) => Some(*count as f64),
            Self::Number(value) => value.is_finite().then_some(*value),
        }
    }

    /// All digits, `NA` for NaN.
    fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(value) if value.is_nan() => "NA".to_owned(),
            Self::Number(value) => value.to_string(),
        }
    }
}
