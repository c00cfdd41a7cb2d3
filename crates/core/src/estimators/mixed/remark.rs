//! What is remarkable about a likelihood fit.

ergodic_base::remarks! {
    /// One thing that is remarkable.
    pub enum Remark {
        /// Variances or correlations are at the edge of what is possible.
        Singular {
            /// Effects at the edge.
            edges: Vec<Edge>,
        }
        Watch "singular-fit" (
            "The fit is at the edge of what is possible (singular): {}",
            edges.iter().map(Edge::words).collect::<Vec<_>>().join("; ")
        )
        advice (
            "The data do not support all group effects: take that effect out, use || for independent effects, or fit the Bayesian \
             template `mixed`"
        );

        /// The search stopped before the likelihood settled.
        NotConverged {}
        Bad "not-converged" ("EM stopped at its largest number of iterations before the likelihood settled")
        advice ("Use the method `squarem` or `profile` for Gaussian outcomes, `laplace` or `aghq` for others");

        /// A Monte Carlo error is not small beside the standard error.
        MonteCarloError {
            /// The coefficient.
            column: String,
            /// Share of the standard error.
            share: f64,
        }
        Watch "monte-carlo-error" (
            "The Monte Carlo error of `{column}` is {:.0} % of its standard error", 100.0 * share
        ) advice ("Use the method `laplace`");

        /// Random numbers leave the likelihood uncertain.
        NoisyLikelihood {
            /// Monte Carlo standard error of the log likelihood.
            error: f64,
        }
        Watch "noisy-likelihood" (
            "The Monte Carlo standard error of the log likelihood is {error:.2}, so that estimates and comparisons of models are \
             uncertain"
        ) advice ("Use more draws, or the method `aghq`");

        /// Plain quadrature and adaptive quadrature differ.
        NarrowEffects {
            /// Log likelihood by plain quadrature less that by adaptive quadrature.
            difference: f64,
        }
        Watch "narrow-effects" (
            "The log likelihood by plain quadrature differs from that by adaptive quadrature by {}, because the effects of groups are \
             known more closely than nodes lie together", ergodic_base::numerals::significant(*difference, 2)
        ) advice ("Use the method `aghq`, or more nodes");

        /// The likelihood is not curved downwards in all directions.
        Curvature {}
        Watch "curvature" (
            "The likelihood is not curved downwards in all directions, so standard errors take the variances of group effects as \
             known"
        ) advice ("Simplify the group terms, or fit the Bayesian template `mixed`");

        /// The counts vary no more than Poisson counts.
        NoOverdispersion {}
        Watch "no-overdispersion" (
            "The counts vary no more than Poisson counts do, so the shape of the negative binomial runs away"
        ) advice ("Use the family poisson");

        /// No more zeros than the distribution has.
        NoExtraZeros {}
        Watch "no-extra-zeros" (
            "There are no more zeros than the distribution of the counts has, so the chance of an extra zero goes to 0"
        ) advice ("Use the family without extra zeros");

        /// A coefficient runs away.
        Separation {
            /// Column of the coefficient.
            column: String,
        }
        Bad "separation" ("The coefficient of `{column}` runs away: it seems to separate the outcomes")
        advice ("Take the column out, or fit the Bayesian template `mixed` with a proper prior");
    }
}

/// An effect of groups at the edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The effect.
    pub effect: String,
    /// The grouping.
    pub group: String,
    /// Whether the effect does not vary, otherwise it follows from other effects.
    pub constant: bool,
}

impl Edge {
    fn words(&self) -> String {
        let Self { effect, group, .. } = self;
        match self.constant {
            true => format!("`{effect}` does not vary by `{group}`"),
            false => format!(
                "`{effect}` by `{group}` follows from the other effects of the group (a correlation at ±1)"
            ),
        }
    }
}
