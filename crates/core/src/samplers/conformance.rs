//! What every registered sampler must satisfy; a new one is covered the moment it is registered.

use std::sync::Arc;

use super::testing::{
    Chain, KNOWN_TO, Run, Session, assert_weighted_moments, exact_oracle, gaussian_with_centre,
    logistic_with_centre, target_of, weighted_estimate,
};
use super::{Phase, REGISTRY, SamplerEntry, StateVisitor};
use crate::allocations::count_during;
use crate::models::Model;
use crate::oracle::{Centre, Oracle};
use crate::testing::GaussianRows;
use ergodic_base::settings::{Default as FieldDefault, Field, Kind, SettingError, Settings, Value};
use ergodic_base::{ChainRng, RngMark};
use ergodic_diagnostics::Remedy;

const NUM_OBS: usize = 200;
const DIM: usize = 3;
/// Rows per step for minibatch samplers: so few that their noise matters.
const BATCH: i64 = 20;
/// Sweeps of samplers that have them, of which topics make most of the work of a step.
const SWEEPS: i64 = 10;
/// Warm-up of short runs: long enough for a window of metric adaptation to end.
const WARMUP: u64 = 40;
/// The setting whose blocks have steps.
const BLOCK_STEPS: &str = "block_steps";
/// The setting whose blocks have samplers.
const BLOCKS: &str = "blocks";
/// Iterations of short runs.
const LENGTH: u64 = 60;

fn has_field(entry: &SamplerEntry, key: &str) -> bool {
    entry.spec.fields.iter().any(|field| field.key == key)
}

/// What a sampler says helps against its bias is a setting that it has, and one whose bias falls with its step says so.
#[test]
fn remedies_are_settings_of_their_samplers() {
    for entry in REGISTRY {
        let spec = &entry.spec;
        let settings: &[&str] = match spec.remedy {
            None => &[],
            Some(Remedy::SmallerStep) => &["step_size"],
            Some(Remedy::SmallerStepInBlocks) => &[BLOCKS],
            Some(Remedy::MoreRows) => &["batch", "variance"],
            Some(Remedy::FewerShards) => &["shards", "combine"],
        };
        for key in settings {
            assert!(has_field(entry, key), "{}: {key}", spec.id);
        }
        assert!(spec.remedy.is_none() || spec.bias.is_some(), "{}", spec.id);
        if spec.bias_order.is_some() {
            assert_eq!(spec.remedy, Some(Remedy::SmallerStep), "{}", spec.id);
        }
    }
}

fn base_run(entry: &SamplerEntry) -> Run {
    let small = [("batch", BATCH), ("sweeps", SWEEPS)].into_iter();
    small
        .filter(|(key, _)| has_field(entry, key))
        .fold(Run::new(entry.spec.id), |run, (key, value)| {
            run.set(key, Value::Int(value))
        })
}

/// A text for setting `key`: its `example`, or where it takes names of parameters those of the model that the sampler is tried on, one of
/// its inner ones apart, so that the others are not neighbours.
fn written(entry: &SamplerEntry, key: &str, example: &str) -> Option<Value> {
    let [one, others] = match key {
        BLOCK_STEPS => ["0.5", "2"],
        BLOCKS => ["slice", "mala"],
        _ => return Some(Value::Text(example.to_owned())),
    };
    let oracle = base_run(entry).suitable_oracle();
    let parts = crate::models::parts(oracle.model());
    let inner = &parts.get(1).filter(|_| parts.len() > 2)?.name;
    Some(Value::Text(format!("{inner}: {one}; *: {others}")))
}

/// The default settings, and each word of each setting that is a choice.
fn variants(entry: &SamplerEntry) -> Vec<(String, Run)> {
    let mut all = vec![(entry.spec.id.to_owned(), base_run(entry))];
    for field in entry.spec.fields {
        let values: Vec<Value> = match field.kind {
            Kind::Choice(words) => words
                .iter()
                .map(|word| Value::Text((*word).to_owned()))
                .collect(),
            Kind::Text { words, example } => words
                .iter()
                .map(|word| Value::Text((*word).to_owned()))
                .chain(written(entry, field.key, example))
                .collect(),
            Kind::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Kind::Int { .. } | Kind::Real { .. } | Kind::Rows => continue,
        };
        for value in values {
            let name = format!("{}, {} = {value}", entry.spec.id, field.key);
            let run = base_run(entry).set(field.key, value);
            let run = match field.key {
                // These are factors of a step that somebody chose.
                BLOCK_STEPS => run.set("step_size", Value::Real(1e-4)),
                _ => run,
            };
            all.push((name, run));
        }
    }
    all
}

