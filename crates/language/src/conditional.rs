//! Parameters whose distribution given all others has a known form, found in the graph of a program.
//!
//! Numbers are taken apart as sums of products of e^{pu} u^q over parameters, times numbers that no parameter enters, with u the coordinates
//! of a parameter: θ = u without bounds, θ = a + e^u above a. Sums, products, quotients by single products, fixed powers of these, their
//! logarithms and exponentials are such sums again; in other functions a parameter stands *otherwise*. With the Jacobian of the
//! transform, the log density is as a function of one parameter's u
//!
//! | summands | distribution |
//! |---|---|
//! | u², u | u is normal: the parameter is, or is lognormal |
//! | e^{cu}, u, with one c | e^{cu} is a gamma variable: the parameter is, or is a power of one |
//!
//! and coordinates that stand in no summand with others are independent of these. Summands are not evaluated: those that cancel count.

use std::ops::Range;

use ergodic_core::models::{Form, KnownConditional};

use crate::functions::Function;
use crate::graph::{Graph, Id, Node};
use crate::lower::{Bounds, Lowered, Parameter};
use crate::syntax::Binary;
use crate::transform::Transform;

/// Most products of a number; of more, all parameters stand otherwise.
const MOST_PRODUCTS: usize = 200;
/// Most comparisons and copies of products and factors for a program, beyond which nothing is known of it.
const MOST_WORK: usize = 1_000_000;
/// Relative distance of exponents that differ by rounding, as those of λ^(−1/k) to the power k.
const ROUNDING: f64 = 1e-9;

/// How coordinates of a parameter stand in a product.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stands {
    /// A factor e^{pu} u^q.
    As {
        /// p.
        exponent: f64,
        /// q.
        degree: u32,
    },
    /// Any other way.
    Otherwise,
}

/// What a product has of one parameter.
#[derive(Clone, Copy, Debug)]
struct Factor {
    parameter: usize,
    /// The element or elements, by row, that it is of; none where summands of several are one.
    leaf: Option<Id>,
    stands: Stands,
    /// Whether it is of several elements multiplied.
    crossed: bool,
}

/// A product of factors, in the order of parameters, and a number.
#[derive(Clone, Debug)]
struct Product {
    factors: Vec<Factor>,
    /// The number, where it is known and the same for all rows.
    number: Option<f64>,
}

/// A sum of products.
type Sum = Vec<Product>;

/// Known conditional distributions of the parameters of a program.
pub(crate) fn known_conditionals(
    lowered: &Lowered,
    transform: &Transform,
) -> Vec<KnownConditional> {
    let sums = lowered.sums.iter().map(|sum| sum.term);
    let roots: Vec<Id> = (lowered.terms.iter().copied())
        .chain(sums)
        .chain(lowered.row)
        .collect();
    let products = Reader::of(&lowered.graph, &lowered.parameters).products(&roots);
    let Some(products) = products else {
        return Vec::new();
    };
    let parameters = lowered.parameters.iter().zip(transform.coordinates());
    let parameters = parameters.enumerate();
    let known = parameters.filter(|(_, (_, coordinates))| !coordinates.is_empty());
    let known = known.filter_map(|(at, (_, coordinates))| {
        Some(KnownConditional {
            form: form(at, &products)?,
            independent: is_independent(at, &products),
            coordinates,
        })
    });
    known.collect()
}

/// The form of the density of a parameter given the others, whose logarithm is the sum of `products` and of a multiple of u.
fn form(parameter: usize, products: &[Product]) -> Option<Form> {
    let (mut is_quadratic, mut power) = (false, None::<f64>);
    let factors = products.iter().flat_map(|product| &product.factors);
    for factor in factors.filter(|factor| factor.parameter == parameter) {
        match factor.stands {
            Stands::As {
                exponent: 0.0,
                degree: 1,
            } => {}
            Stands::As {
                exponent: 0.0,
                degree: 2,
            } => is_quadratic = true,
            Stands::As {
                exponent,
                degree: 0,
            } if power.is_none_or(|power| same(power, exponent)) => power = Some(exponent),
            _ => return None,
        }
    }
    match (is_quadratic, power) {
        (true, None) => Some(Form::Normal),
        (false, Some(power)) => Some(Form::LogGamma { power }),
        _ => None,
    }
}

