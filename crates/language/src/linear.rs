//! Rows that depend on parameters through one linear predictor, found in the graph of a program.
//!
//! With z_i = a_i'u + o_i, parameters without bounds, the log density of a row is taken apart as
//! k_0 + k_1 z + k_2 z² + k_3 log(1 + e^z) + k_4 e^z, where columns alone say k: Bernoulli and binomial rows with a logit, Poisson rows with
//! a logarithm, normal rows whose standard deviation is known. Its derivatives and their bounds then have closed forms.

use std::sync::OnceLock;

use ergodic_base::special::{logistic, softplus};
use ergodic_core::models::{
    Covariates, LinearRows, MAX_DENSE_DIM, Prior, PriorRows, RowKernel, count_rows, logit_rows,
};

use crate::columns::{Columns, Evaluated};
use crate::functions::Function;
use crate::graph::{Graph, Id, Node};
use crate::lower::{Bounds, Lowered};
use crate::syntax::Binary;
use crate::transform::Transform;

/// k_0, …, k_4.
const BASIS: usize = 5;
/// 1/4, the largest p (1 − p), and 1/(6 √3), the largest slope of it.
const MOST_CURVED: f64 = 0.25;
const MOST_BENT: f64 = 0.096_225_044_864_937_63;

/// Coordinates per summand of a predictor up to which a row loop over all coordinates is faster than the program of a row, by the
/// largest table of them in bytes. A summand takes the program 3 to 10 ns where a column chooses its coordinate; a coordinate takes the
/// loop 0.16 ns where the table stays in a cache, half a nanosecond where memory brings it. A table beyond the second size is kept only
/// where hardly anything of it is 0: it takes room twice, by rows and by tiles.
const MOST_SPARE: [(usize, usize); 3] = [(16 << 20, 32), (1 << 30, 8), (usize::MAX, 2)];

/// One summand of the linear predictors.
#[derive(Clone, Debug)]
struct Part {
    /// The coordinate that it multiplies, per row; one for all rows where it is the same.
    coordinate: Coordinate,
    /// Factor of the coordinate per row.
    factor: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Coordinate {
    Same(usize),
    PerRow(Vec<usize>),
}

/// The linear structure of a program's rows.
pub(crate) struct Linear {
    dim: usize,
    parts: Vec<Part>,
    offset: Vec<f64>,
    /// k of each row.
    shape: [Vec<f64>; BASIS],
    /// a_i, row-major; made when somebody asks for it.
    covariates: OnceLock<Vec<f64>>,
}

/// A function of z: k per row.
type Shape = [Vec<f64>; BASIS];

struct Reader<'a> {
    graph: &'a Graph,
    columns: &'a Columns,
    evaluated: Evaluated,
    /// The coordinate of each element that has one without bounds.
    coordinates: Vec<Option<usize>>,
}

/// The linear structure of rows with this log density, where there is one.
pub(crate) fn linear_rows(
    graph: &Graph,
    columns: &Columns,
    transform: &Transform,
    row: Id,
) -> Option<Linear> {
    let mut coordinates = vec![None; transform.num_elements()];
    for (coordinate, element) in transform.plain_elements().into_iter().enumerate() {
        if let Some(element) = element {
            coordinates[element] = Some(coordinate);
        }
    }
    let mut reader = Reader {
        graph,
        columns,
        evaluated: Evaluated::default(),
        coordinates,
    };
    let z = reader.predictor(row)?;
    let (mut parts, mut offset) = (Vec::new(), vec![0.0; columns.num_rows]);
    let ones = vec![1.0; columns.num_rows];
    reader.linear(z, &ones, &mut parts, &mut offset)?;
    let shape = reader.shape(row, z)?;
    Some(Linear {
        dim: transform.dim(),
        parts,
        offset,
        shape,
        covariates: OnceLock::new(),
    })
}

