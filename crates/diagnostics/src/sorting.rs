//! Sorting of draws together with their positions.

use super::moments::range;

/// Memory of the sort, kept between parameters.
#[derive(Default)]
pub(super) struct Sorter {
    packed: Vec<u64>,
    spare: Vec<u64>,
}

impl Sorter {
    /// Fills `sorted` with the finite `values` in ascending order and `order` with their positions; equal values
    /// keep their order.
    ///
    /// A radix sort of 32-bit keys that grow with the value, then a comparison sort within equal keys: for draws
    /// of a continuous variable the second part has next to nothing to do. Where the upper digits of the keys are spread out, as
    /// they are without long tails, they tell nearly all draws apart and the lowest one is left to the second part.
    pub fn sort(&mut self, values: &[f64], sorted: &mut Vec<f64>, order: &mut Vec<u32>) {
        let [least, greatest] = range(values);
        let scale = f64::from(u32::MAX) / (greatest - least);
        self.packed.clear();
        // Bits of a packed item that do not tell draws apart.
        let mut low_bits = 32;
        if scale.is_finite() && scale > 0.0 {
            let mut counts = vec![[0_u32; DIGIT]; 3];
            let keys = values.iter().map(|x| key((x - least) * scale));
            self.packed.extend(keys.enumerate().map(|(i, key)| {
                let item = key << 32 | i as u64;
                counts[1][digit(item, 1)] += 1;
                counts[2][digit(item, 2)] += 1;
                item
            }));
            let largest = counts[2].iter().copied().max().unwrap_or(0) as usize;
            if largest * SPREAD_OUT > values.len() {
                for &item in &self.packed {
                    counts[0][digit(item, 0)] += 1;
                }
                self.by_digit(0, &mut counts[0]);
            } else {
                low_bits += DIGIT_BITS;
            }
            self.by_digit(1, &mut counts[1]);
            self.by_digit(2, &mut counts[2]);
        } else {
            // All equal, or a range that overflows: one run, left to the comparison sort.
            self.packed.extend(0..values.len() as u64);
        }
        order.clear();
        order.extend(self.packed.iter().map(|&p| p as u32));
        let mut start = 0;
        for run in self.packed.chunk_by(|a, b| a >> low_bits == b >> low_bits) {
            if run.len() > 1 {
                let run = &mut order[start..start + run.len()];
                run.sort_by(|&i, &j| values[i as usize].total_cmp(&values[j as usize]));
            }
            start += run.len();
        }
        sorted.clear();
        sorted.extend(order.iter().map(|&i| values[i as usize]));
    }

    /// Sorts by one digit, of which `counts` says how often each value occurs, keeping the order of equal ones.
    fn by_digit(&mut self, pass: usize, counts: &mut [u32; DIGIT]) {
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        self.spare.resize(self.packed.len(), 0);
        for &item in &self.packed {
            let slot = &mut counts[digit(item, pass)];
            self.spare[*slot as usize] = item;
            *slot += 1;
        }
        std::mem::swap(&mut self.packed, &mut self.spare);
    }
}

/// Bits of a digit: a key has two of these and an upper one of ten bits.
const DIGIT_BITS: usize = 11;
/// Values of a digit.
const DIGIT: usize = 1 << DIGIT_BITS;
/// The most frequent upper digit holds less than this part of draws that are spread out, 1 of 300 for a normal distribution; its middle
/// digit divides it by 2,048, so that even of 100,000 draws nearly all are alone.
const SPREAD_OUT: usize = 64;

/// The whole number nearest to `x` between 0 and 2³²: beside 2⁵² nothing smaller than 1 has room, and the last bits are it.
fn key(x: f64) -> u64 {
    const ROUND: f64 = (1_u64 << 52) as f64;
    (x + ROUND).to_bits() & u64::from(u32::MAX)
}

fn digit(item: u64, pass: usize) -> usize {
    (item >> (32 + DIGIT_BITS * pass)) as usize & (DIGIT - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorting_agrees_with_the_library(
            values in prop::collection::vec(
                prop_oneof![
                    any::<f64>().prop_filter("finite", |x| x.is_finite()),
                    -1.0_f64..1.0,
                    (0_i32..5).prop_map(f64::from),
                    (0_i32..9).prop_map(|x| 1e15 + f64::from(x)),
                ],
                0..300,
            )
        ) {
            let (mut sorted, mut order) = (Vec::new(), Vec::new());
            Sorter::default().sort(&values, &mut sorted, &mut order);
            let mut expected = values.clone();
            expected.sort_by(f64::total_cmp);
            prop_assert_eq!(&sorted, &expected);
            for (&position, x) in order.iter().zip(sorted) {
                prop_assert_eq!(values[position as usize], x);
            }
            order.sort_unstable();
            prop_assert!(order.into_iter().eq(0..values.len() as u32));
        }
    }

    #[test]
    fn many_draws_of_one_scale_or_with_long_tails_are_sorted() {
        let even: Vec<f64> = (0_u32..5000)
            .map(|i| f64::from(i.wrapping_mul(2_654_435_761)) / 7.0)
            .collect();
        let tails = even.iter().map(|x| (x - 3e8).powi(5)).collect();
        // Many equal ones, and neighbours that only the lowest digit tells apart.
        let ties = even.iter().map(|x| (x * 1e-6).floor()).collect();
        let far = even
            .iter()
            .map(|x| if *x < 1e6 { 1e6 * x } else { *x })
            .collect();
        for values in [even, tails, ties, far] {
            let (mut sorted, mut order) = (Vec::new(), Vec::new());
            Sorter::default().sort(&values, &mut sorted, &mut order);
            let mut expected: Vec<u32> = (0..5000).collect();
            expected.sort_by(|&i, &j| values[i as usize].total_cmp(&values[j as usize]));
            assert_eq!(order, expected);
            assert!(sorted.is_sorted());
        }
    }
}
