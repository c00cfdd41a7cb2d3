//! The posterior of a program.

use std::sync::{Arc, OnceLock};

use ergodic_base::{ChainRng, ParamId};
use ergodic_core::arithmetic::{SimdLevel, run_loop};
use ergodic_core::design::ObservationModel;
use ergodic_core::models::{
    Block, ChosenBy, KnownConditional, LinearRows, LogDensity, Model, NoPriorDraws, ParamInfo,
    Posterior, Prior, PriorRows, PriorSource, RowKernel, RowLikelihood, Rows, Scratch,
    add_differences, sum_of_rows,
};

use crate::code::{Code, Input, Plate, once, plate};
use crate::columns::{ColumnUse, Columns};
use crate::conditional::known_conditionals;
use crate::limits::Starts;
use crate::linear::{Linear, linear_rows, prior_rows};
use crate::lower::{Bounds, Lowered, OwnPriors, Parameter, Reported};
use crate::machine::{BLOCK, ONE, Pass, Registers, Want, gathered, run_once};
use crate::observation::Observation;
use crate::place::Fault;
use crate::prior::PriorProgram;
use crate::transform::Transform;
use crate::workspace::Pool;

/// A program with its data, as a model.
pub(crate) struct ProgramModel {
    params: Vec<ParamInfo>,
    /// Draws from the prior, or why there are none.
    prior: Result<PriorProgram, NoPriorDraws>,
    /// The prior of each element that has one of its own with known numbers.
    marginals: Vec<Option<Marginal>>,
    blocks: Vec<Block>,
    transform: Transform,
    /// Summands that are the same for all rows, as one sum; none if there is none.
    terms: Option<Code>,
    sums: Vec<Plate>,
    rows: Option<Plate>,
    /// What is reported besides parameters.
    reported: Option<Code>,
    linear: Option<Linear>,
    /// The rows by the row loop of a template, made by the first pass.
    kernel: OnceLock<Option<Box<dyn RowKernel>>>,
    prior_rows: Option<PriorRows>,
    known: Vec<KnownConditional>,
    starts: Starts,
    /// The priors that power scaling raises; none where a section `target` may belong to prior or likelihood.
    own: Option<OwnPriors>,
    observation: Option<Arc<dyn ObservationModel>>,
    level: SimdLevel,
    pool: Pool<Workspace>,
}

/// Memory of a sum over rows or elements.
struct PlateMemory {
    head: Registers<ONE>,
    /// Values of the head's outputs, and derivatives by them.
    outputs: Vec<f64>,
    seeds: Vec<f64>,
    body: Registers<BLOCK>,
}

impl PlateMemory {
    fn of(plate: &Plate) -> Self {
        let outputs = plate.head.as_ref().map_or(0, |head| head.outputs.len());
        Self {
            head: (plate.head.as_ref()).map_or_else(Registers::default, |it| Registers::of(it, 0)),
            outputs: vec![0.0; outputs],
            seeds: vec![0.0; outputs],
            body: Registers::of(&plate.body, plate.store.numbers.len()),
        }
    }
}

/// Memory of one pass.
struct Workspace {
    theta: Vec<f64>,
    by_theta: Vec<f64>,
    /// Derivatives of the outputs of the rows' head by the elements, one row per output.
    jacobian: Vec<f64>,
    terms: Registers<ONE>,
    /// Derivatives of the sum by its summands.
    ones: Vec<f64>,
    reported: Registers<ONE>,
    sums: Vec<PlateMemory>,
    rows: Option<PlateMemory>,
    /// Of the row loop of a template, where rows have one.
    kernel: Scratch,
    /// A position and two gradients.
    numbers: Vec<f64>,
}

/// What a parameter or a report is called, and its elements.
fn names(name: &str, labels: &[Vec<String>]) -> Vec<ParamId> {
    if labels.is_empty() {
        return vec![ParamId::named(name)];
    }
    let mut keys: Vec<Vec<&str>> = vec![Vec::new()];
    for dimension in labels {
        let longer = keys.iter().flat_map(|before| {
            dimension
                .iter()
                .map(move |label| [before.as_slice(), &[label.as_str()]].concat())
        });
        keys = longer.collect();
    }
    let ids = keys.into_iter().map(|keys| ParamId::keyed(name, keys));
    ids.collect()
}