/// Whether no product has several coordinates, one of them of this parameter.
fn is_independent(parameter: usize, products: &[Product]) -> bool {
    let mut with = (products.iter().map(|product| product.factors.as_slice()))
        .filter(|factors| factors.iter().any(|factor| factor.parameter == parameter));
    with.all(|factors| matches!(factors, [one] if !one.crossed))
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

impl Stands {
    fn same(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::As { exponent, degree },
                Self::As {
                    exponent: other,
                    degree: of_other,
                },
            ) => degree == of_other && same(exponent, other),
            (Self::Otherwise, Self::Otherwise) => true,
            _ => false,
        }
    }
}

impl Factor {
    /// The product of two factors of one parameter; none where it is 1.
    fn times(self, other: Self) -> Option<Self> {
        let leaf = self.leaf.filter(|_| self.leaf == other.leaf);
        let crossed = self.crossed || other.crossed || leaf.is_none();
        let stands = match (self.stands, other.stands) {
            (
                Stands::As { exponent, degree },
                Stands::As {
                    exponent: other,
                    degree: of_other,
                },
            ) => {
                // Powers of different elements are no power of one.
                let only_degrees = exponent == 0.0 && other == 0.0;
                let cancel = same(exponent, -other);
                let sum = if cancel { 0.0 } else { exponent + other };
                match (crossed, sum, degree + of_other) {
                    (false, 0.0, 0) => return None,
                    (true, ..) if !only_degrees => Stands::Otherwise,
                    (_, exponent, degree) => Stands::As { exponent, degree },
                }
            }
            _ => Stands::Otherwise,
        };
        Some(Self {
            leaf,
            stands,
            crossed,
            ..self
        })
    }

    /// e^{pu} of one element to a power; none of others.
    fn to_the(self, power: f64) -> Option<Self> {
        match self.stands {
            Stands::As {
                exponent,
                degree: 0,
            } if self.leaf.is_some() && !self.crossed => Some(Self {
                stands: Stands::As {
                    exponent: power * exponent,
                    degree: 0,
                },
                ..self
            }),
            _ => None,
        }
    }
}

impl Product {
    /// A number that no parameter enters.
    fn number(number: Option<f64>) -> Self {
        Self {
            factors: Vec::new(),
            number,
        }
    }

    fn times(&self, other: &Self) -> Self {
        let mut factors = self.factors.clone();
        for &factor in &other.factors {
            let at = factors.partition_point(|before| before.parameter < factor.parameter);
            match factors
                .get(at)
                .filter(|it| it.parameter == factor.parameter)
            {
                None => factors.insert(at, factor),
                Some(own) => match own.times(factor) {
                    Some(both) => factors[at] = both,
                    None => {
                        factors.remove(at);
                    }
                },
            }
        }
        Self {
            factors,
            number: self.number.zip(other.number).map(|(a, b)| a * b),
        }
    }

    /// A product of e^{pu}, to a power.
    fn to_the(&self, power: f64) -> Option<Self> {
        let factors = self.factors.iter().map(|factor| factor.to_the(power));
        Some(Self {
            factors: factors.collect::<Option<_>>()?,
            number: self.number.map(|number| number.powf(power)),
        })
    }

    /// Whether it differs from `other` by its number alone, or by which elements it is of.
    fn is_like(&self, other: &Self) -> bool {
        self.factors.len() == other.factors.len()
            && self.factors.iter().zip(&other.factors).all(|(a, b)| {
                a.parameter == b.parameter && a.crossed == b.crossed && a.stands.same(b.stands)
            })
    }

    /// Takes up a product that [is like](Self::is_like) it.
    fn take_up(&mut self, other: &Self) {
        let mut leaves = self.factors.iter().zip(&other.factors);
        let one_leaf = leaves.all(|(a, b)| a.leaf.is_some() && a.leaf == b.leaf);
        self.number = (self.number.zip(other.number))
            .filter(|_| one_leaf)
            .map(|(a, b)| a + b);
        for (own, other) in self.factors.iter_mut().zip(&other.factors) {
            own.leaf = own.leaf.filter(|_| own.leaf == other.leaf);
        }
    }
}

