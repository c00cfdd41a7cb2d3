//! Models, designs and tables for tests: those of the crate of models, and what only samplers need.

use crate::design::ResponseKind;

mod gaussian_rows;
#[expect(dead_code, reason = "some of it is for the models' own tests")]
#[path = "../../models/src/testing.rs"]
mod of_models;
mod partitions;

pub use gaussian_rows::GaussianRows;
pub use of_models::*;
pub use partitions::{mixtures_of_forty, thirty_documents, two_topics};

/// The kind of responses that are 0 or 1.
pub fn binary() -> ResponseKind {
    ResponseKind::Binary {
        success: "1".into(),
        failure: "0".into(),
    }
}
