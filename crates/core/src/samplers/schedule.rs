//! Decreasing steps, for all samplers of stochastic gradients: step k of a chain, 0-based, is h (1 + k/a)^{−b}.
//!
//! Every form in the sources is this one:
//!
//! | source | form | here |
//! |---|---|---|
//! | Baker (2018), appendix A.3 | h (1 + k/a)^{−b}, a = 1000, b = 0.33 | the same |
//! | Baker (2018), section 5.5.1 | h (1 + m/τ)^{−κ} | a = τ, b = κ |
//! | Chen (2016) | h_l ∝ l^{−α}, l = 1, 2, … | a = 1, b = α |
//! | Welling and Teh (2011) | A (B + t)^{−γ} | h = A B^{−γ}, a = B, b = γ |
//!
//! Averages are then Σ h_k f(θ_k) / Σ h_k (Chen 2016, "Setup"): draws report the weight h_k/h. With b = 1/3 bias and Monte Carlo
//! error of n steps both fall as n^{−1/3} (Chen 2016), which is slower than the n^{−1/2} of an exact sampler.

use super::{InfoColumn, WEIGHT};
use ergodic_base::Warning;
use ergodic_base::settings::{Field, Settings, Value};

/// Draws over which a decreasing step is nearly constant by default: the default warm-up.
const OFFSET_DRAWS: u64 = 200;

ergodic_base::choice! {
    /// How the step size changes.
    pub enum Schedule {
        /// Not at all.
        Fixed = "fixed",
        /// By the module's header.
        Decreasing = "decreasing",
    }
}

ergodic_base::settings! {
    /// How steps change along a chain.
    pub struct StepsAlong {
        pub schedule: Schedule = Schedule::field("Step sizes", Some(Schedule::Fixed))
            .help("fixed: every step is h; decreasing: step k is h (1 + k/a)^(-b), and averages weigh draws by their step")
            .why("a small fixed step mixes better; decreasing steps remove the bias in the limit");
        pub decay_offset: Option<f64> = Field::real("Decay offset", 1.0, 1e15, None)
            .help(
                "a of decreasing steps h (1 + k/a)^(-b), in steps (1000 in Baker 2018; 1 gives h k^(-b)); without effect where \
                 steps are fixed",
            )
            .why("the steps of 200 draws: steps begin to fall when the warm-up is over");
        pub decay_exponent: f64 = Field::real("Decay exponent", 0.0, 1.0, Some(0.33))
            .help(
                "b of decreasing steps h (1 + k/a)^(-b), γ of Welling and Teh; at most 1, or the chain would come to rest; without \
                 effect where steps are fixed",
            )
            .why("Baker's choice, near the 1/3 at which bias and Monte Carlo error fall equally fast");
    }
}

/// Whether draws have weights of their own under settings in force: those of steps that decrease.
pub fn weighs_draws(in_force: &[(&'static str, Value)]) -> bool {
    let decreasing = Value::Text(Schedule::Decreasing.word().to_owned());
    in_force.contains(&("schedule", decreasing))
}

/// Key of [`TEMPERED`].
const TEMPERATURE: &str = "temperature";
/// T.
pub const TEMPERED: Field = Field::real("Temperature", 1e-3, 1e6, Some(1.0))
    .help(
        "T, 1/β of the papers: draws follow posterior^(1/T); for any value but 1 that is NOT the posterior, and intervals \
         are not credible intervals",
    )
    .why("1 is the posterior");

ergodic_base::remarks! {
    /// What is remarkable about settings of steps.
    pub enum Remark {
        /// Draws are not of the posterior.
        Tempered {
            /// T.
            temperature: f64,
        }
        Watch "tempered" (
            "At the temperature {temperature} draws are not of the posterior but of its power 1/{temperature}, whose standard deviations are \
             about {:.2} times as large",
            temperature.sqrt()
        ) advice ("Take `sampler.temperature = 1` for the posterior");
    }
}

/// What to say of the temperature among the `settings` of a sampler.
pub fn tempered(settings: &Settings) -> Option<Warning> {
    let temperature = settings.real(TEMPERATURE)?;
    // Closer to 1 nobody sees it in draws.
    let differs = (temperature.sqrt() - 1.0).abs() > 1e-3;
    differs.then(|| Remark::Tempered { temperature }.into())
}

/// The information column of draws whose steps may decrease.
pub const WEIGHT_OF_STEP: InfoColumn = InfoColumn::new(
    WEIGHT,
    "weight of the draw in averages: its step over the first one, 1 for fixed steps",
);

/// The schedule in force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    decreasing: bool,
    offset: f64,
    exponent: f64,
}

impl StepsAlong {
    /// Settles what is open for a sampler with `steps_per_draw` steps per draw.
    pub fn settle(&mut self, steps_per_draw: u64) -> Decay {
        Decay {
            decreasing: self.schedule == Schedule::Decreasing,
            offset: *(self.decay_offset).get_or_insert((OFFSET_DRAWS * steps_per_draw) as f64),
            exponent: self.decay_exponent,
        }
    }
}

impl Decay {
    /// Steps that fall as (1 + k/`offset`)^(−`exponent`); with the exponent 0 they stay.
    pub fn falling(offset: f64, exponent: f64) -> Self {
        Self {
            decreasing: true,
            offset,
            exponent,
        }
    }

    /// h_k/h of step `k`, 0-based from the start of the chain; exactly 1 where steps are fixed.
    pub fn share(&self, k: u64) -> f64 {
        if self.decreasing {
            (1.0 + k as f64 / self.offset).powf(-self.exponent)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperatures_other_than_one_are_told() {
        let said = |temperature: f64| {
            let mut settings = Settings::default();
            settings.set(TEMPERATURE, temperature.into());
            tempered(&settings).map(|it| it.message)
        };
        assert_eq!((said(1.0), said(1.000_1)), (None, None));
        assert!(said(4.0).unwrap().contains("about 2.00 times as large"));
        assert!(said(0.25).unwrap().contains("about 0.50 times as large"));
        assert_eq!(tempered(&Settings::default()), None);
    }
}
