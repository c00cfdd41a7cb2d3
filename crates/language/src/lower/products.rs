//! Products of matrices and vectors: `matmul(a, b)`, whose element is the sum over k of a[…, k] b[k, …].
//!
//! `*` multiplies element by element. A product has the dimensions of `a` but its last and those of `b` but its first, so that a matrix
//! and a vector make a vector, two matrices a matrix, and two vectors a number, which is `dot`.

use super::{Lowering, Pick, Picks, shape_words};
use crate::graph::Id;
use crate::place::{Fault, Span};
use crate::syntax::{Binary, Expr, ExprKind};

/// The name of the function.
pub(super) const MATMUL: &str = "matmul";

/// Where a product is written, and a position in it.
pub(super) type Element = (usize, usize, Vec<Pick>);

/// The shape of the product of what has these shapes, if they go together and one of them at least is a matrix.
pub(super) fn product_shape(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let ((inner, before), (first, after)) = (a.split_last()?, b.split_first()?);
    let fits = inner == first && before.len() + after.len() > 0;
    fits.then(|| [before, after].concat())
}

/// Whether a product of matrices is written in `e`.
pub(super) fn has_product(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |it| found |= matches!(&it.kind, ExprKind::Call(name, _) if name.text == MATMUL));
    found
}

impl Lowering<'_> {
    /// The factors of a product with their shapes, checked.
    pub(super) fn factors<'e>(
        &mut self,
        arguments: &'e [Expr],
        span: Span,
    ) -> Result<[(&'e Expr, Vec<usize>); 2], Fault> {
        let [a, b] = arguments else {
            let message = format!("`{MATMUL}` takes two matrices, or a matrix and a vector");
            return Err(Fault::new(span, message));
        };
        let (of_a, of_b) = (self.shape(a)?, self.shape(b)?);
        if product_shape(&of_a, &of_b).is_some() {
            return Ok([(a, of_a), (b, of_b)]);
        }
        let (in_a, in_b) = (shape_words(&of_a), shape_words(&of_b));
        let message = match (of_a.len(), of_b.len()) {
            (1, 1) => format!(
                "`{MATMUL}` takes a matrix at least, but {in_a} and {in_b} are given; `dot` is the product of vectors"
            ),
            (0, _) | (_, 0) => format!(
                "`{MATMUL}` takes two matrices, or a matrix and a vector, but {in_a} and {in_b} are given"
            ),
            _ => format!(
                "`{MATMUL}` sums over the columns of the first and the rows of the second, but {in_a} and {in_b} are given"
            ),
        };
        Err(Fault::new(span, message))
    }

    /// The shape of `matmul(arguments)`.
    pub(super) fn shape_of_product(
        &mut self,
        arguments: &[Expr],
        span: Span,
    ) -> Result<Vec<usize>, Fault> {
        let [(_, a), (_, b)] = self.factors(arguments, span)?;
        Ok(product_shape(&a, &b).unwrap_or_default())
    }

    /// The number of a product at a position. What is made of it asks for its elements again and again, so they are kept.
    pub(super) fn product(
        &mut self,
        arguments: &[Expr],
        span: Span,
        picks: &Picks,
    ) -> Result<Id, Fault> {
        let Picks::Each(each) = picks else {
            let message = "A product of matrices has no element that varies";
            return Err(Fault::new(span, message));
        };
        let key = (span.start, span.end, each.clone());
        if let Some(&id) = self.products.get(&key) {
            return Ok(id);
        }
        let [(a, of_a), (b, of_b)] = self.factors(arguments, span)?;
        let rows = of_a.len() - 1;
        if each.len() != rows + of_b.len() - 1 {
            let words = shape_words(&product_shape(&of_a, &of_b).unwrap_or_default());
            let message = format!("This product is {words}; index it, or take its sum");
            return Err(Fault::new(span, message));
        }
        let (row, column) = each.split_at(rows);
        let mut terms = Vec::new();
        for k in 0..of_b[0] {
            let inner = [Pick::At(k)];
            let a = self.number(a, &Picks::Each([row, &inner[..]].concat()))?;
            let b = self.number(b, &Picks::Each([&inner[..], column].concat()))?;
            self.graph.place = span;
            terms.push(self.graph.binary(Binary::Mul, a, b));
        }
        let id = self.graph.sum(&terms);
        self.products.insert(key, id);
        Ok(id)
    }
}
