//! The newest value of something, from one writer to any number of readers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Latest value wins. A lock held for one pointer swap; readers that look again at the same version skip even that.
#[derive(Debug)]
pub struct Published<T> {
    version: AtomicU64,
    value: Mutex<Arc<T>>,
}

impl<T> Published<T> {
    /// Starts with `value` as version 0.
    pub fn new(value: T) -> Self {
        Self {
            version: AtomicU64::new(0),
            value: Mutex::new(Arc::new(value)),
        }
    }

    /// Replaces the value.
    pub(crate) fn publish(&self, value: T) {
        let value = Arc::new(value);
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Changes whenever a value was published.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The newest value.
    pub fn load(&self) -> Arc<T> {
        Arc::clone(&self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