/// Where priors of parameters come from.
const THE_MODEL: PriorSource = PriorSource::new(ChosenBy::Model, "the model");

fn params(lowered: &Lowered, priors: &[String]) -> Vec<ParamInfo> {
    let mut params = Vec::new();
    for (parameter, prior) in lowered.parameters.iter().zip(priors) {
        let labels: Vec<_> = parameter
            .dimensions
            .iter()
            .map(|it| it.labels.clone())
            .collect();
        for name in names(&parameter.name, &labels) {
            params.push(ParamInfo {
                name,
                meaning: meaning(parameter),
                prior: prior.as_str().into(),
                prior_source: THE_MODEL,
            });
        }
    }
    for Reported { name, sizes, .. } in &lowered.reported {
        let labels: Vec<Vec<String>> = (sizes.iter())
            .map(|&size| (1..=size).map(|at| at.to_string()).collect())
            .collect();
        for name in names(name, &labels) {
            params.push(ParamInfo {
                name,
                meaning: "function of the parameters".to_owned(),
                prior: "that of the parameters".into(),
                prior_source: THE_MODEL,
            });
        }
    }
    params
}

fn meaning(parameter: &Parameter) -> String {
    let columns: Vec<&str> = (parameter.dimensions.iter())
        .filter_map(|it| it.column.as_deref())
        .collect();
    match columns.as_slice() {
        [] => "parameter of the model".to_owned(),
        columns => format!("parameter of the model, one per {}", columns.join(" and ")),
    }
}

/// A prior that does not depend on other parameters.
#[derive(Clone, Copy)]
struct Marginal {
    prior: Prior,
    is_positive: bool,
}

impl Marginal {
    fn of(parameter: &Parameter, text: &str) -> Option<Self> {
        let (prior, is_positive) = match parameter.bounds {
            Bounds::Real => (Prior::parse(text), false),
            Bounds::Above(0.0) => (Prior::parse_positive(text), true),
            _ => return None,
        };
        let prior = prior.ok()?;
        Some(Self { prior, is_positive })
    }
}

impl ProgramModel {
    /// The model of the program `text` that uses these columns; `priors` are the texts of the priors of its parameters.
    pub fn new(
        lowered: &Lowered,
        columns: &Columns,
        (uses, text): (&[ColumnUse], &str),
        priors: &[String],
    ) -> Result<Self, Fault> {
        let graph = &lowered.graph;
        let transform = Transform::of(&lowered.parameters);
        let mut sums = Vec::new();
        let none = Columns::default();
        for sum in &lowered.sums {
            sums.push(plate(graph, &none, sum.term, sum.count)?);
        }
        let rows = match lowered.row {
            Some(term) => Some(plate(graph, columns, term, columns.num_rows)?),
            None => None,
        };
        // Each summand is an output of its own: a sum of many would be a chain.
        let terms = (!lowered.terms.is_empty()).then(|| once(graph, &lowered.terms));
        let outputs: Vec<u32> = (lowered.reported.iter())
            .flat_map(|it| it.elements.iter().copied())
            .collect();
        let blocks = (lowered.parameters.iter()).zip(transform.coordinates());
        let blocks = blocks.map(|(parameter, coordinates)| Block {
            name: ParamId::named(&parameter.name),
            coordinates,
        });
        let blocks = blocks.filter(|block| !block.coordinates.is_empty());
        let linear = lowered
            .row
            .and_then(|term| linear_rows(graph, columns, &transform, term));
        let prior_rows = linear
            .as_ref()
            .and_then(|_rows| prior_rows(lowered, &transform, priors));
        let mut marginals = Vec::new();
        for (parameter, text) in lowered.parameters.iter().zip(priors) {
            marginals.extend(vec![Marginal::of(parameter, text); parameter.len()]);
        }
        let params = params(lowered, priors);
        let observation = Observation::of(lowered, columns, (uses, text), params.len())?;
        Ok(Self {
            params,
            prior: PriorProgram::of(lowered),
            observation: observation.map(|it| Arc::new(it) as Arc<dyn ObservationModel>),
            marginals,
            blocks: blocks.collect(),
            terms,
            sums,
            rows: rows.map(padded),
            reported: (!outputs.is_empty()).then(|| once(graph, &outputs)),
            linear,
            kernel: OnceLock::new(),
            prior_rows,
            known: known_conditionals(lowered, &transform),
            starts: Starts::of(lowered, text),
            own: (!lowered.has_target).then(|| lowered.own.clone()),
            transform,
            level: SimdLevel::detect(),
            pool: Pool::default(),
        })
    }

