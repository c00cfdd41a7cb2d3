//! A neural network with hidden layers for levels without an order: Pr(y_i = k) ∝ e^{s_ik}, s_i = a + A'h(b + B'x_i), where h is
//! again a softmax over the H hidden units (Baker 2018, section 4.6.3, equations (4.6.2) and (4.6.3); Chen, Fox and Guestrin 2014,
//! "Stochastic gradient Hamiltonian Monte Carlo") or tanh of each. Further layers stand between: h_l = h(b_l + B_l'h_{l−1}), with
//! weights and precisions of their own.
//!
//! | parameter | space | prior |
//! |---|---|---|
//! | `hidden_weight[unit,term]`, B and b | real | normal(0, 1/sqrt(`precision[hidden]`)), of intercepts `precision[hidden_bias]` |
//! | `hidden_weight[l:unit,unit before]` of layer l = 2, … | real | the same with `precision[hidden:l]` and `precision[hidden_bias:l]` |
//! | `output_weight[level,unit]`, A and a | real | normal(0, 1/sqrt(`precision[output]`)), of intercepts `precision[output_bias]` |
//! | `precision[…]`, λ | positive | gamma(1, 1) |
//!
//! Weights are those of the inputs as the model takes them, standardised unless the recipe says otherwise. Coordinates are
//! z = w sqrt(λ), which are standard normal under the prior, and log λ: among weights themselves the density has its peak at weights of 0
//! and precisions without measure, as with effects of groups. With row slopes g_w in a weight w = z/sqrt(λ), the slope in z is
//! g_w/sqrt(λ) and the slope in log λ −½ Σ w g_w over the weights that share it. All of these are sums over rows of outer products, which
//! are computed as products of matrices for a tile of rows at a time ([`network`]). Nothing of the size D² is ever made: there is no
//! curvature, so that chains start where a stochastic search has climbed to.
//!
//! Identifiability: none of single weights. Hidden units may change their numbers, those of tanh their signs, and all scores of a row may
//! grow together; only what does not depend on these, such as chances of levels, can converge.

use std::sync::Arc;

use rand_distr::{Distribution as _, StandardNormal};

use super::positive::{Positive, PositiveSpec};
use super::predicts::{HiddenLayer, Law, Point, Predicts};
use super::prior::Prior;
use super::translation::{Context, Translation};
use super::{
    Block, LogDensity, Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws, ParamInfo,
    Posterior, PriorDraws, PriorOf, PriorSource, PriorSpec, RowLikelihood, Rows, Template,
    refuse_group_terms, sum_of_rows, unordered_levels,
};
use crate::design::{Design, ResponseUse};
use crate::families::unordered::{MAX_PREDICTORS, Unordered};
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_base::{ChainRng, Class, INTERCEPT, ParamId};

mod activation;
mod described;
mod network;
mod rows;

pub use activation::Activation;
use network::{Data, Shape, TILE_ROWS, Tile};

/// Id of the template.
const TEMPLATE: &str = "neural-net";
/// Key of the prior of all precisions.
const PRECISION: &str = "precision";
/// The prior of precisions where the user sets none, that of the source.
const DEFAULT_PRECISION: &str = "gamma(1, 1)";

ergodic_base::settings! {
    /// Settings of [`NeuralNet`].
    struct NetSettings {
        hidden_units: usize = Field::int("Hidden units", 1, MOST_UNITS as i64, Some(10))
            .help(
                "H, the number of units between predictors and levels, of several hidden layers in the first one; more can follow more \
                 turns of the data and cost more",
            )
            .why("enough for a few turns; images of digits take a hundred");
        further_layers: String = Field::text("Further hidden layers", &[NO_LAYERS], SOME_LAYERS, NO_LAYERS)
            .help("none, or the numbers of units of hidden layers between the first one and the levels, from the first one on")
            .why("the network of the source; every further layer makes the posterior harder to explore");
        activation: Activation = Activation::field("Hidden units pass on", Some(Activation::Softmax))
            .help("softmax: units share 1 among them, by which rows are sorted into soft classes; tanh: each its own number from -1 to 1")
            .why("the choice of the source");
    }
}

/// `further_layers` of a network with one hidden layer.
const NO_LAYERS: &str = "none";
/// The notation of others.
const SOME_LAYERS: &str = "8, 4";
/// Most units of a hidden layer.
const MOST_UNITS: usize = 10_000;
/// Most hidden layers. Networks whose posteriors are explored have two or three.
const MOST_LAYERS: usize = 10;

