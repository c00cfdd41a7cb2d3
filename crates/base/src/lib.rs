//! What every layer may use: random streams, small linear algebra, draws, settings, warnings.
//! Nothing here knows another layer of the project.
//!
//! ```
//! use ergodic_base::draws::DrawList;
//! use ergodic_base::{Purpose, stream};
//! use rand::RngExt as _;
//!
//! // One stream of random numbers per seed, chain and purpose: the same numbers on every machine.
//! let mut rng = stream(1, 0, Purpose::Noise);
//! let mut draws = DrawList::new(2);
//! for _ in 0..100 {
//!     draws.push(&[rng.random(), rng.random()]);
//! }
//! assert_eq!((draws.len(), draws.width()), (100, 2));
//! ```

pub mod checksum;
mod control;
pub mod draws;
pub mod linalg;
mod moments;
pub mod names;
pub mod numerals;
mod param;
mod reporter;
mod rng;
pub mod settings;
pub mod shown;
pub mod special;
pub mod ticks;

pub use control::{Control, Pace};
pub use moments::RunningMoments;
pub use param::{Class, GroupEffect, INTERCEPT, ParamId, group_term, varying_words};
pub use reporter::{Remark, Reporter, Severity, Warning};
pub use rng::{ChainRng, Purpose, RngMark, Streams, chain_of, stream, substream};