    /// Summands that are the same for all rows, where the parameters are `theta`.
    fn values_of_terms(&self, theta: &[f64]) -> Vec<f64> {
        let code = self.terms.as_ref();
        code.map_or_else(Vec::new, |code| code.values(self.level, theta))
    }

    /// Lends memory that no other pass uses now.
    fn lend<R>(&self, with: impl FnOnce(&mut Workspace) -> R) -> R {
        self.pool.lend(|| self.workspace(), with)
    }

    fn workspace(&self) -> Workspace {
        let elements = self.transform.num_elements();
        let registers = |code: &Option<Code>| {
            code.as_ref()
                .map_or_else(Registers::default, |it| Registers::of(it, 0))
        };
        let rows = self.rows.as_ref().map(PlateMemory::of);
        Workspace {
            theta: vec![0.0; elements],
            by_theta: vec![0.0; elements],
            jacobian: vec![
                0.0;
                rows.as_ref()
                    .map_or(0, |rows| rows.outputs.len() * elements)
            ],
            terms: registers(&self.terms),
            ones: vec![1.0; self.terms.as_ref().map_or(0, |code| code.outputs.len())],
            reported: registers(&self.reported),
            sums: self.sums.iter().map(PlateMemory::of).collect(),
            rows,
            kernel: self
                .kernel()
                .map_or_else(Scratch::default, RowKernel::scratch),
            numbers: vec![0.0; 3 * self.transform.dim()],
        }
    }

    /// The rows by the row loop of a template, where they have one.
    fn kernel(&self) -> Option<&dyn RowKernel> {
        let made = self
            .kernel
            .get_or_init(|| self.linear.as_ref().and_then(Linear::kernel));
        made.as_deref()
    }

    /// Runs the head of a sum.
    fn run_head(&self, plate: &Plate, theta: &[f64], memory: &mut PlateMemory) {
        let Some(head) = &plate.head else {
            return;
        };
        run_once(self.level, head, theta, &mut memory.head, None);
        for (value, output) in memory.outputs.iter_mut().zip(&head.outputs) {
            *value = memory.head.output(*output);
        }
    }

    /// Runs the body of a sum over `rows`, after its head.
    fn pass<'a>(
        &self,
        plate: &'a Plate,
        rows: Rows<'a>,
        theta: &'a [f64],
        memory: &'a mut PlateMemory,
        want: Want<'a, BLOCK>,
    ) -> f64 {
        let pass = Pass {
            code: &plate.body,
            store: &plate.store,
            num_rows: plate.count,
            rows,
            theta,
            head: &memory.outputs,
            registers: &mut memory.body,
            want,
        };
        run_loop(self.level, pass)
    }

    /// The sum over `rows`; ADDS its derivatives to `by_theta`.
    fn sum(
        &self,
        plate: &Plate,
        rows: Rows<'_>,
        theta: &[f64],
        memory: &mut PlateMemory,
        by_theta: &mut [f64],
    ) -> f64 {
        self.run_head(plate, theta, memory);
        let value = self.pass(plate, rows, theta, memory, Want::Gradient(by_theta));
        memory.seeds.fill(0.0);
        for (at, input) in plate.body.inputs.iter().enumerate() {
            match input {
                Input::Parameter(element) => by_theta[*element] += memory.body.sum(at),
                Input::Head(output) => memory.seeds[*output] += memory.body.sum(at),
                // The pass itself adds those of gathered elements.
                Input::Constant(_) | Input::Gather { .. } | Input::Element(_) => {}
            }
        }
        if let Some(head) = &plate.head {
            let back = Some((memory.seeds.as_slice(), by_theta));
            run_once(self.level, head, theta, &mut memory.head, back);
        }
        value
    }

    /// [`add_differences`] at u.
    fn add_curvature(
        &self,
        u: &[f64],
        hessian: &mut [f64],
        gradient: impl FnMut(&[f64], &mut [f64]),
    ) {
        self.lend(|memory| {
            let (at, numbers) = memory.numbers.split_at_mut(u.len());
            at.copy_from_slice(u);
            add_differences(at, numbers, hessian, gradient);
        });
    }
}