impl NetSettings {
    /// Units of each hidden layer.
    fn hidden(&self) -> Result<Vec<usize>, SettingError> {
        let mut hidden = vec![self.hidden_units];
        let text = self.further_layers.trim();
        if text != NO_LAYERS {
            for part in text.split(',') {
                let units = part.trim().parse().ok();
                let units = units.filter(|units| (1..=MOST_UNITS).contains(units));
                hidden.push(units.unwrap_or_default());
            }
        }
        if hidden.contains(&0) || hidden.len() > MOST_LAYERS {
            return Err(SettingError::Value {
                key: "further_layers".to_owned(),
                takes: format!(
                    "none, or up to {} numbers of units from 1 to {MOST_UNITS} between commas, such as `{SOME_LAYERS}`",
                    MOST_LAYERS - 1
                ),
                value: self.further_layers.clone(),
            });
        }
        Ok(hidden)
    }
}

/// The template `neural-net`.
pub struct NeuralNet;

impl Template for NeuralNet {
    const SPEC: ModelSpec = ModelSpec {
        id: TEMPLATE,
        title: "Neural network for levels",
        about: "How the chances of levels without an order depend on predictors in ways that no sum of terms follows: a hidden layer, \
                averaged over its posterior",
        fields: NetSettings::FIELDS,
        response: |_settings| ResponseUse::Unordered,
        priors: PriorSpec {
            classes: &[(PRECISION, "Precisions of weights")],
            check: |text| Ok(Prior::parse_positive(text).map(drop)?),
            forms: "half_normal(s), half_student_t(nu, 0, s), half_cauchy(s), exponential(rate), gamma(a, b), inv_gamma(a, b) or \
                    lognormal(m, s)",
            example: DEFAULT_PRECISION,
        },
    };
    const EXPLAINS_ROWS: bool = true;

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Network::new(design, options)?))
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        described::describe(context)
    }
}

fn unfit(why: impl Into<String>) -> ModelError {
    ModelError::unfit(TEMPLATE, why)
}

/// Weights with a precision in common.
struct Group {
    /// Places of the weights in u.
    weights: std::ops::Range<usize>,
    precision: Positive,
}

/// What weights do in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Intercepts of hidden units.
    HiddenBias,
    /// Weights in hidden units.
    Hidden,
    /// Intercepts of scores.
    OutputBias,
    /// Weights of hidden units in scores.
    Output,
}

/// Weights that share a precision.
struct Shared {
    role: Role,
    /// The hidden layer, from 1; that of scores is behind all of them.
    layer: usize,
    /// The weights in words.
    words: String,
    count: usize,
}

impl Shared {
    /// Key of the precision, in which `mark` stands before the number of a hidden layer behind the first one.
    fn key(&self, mark: char) -> String {
        let (key, is_hidden) = match self.role {
            Role::HiddenBias => ("hidden_bias", true),
            Role::Hidden => ("hidden", true),
            Role::OutputBias => ("output_bias", false),
            Role::Output => ("output", false),
        };
        match is_hidden && self.layer > 1 {
            true => format!("{key}{mark}{}", self.layer),
            false => key.to_owned(),
        }
    }

    /// The name of the precision.
    fn precision(&self) -> ParamId {
        ParamId::keyed(PRECISION, [self.key(':').as_str()])
    }
}

/// Which weights share a precision, in the order of coordinates.
fn groups_of(design: &Design, shape: &Shape) -> Vec<Shared> {
    let first = shape.first_units();
    let biases = if design.has_intercept { first } else { 0 };
    let mut all = Vec::new();
    let mut add = |role, layer, words: String, count| {
        all.push(Shared {
            role,
            layer,
            words,
            count,
        });
    };
    add(
        Role::HiddenBias,
        1,
        "intercepts of hidden units".to_owned(),
        biases,
    );
    add(
        Role::Hidden,
        1,
        "weights of predictors in hidden units".to_owned(),
        shape.num_first() - biases,
    );
    for (l, pair) in (2..).zip(shape.hidden.windows(2)) {
        let (before, own) = (pair[0], pair[1]);
        add(
            Role::HiddenBias,
            l,
            format!("intercepts of hidden units of layer {l}"),
            own,
        );
        let words = format!(
            "weights of hidden units of layer {} in those of layer {l}",
            l - 1
        );
        add(Role::Hidden, l, words, before * own);
    }
    let scores = shape.hidden.len() + 1;
    add(
        Role::OutputBias,
        scores,
        "intercepts of levels".to_owned(),
        shape.levels,
    );
    add(
        Role::Output,
        scores,
        "weights of hidden units in levels".to_owned(),
        shape.levels * shape.last_units(),
    );
    all.retain(|it| it.count > 0);
    all
}

/// The posterior of a network.
struct Network {
    design: Arc<Design>,
    params: Vec<ParamInfo>,
    shape: Shape,
    activation: Activation,
    groups: Vec<Group>,
    /// Whether covariates are taken as the table has them.
    raw: bool,
    /// Level of each row, from 0 (N).
    place: Vec<u8>,
}

