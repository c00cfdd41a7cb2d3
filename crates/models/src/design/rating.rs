//! Ratings: whole numbers 1, 2, … up to a few.

/// Largest value of a rating: scales of 5, 7 and 10 points are the usual ones.
pub(crate) const MOST_RATING: usize = 10;

/// Whether `count` different whole numbers from `least` to `largest` are 1, 2, … up to a handful, as ratings and codes of
/// categories are.
pub fn is_rating(count: usize, least: f64, largest: f64) -> bool {
    (3..=MOST_RATING).contains(&count) && least == 1.0 && largest == count as f64
}
