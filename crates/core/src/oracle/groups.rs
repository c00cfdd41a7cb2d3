//! Work on groups that are independent of each other given the rest, as in a Gibbs sampler of a hierarchical model.
//!
//! Here and not in the samplers because this layer decides where threads may help. Items bring their own random numbers,
//! so the result does not depend on the number of threads.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::{Oracle, StepError};
use crate::models::Model;

impl Oracle {
    /// Calls `act(model, g, item)` for every item; `act` returns the number of row gradients it computed.
    ///
    /// # Errors
    /// One of those of `act`, or [`StepError::Interrupted`] when the run is stopped meanwhile; items may then be half done.
    pub fn for_each_group<T: Send>(
        &mut self,
        items: &mut [T],
        act: impl Fn(&dyn Model, usize, &mut T) -> Result<u64, StepError> + Sync,
    ) -> Result<(), StepError> {
        let (model, interrupt) = (self.model.as_ref(), &self.interrupt);
        let one = |(g, item): (usize, &mut T)| {
            if interrupt.load(Ordering::Relaxed) {
                return Err(StepError::Interrupted);
            }
            act(model, g, item)
        };
        let rows = if self.parallel && items.len() > 1 {
            items
                .par_iter_mut()
                .enumerate()
                .map(one)
                .try_reduce(|| 0, |a, b| Ok(a + b))?
        } else {
            items
                .iter_mut()
                .enumerate()
                .map(one)
                .try_fold(0, |sum, rows| Ok::<u64, StepError>(sum + rows?))?
        };
        self.datum_grads += rows;
        Ok(())
    }
}