impl Network {
    fn new(design: Arc<Design>, options: &ModelOptions) -> Result<Self, ModelError> {
        let settings = NetSettings::read(&options.settings)?;
        let levels = unordered_levels(&design, TEMPLATE)?;
        refuse_group_terms(&design, TEMPLATE)?;
        if design.offset.is_some() {
            return Err(unfit(
                "takes no offset, because its levels have a score each; leave it out of the formula",
            ));
        }
        if design.terms.is_empty() {
            return Err(unfit(
                "needs an intercept or a predictor; leave `0 +` or `- 1` out of the formula",
            ));
        }
        let shape = Shape {
            inputs: design.terms.len(),
            hidden: settings.hidden()?,
            levels: levels.len(),
        };
        let (mut groups, mut precisions) = (Vec::new(), Vec::new());
        let mut params = Vec::with_capacity(shape.num_weights() + 2 + 2 * shape.hidden.len());
        for shared in groups_of(&design, &shape) {
            let (words, count) = (&shared.words, shared.count);
            let spec = PositiveSpec {
                name: shared.precision(),
                class: PRECISION,
                meaning: format!("precision of the {words}, one over their variance"),
                lower: 0.0,
                unit: 1.0,
                unit_words: String::new(),
                default: Prior::parse_positive(DEFAULT_PRECISION)?,
            };
            let prior = options
                .prior(&spec.name)
                .or_else(|| options.prior(PRECISION));
            if let Some(Prior::Flat) = prior.map(Prior::parse_positive).transpose()? {
                // With precisions without bounds all weights are 0, which the rows do not exclude.
                return Err(unfit(format!(
                    "needs a proper prior of `{}`, not `flat`, or there is no posterior",
                    spec.name
                )));
            }
            let (precision, told) = Positive::new(spec, options)?;
            let first = params.len();
            let prior = PriorOf::from(format!("normal(0, 1/sqrt({}))", told.name));
            params.extend((0..count).map(|k| {
                let (name, meaning) = told_of(&design, levels, &shape, first + k);
                ParamInfo {
                    name,
                    meaning,
                    prior: prior.clone(),
                    prior_source: PriorSource::MODEL,
                }
            }));
            precisions.push(told);
            groups.push(Group {
                weights: first..first + count,
                precision,
            });
        }
        let names: Vec<&str> = precisions.iter().map(|told| told.name.as_str()).collect();
        options.check_priors(NeuralNet::SPEC.priors.classes, &names)?;
        params.extend(precisions);
        Ok(Self {
            params,
            shape,
            activation: settings.activation,
            groups,
            raw: !options.standardize,
            place: design.y.iter().map(|&y| y as u8 - 1).collect(),
            design,
        })
    }

    fn data(&self) -> Data<'_> {
        Data {
            design: &self.design,
            raw: self.raw,
            place: &self.place,
        }
    }

    /// The groups with their coordinates of u: those of weights, and log λ.
    fn groups(&self) -> impl Iterator<Item = (&Group, usize)> {
        self.groups.iter().zip(self.shape.num_weights()..)
    }

    /// Writes the weights at `u`.
    fn weights(&self, u: &[f64], weights: &mut [f64]) {
        for (group, at) in self.groups() {
            let scale = (-0.5 * u[at]).exp();
            let own = group.weights.clone();
            for (weight, z) in weights[own.clone()].iter_mut().zip(&u[own]) {
                *weight = scale * z;
            }
        }
    }
}

/// Name and meaning of weight `j`.
fn told_of(design: &Design, levels: &[String], shape: &Shape, j: usize) -> (ParamId, String) {
    let name = &design.response.name;
    let units = shape.first_units();
    if j < shape.num_first() {
        let (term, unit) = (&design.terms[j / units], j % units + 1);
        let id = ParamId::of(Class::HiddenWeight, [unit.to_string(), term.to_string()]);
        let what = match design.has_intercept && j < units {
            true => "sum at average inputs".to_owned(),
            false => format!("weight of {term}"),
        };
        return (id, format!("{what} in hidden unit {unit}"));
    }
    // Intercepts of a layer stand before its weights, as a unit 0 would.
    let part = |unit: usize| match unit {
        0 => INTERCEPT.to_owned(),
        unit => unit.to_string(),
    };
    let mut rest = j - shape.num_first();
    for (l, pair) in (2..).zip(shape.hidden.windows(2)) {
        let (before, own) = (pair[0], pair[1]);
        if rest >= own * (1 + before) {
            rest -= own * (1 + before);
            continue;
        }
        let (from, unit) = (rest / own, rest % own + 1);
        let meaning = match from {
            0 => format!("sum without units before it in hidden unit {unit} of layer {l}"),
            from => format!(
                "weight of hidden unit {from} of layer {} in hidden unit {unit} of layer {l}",
                l - 1
            ),
        };
        let id = ParamId::of(Class::HiddenWeight, [format!("{l}:{unit}"), part(from)]);
        return (id, meaning);
    }
    let (unit, level) = (rest / shape.levels, &levels[rest % shape.levels]);
    let what = part(unit);
    let meaning = match unit {
        0 => format!("score of {name} {level} without hidden units"),
        unit => format!("weight of hidden unit {unit} in the score of {name} {level}"),
    };
    (
        ParamId::of(Class::OutputWeight, [level.to_owned(), what]),
        meaning,
    )
}

