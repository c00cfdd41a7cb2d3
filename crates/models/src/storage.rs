//! In which precision a model keeps the covariates of its rows.

use serde::{Deserialize, Serialize};

ergodic_base::choice! {
    /// The precision in which covariates are stored. Arithmetic and sums are in double precision either way, and so are responses,
    /// weights and offsets: what single precision gives is the posterior of covariates that are rounded to 24 binary digits.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Storage {
        /// Double precision.
        #[default]
        F64 = "f64",
        /// Single precision, in half the memory.
        F32 = "f32",
    }
}

impl Storage {
    /// Both precisions.
    pub const ALL: &'static [Self] = &[Self::F64, Self::F32];

    /// Whether this is the default precision.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
