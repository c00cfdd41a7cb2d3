//! The whole window: a first model from beginning to end, and what stands typed in fields.

mod first_model;
mod typed;