/// Takes numbers of a graph apart.
struct Reader<'a> {
    graph: &'a Graph,
    parameters: &'a [Parameter],
    /// Elements of each parameter.
    elements: Vec<Range<usize>>,
    work: usize,
}

impl<'a> Reader<'a> {
    fn of(graph: &'a Graph, parameters: &'a [Parameter]) -> Self {
        let elements = parameters.iter().map(|it| it.offset..it.offset + it.len());
        Self {
            graph,
            parameters,
            elements: elements.collect(),
            work: 0,
        }
    }

    /// Products of which the sum of `roots` is made; none where that is too much work.
    fn products(&mut self, roots: &[Id]) -> Option<Vec<Product>> {
        let mut is_reached = vec![false; self.graph.len()];
        roots.iter().for_each(|&id| is_reached[id as usize] = true);
        for at in (0..is_reached.len()).rev() {
            if is_reached[at] {
                for child in self.graph.children(at as Id) {
                    is_reached[child as usize] = true;
                }
            }
        }
        // What a number is made of stands before it.
        let mut sums: Vec<Sum> = Vec::with_capacity(is_reached.len());
        for (at, is_reached) in is_reached.into_iter().enumerate() {
            let sum = match is_reached {
                true => self.sum(at as Id, &sums),
                false => Sum::new(),
            };
            let sizes = sum.iter().map(|product| 1 + product.factors.len());
            self.work += sizes.sum::<usize>();
            if self.work > MOST_WORK {
                return None;
            }
            sums.push(sum);
        }
        let products = roots.iter().flat_map(|&root| &sums[root as usize]);
        Some(products.cloned().collect())
    }

    fn sum(&mut self, id: Id, sums: &[Sum]) -> Sum {
        if !self.graph.depends(id).parameters {
            return match self.graph.as_constant(id) {
                Some(0.0) => Sum::new(),
                number => vec![Product::number(number)],
            };
        }
        let of = |id: Id| sums[id as usize].as_slice();
        let found = match *self.graph.node(id) {
            Node::Parameter(element) => Some(self.leaf(id, element)),
            Node::Gather { offset, .. } | Node::Element { offset } => Some(self.leaf(id, offset)),
            Node::Call(function, a) => self.call(function, of(a)),
            Node::Binary(operation, a, b) => match operation {
                Binary::Add => self.added(of(a), of(b), Some(1.0)),
                Binary::Sub => self.added(of(a), of(b), Some(-1.0)),
                Binary::Mul => self.multiplied(of(a), of(b)),
                Binary::Div => single(of(b))
                    .and_then(|b| b.to_the(-1.0))
                    .and_then(|inverse| self.multiplied(of(a), &[inverse])),
                Binary::Pow => {
                    let power = self.graph.as_constant(b);
                    power.and_then(|power| Some(vec![single(of(a))?.to_the(power)?]))
                }
                Binary::Less | Binary::LessEqual | Binary::Equal => None,
            },
            Node::Select(condition, a, b) if !self.graph.depends(condition).parameters => {
                // One in some rows, the other in others.
                let either = self.added(&[], of(a), None);
                either.and_then(|either| self.added(&either, of(b), None))
            }
            _ => None,
        };
        let few = found.filter(|sum| sum.len() <= MOST_PRODUCTS);
        few.unwrap_or_else(|| {
            let parts = self.graph.children(id).flat_map(of);
            otherwise(
                parts
                    .flat_map(|product| &product.factors)
                    .map(|factor| factor.parameter),
            )
        })
    }

    /// An element, or one per row, of which `element` is the first.
    fn leaf(&self, id: Id, element: usize) -> Sum {
        let parameter = (self.elements).partition_point(|elements| elements.end <= element);
        let with = |exponent, degree, number| Product {
            factors: vec![Factor {
                parameter,
                leaf: Some(id),
                stands: Stands::As { exponent, degree },
                crossed: false,
            }],
            number: Some(number),
        };
        let bound = |bound: f64| (bound != 0.0).then(|| Product::number(Some(bound)));
        match self.parameters[parameter].bounds {
            Bounds::Real => vec![with(0.0, 1, 1.0)],
            Bounds::Above(lower) => [Some(with(1.0, 0, 1.0)), bound(lower)]
                .into_iter()
                .flatten()
                .collect(),
            Bounds::Below(upper) => [Some(with(1.0, 0, -1.0)), bound(upper)]
                .into_iter()
                .flatten()
                .collect(),
            Bounds::Between(..) | Bounds::Simplex | Bounds::Ordered => {
                otherwise(std::iter::once(parameter))
            }
        }
    }