/// Columns longer by a block: the last block of rows is read whole.
fn padded(mut plate: Plate) -> Plate {
    for column in &mut plate.store.numbers {
        let repeated = column.first().copied().unwrap_or_default();
        column.extend([repeated; BLOCK]);
    }
    plate
}

impl Model for ProgramModel {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        let (elements, rest) = theta.split_at_mut(self.transform.num_elements());
        self.transform.constrain(u, elements);
        if let Some(reported) = &self.reported {
            self.lend(|memory| {
                let registers = &mut memory.reported;
                run_once(self.level, reported, elements, registers, None);
                for (value, output) in rest.iter_mut().zip(&reported.outputs) {
                    *value = registers.output(*output);
                }
            });
        }
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        self.transform.unconstrain(theta, u);
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        let Marginal { prior, is_positive } = (*self.marginals.get(index)?)?;
        match is_positive {
            true => prior.positive_range(0.0),
            false => prior.span(),
        }
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        let Marginal { prior, is_positive } = (*self.marginals.get(index)?)?;
        match is_positive {
            true => prior.positive_density(value),
            false => prior.density(value),
        }
    }

    fn blocks(&self) -> Vec<Block> {
        self.blocks.clone()
    }

    fn known_conditionals(&self) -> Vec<KnownConditional> {
        self.known.clone()
    }

    fn draw_parameters(&self, rng: &mut ChainRng, theta: &mut [f64]) -> Result<(), NoPriorDraws> {
        match &self.prior {
            Ok(prior) => prior.draw(self.level, rng, theta),
            Err(why) => Err(why.clone()),
        }
    }

    fn observation(&self) -> Option<&Arc<dyn ObservationModel>> {
        self.observation.as_ref()
    }
}

impl LogDensity for ProgramModel {
    fn dim(&self) -> usize {
        self.transform.dim()
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        match self.rows {
            Some(_) => sum_of_rows(self, u, grad),
            None => self.log_prior(u, grad),
        }
    }

    fn why_undefined(&self, u: &[f64]) -> Option<String> {
        let mut theta = vec![0.0; self.transform.num_elements()];
        self.transform.constrain(u, &mut theta);
        let terms = self.values_of_terms(&theta);
        let mut of_rows = vec![0.0; self.rows.as_ref().map_or(0, |plate| plate.count)];
        self.pointwise(u, Rows::All, &mut Scratch::default(), &mut of_rows);
        let are_finite = of_rows.iter().all(|value| value.is_finite());
        self.starts.why(self.level, &theta, &terms, are_finite)
    }

    fn names(&self) -> Vec<String> {
        (1..=self.dim()).map(|j| format!("u[{j}]")).collect()
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        self.rows.as_ref().map(|_plate| self as &dyn RowLikelihood)
    }
}

impl RowLikelihood for ProgramModel {
    fn num_obs(&self) -> usize {
        self.rows.as_ref().map_or(1, |plate| plate.count)
    }