impl Predicts for Network {
    fn point(&self, theta: &[f64]) -> Option<Point> {
        if theta.len() != self.params.len() {
            return None;
        }
        let (inputs, units) = (self.shape.inputs, self.shape.first_units());
        let (hidden, behind) = theta[..self.shape.num_weights()].split_at(self.shape.num_first());
        let design = &self.design;
        let mut coefficients = vec![0.0; units * inputs];
        for (unit, own) in coefficients.chunks_exact_mut(inputs).enumerate() {
            for (j, raw) in own.iter_mut().enumerate() {
                let scale = if self.raw { 1.0 } else { design.raw_scale[j] };
                *raw = hidden[j * units + unit] / scale;
            }
            if design.has_intercept && !self.raw {
                own[0] -= ergodic_base::linalg::dot(&own[1..], &design.raw_center[1..]);
            }
        }
        Some(Point {
            coefficients,
            law: Law::Levels(Unordered::new(self.shape.levels)),
            terms: Vec::new(),
            layer: Some(HiddenLayer::new(
                self.activation,
                &self.shape.hidden,
                behind,
                self.shape.levels,
            )),
        })
    }
}

impl Model for Network {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn predicts(&self) -> Option<&dyn Predicts> {
        Some(self)
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        self.weights(u, theta);
        for (group, at) in self.groups() {
            theta[at] = group.precision.report(u[at]);
        }
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        for (group, at) in self.groups() {
            u[at] = group.precision.position(theta[at]);
            let scale = (0.5 * u[at]).exp();
            let own = group.weights.clone();
            for (z, weight) in u[own.clone()].iter_mut().zip(&theta[own]) {
                *z = scale * weight;
            }
        }
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        let (group, _at) = self.groups().find(|(_, at)| *at == index)?;
        group.precision.range()
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        let (group, _at) = self.groups().find(|(_, at)| *at == index)?;
        group.precision.density(value)
    }

    fn blocks(&self) -> Vec<Block> {
        let block = |name: &str, coordinates| Block {
            name: ParamId::named(name),
            coordinates,
        };
        let (hidden, weights) = (self.shape.num_hidden(), self.shape.num_weights());
        vec![
            block("hidden", 0..hidden),
            block("output", hidden..weights),
            block(PRECISION, weights..self.dim()),
        ]
    }

    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        Some(self)
    }
}

impl LogDensity for Network {
    fn dim(&self) -> usize {
        self.params.len()
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }

    /// At a draw of the prior, as in the source; at precisions of 1 where theirs cannot be drawn from.
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        for z in &mut *u {
            *z = StandardNormal.sample(rng);
        }
        for (group, at) in self.groups() {
            u[at] = group.precision.draw(rng).unwrap_or(0.0);
        }
    }

    /// Units of a layer may change places.
    fn has_equal_modes(&self) -> bool {
        true
    }

    fn wants_ascent(&self) -> bool {
        true
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl PriorDraws for Network {
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        self.init(rng, u);
        for (group, at) in self.groups() {
            u[at] = group.precision.draw(rng).ok_or(NoPriorDraws::HasFlat)?;
        }
        Ok(())
    }

    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        let mut weights = vec![0.0; self.shape.num_weights()];
        self.weights(u, &mut weights);
        let mut memory = vec![0.0; self.shape.tile_len()];
        let mut tile = Tile::of(&self.shape, &mut memory);
        let levels = Unordered::new(self.shape.levels);
        let mut chances = [0.0; MAX_PREDICTORS];
        let chances = &mut chances[..levels.num_predictors()];
        for (t, y) in y.chunks_mut(TILE_ROWS).enumerate() {
            let at = (rows, t * TILE_ROWS);
            tile.score(&self.data(), self.activation, &weights, at);
            for (k, y) in y.iter_mut().enumerate() {
                tile.chances(k, chances);
                *y = levels.draw(chances, rng);
            }
        }
    }
}

#[cfg(test)]
mod tests;
