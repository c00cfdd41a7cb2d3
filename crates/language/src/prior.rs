//! Draws from the prior of a program, parameter after parameter in the order in which priors depend on each other.
//!
//! A prior that bounds cut off is drawn until a value lies within them; where other parameters decide what is cut off, all begin anew,
//! for the density has no factor that makes up for what is cut off. Ascending numbers of one prior are drawn each by itself and sorted,
//! which is the same.

use ergodic_base::ChainRng;
use ergodic_core::arithmetic::{SimdLevel, run_loop};
use ergodic_core::models::NoPriorDraws;

use crate::across::Across;
use crate::code::{RowCode, Store};
use crate::distributions::{Distribution, Draw, Support};
use crate::graph::{Graph, Id, Node};
use crate::lower::{Bounds, Lowered, Parameter, PriorLaw};
use crate::machine::{BLOCK, Registers};
use crate::variates::gamma;

/// Values drawn before bounds are said to leave nothing of a prior.
const MOST_TRIES: usize = 10_000;

/// The prior of some elements of a parameter.
struct Part {
    first: usize,
    count: usize,
    /// Parameters of the distribution; of shares one each.
    code: RowCode,
    draw: Option<Draw>,
    /// Whether the parameters of the distribution are the same for all draws.
    is_fixed: bool,
}

/// Whether a draw lies within all bounds.
enum Found {
    Within,
    /// Out of bounds that cut off more of a prior or less by what was drawn before.
    Outside,
}

/// The prior of a parameter.
struct Step {
    name: String,
    bounds: Bounds,
    /// Elements that are shares of one whole, or ascend.
    together: usize,
    parts: Vec<Part>,
}

/// The prior of all parameters.
pub(crate) struct PriorProgram {
    steps: Vec<Step>,
    num_elements: usize,
}

impl PriorProgram {
    /// The prior of a program, or why it cannot be drawn from.
    pub fn of(lowered: &Lowered) -> Result<Self, NoPriorDraws> {
        if lowered.has_target {
            return Err(NoPriorDraws::Target);
        }
        let graph = &lowered.graph;
        let mut waiting: Vec<&Parameter> = lowered.parameters.iter().collect();
        let num_elements = lowered.parameters.iter().map(Parameter::len).sum();
        let mut is_drawn = vec![false; num_elements];
        let mut steps = Vec::new();
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut later = Vec::new();
            for parameter in waiting {
                let range = parameter.offset..parameter.offset + parameter.len();
                let laws: Vec<&PriorLaw> = (lowered.priors.iter())
                    .filter(|law| range.contains(&law.first))
                    .collect();
                let covered: usize = laws.iter().map(|law| law.count).sum();
                if covered < parameter.len() {
                    return Err(NoPriorDraws::Missing(parameter.name.clone()));
                }
                if laws.iter().all(|law| is_ready(graph, law, &is_drawn)) {
                    steps.push(step(graph, parameter, &laws)?);
                    is_drawn[range].fill(true);
                } else {
                    later.push(parameter);
                }
            }
            if later.len() == before {
                return Err(NoPriorDraws::Circular(later[0].name.clone()));
            }
            waiting = later;
        }
        Ok(Self {
            steps,
            num_elements,
        })
    }

    /// Draws all elements of the parameters, of which `theta` begins.
    pub fn draw(
        &self,
        level: SimdLevel,
        rng: &mut ChainRng,
        theta: &mut [f64],
    ) -> Result<(), NoPriorDraws> {
        for _ in 0..MOST_TRIES {
            if let Found::Within = self.try_draw(level, rng, theta)? {
                return Ok(());
            }
        }
        Err(NoPriorDraws::Bounds)
    }

    fn try_draw(
        &self,
        level: SimdLevel,
        rng: &mut ChainRng,
        theta: &mut [f64],
    ) -> Result<Found, NoPriorDraws> {
        let mut elements = vec![vec![f64::NAN]; self.num_elements];
        for step in &self.steps {
            for part in &step.parts {
                if let Found::Outside = part.draw(level, step, rng, &mut elements, theta)? {
                    return Ok(Found::Outside);
                }
            }
            if step.bounds == Bounds::Ordered {
                for part in step.parts.chunks(step.together) {
                    let first = part[0].first;
                    let ascending = &mut theta[first..first + step.together];
                    ascending.sort_unstable_by(f64::total_cmp);
                }
            }
            for part in &step.parts {
                for at in part.first..part.first + part.count {
                    elements[at][0] = theta[at];
                }
            }
        }
        Ok(Found::Within)
    }
}

