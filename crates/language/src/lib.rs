//! Models written as text: a small language in the field's notation, for tables and for no table at all.
//!
//! ```
//! use ergodic_core::Fit;
//! use ergodic_language::Program;
//!
//! let program = Program::parse(
//!     "parameters
//!        a: real
//!      target
//!        -2 * (a^2 - 1)^2
//!      report
//!        right = a > 0",
//! )?;
//! let model = program.model_of(&[], 0)?;
//! assert_eq!(model.params()[1].name, "right");
//! let fit = Fit::of_model(model).chains(2).draws(200).run()?;
//! assert_eq!(fit.draws("a").expect("a parameter").dim(), (2, 200));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | step | module |
//! |---|---|
//! | text to tokens, tokens to a tree | `tokens`, `parser`, `syntax` |
//! | names and shapes resolved, numbers as a graph | `columns`, `vectors`, `lower`, `graph` |
//! | programs for blocks of rows | `code` |
//! | their values and derivatives | `machine`, `functions` |
//! | parameters within bounds | `transform` |
//! | the posterior, what is linear in it, and conditionals of known form | `model`, `linear`, `conditional` |
//! | draws from the prior | `prior` |
//! | why a position has no density | `limits` |
//! | rows, known and new, under draws | `observation` |
//! | the notation of papers | `equation` |
//! | the template `own` | `own` |
//!
//! Distributions are one line each in `distributions`. `docs/models-as-text.md` describes the language.

mod across;
#[cfg(test)]
#[path = "../../models/src/allocations.rs"]
mod allocations;
mod code;
mod columns;
mod complete;
mod conditional;
mod distributions;
mod equation;
mod foreign;
mod functions;
mod graph;
mod highlight;
mod limits;
mod linear;
mod lower;
mod machine;
mod model;
mod observation;
mod own;
mod parser;
mod place;
mod prior;
mod program;
mod syntax;
#[cfg(test)]
mod tests;
mod tokens;
mod transform;
mod variates;
mod vectors;
mod workspace;

pub use columns::{ColumnUse, KnownColumns, Role};
pub use complete::{Completion, complete};
pub use distributions::{DISTRIBUTIONS, Distribution, Support};
pub use highlight::{Word, highlight};
pub use own::Own;
pub use place::{ProgramError, Span};
pub use program::Program;
