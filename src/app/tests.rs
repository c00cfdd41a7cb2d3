//! What the state of the window keeps when something fails, and answers that are known.

mod failing;
mod known_answers;
