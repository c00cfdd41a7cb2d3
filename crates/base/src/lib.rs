//! What every layer may use: random streams, small linear algebra, draws, settings, warnings.
//! Nothing here knows another layer of the project.

pub mod checksum;
pub mod draws;
pub mod linalg;
pub mod names;
pub mod numerals;
pub mod reporter;
pub mod rng;
pub mod settings;
pub mod shown;
pub mod special;
