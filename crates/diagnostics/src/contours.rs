//! Regions of highest density of two parameters together, and the contours around them.
//!
//! The density is a Gaussian kernel estimate of draws freed of their correlation: with mean m and covariance L L' of the draws x,
//! z = L⁻¹(x − m) has unit covariance, and the kernel has the standard deviation n^(-1/6) in both directions of z (Scott 1992, the rule for
//! normal densities in two dimensions), less where tails make the standard deviation larger than the quartiles say. Draws are shared
//! between the four nearest points of a grid and smoothed along its rows and columns.
//!
//! A region that holds the share p of the draws is where the estimate is at least its 1 − p quantile over the draws (Hyndman 1996): the
//! kernel widens the density, and not the region.

use super::density::Spread;
use super::sorting::Sorter;
use super::weights::mean_with;
use super::{Missing, quantiles, weights};

/// Shares of the draws that regions of pictures hold.
pub const MASSES: [f64; 2] = [0.5, 0.9];
/// Draws from which a joint density says something.
const LEAST: usize = 100;
/// Points of the grid in each direction: more than a picture has places to tell apart.
const GRID: usize = 192;
/// The kernel ends here, in its standard deviations.
const REACH: f64 = 4.0;
/// Share of the variance of a parameter that another one leaves unexplained, below which it follows from that one.
const LEAST_FREE: f64 = 1e-10;

/// Where the density is highest.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Share of the draws in the region.
    pub mass: f64,
    /// The density along the edge of the region, per unit of both parameters.
    pub level: f64,
    /// Closed lines around the region, the first point of each repeated as its last; a hole has a line of its own.
    pub contours: Vec<Vec<[f64; 2]>>,
}

/// The regions that hold the shares `masses` of the draws of two parameters, which stand in one order, all chains together;
/// `relative` are weights over their mean, as [`weights::relative`] gives them.
///
/// # Errors
/// There are fewer than 100 draws, one is not finite, a parameter is constant or follows from the other, or weights cancel.
pub fn regions<const N: usize>(
    [x, y]: [&[f64]; 2],
    relative: Option<&[f64]>,
    masses: [f64; N],
) -> Result<[Region; N], Missing> {
    if x.len() < LEAST {
        return Err(Missing::TooFew);
    }
    if x.iter().chain(y).any(|value| !value.is_finite()) {
        return Err(Missing::NotFinite);
    }
    let ones;
    let v = match relative {
        Some(v) => v,
        None => {
            ones = vec![1.0; x.len()];
            ones.as_slice()
        }
    };
    let frame = Frame::of([x, y], v)?;
    let (first, second): (Vec<f64>, Vec<f64>) =
        x.iter().zip(y).map(|(&x, &y)| frame.inward([x, y])).unzip();
    let axes = [
        Axis::of(&Spread::of(&[&first], relative)?),
        Axis::of(&Spread::of(&[&second], relative)?),
    ];
    let grid = Grid::of(axes, [&first, &second], v);
    let heights: Vec<f64> = (first.iter().zip(&second))
        .map(|(&a, &b)| grid.height([a, b]))
        .collect();
    let (mut sorted, mut order, mut cdf) = (Vec::new(), Vec::new(), Vec::new());
    Sorter::default().sort(&heights, &mut sorted, &mut order);
    if let Some(v) = relative {
        weights::cdf(v, &order, &mut cdf);
    }
    Ok(masses.map(|mass| {
        let level = match relative {
            Some(_) => weights::quantile(&sorted, &cdf, 1.0 - mass),
            None => quantiles::of_sorted(&sorted, 1.0 - mass),
        };
        let contours = contours(&grid.heights, level).into_iter();
        let outward = |[i, j]: [f64; 2]| {
            let [a, b] = &grid.axes;
            frame.outward([a.low + i * a.step, b.low + j * b.step])
        };
        Region {
            mass,
            level: level / frame.area(),
            contours: contours
                .map(|line| line.into_iter().map(outward).collect())
                .collect(),
        }
    }))
}

/// Coordinates in which draws have mean 0 and unit covariance.
struct Frame {
    mean: [f64; 2],
    /// The Cholesky factor of the covariance, row by row.
    lower: [f64; 3],
}

