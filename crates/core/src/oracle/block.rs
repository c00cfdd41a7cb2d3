//! The posterior as a function of one block of coordinates, the others frozen: what a kernel sees within Gibbs sampling.
//!
//! Up to a constant this is the log density of the conditional π(u_b | u_{−b}), and the gradient is that of the joint
//! density, cut to the block. Passes and minibatches are those of the whole model; how its gradients are estimated, a block has
//! for itself.

use std::sync::Arc;

use super::estimation::Estimation;
use super::{Centre, Minibatch, Oracle, StepError};

/// A block with the point in which the other coordinates are frozen, and working memory.
pub struct BlockView {
    coordinates: Vec<usize>,
    /// Length D; the block's own coordinates are overwritten.
    pub(super) u: Vec<f64>,
    /// Length D.
    pub(super) grad: Vec<f64>,
    /// What the centre says about the block.
    pub(super) centre: Option<Arc<Centre>>,
    /// How gradients are estimated within the block; `None` in the place of a block that is being seen.
    estimation: Option<Estimation>,
}

impl BlockView {
    /// The block.
    pub fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    /// Puts the block where `u`, as long as the block, has it.
    pub(super) fn place(&mut self, u: &[f64]) {
        for (&j, &value) in self.coordinates.iter().zip(u) {
            self.u[j] = value;
        }
    }

    /// The block's part of the joint gradient that was computed last, into `grad`, as long as the block.
    pub(super) fn cut_grad(&self, grad: &mut [f64]) {
        for (grad, &j) in grad.iter_mut().zip(&self.coordinates) {
            *grad = self.grad[j];
        }
    }

    /// The state of the block's minibatches, for saving and restoring.
    pub(crate) fn minibatch_mut(&mut self) -> Option<&mut Minibatch> {
        (self.estimation.as_mut()).map(|estimation| &mut estimation.minibatch)
    }

    fn exchange_estimation(&mut self, oracle: &mut Oracle) {
        if let Some(own) = &mut self.estimation {
            std::mem::swap(own, &mut oracle.estimation);
        }
    }

    /// Freezes the other coordinates where `u` (D) has them.
    pub(crate) fn stand_at(&mut self, u: &[f64]) {
        self.u.copy_from_slice(u);
    }
}

impl Oracle {
    /// A view of `coordinates` in which the others are frozen as in `u` (D).
    ///
    /// # Errors
    /// [`StepError::NotPositiveDefinite`] for the curvature of the block, which cannot happen where that of the whole is
    /// positive definite but for rounding.
    pub fn block_view(&self, coordinates: Vec<usize>, u: &[f64]) -> Result<BlockView, StepError> {
        let centre = self.centre.as_ref().map(|centre| {
            let block = centre.block(self.model.rows(), &coordinates);
            block.map_err(|_not_positive| {
                StepError::not_positive("the curvature of a block of parameters", 0)
            })
        });
        Ok(BlockView {
            u: u.to_vec(),
            grad: vec![0.0; u.len()],
            centre: centre.transpose()?.map(Arc::new),
            estimation: Some(Estimation::of_all_rows(self.num_obs())),
            coordinates,
        })
    }

    /// The coordinates of the block that is all that is seen, within [`Self::within`].
    pub(crate) fn block(&self) -> Option<&[usize]> {
        self.view.as_ref().map(BlockView::coordinates)
    }

    /// Lets `act` see the block only: dimension, centre, passes and estimates are those of `view`. Does not allocate.
    pub fn within<T>(&mut self, view: &mut BlockView, act: impl FnOnce(&mut Self) -> T) -> T {
        debug_assert!(self.view.is_none(), "views do not nest");
        let nothing = BlockView {
            coordinates: Vec::new(),
            u: Vec::new(),
            grad: Vec::new(),
            centre: None,
            estimation: None,
        };
        view.exchange_estimation(self);
        self.view = Some(std::mem::replace(view, nothing));
        let result = act(self);
        if let Some(back) = self.view.take() {
            *view = back;
        }
        view.exchange_estimation(self);
        result
    }
}
