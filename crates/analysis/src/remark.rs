//! What is remarkable about a run before it, and about a likelihood fit, beyond what data and models say themselves.

use ergodic_base::numerals::thousands;

ergodic_base::remarks! {
    /// One thing that is remarkable.
    pub enum Remark {
        /// Draws fill a good part of an ordinary machine's memory.
        LargeDraws {
            /// Quantities that are kept.
            kept: usize,
            /// Memory, in gigabytes.
            gigabytes: f64,
            /// Whether gradients are kept with the draws.
            with_gradients: bool,
        }
        Watch "large-draws" (
            "The {} of {} quantities will take {gigabytes:.1} GB of memory; choose fewer draws or chains, steps further apart, or {}",
            if *with_gradients { "draws and gradients" } else { "draws" },
            thousands(*kept as u64),
            match with_gradients {
                false => "what to keep draws of (run.keep)",
                true => "no corrections while the run goes on (run.zero_variance)",
            }
        );

        /// Steps that a user gave where nothing is known of scales.
        RawSteps {
            /// Title of the sampler.
            sampler: &'static str,
            /// Whether gradients are centred where each chain starts.
            centred_at_start: bool,
        }
        Watch "raw-steps" (
            "Steps of {sampler} are in the model's own coordinates: without the curvature at the mode nothing says which steps are \
             stable, how far the noise of gradients widens the posterior, or how slow its slowest direction is; compare with half the \
             step size{}",
            match centred_at_start {
                true => "; gradients are centred where each chain starts, and get noisier the farther it goes from there",
                false => "",
            }
        );

        /// Chains start where they are to arrive, before a sampler that ends its warm-up when they have.
        NearStart {
            /// Title of the sampler.
            sampler: &'static str,
        }
        Watch "near-start" (
            "{sampler} ends its warm-up when it finds that chains have arrived, which tells nothing of chains that start where they \
             are to be; start them far away (run.start_spread = 10) or fix the length of the warm-up (run.warmup)"
        );

        /// Units of the model have no order of their own.
        LabelsSwitch {
            /// Whether these are hidden units; else factors.
            hidden_units: bool,
        }
        Info "labels-switch" (
            "{} from chain to chain without any consequence, so that R-hat and effective draws of single ones say nothing and do not \
             count; what is predicted of rows does not depend on that",
            match hidden_units {
                true => "Hidden units may change their numbers",
                false => "Factors may turn",
            }
        );

        /// A model is too large for a matrix of curvature.
        TooLargeForCurvature {
            /// Its coordinates.
            dim: usize,
            /// Its rows.
            rows: usize,
            /// Where chains start.
            around: &'static str,
        }
        Info "no-curvature" (
            "The model has {dim} coordinates and {rows} rows, too many for a matrix of curvature, so chains start {around} and learn \
             its scales while warming up"
        );

        /// No mode is sought, because there are many that are equal.
        NoModeSought {
            /// Where chains start.
            around: &'static str,
        }
        Info "no-curvature" (
            "The posterior has many modes that are equal, and none is sought, so chains start {around} and learn its scales while \
             warming up"
        );

        /// The mode was not found.
        NoMode {
            /// Why.
            why: String,
            /// Where chains start.
            around: &'static str,
        }
        Watch "no-mode" ("The posterior's mode was not found ({why}), so chains start {around}");

        /// Effects of groups are sampled as they are.
        CentredEffects {
            /// Which, in words.
            groups: Vec<String>,
        }
        Info "parametrisation" (
            "The data tell the effects of {} much better than the spread of groups does, so these are sampled as they are, around the \
             coefficients (model.parametrisation)",
            groups.join(" and ")
        );

        /// The likelihood is that of a function of a column.
        DensityOfFunction {
            /// The function as the formula has it.
            response: String,
            /// The column.
            column: String,
            /// What to add to the log likelihood to make it that of the column, where there is such a density.
            added: Option<f64>,
        }
        Info "density-of-function" (
            "Log likelihood, AIC and BIC are those of {response}: to compare with models of {column} itself or of another function of \
             it, {}",
            match added {
                Some(sum) => format!(
                    "add {sum:.3} to the log likelihood, the sum over rows of the logarithm of d{response}/d{column}"
                ),
                None => format!("a model of {column} has no such density here"),
            }
        );
    }
}
