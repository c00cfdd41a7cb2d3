//! Box plots of draws.

use super::{Missing, quantiles};

/// Whiskers end at the farthest draws that are not more than this many interquartile ranges from the box (Tukey 1977).
pub const WHISKER: f64 = 1.5;
/// Draws beyond the whiskers that are kept at most, evenly spaced in their order.
const MOST_OUTSIDE: usize = 100;

/// A box plot.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// Lower quartile, median and upper quartile.
    pub quartiles: [f64; 3],
    /// Ends of the whiskers: the smallest and the largest draw within [`WHISKER`] interquartile ranges of the box.
    pub whiskers: [f64; 2],
    /// Draws beyond the whiskers, ascending, the smallest and the largest among them.
    pub outside: Vec<f64>,
    /// How many there are, those that are not kept included.
    pub num_outside: usize,
}

impl BoxPlot {
    /// Of all chains together, cut to the shortest; one slice of weights per chain, or none. Draws that weigh nothing, or less, do not
    /// count for whiskers.
    ///
    /// # Errors
    /// There are no draws, one is not finite, or weights cancel.
    pub fn of(chains: &[&[f64]], weights: &[&[f64]]) -> Result<Self, Missing> {
        let quartiles = quantiles::weighted(chains, weights, [0.25, 0.5, 0.75])?;
        let [low, _, high] = quartiles;
        let far = WHISKER * (high - low);
        let shortest = chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
        let counts = |chain: usize, draw: usize| {
            let weights: Option<&&[f64]> = weights.get(chain);
            weights.is_none_or(|weights| weights[draw] > 0.0)
        };
        let (mut whiskers, mut outside) = ([low, high], Vec::new());
        for (chain, draws) in chains.iter().enumerate() {
            for (draw, &value) in draws[..shortest].iter().enumerate() {
                if !counts(chain, draw) {
                    continue;
                }
                if (low - far..=high + far).contains(&value) {
                    whiskers = [whiskers[0].min(value), whiskers[1].max(value)];
                } else {
                    outside.push(value);
                }
            }
        }
        outside.sort_unstable_by(f64::total_cmp);
        let num_outside = outside.len();
        if num_outside > MOST_OUTSIDE {
            let spaced = 0..MOST_OUTSIDE;
            let place = |k: usize| k * (num_outside - 1) / (MOST_OUTSIDE - 1);
            outside = spaced.map(|k| outside[place(k)]).collect();
        }
        Ok(Self {
            quartiles,
            whiskers,
            outside,
            num_outside,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the fences of 13 values with quartiles 3 and 9 are -6 and 18.
    #[test]
    fn whiskers_end_at_draws() {
        let draws: Vec<f64> = (1..=11).map(f64::from).chain([40.0, -30.0]).collect();
        let found = BoxPlot::of(&[&draws], &[]).unwrap();
        assert_eq!(found.quartiles, [3.0, 6.0, 9.0]);
        assert_eq!(found.whiskers, [1.0, 11.0]);
        assert_eq!(found.outside, [-30.0, 40.0]);
        assert_eq!(found.num_outside, 2);
        // The order of draws and chains does not matter.
        let mut turned = draws;
        turned.reverse();
        turned.push(6.0);
        let (one, two) = turned.split_at(7);
        let other = BoxPlot::of(&[one, two], &[]).unwrap();
        assert_eq!(
            (other.whiskers, other.outside),
            (found.whiskers, found.outside)
        );
    }

    /// Of a normal distribution, whiskers reach 2.698 standard deviations and 0.7 % lie beyond.
    #[test]
    fn a_normal_sample_has_few_draws_beyond() {
        let n = 40_000;
        let draws: Vec<f64> = (0..n)
            .map(|i| quantiles::normal((f64::from(i) + 0.5) / f64::from(n)))
            .collect();
        let found = BoxPlot::of(&[&draws], &[]).unwrap();
        let reach = (0.5 + WHISKER) * 2.0 * quantiles::normal(0.75);
        assert!((found.whiskers[1] - reach).abs() < 0.005, "{found:?}");
        assert!((found.num_outside as f64 / f64::from(n) - 0.00698).abs() < 1e-4);
        assert_eq!(found.outside.len(), MOST_OUTSIDE);
        assert_eq!(
            (found.outside.first(), found.outside.last()),
            (draws.first(), draws.last())
        );
    }

    #[test]
    fn what_weighs_nothing_has_no_whisker() {
        let draws: Vec<f64> = (0..200).map(f64::from).collect();
        let weights: Vec<f64> = (0..200).map(|i| f64::from(u8::from(i < 100))).collect();
        let found = BoxPlot::of(&[&draws], &[&weights]).unwrap();
        assert_eq!((found.whiskers, found.num_outside), ([0.0, 99.0], 0));
        assert!((found.quartiles[1] - 49.5).abs() < 1.0);
        assert_eq!(
            BoxPlot::of(&[&[1.0, f64::NAN]], &[]),
            Err(Missing::NotFinite)
        );
        let constant = BoxPlot::of(&[&[2.0; 9]], &[]).unwrap();
        assert_eq!(
            (constant.quartiles, constant.whiskers),
            ([2.0; 3], [2.0; 2])
        );
    }
}
