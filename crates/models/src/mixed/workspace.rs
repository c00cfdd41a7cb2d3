//! Memory for passes of a mixed model that are given none, kept by the model so that they do not allocate.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::whitening::Path;
use crate::density::add_differences;

/// Working memory of one pass.
#[derive(Default)]
pub(super) struct Workspace {
    /// Coordinates with coefficients and effects as they are.
    pub plain: Vec<f64>,
    /// How a gradient gets back from there.
    pub path: Path,
    /// A matrix of curvature, or a position and two gradients.
    pub numbers: Vec<f64>,
}

/// Memory of passes: a piece for each of as many as there have been at the same time.
#[derive(Default)]
pub(super) struct Workspaces(Mutex<Vec<Workspace>>);

impl Workspaces {
    /// Calls `with` for memory that no other pass uses now.
    pub fn lend<R>(&self, with: impl FnOnce(&mut Workspace) -> R) -> R {
        let mut workspace = self.free().pop().unwrap_or_default();
        let result = with(&mut workspace);
        self.free().push(workspace);
        result
    }

    /// [`add_differences`] at u.
    pub fn add_differences(
        &self,
        u: &[f64],
        hessian: &mut [f64],
        gradient: impl FnMut(&[f64], &mut [f64]),
    ) {
        self.lend(|workspace| {
            let memory = &mut workspace.numbers;
            memory.clear();
            memory.extend_from_slice(u);
            memory.resize(3 * u.len(), 0.0);
            let (at, memory) = memory.split_at_mut(u.len());
            add_differences(at, memory, hessian, gradient);
        });
    }

    fn free(&self) -> MutexGuard<'_, Vec<Workspace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
