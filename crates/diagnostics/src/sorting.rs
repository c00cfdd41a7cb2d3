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
    /// of a continuous variable the second part has next to nothing to do.
    pub fn sort(&mut self, values: &[f64], sorted: &mut Vec<f64>, order: &mut Vec<u32>) {
        let [least, greatest] = range(values);
        let scale = f64::from(u32::MAX) / (greatest - least);
        self.packed.clear();
        if scale.is_finite() && scale > 0.0 {
            let keys = values.iter().map(|x| ((x - least) * scale) as u64);
            self.packed
                .extend(keys.enumerate().map(|(i, key)| key << 32 | i as u64));
            radix_sort(&mut self.packed, &mut self.spare);
        } else {
            // All equal, or a range that overflows: one run, left to the comparison sort.
            self.packed.extend(0..values.len() as u64);
        }
        order.clear();
        order.extend(self.packed.iter().map(|&p| p as u32));
        let mut start = 0;
        for run in self.packed.chunk_by(|a, b| a >> 32 == b >> 32) {
            if run.len() > 1 {
                let run = &mut order[start..start + run.len()];
                run.sort_by(|&i, &j| values[i as usize].total_cmp(&values[j as usize]));
            }
            start += run.len();
        }
        sorted.clear();
        sorted.extend(order.iter().map(|&i| values[i as usize]));
    }
}

/// Sorts by the upper 32 bits, keeping the order of equal ones; three passes of 11, 11 and 10 bits.
fn radix_sort(items: &mut Vec<u64>, spare: &mut Vec<u64>) {
    const DIGIT: usize = 1 << 11;
    let mut counts = vec![[0_u32; DIGIT]; 3];
    for &item in items.iter() {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(item, pass)] += 1;
        }
    }
    spare.resize(items.len(), 0);
    for (pass, counts) in counts.iter_mut().enumerate() {
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for &item in items.iter() {
            let slot = &mut counts[digit(item, pass)];
            spare[*slot as usize] = item;
            *slot += 1;
        }
        std::mem::swap(items, spare);
    }
}

fn digit(item: u64, pass: usize) -> usize {
    (item >> (32 + 11 * pass)) as usize & 0x7ff
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
    fn many_draws_of_one_scale_need_all_three_passes() {
        let values: Vec<f64> = (0_u32..5000)
            .map(|i| f64::from(i.wrapping_mul(2_654_435_761)) / 7.0)
            .collect();
        let (mut sorted, mut order) = (Vec::new(), Vec::new());
        Sorter::default().sort(&values, &mut sorted, &mut order);
        assert!(sorted.is_sorted());
    }
}
