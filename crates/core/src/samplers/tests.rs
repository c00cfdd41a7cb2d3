//! Samplers against closed forms and other programs, by kind of model.

mod centred;
pub(super) mod examples;
mod full_data;
mod logistic;
mod mixed;
pub(super) mod regression;