/// Whether no parameter has a part in `numbers`.
fn are_fixed(graph: &Graph, numbers: &[Id]) -> bool {
    numbers.iter().all(|&id| match *graph.node(id) {
        Node::Constant(_) => true,
        Node::Call(_, a) => are_fixed(graph, &[a]),
        Node::Binary(_, a, b) => are_fixed(graph, &[a, b]),
        Node::Select(a, b, c) => are_fixed(graph, &[a, b, c]),
        Node::Parameter(_)
        | Node::Element { .. }
        | Node::Gather { .. }
        | Node::Column(_)
        | Node::LevelIs { .. } => false,
    })
}

/// Whether everything that a prior depends on is drawn.
fn is_ready(graph: &Graph, law: &PriorLaw, is_drawn: &[bool]) -> bool {
    let mut is_reached = vec![false; graph.len()];
    law.numbers
        .iter()
        .for_each(|&id| is_reached[id as usize] = true);
    let Some(&last) = law.numbers.iter().max() else {
        return true;
    };
    for id in (0..=last).rev() {
        if !is_reached[id as usize] {
            continue;
        }
        let mut reach = |child: Id| is_reached[child as usize] = true;
        let ready = match *graph.node(id) {
            Node::Parameter(at) => is_drawn[at],
            Node::Element { offset } => is_drawn[offset..offset + law.count].iter().all(|it| *it),
            Node::Call(_, a) => {
                reach(a);
                true
            }
            Node::Binary(_, a, b) => {
                [a, b].into_iter().for_each(reach);
                true
            }
            Node::Select(a, b, c) => {
                [a, b, c].into_iter().for_each(reach);
                true
            }
            Node::Constant(_) => true,
            Node::Gather { .. } | Node::Column(_) | Node::LevelIs { .. } => false,
        };
        if !ready {
            return false;
        }
    }
    true
}

fn step(graph: &Graph, parameter: &Parameter, laws: &[&PriorLaw]) -> Result<Step, NoPriorDraws> {
    let together = parameter.sizes().last().copied().unwrap_or(1);
    let numbers = &laws[0].numbers;
    let is_one = laws
        .iter()
        .all(|law| law.count == 1 && law.numbers == *numbers);
    if parameter.bounds == Bounds::Ordered && !is_one {
        return Err(NoPriorDraws::Ascending(parameter.name.clone()));
    }
    let part = |law: &&PriorLaw| -> Result<Part, NoPriorDraws> {
        let PriorLaw {
            distribution:
                Distribution {
                    name,
                    draw,
                    support,
                    ..
                },
            ..
        } = law;
        if draw.is_none() && *support != Support::Simplex {
            return Err(NoPriorDraws::Distribution(name));
        }
        Ok(Part {
            first: law.first,
            count: law.count,
            code: RowCode::of(graph, &law.numbers),
            draw: *draw,
            is_fixed: are_fixed(graph, &law.numbers),
        })
    };
    Ok(Step {
        name: parameter.name.clone(),
        bounds: parameter.bounds,
        together,
        parts: laws.iter().map(part).collect::<Result<_, _>>()?,
    })
}

impl Part {
    fn draw(
        &self,
        level: SimdLevel,
        step: &Step,
        rng: &mut ChainRng,
        elements: &mut [Vec<f64>],
        theta: &mut [f64],
    ) -> Result<Found, NoPriorDraws> {
        let heads = self.heads(level, theta);
        let body = &self.code.body;
        let mut registers: Registers<BLOCK> = Registers::of(body, 0);
        let mut numbers = vec![0.0; body.outputs.len()];
        let count = if self.draw.is_some() { self.count } else { 1 };
        for row in 0..count {
            run_loop(
                level,
                Across {
                    code: body,
                    store: &Store::default(),
                    row,
                    elements,
                    heads: &heads,
                    first: 0,
                    registers: &mut registers,
                    out: &mut numbers,
                },
            );
            let Some(draw) = self.draw else {
                let shares = &mut theta[self.first..self.first + self.count];
                for (share, alpha) in shares.iter_mut().zip(&numbers) {
                    *share = gamma(*alpha, rng);
                }
                let total: f64 = shares.iter().sum();
                shares.iter_mut().for_each(|share| *share /= total);
                continue;
            };
            let most = if self.is_fixed { MOST_TRIES } else { 1 };
            let mut tries = (0..most).map(|_| draw(&numbers, rng));
            let value = tries.find(|value| step.bounds.holds(*value));
            if value.is_none() && !self.is_fixed {
                return Ok(Found::Outside);
            }
            theta[self.first + row] =
                value.ok_or_else(|| NoPriorDraws::BoundsOf(step.name.clone()))?;
        }
        Ok(Found::Within)
    }

    /// What is the same for all elements.
    fn heads(&self, level: SimdLevel, theta: &[f64]) -> Vec<Vec<f64>> {
        let head = self.code.head.as_ref();
        let outputs = head.map_or_else(Vec::new, |head| head.values(level, theta));
        outputs.into_iter().map(|output| vec![output]).collect()
    }
}