/// Position and information after each of [`LENGTH`] iterations.
fn trace(run: &Run, oracle: Oracle) -> Vec<Vec<u64>> {
    let mut session = run.start(oracle);
    follow(&mut session)
}

fn follow(session: &mut Session) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    while session.iter < LENGTH {
        session.advance(WARMUP).unwrap();
        all.push(session.bits());
    }
    all
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    for entry in REGISTRY {
        for (name, run) in variants(entry) {
            let first = trace(&run, run.suitable_oracle());
            assert_eq!(first, trace(&run, run.suitable_oracle()), "{name}");
            let oracle = run.suitable_oracle();
            assert_ne!(first, trace(&run.seed(2), oracle), "{name}");
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    // More rows than an oracle leaves to one thread.
    let (model, centre) = gaussian_with_centre(10_000, 2, 3);
    let oracle = |parallel| {
        Oracle::new(
            Arc::clone(&model),
            Some(Arc::clone(&centre)),
            parallel,
            Arc::default(),
        )
    };
    for entry in REGISTRY {
        if (entry.suits)(model.as_ref()).is_err() {
            // Its own file compares threads on a model that suits it, if it uses exact passes at all.
            continue;
        }
        let run = base_run(entry);
        let serial = trace(&run, oracle(false));
        assert_eq!(serial, trace(&run, oracle(true)), "{}", entry.spec.id);
    }
}

/// Writes a state to bits.
#[derive(Default)]
struct Save(Vec<u64>);

impl StateVisitor for Save {
    fn slice(&mut self, _name: &'static str, values: &mut [f64]) {
        self.0.extend(values.iter().map(|v| v.to_bits()));
    }
    fn counter(&mut self, _name: &'static str, value: &mut u64) {
        self.0.push(*value);
    }
}

/// Reads it back.
struct Restore<'a>(std::slice::Iter<'a, u64>);

impl StateVisitor for Restore<'_> {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        for value in values {
            *value = f64::from_bits(*self.0.next().unwrap_or_else(|| panic!("{name} is longer")));
        }
    }
    fn counter(&mut self, name: &'static str, value: &mut u64) {
        *value = *self.0.next().unwrap_or_else(|| panic!("{name} is new"));
    }
}

/// Everything that a checkpoint of a chain holds.
pub struct Checkpoint {
    state: Vec<u64>,
    batch: RngMark,
    noise: RngMark,
    minibatch: [u64; 2],
    iter: u64,
    steps: u64,
}

impl Checkpoint {
    pub fn of(session: &mut Session) -> Self {
        let mut state = Save::default();
        session.kernel.visit(&mut state);
        Self {
            state: state.0,
            batch: RngMark::of(&session.streams.batch),
            noise: RngMark::of(&session.streams.noise),
            minibatch: session.oracle.minibatch_mut().position_mut().map(|v| *v),
            iter: session.iter,
            steps: session.steps,
        }
    }

    pub fn restore(&self, session: &mut Session) {
        let mut state = Restore(self.state.iter());
        session.kernel.visit(&mut state);
        assert!(state.0.next().is_none(), "a state that shrank");
        let rng = |mark: &RngMark| -> ChainRng { mark.restore().unwrap() };
        session.streams.batch = rng(&self.batch);
        session.streams.noise = rng(&self.noise);
        let position = session.oracle.minibatch_mut().position_mut();
        for (to, from) in position.into_iter().zip(self.minibatch) {
            *to = from;
        }
        session.iter = self.iter;
        session.steps = self.steps;
    }
}

#[test]
fn a_restored_chain_continues_bit_for_bit() {
    for entry in REGISTRY {
        for (name, run) in variants(entry) {
            let whole = trace(&run, run.suitable_oracle());
            // Before a window, inside it, at its end, at the end of warm-up, while drawing; with other settings inside it and while
            // drawing.
            let is_default = name == entry.spec.id;
            let stops: &[u64] = if is_default {
                &[1, 17, 36, WARMUP, 47]
            } else {
                &[17, 47]
            };
            for &stop in stops {
                let mut session = run.start(run.suitable_oracle());
                while session.iter < stop {
                    session.advance(WARMUP).unwrap();
                }
                if stop > WARMUP && session.kernel.steps_per_draw() > 1 {
                    // In the middle of an iteration.
                    session.step(Phase::Draw).unwrap();
                }
                let checkpoint = Checkpoint::of(&mut session);
                // The new chain has been elsewhere before.
                let mut other = run.clone().seed(99).start(run.suitable_oracle());
                for _ in 0..3 {
                    other.advance(WARMUP).unwrap();
                }
                checkpoint.restore(&mut other);
                assert_eq!(
                    other.kernel.position(),
                    session.kernel.position(),
                    "{name} at {stop}"
                );
                let rest = follow(&mut other);
                assert!(rest == whole[stop as usize..], "{name} at {stop}");
            }
        }
    }
}