impl Frame {
    fn of(draws: [&[f64]; 2], v: &[f64]) -> Result<Self, Missing> {
        // About a value of theirs, so that numbers far from 0 lose no digits.
        let mean = draws.map(|it| it[0] + mean_with(v, it, |value| value - it[0]));
        let pairs = || draws[0].iter().zip(draws[1]).zip(v);
        let product = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            let terms = pairs().map(|((x, y), v)| v * f(x - mean[0], y - mean[1]));
            terms.sum::<f64>() / v.len() as f64
        };
        let (xx, yy) = (product(&|x, _| x * x), product(&|_, y| y * y));
        let constant = |it: &[f64]| it.iter().all(|value| *value == it[0]);
        if draws.into_iter().any(constant) {
            return Err(Missing::Constant);
        }
        if !(xx > 0.0 && yy > 0.0) {
            return Err(Missing::Weights);
        }
        let below = product(&|x, y| x * y) / xx.sqrt();
        let rest = yy - below * below;
        if rest <= LEAST_FREE * yy {
            return Err(Missing::Constant);
        }
        Ok(Self {
            mean,
            lower: [xx.sqrt(), below, rest.sqrt()],
        })
    }

    fn inward(&self, [x, y]: [f64; 2]) -> (f64, f64) {
        let first = (x - self.mean[0]) / self.lower[0];
        let rest = y - self.mean[1] - self.lower[1] * first;
        (first, rest / self.lower[2])
    }

    fn outward(&self, [a, b]: [f64; 2]) -> [f64; 2] {
        [
            self.mean[0] + self.lower[0] * a,
            self.mean[1] + self.lower[1] * a + self.lower[2] * b,
        ]
    }

    /// Area, in the units of the parameters, of a square of one unit.
    fn area(&self) -> f64 {
        self.lower[0] * self.lower[2]
    }
}

/// One direction of the grid.
struct Axis {
    /// The first point.
    low: f64,
    /// From a point to the next.
    step: f64,
    /// Ends of the draws that are looked at: so far inside that the smoothed density is 0 at the edge of the grid.
    shown: (f64, f64),
    /// The kernel at 0, 1, … steps.
    kernel: Vec<f64>,
}

impl Axis {
    fn of(spread: &Spread) -> Self {
        let bandwidth = spread.scale() * spread.independent().powf(-1.0 / 6.0);
        let shown = spread.shown();
        let reach = REACH * bandwidth;
        // Two steps more at each end, which the kernel does not come to.
        let step = (shown.1 - shown.0 + 2.0 * reach) / (GRID - 5) as f64;
        let low = shown.0 - reach - 2.0 * step;
        let reach = (reach / step) as usize;
        let mut kernel: Vec<f64> = (0..=reach)
            .map(|k| (-0.5 * (k as f64 * step / bandwidth).powi(2)).exp())
            .collect();
        let total = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
        kernel.iter_mut().for_each(|height| *height /= total);
        Self {
            low,
            step,
            shown,
            kernel,
        }
    }

    /// The point at or before `z`, and how far it is to the next one; `None` for what is not looked at.
    fn place(&self, z: f64) -> Option<(usize, f64)> {
        (z >= self.shown.0 && z <= self.shown.1).then(|| {
            let place = (z - self.low) / self.step;
            let before = (place as usize).min(GRID - 2);
            (before, place - before as f64)
        })
    }
}

/// The density at the points of a grid, row by row.
struct Grid {
    axes: [Axis; 2],
    heights: Vec<f64>,
}

impl Grid {
    fn of(axes: [Axis; 2], [first, second]: [&[f64]; 2], v: &[f64]) -> Self {
        let mut counts = vec![0.0; GRID * GRID];
        let scale = 1.0 / (v.len() as f64 * axes[0].step * axes[1].step);
        for ((&a, &b), v) in first.iter().zip(second).zip(v) {
            for (point, share) in corners(&axes, [a, b]) {
                counts[point] += share * v * scale;
            }
        }
        let half = smooth(&counts, &axes[0].kernel);
        let heights = smooth(&half, &axes[1].kernel);
        Self { axes, heights }
    }

    /// The density at a place, 0 far out.
    fn height(&self, at: [f64; 2]) -> f64 {
        let corners = corners(&self.axes, at);
        corners
            .map(|(point, share)| share * self.heights[point])
            .sum()
    }
}