    fn scratch(&self) -> Scratch {
        // Passes that are given no memory need some too, so all have theirs from the pool.
        Scratch::default()
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.lend(|memory| {
            let Workspace {
                theta,
                by_theta,
                terms,
                ones,
                sums,
                ..
            } = memory;
            self.transform.constrain(u, theta);
            by_theta.fill(0.0);
            let mut value = 0.0;
            if let Some(code) = &self.terms {
                run_once(self.level, code, theta, terms, None);
                for output in &code.outputs {
                    value += terms.output(*output);
                }
                run_once(self.level, code, theta, terms, Some((ones, by_theta)));
            }
            for (plate, memory) in self.sums.iter().zip(sums) {
                value += self.sum(plate, Rows::All, theta, memory, by_theta);
            }
            grad.fill(0.0);
            value + self.transform.pull_back(u, theta, by_theta, true, grad)
        })
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        let own = self.own.as_ref()?;
        Some(self.lend(|memory| {
            let Workspace {
                theta,
                by_theta,
                sums,
                ..
            } = memory;
            self.transform.constrain(u, theta);
            let terms = self.values_of_terms(theta);
            let terms = terms.iter().zip(&own.terms).filter(|(_, own)| **own);
            let mut value: f64 = terms.map(|(term, _)| term).sum();
            // Derivatives come along.
            by_theta.fill(0.0);
            let plates = self.sums.iter().zip(sums).zip(&own.sums);
            for ((plate, memory), _) in plates.filter(|(_, own)| **own) {
                value += self.sum(plate, Rows::All, theta, memory, by_theta);
            }
            value
        }))
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        if let Some(kernel) = self.kernel() {
            return self.lend(|memory| kernel.log_lik(u, rows, &mut memory.kernel, grad));
        }
        let Some(plate) = &self.rows else {
            return 0.0;
        };
        self.lend(|memory| {
            let Workspace {
                theta,
                by_theta,
                rows: Some(of_rows),
                ..
            } = memory
            else {
                return 0.0;
            };
            self.transform.constrain(u, theta);
            by_theta.fill(0.0);
            let value = self.sum(plate, rows, theta, of_rows, by_theta);
            self.transform.pull_back(u, theta, by_theta, false, grad);
            value
        })
    }

    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        match self.kernel() {
            Some(kernel) => {
                self.lend(|memory| kernel.grad_log_lik(u, rows, &mut memory.kernel, grad));
            }
            None => {
                self.log_lik(u, rows, scratch, grad);
            }
        }
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        let Some(plate) = &self.rows else {
            return;
        };
        self.lend(|memory| {
            let Workspace {
                theta,
                rows: Some(of_rows),
                ..
            } = memory
            else {
                return;
            };
            self.transform.constrain(u, theta);
            self.run_head(plate, theta, of_rows);
            self.pass(plate, rows, theta, of_rows, Want::Values(out));
        });
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        out.fill(0.0);
        let Some(plate) = &self.rows else {
            return;
        };
        let (dim, elements) = (self.transform.dim(), self.transform.num_elements());
        self.lend(|memory| {
            let Workspace {
                theta,
                by_theta,
                jacobian,
                rows: Some(of_rows),
                ..
            } = memory
            else {
                return;
            };
            self.transform.constrain(u, theta);
            self.run_head(plate, theta, of_rows);
            if let Some(head) = &plate.head {
                for (at, by_theta) in jacobian.chunks_exact_mut(elements).enumerate() {
                    by_theta.fill(0.0);
                    of_rows.seeds.fill(0.0);
                    of_rows.seeds[at] = 1.0;
                    let back = Some((of_rows.seeds.as_slice(), by_theta));
                    run_once(self.level, head, theta, &mut of_rows.head, back);
                }
            }
            let (theta, jacobian) = (&*theta, &*jacobian);
            let mut each = |first: usize, live: usize, registers: &Registers<BLOCK>| {
                for lane in 0..live {
                    by_theta.fill(0.0);
                    for (at, input) in plate.body.inputs.iter().enumerate() {
                        let adjoint = registers.adjoint(at, lane);
                        match input {
                            Input::Parameter(element) => by_theta[*element] += adjoint,
                            Input::Head(output) => {
                                let line = &jacobian[output * elements..][..elements];
                                ergodic_base::linalg::axpy(adjoint, line, by_theta);
                            }
                            Input::Gather { offset, picks } => {
                                let row = rows.get(first + lane);
                                by_theta[gathered(&plate.store, *offset, picks, row)] += adjoint;
                            }
                            Input::Constant(_) | Input::Element(_) => {}
                        }
                    }
                    let score = &mut out[(first + lane) * dim..][..dim];
                    self.transform.pull_back(u, theta, by_theta, false, score);
                }
            };
            self.pass(plate, rows, theta, of_rows, Want::Scores(&mut each));
        });
    }

    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        if let Some(kernel) = self.kernel() {
            let of = |memory: &mut Workspace| {
                kernel.add_neg_hessian(u, rows, &mut memory.kernel, hessian);
            };
            return self.lend(of);
        }
        self.add_curvature(u, hessian, |at, grad| {
            self.grad_log_lik(at, rows, scratch, grad);
        });
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        self.add_curvature(u, hessian, |at, grad| {
            self.log_prior(at, grad);
        });
    }

    fn linear_rows(&self) -> Option<&dyn LinearRows> {
        self.linear.as_ref().map(|linear| linear as &dyn LinearRows)
    }

    fn prior_rows(&self) -> Option<&PriorRows> {
        self.prior_rows.as_ref()
    }
}