#[test]
fn steps_do_not_allocate() {
    for entry in REGISTRY {
        for (name, run) in variants(entry) {
            let mut session = run.start(run.suitable_oracle());
            // Buffers may grow once.
            session.advance(WARMUP).unwrap();
            while session.iter < LENGTH {
                let mut outcome = Ok(());
                let count = count_during(|| outcome = session.advance(WARMUP));
                outcome.unwrap();
                assert_eq!(count, 0, "{name}, iteration {}", session.iter);
            }
        }
    }
}

#[test]
fn resolved_settings_fed_back_give_the_same_chain() {
    for entry in REGISTRY {
        let id = entry.spec.id;
        for (name, run) in variants(entry) {
            let target = target_of(&run.suitable_oracle());
            let resolved = (entry.resolve)(run.settings(), &target).unwrap();
            let mut keys: Vec<&str> = resolved.iter().map(|(key, _value)| *key).collect();
            let mut fields: Vec<&str> = entry.spec.fields.iter().map(|f| f.key).collect();
            keys.sort_unstable();
            fields.sort_unstable();
            assert_eq!(keys, fields, "{name}");
            let again = resolved.iter().fold(Run::new(id), |run, (key, value)| {
                run.set(key, value.clone())
            });
            assert_eq!(
                (entry.resolve)(again.settings(), &target).unwrap(),
                resolved,
                "{name}"
            );
            assert_eq!(
                trace(&run, run.suitable_oracle()),
                trace(&again, run.suitable_oracle()),
                "{name}"
            );
        }
    }
}

/// Values that a field must refuse.
fn wrong_values(field: &Field) -> Vec<Value> {
    let mut wrong = vec![Value::Text("no such word".into())];
    match field.kind {
        Kind::Int { min, max } => wrong.extend([
            Value::Int(min - 1),
            Value::Int(max + 1),
            Value::Real(min as f64 + 0.5),
            Value::Bool(true),
        ]),
        Kind::Real { min, max } => wrong.extend([
            Value::Real(min - 1e-3 - 1e-3 * min.abs()),
            Value::Real(max + 1e-3 + 1e-3 * max.abs()),
            Value::Real(f64::NAN),
            Value::Bool(true),
        ]),
        Kind::Rows => wrong.extend([
            Value::Int(0),
            Value::Real(-0.5),
            Value::Real(150.5),
            Value::Real(f64::NAN),
            Value::Bool(true),
        ]),
        Kind::Choice(_) => wrong.extend([Value::Int(1), Value::Bool(true)]),
        // A whole number is a text without quotes, which its owner reads.
        Kind::Text { .. } => wrong.push(Value::Bool(true)),
        Kind::Bool => wrong.push(Value::Int(1)),
    }
    wrong
}

#[test]
fn wrong_settings_are_refused_by_name() {
    for entry in REGISTRY {
        let target = target_of(&base_run(entry).suitable_oracle());
        let id = entry.spec.id;
        let mut settings = Settings::default();
        settings.set("no_such_setting", Value::Int(1));
        let error = (entry.resolve)(&settings, &target).unwrap_err();
        let SettingError::Unknown { owner, key, .. } = error else {
            panic!("{id}: {error}")
        };
        assert!(key == "no_such_setting" && owner.contains(id));
        for field in entry.spec.fields {
            for value in wrong_values(field) {
                let mut settings = Settings::default();
                settings.set(field.key, value.clone());
                let error = (entry.resolve)(&settings, &target).unwrap_err();
                assert!(
                    matches!(&error, SettingError::Value { key, .. } if key == field.key),
                    "{id}: {value}: {error}"
                );
            }
        }
    }
}

#[test]
fn descriptions_are_complete() {
    let mut ids = Vec::new();
    for entry in REGISTRY {
        let spec = &entry.spec;
        assert!(
            spec.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'),
            "{}",
            spec.id
        );
        assert!(!ids.contains(&spec.id), "{} is registered twice", spec.id);
        ids.push(spec.id);
        for text in [spec.title, spec.about, spec.cite, spec.formula] {
            assert!(!text.is_empty(), "{}", spec.id);
        }
        for (k, column) in spec.info.iter().enumerate() {
            assert!(!column.help.is_empty());
            assert!(spec.info[..k].iter().all(|other| other.name != column.name));
        }
        for field in spec.fields {
            assert!(!field.label.is_empty() && !field.help.is_empty() && !field.why.is_empty());
            let default = match field.default {
                None => Value::Text("auto".into()),
                Some(FieldDefault::Int(v)) => Value::Int(v),
                Some(FieldDefault::Real(v)) => Value::Real(v),
                Some(FieldDefault::Bool(v)) => Value::Bool(v),
                Some(FieldDefault::Text(v)) => Value::Text(v.into()),
            };
            field.accepts(&default).unwrap();
        }
        assert!(spec.default_warmup > 0);
    }
}