    fn call(&mut self, function: Function, a: &[Product]) -> Option<Sum> {
        match function {
            Function::Square => self.multiplied(a, a),
            Function::Sqrt => Some(vec![single(a)?.to_the(0.5)?]),
            Function::Abs => {
                let mut one = single(a)?.to_the(1.0)?;
                one.number = one.number.map(f64::abs);
                Some(vec![one])
            }
            Function::Log => {
                let one = single(a)?.to_the(1.0)?;
                let number = Product::number(one.number.map(f64::ln));
                let logs = one.factors.iter().filter_map(|factor| {
                    let Stands::As { exponent, .. } = factor.stands else {
                        return None;
                    };
                    let stands = Stands::As {
                        exponent: 0.0,
                        degree: 1,
                    };
                    Some(Product {
                        factors: vec![Factor { stands, ..*factor }],
                        number: Some(exponent),
                    })
                });
                Some(std::iter::once(number).chain(logs).collect())
            }
            Function::Exp => {
                let mut product = Product::number(Some(1.0));
                for summand in a {
                    product = product.times(&exponential(summand)?);
                }
                Some(vec![product])
            }
            _ => None,
        }
    }

    /// a + `sign` b; without a sign multiples of either that are not known.
    fn added(&mut self, a: &[Product], b: &[Product], sign: Option<f64>) -> Option<Sum> {
        let mut sum = a.to_vec();
        for product in b {
            let number = product.number.zip(sign).map(|(number, sign)| sign * number);
            let signed = Product {
                factors: product.factors.clone(),
                number,
            };
            self.put(&mut sum, signed)?;
        }
        Some(sum)
    }

    fn multiplied(&mut self, a: &[Product], b: &[Product]) -> Option<Sum> {
        let mut sum = Sum::new();
        for a in a {
            for b in b {
                self.put(&mut sum, a.times(b))?;
            }
        }
        Some(sum)
    }

    /// Adds a product to a sum; none where that is too much work.
    fn put(&mut self, sum: &mut Sum, product: Product) -> Option<()> {
        self.work += sum.len() + 1;
        if self.work > MOST_WORK || sum.len() > MOST_PRODUCTS {
            return None;
        }
        match sum.iter().position(|own| own.is_like(&product)) {
            Some(at) => {
                sum[at].take_up(&product);
                if sum[at].number == Some(0.0) {
                    sum.remove(at);
                }
            }
            None => sum.push(product),
        }
        Some(())
    }
}

/// The product that a sum is, where it is one.
fn single(sum: &[Product]) -> Option<&Product> {
    match sum {
        [one] => Some(one),
        _ => None,
    }
}

/// e to the power of a summand that is a number, or a known multiple of one coordinate.
fn exponential(summand: &Product) -> Option<Product> {
    let [factor] = summand.factors.as_slice() else {
        let is_number = summand.factors.is_empty();
        return is_number.then(|| Product::number(summand.number.map(f64::exp)));
    };
    let Stands::As {
        exponent: 0.0,
        degree: 1,
    } = factor.stands
    else {
        return None;
    };
    let stands = Stands::As {
        exponent: summand.number?,
        degree: 0,
    };
    factor.leaf.filter(|_| !factor.crossed)?;
    Some(Product {
        factors: vec![Factor { stands, ..*factor }],
        number: Some(1.0),
    })
}

/// A number in which these parameters stand otherwise.
fn otherwise(parameters: impl Iterator<Item = usize>) -> Sum {
    let mut parameters: Vec<usize> = parameters.collect();
    parameters.sort_unstable();
    parameters.dedup();
    let factor = |parameter| Factor {
        parameter,
        leaf: None,
        stands: Stands::Otherwise,
        crossed: true,
    };
    vec![Product {
        factors: parameters.into_iter().map(factor).collect(),
        number: None,
    }]
}