/// The four points of the grid around a place with the share of each; none far out.
fn corners(axes: &[Axis; 2], [a, b]: [f64; 2]) -> impl Iterator<Item = (usize, f64)> {
    let places = axes[0].place(a).zip(axes[1].place(b));
    places.into_iter().flat_map(|((i, right), (j, up))| {
        let first = j * GRID + i;
        [
            (first, (1.0 - right) * (1.0 - up)),
            (first + 1, right * (1.0 - up)),
            (first + GRID, (1.0 - right) * up),
            (first + GRID + 1, right * up),
        ]
    })
}

/// Rows smoothed by a symmetric kernel, as columns.
fn smooth(rows: &[f64], kernel: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; rows.len()];
    for (j, row) in rows.chunks_exact(GRID).enumerate() {
        for (i, &mass) in row.iter().enumerate().filter(|(_, mass)| **mass != 0.0) {
            out[i * GRID + j] += kernel[0] * mass;
            for (k, height) in kernel.iter().enumerate().skip(1) {
                // The grid reaches farther than the kernel.
                out[(i - k) * GRID + j] += height * mass;
                out[(i + k) * GRID + j] += height * mass;
            }
        }
    }
    out
}

/// No edge.
const NONE: usize = usize::MAX;

/// Closed lines around the places where heights on the grid are at least `level`, in steps of the grid; heights along its edges
/// are below.
///
/// Marching squares: a line crosses an edge between two points where the height, linear between them, is `level`. Where two lines
/// cross a square, the mean of its corners says whether they part what is high or what is low.
fn contours(heights: &[f64], level: f64) -> Vec<Vec<[f64; 2]>> {
    if level <= 0.0 {
        return Vec::new();
    }
    let is_high = |point: usize| heights[point] >= level;
    // Edge 2p goes from point p to the right, edge 2p + 1 upwards; each is met by two squares.
    let mut links = vec![[NONE; 2]; 2 * heights.len()];
    let mut link = |[one, other]: [usize; 2]| {
        for (from, to) in [(one, other), (other, one)] {
            let place = usize::from(links[from][0] != NONE);
            links[from][place] = to;
        }
    };
    for p in (0..heights.len() - GRID).filter(|p| p % GRID != GRID - 1) {
        let [a, b, c, d] = [p, p + 1, p + GRID + 1, p + GRID];
        let [bottom, right, top, left] = [2 * a, 2 * b + 1, 2 * d, 2 * a + 1];
        let mut crossed = [(bottom, a, b), (right, b, c), (top, d, c), (left, a, d)]
            .into_iter()
            .filter(|&(_, from, to)| is_high(from) != is_high(to))
            .map(|(edge, ..)| edge);
        match [(); 4].map(|()| crossed.next()) {
            [Some(one), Some(other), None, None] => link([one, other]),
            [Some(_), Some(_), Some(_), Some(_)] => {
                let middle = 0.25 * [a, b, c, d].map(|point| heights[point]).iter().sum::<f64>();
                let pairs = if is_high(a) == (middle >= level) {
                    [[bottom, right], [top, left]]
                } else {
                    [[left, bottom], [right, top]]
                };
                pairs.into_iter().for_each(&mut link);
            }
            _ => {}
        }
    }
    let point = |edge: usize| {
        let (from, up) = (edge / 2, edge % 2 == 1);
        let to = if up { from + GRID } else { from + 1 };
        let share = (level - heights[from]) / (heights[to] - heights[from]);
        let (i, j) = ((from % GRID) as f64, (from / GRID) as f64);
        if up { [i, j + share] } else { [i + share, j] }
    };
    let mut lines = Vec::new();
    for start in 0..links.len() {
        let [mut at, _] = std::mem::replace(&mut links[start], [NONE; 2]);
        if at == NONE {
            continue;
        }
        let (mut line, mut before) = (vec![point(start)], start);
        while at != start {
            line.push(point(at));
            let [one, other] = std::mem::replace(&mut links[at], [NONE; 2]);
            let next = if one == before { other } else { one };
            (before, at) = (at, next);
        }
        line.push(line[0]);
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests;
