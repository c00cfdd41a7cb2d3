//! Options and designs of networks.

use super::tables::read_csv;
use crate::design::{Design, ModelFrame, ResponseUse};
use crate::models::ModelOptions;
use ergodic_base::settings::{Settings, Value};

/// Settings of a network with `units` hidden units and this activation.
fn settings(units: i64, activation: &str) -> Settings {
    let mut settings = Settings::default();
    settings.set("hidden_units", Value::Int(units));
    settings.set("activation", Value::Text(activation.to_owned()));
    settings
}

/// Options of a network with `units` hidden units and this activation, predictors standardised or not.
pub fn options(units: i64, activation: &str, standardize: bool) -> ModelOptions {
    ModelOptions {
        settings: settings(units, activation),
        standardize,
        ..ModelOptions::default()
    }
}

/// The design of a CSV whose outcome has levels without order.
pub fn design(data: &str, formula: &str) -> Design {
    let frame = ModelFrame {
        response_use: ResponseUse::Unordered,
        ..ModelFrame::new(formula.parse().unwrap())
    };
    Design::build(&read_csv(data), &frame).unwrap().0
}