impl Reader<'_> {
    fn values(&mut self, id: Id) -> Option<Vec<f64>> {
        let values = self.evaluated.of(self.graph, self.columns, id)?;
        Some(values.to_vec())
    }

    fn depends(&self, id: Id) -> bool {
        self.graph.depends(id).parameters
    }

    /// The one number with parameters in it that functions are taken of.
    fn predictor(&self, row: Id) -> Option<Id> {
        let mut found = None;
        let (mut open, mut seen) = (vec![row], std::collections::HashSet::new());
        while let Some(id) = open.pop() {
            if !self.depends(id) || !seen.insert(id) {
                continue;
            }
            match *self.graph.node(id) {
                Node::Call(Function::Softplus | Function::Exp | Function::Square, a) => {
                    if found.is_some_and(|before| before != a) {
                        return None;
                    }
                    found = Some(a);
                }
                Node::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b) => open.extend([a, b]),
                Node::Parameter(_) | Node::Gather { .. } => {}
                _ => return None,
            }
        }
        found
    }

    /// Adds what `times` × the number says to the predictors; none if it is not linear.
    fn linear(
        &mut self,
        id: Id,
        times: &[f64],
        parts: &mut Vec<Part>,
        offset: &mut [f64],
    ) -> Option<()> {
        if !self.depends(id) {
            let values = self.values(id)?;
            for ((offset, value), times) in offset.iter_mut().zip(values).zip(times) {
                *offset += times * value;
            }
            return Some(());
        }
        let factor = times.to_vec();
        match self.graph.node(id).clone() {
            Node::Parameter(element) => {
                let coordinate = Coordinate::Same(self.coordinates[element]?);
                parts.push(Part { coordinate, factor });
            }
            Node::Gather { offset, picks } => {
                let mut rows = Vec::with_capacity(self.columns.num_rows);
                for row in 0..self.columns.num_rows {
                    let code = |(stride, column): &(usize, usize)| {
                        stride * self.columns.groups[*column].codes[row] as usize
                    };
                    let element = offset + picks.iter().map(code).sum::<usize>();
                    rows.push(self.coordinates[element]?);
                }
                let coordinate = Coordinate::PerRow(rows);
                parts.push(Part { coordinate, factor });
            }
            Node::Binary(Binary::Add, ..) => {
                // A sum over a long vector is as deep as that is long, so what stands left is no step of recursion.
                let (mut left, mut rest) = (id, Vec::new());
                while let Node::Binary(Binary::Add, a, b) = *self.graph.node(left)
                    && self.depends(left)
                {
                    rest.push(b);
                    left = a;
                }
                self.linear(left, times, parts, offset)?;
                for b in rest.into_iter().rev() {
                    self.linear(b, times, parts, offset)?;
                }
            }
            Node::Binary(Binary::Sub, a, b) => {
                self.linear(a, times, parts, offset)?;
                let minus: Vec<f64> = times.iter().map(|it| -it).collect();
                self.linear(b, &minus, parts, offset)?;
            }
            Node::Binary(Binary::Mul, a, b) => {
                let (known, other) = match (self.depends(a), self.depends(b)) {
                    (false, _) => (a, b),
                    (_, false) => (b, a),
                    _ => return None,
                };
                let values = self.values(known)?;
                let both: Vec<f64> = values.iter().zip(times).map(|(a, b)| a * b).collect();
                self.linear(other, &both, parts, offset)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// The number as a function of `z`.
    fn shape(&mut self, id: Id, z: Id) -> Option<Shape> {
        let rows = self.columns.num_rows;
        let mut shape: Shape = std::array::from_fn(|_| vec![0.0; rows]);
        if !self.depends(id) {
            shape[0] = self.values(id)?;
            return Some(shape);
        }
        if id == z {
            shape[1].fill(1.0);
            return Some(shape);
        }
        match *self.graph.node(id) {
            Node::Call(Function::Softplus, a) if a == z => shape[3].fill(1.0),
            Node::Call(Function::Exp, a) if a == z => shape[4].fill(1.0),
            Node::Call(Function::Square, a) if a == z => shape[2].fill(1.0),
            Node::Binary(operation @ (Binary::Add | Binary::Sub), a, b) => {
                let sign = if operation == Binary::Sub { -1.0 } else { 1.0 };
                shape = self.shape(a, z)?;
                let other = self.shape(b, z)?;
                for (shape, other) in shape.iter_mut().zip(&other) {
                    ergodic_base::linalg::axpy(sign, other, shape);
                }
            }
            Node::Binary(Binary::Mul, a, b) => {
                let (known, other) = match (self.depends(a), self.depends(b)) {
                    (false, _) => (a, b),
                    (_, false) => (b, a),
                    _ => return None,
                };
                let values = self.values(known)?;
                shape = self.shape(other, z)?;
                for column in &mut shape {
                    column
                        .iter_mut()
                        .zip(&values)
                        .for_each(|(k, value)| *k *= value);
                }
            }
            _ => return None,
        }
        Some(shape)
    }
}

impl Linear {
    fn k(&self, row: usize) -> [f64; BASIS] {
        std::array::from_fn(|at| self.shape[at][row])
    }

    fn rows(&self) -> &[f64] {
        self.covariates.get_or_init(|| self.laid_out(0))
    }

    /// a_i, row-major, each with room for `extra` numbers behind it.
    fn laid_out(&self, extra: usize) -> Vec<f64> {
        let width = self.dim + extra;
        let mut made = vec![0.0; self.offset.len() * width];
        for Part { coordinate, factor } in &self.parts {
            for (row, (a, factor)) in made.chunks_exact_mut(width).zip(factor).enumerate() {
                let at = match coordinate {
                    Coordinate::Same(at) => *at,
                    Coordinate::PerRow(rows) => rows[row],
                };
                a[at] += factor;
            }
        }
        made
    }

    /// Whether a table of all coordinates is worth its zeros.
    fn is_dense(&self) -> bool {
        let table = self.dim * self.offset.len() * size_of::<f64>();
        let spare = MOST_SPARE.iter().find(|(bytes, _)| table <= *bytes);
        spare.is_some_and(|(_, spare)| self.dim <= spare * self.parts.len())
    }

    /// The rows by the row loop of a template, where they are of its family and enough coordinates take part in each.
    pub fn kernel(&self) -> Option<Box<dyn RowKernel>> {
        let (dim, count) = (self.dim, self.offset.len());
        if dim == 0 || !self.is_dense() {
            return None;
        }
        let all = |holds: fn([f64; BASIS]) -> bool| (0..count).all(|row| holds(self.k(row)));
        let is_logit = all(|k| k == [0.0, 0.0, 0.0, -1.0, 0.0] || k == [0.0, 1.0, 0.0, -1.0, 0.0]);
        if is_logit {
            let has_offset = self.offset.iter().any(|it| *it != 0.0);
            let mut data = self.laid_out(usize::from(has_offset));
            if has_offset {
                for (numbers, offset) in data.chunks_exact_mut(dim + 1).zip(&self.offset) {
                    numbers[dim] = *offset;
                }
            }
            let is_yes = |row: usize| self.shape[1][row] == 1.0;
            return Some(logit_rows(dim, has_offset, data, is_yes));
        }
        if all(|[_, _, k2, k3, k4]| k2 == 0.0 && k3 == 0.0 && k4 < 0.0) {
            let mut data = self.laid_out(4);
            for (row, numbers) in data.chunks_exact_mut(dim + 4).enumerate() {
                let [k0, k1, _, _, k4] = self.k(row);
                numbers[dim..].copy_from_slice(&[self.offset[row], k1 / -k4, -k4, k0]);
            }
            return Some(count_rows(dim, &data));
        }
        None
    }
}

impl LinearRows for Linear {
    fn covariates(&self, row: usize) -> Covariates<'_> {
        Covariates::Double(&self.rows()[row * self.dim..(row + 1) * self.dim])
    }

    fn predictor(&self, row: usize, u: &[f64]) -> f64 {
        self.covariates(row).dot(u) + self.offset[row]
    }

    fn derivatives(&self, row: usize, z: f64) -> [f64; 3] {
        let [k0, k1, k2, k3, k4] = self.k(row);
        let (p, q) = (logistic(z), logistic(-z));
        // e^z is not asked for where nothing needs it: it may be infinite.
        let e = if k4 == 0.0 { 0.0 } else { z.exp() };
        [
            k0 + k1 * z + k2 * z * z + k3 * softplus(z) + k4 * e,
            k1 + 2.0 * k2 * z + k3 * p + k4 * e,
            2.0 * k2 + k3 * p * q + k4 * e,
        ]
    }

    fn slope_bound(&self, row: usize) -> f64 {
        let [_, k1, k2, k3, k4] = self.k(row);
        if k2 != 0.0 || k4 != 0.0 {
            return f64::INFINITY;
        }
        k1.abs().max((k1 + k3).abs())
    }

    fn curvature_bound(&self, row: usize) -> f64 {
        let [least, most] = self.curvature_range(row);
        most.max(-least)
    }

    fn curvature_range(&self, row: usize) -> [f64; 2] {
        let [_, _, k2, k3, k4] = self.k(row);
        let (flat, curved) = (-2.0 * k2, -2.0 * k2 - MOST_CURVED * k3);
        let (least, most) = (flat.min(curved), flat.max(curved));
        match k4 {
            k4 if k4 < 0.0 => [least, f64::INFINITY],
            k4 if k4 > 0.0 => [f64::NEG_INFINITY, most],
            _ => [least, most],
        }
    }

    fn third_bound(&self, row: usize) -> f64 {
        let [_, _, _, k3, k4] = self.k(row);
        if k4 != 0.0 {
            return f64::INFINITY;
        }
        MOST_BENT * k3.abs()
    }
}

/// The priors as rows, where each coordinate has one of its own that does not depend on others. Their matrix is D × D, and nothing
/// that asks for it does without a matrix of curvature, so larger models have none.
pub(crate) fn prior_rows(
    lowered: &Lowered,
    transform: &Transform,
    priors: &[String],
) -> Option<PriorRows> {
    if lowered.has_target || transform.dim() > MAX_DENSE_DIM {
        return None;
    }
    let mut rows = Vec::with_capacity(transform.dim());
    for (parameter, text) in lowered.parameters.iter().zip(priors) {
        if parameter.bounds != Bounds::Real {
            return None;
        }
        let prior = Prior::parse(text).ok()?;
        rows.extend(vec![prior; parameter.len()]);
    }
    Some(PriorRows::independent(rows))
}
