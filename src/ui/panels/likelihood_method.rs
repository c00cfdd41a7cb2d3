//! How a likelihood fit is made: its method, and how finely integrals are computed.

use eframe::egui::Ui;

use crate::ui::widgets::{NumberField, Segments};
use ergodic_analysis::likelihood::LikelihoodOptions;
use ergodic_core::estimators::mixed::{Fineness, LEAST_DRAWS, MOST_DRAWS, MOST_NODES, Method};
use ergodic_core::families::Family;

/// Words, methods and whether REML, for Gaussian responses; then for others.
const LINEAR: [(&str, Method, bool); 4] = [
    ("REML", Method::Profile, true),
    ("ML", Method::Profile, false),
    ("EM", Method::Em, false),
    ("SQUAREM", Method::Squarem, false),
];
const GENERAL: [(&str, Method, bool); 7] = [
    ("Laplace", Method::Laplace, false),
    ("Adaptive quadrature", Method::Aghq, false),
    ("Plain quadrature", Method::Ghq, false),
    ("Monte Carlo", Method::MonteCarlo, false),
    ("EM by quadrature", Method::EmAghq, false),
    ("EM by Laplace", Method::EmLaplace, false),
    ("Monte Carlo EM", Method::Mcem, false),
];

/// Width of a field, whose label is as wide.
const FIELD: f32 = 160.0;

/// What is chosen, for outcomes of any family.
pub struct MethodChoice {
    /// Among the methods that there are for the outcome.
    method: usize,
    nodes: f64,
    draws: f64,
}

impl Default for MethodChoice {
    fn default() -> Self {
        let fineness = Fineness::default();
        Self {
            method: 0,
            nodes: fineness.nodes as f64,
            draws: fineness.draws as f64,
        }
    }
}

impl MethodChoice {
    /// The first method, as for an outcome of another family.
    pub fn reset(&mut self) {
        self.method = 0;
    }

    /// Shows the methods for the outcome of `options` and writes what is chosen there. `by_groups`: the model has effects of groups and
    /// nothing else that is integrated out, such as smooth curves.
    pub fn show(&mut self, ui: &mut Ui, by_groups: bool, options: &mut LikelihoodOptions) {
        let gaussian = options.family == Family::Gaussian;
        let methods: &[(&str, Method, bool)] = if gaussian { &LINEAR } else { &GENERAL };
        // The others are about effects of groups.
        let methods = match (by_groups, gaussian) {
            (true, _) => methods,
            (false, true) => &methods[..2],
            (false, false) => &methods[..1],
        };
        self.method = self.method.min(methods.len() - 1);
        let mut segments = Segments::new("Method", &mut self.method).wrapping();
        for (k, (word, method, _)) in methods.iter().enumerate() {
            segments = segments.option_with(k, word, method.spec().about);
        }
        segments.show(ui);
        let (_, method, reml) = methods[self.method];
        match method {
            Method::Aghq | Method::Ghq | Method::EmAghq => {
                // Methods may fill the row, and a field is not broken.
                ui.end_row();
                whole(
                    ui,
                    "Nodes in each direction",
                    &mut self.nodes,
                    1,
                    MOST_NODES,
                );
            }
            Method::MonteCarlo => {
                ui.end_row();
                whole(
                    ui,
                    "Draws for each group",
                    &mut self.draws,
                    LEAST_DRAWS,
                    MOST_DRAWS,
                );
            }
            Method::Profile
            | Method::Em
            | Method::Squarem
            | Method::Laplace
            | Method::EmLaplace
            | Method::Mcem => {}
        }
        method.spec().id.clone_into(&mut options.method);
        options.reml = reml;
        options.fineness = Fineness {
            nodes: self.nodes as usize,
            draws: self.draws as usize,
        };
    }
}

fn whole(ui: &mut Ui, label: &str, value: &mut f64, least: usize, most: usize) {
    NumberField::new(label, value, least as f64..=most as f64)
        .integer()
        .without_slider()
        .field_width(FIELD)
        .show(ui);
}