#[test]
fn a_gaussian_posterior_is_found() {
    let [many, few] = [NUM_OBS, NUM_OBS / 5].map(|num_obs| {
        let model = Arc::new(GaussianRows::simulated(num_obs, DIM, 1));
        let centre = Centre::at(model.as_ref(), &model.posterior_mean()).unwrap();
        (model, Arc::new(centre))
    });
    for entry in REGISTRY {
        let id = entry.spec.id;
        // The negative control has no stationary distribution; its growth is tested against its prediction.
        if (entry.suits)(many.0.as_ref()).is_err() || entry.spec.negative_control {
            continue;
        }
        // Full passes are as right over few rows, and take a fifth of the time.
        let (model, centre) = if entry.spec.minibatch { &many } else { &few };
        let (means, variances) = (model.posterior_mean(), model.posterior_variance());
        let chains: Vec<_> = (1..=4)
            .map(|seed| {
                let model: Arc<dyn Model> = model.clone();
                let oracle = exact_oracle(model, Some(Arc::clone(centre)));
                base_run(entry)
                    .seed(seed)
                    .go(oracle, entry.spec.default_warmup, 5000)
            })
            .collect();
        let weights: Vec<Vec<f64>> = chains.iter().map(Chain::weights).collect();
        for j in 0..DIM {
            let series: Vec<Vec<f64>> = chains.iter().map(|c| c.coordinate(j)).collect();
            if entry.spec.bias.is_none() {
                let what = format!("{id} {j}");
                let draws = (series.as_slice(), weights.as_slice());
                assert_weighted_moments(KNOWN_TO, &what, draws, means[j], variances[j]);
                continue;
            }
            // The gradient of a Gaussian is linear, so its noise leaves the mean alone; the variance that each
            // approximation has instead is tested in the sampler's own file.
            let (found, mcse) = weighted_estimate(&series, &weights);
            assert!(
                (found - means[j]).abs() < 4.0 * mcse,
                "{id} {j}: {found} against {}, mcse {mcse}",
                means[j]
            );
            assert!(mcse < 0.2 * variances[j].sqrt(), "{id} {j}: mcse {mcse}");
        }
    }
}

#[test]
fn exact_samplers_agree_on_a_logistic_posterior() {
    let (model, centre) = logistic_with_centre();
    let mut reference: Option<Vec<(f64, f64)>> = None;
    let exact = REGISTRY
        .iter()
        .filter(|entry| entry.spec.bias.is_none() && (entry.suits)(model.as_ref()).is_ok());
    for entry in exact {
        let chains: Vec<_> = (1..=4)
            .map(|seed| {
                let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
                base_run(entry)
                    .seed(seed)
                    .go(oracle, entry.spec.default_warmup, 5000)
            })
            .collect();
        let weights: Vec<Vec<f64>> = chains.iter().map(Chain::weights).collect();
        let found: Vec<(f64, f64)> = (0..2)
            .flat_map(|j| {
                let series: Vec<Vec<f64>> = chains.iter().map(|c| c.coordinate(j)).collect();
                let centre = centre.u[j];
                let squares: Vec<Vec<f64>> = series
                    .iter()
                    .map(|c| c.iter().map(|u| (u - centre).powi(2)).collect())
                    .collect();
                [
                    weighted_estimate(&series, &weights),
                    weighted_estimate(&squares, &weights),
                ]
            })
            .collect();
        // What four standard errors hide stays small.
        for (mean, square) in found.iter().step_by(2).zip(found.iter().skip(1).step_by(2)) {
            let known_to = [4.0 * mean.1 / square.0.sqrt(), 4.0 * square.1 / square.0];
            assert!(
                known_to.iter().all(|&share| share < 0.1),
                "{}: {known_to:?}",
                entry.spec.id
            );
        }
        let Some(reference) = &reference else {
            reference = Some(found);
            continue;
        };
        for ((a, mcse_a), (b, mcse_b)) in found.iter().zip(reference) {
            let mcse = mcse_a.hypot(*mcse_b);
            assert!(
                (a - b).abs() < 4.0 * mcse,
                "{}: {a} against {b}, mcse {mcse}",
                entry.spec.id
            );
        }
    }
}

mod faults;
