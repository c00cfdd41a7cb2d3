//! Memory for passes that are given none, kept so that they do not allocate.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pieces of memory, as many as there have been passes at the same time.
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Pool<T> {
    /// Calls `with` for a piece that no other pass uses now, made by `make` where there is none.
    pub fn lend<R>(&self, make: impl FnOnce() -> T, with: impl FnOnce(&mut T) -> R) -> R {
        let free = self.free().pop();
        let mut piece = free.unwrap_or_else(make);
        let result = with(&mut piece);
        self.free().push(piece);
        result
    }

    fn free(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
