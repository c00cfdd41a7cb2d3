//! Moments that are accumulated draw by draw, where the draws themselves are not kept.

/// Sums of many quantities over the draws of one chain, about the first draw, from which means and standard deviations follow:
/// differences from a point within the distribution keep their digits however far from zero it is (Chan, Golub and LeVeque
/// 1983, "shifted data"), and weights may be negative.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningMoments {
    draws: u64,
    /// Sum of the weights.
    weight: f64,
    /// The first draw (Q).
    origin: Vec<f64>,
    /// Weighted sums of differences from it (Q).
    sums: Vec<f64>,
    /// Weighted sums of their squares (Q).
    squares: Vec<f64>,
}

impl RunningMoments {
    /// Takes a draw of all quantities, with its weight; 1 for plain draws.
    pub fn add(&mut self, draw: impl Iterator<Item = f64>, weight: f64) {
        if self.draws == 0 {
            self.origin.extend(draw);
            self.sums.resize(self.origin.len(), 0.0);
            self.squares.resize(self.origin.len(), 0.0);
            // Nothing is known of what began with a number that is not finite.
            for (origin, sum) in self.origin.iter().zip(&mut self.sums) {
                *sum = if origin.is_finite() { 0.0 } else { f64::NAN };
            }
        } else {
            let sums = self.sums.iter_mut().zip(&mut self.squares);
            for ((value, origin), (sum, square)) in draw.zip(&self.origin).zip(sums) {
                let difference = value - origin;
                let weighted = weight * difference;
                *sum += weighted;
                *square += weighted * difference;
            }
        }
        self.draws += 1;
        self.weight += weight;
    }

    /// Number of draws.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Number of quantities; 0 before the first draw.
    pub fn width(&self) -> usize {
        self.origin.len()
    }

    /// Sum of the weights of all draws.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Mean of quantity `j`; NaN where some draw of it is not finite.
    pub fn mean(&self, j: usize) -> f64 {
        self.origin[j] + self.sums[j] / self.weight
    }

    /// Weighted sum of squared differences of quantity `j` from its mean; NaN where some draw of it is not finite.
    pub fn scatter(&self, j: usize) -> f64 {
        self.squares[j] - self.sums[j] * (self.sums[j] / self.weight)
    }

    /// Becomes equal to `other` and keeps its memory.
    pub fn copy_from(&mut self, other: &Self) {
        (self.draws, self.weight) = (other.draws, other.weight);
        self.origin.clone_from(&other.origin);
        self.sums.clone_from(&other.sums);
        self.squares.clone_from(&other.squares);
    }

    /// All numbers besides the count of draws: the sum of weights, then three for each quantity.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let all = [&self.origin, &self.sums, &self.squares];
        std::iter::once(self.weight).chain(all.into_iter().flatten().copied())
    }

    /// The moments of `draws` draws whose [`Self::numbers`] these are; `None` if they are the numbers of none.
    pub fn from_numbers(draws: u64, numbers: &[f64]) -> Option<Self> {
        let (weight, rest) = numbers.split_first()?;
        if !rest.len().is_multiple_of(3) || (draws == 0 && !rest.is_empty()) {
            return None;
        }
        let width = rest.len() / 3;
        let part = |k: usize| rest[k * width..(k + 1) * width].to_vec();
        Some(Self {
            draws,
            weight: *weight,
            origin: part(0),
            sums: part(1),
            squares: part(2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(draws: &[[f64; 2]], weights: &[f64]) -> RunningMoments {
        let mut moments = RunningMoments::default();
        for (draw, weight) in draws.iter().zip(weights) {
            moments.add(draw.iter().copied(), *weight);
        }
        moments
    }

    #[test]
    fn moments_are_those_of_the_draws_however_far_from_zero() {
        // Mean 3 and squares 10 about it, once at 0 and once at 10⁹, where the numbers themselves are exact.
        let draws = [1.0, 2.0, 4.0, 5.0].map(|x| [x, 1e9 + x]);
        let moments = of(&draws, &[1.0; 4]);
        assert_eq!((moments.draws(), moments.width()), (4, 2));
        assert_eq!((moments.mean(0), moments.scatter(0)), (3.0, 10.0));
        assert_eq!((moments.mean(1), moments.scatter(1)), (1e9 + 3.0, 10.0));
        let still = of(&[[0.1, 0.3]; 7], &[1.0; 7]);
        assert_eq!((still.mean(0), still.scatter(0)), (0.1, 0.0));
    }

    #[test]
    fn weights_count_and_may_be_negative() {
        // 2·1 − 1·2 + 3·4 = 12 over 4: mean 3; 2·4 − 1·1 + 3·1 = 10.
        let moments = of(&[[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]], &[2.0, -1.0, 3.0]);
        assert_eq!(moments.weight(), 4.0);
        assert!((moments.mean(0) - 3.0).abs() < 1e-15);
        assert!((moments.scatter(0) - 10.0).abs() < 1e-13);
    }

    #[test]
    fn a_draw_that_is_not_finite_leaves_no_mean() {
        for first in [true, false] {
            let broken = [f64::INFINITY, 1.0];
            let draws = [
                if first { broken } else { [0.0, 2.0] },
                if first { [0.0, 2.0] } else { broken },
            ];
            let moments = of(&draws, &[1.0; 2]);
            assert!(moments.scatter(0).is_nan());
            assert!(!moments.mean(0).is_finite());
            assert_eq!((moments.mean(1), moments.scatter(1)), (1.5, 0.5));
        }
    }

    #[test]
    fn numbers_read_back_go_on_as_if_nothing_had_happened() {
        let draws: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i * 7 % 11), 0.1]).collect();
        let whole = of(&draws, &[1.0; 20]);
        let part = of(&draws[..9], &[1.0; 9]);
        let numbers: Vec<f64> = part.numbers().collect();
        let mut read = RunningMoments::from_numbers(9, &numbers).unwrap();
        assert_eq!(read, part);
        for draw in &draws[9..] {
            read.add(draw.iter().copied(), 1.0);
        }
        assert_eq!(read, whole);
        let none = RunningMoments::default();
        let numbers: Vec<f64> = none.numbers().collect();
        assert_eq!(RunningMoments::from_numbers(0, &numbers), Some(none));
        assert_eq!(RunningMoments::from_numbers(3, &[1.0, 2.0]), None);
        assert_eq!(RunningMoments::from_numbers(3, &[]), None);
        let mut copy = whole;
        copy.copy_from(&part);
        assert_eq!(copy, part);
    }
}
