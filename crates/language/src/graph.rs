//! Numbers as a graph: every number that a program computes once, however often it is written.
//!
//! A number is the same for all rows, or has a value per row (a *lane*: of the row that a column, an index by a column or the
//! position in a vector says), and depends on parameters or does not. Constants are folded, and products are put so that what is
//! the same for all rows, and what columns alone say, stands together: each is then computed once.

use std::collections::HashMap;

use crate::functions::Function;
use crate::place::Span;
use crate::syntax::Binary;

/// A number of a [`Graph`].
pub(crate) type Id = u32;

/// How a number comes about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// Bits of a constant.
    Constant(u64),
    /// A parameter's element, on the scale of the program.
    Parameter(usize),
    /// The element at `offset` + Σ stride × code of the row in a group column.
    Gather {
        offset: usize,
        picks: Vec<(usize, usize)>,
    },
    /// The element at `offset` + the position in the vector.
    Element {
        offset: usize,
    },
    /// A column of numbers.
    Column(usize),
    /// 1 where the group column has this code, else 0.
    LevelIs {
        column: usize,
        code: u32,
    },
    Call(Function, Id),
    Binary(Binary, Id, Id),
    /// The second where the first is not 0, otherwise the third.
    Select(Id, Id, Id),
}

/// What a number depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depends {
    /// On parameters.
    pub parameters: bool,
    /// On the row, or the position in a vector.
    pub lane: bool,
}

/// Most numbers of a program.
const MAX_NODES: usize = 400_000;

/// The numbers of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    depends: Vec<Depends>,
    /// Where each was first written.
    spans: Vec<Span>,
    known: HashMap<Node, Id>,
    /// What is being read now.
    pub place: Span,
}

impl Graph {
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub fn depends(&self, id: Id) -> Depends {
        self.depends[id as usize]
    }

    pub fn span(&self, id: Id) -> Span {
        self.spans[id as usize]
    }

    /// The numbers that `id` is made of, which have smaller ids.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> + use<> {
        let children = match *self.node(id) {
            Node::Call(_, a) => [Some(a), None, None],
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::Select(a, b, c) => [Some(a), Some(b), Some(c)],
            _ => [None; 3],
        };
        children.into_iter().flatten()
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the program has become too large to be kept.
    pub fn is_full(&self) -> bool {
        self.nodes.len() > MAX_NODES
    }

    fn add(&mut self, node: Node) -> Id {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let of = |id: &Id| self.depends[*id as usize];
        let joined = |ids: &[Id]| {
            ids.iter().map(of).fold(Depends::default(), |a, b| Depends {
                parameters: a.parameters || b.parameters,
                lane: a.lane || b.lane,
            })
        };
        let (parameters, lane) = (true, true);
        let depends = match &node {
            Node::Constant(_) => Depends::default(),
            Node::Parameter(_) => Depends {
                parameters,
                lane: false,
            },
            Node::Gather { .. } | Node::Element { .. } => Depends { parameters, lane },
            Node::Column(_) | Node::LevelIs { .. } => Depends {
                parameters: false,
                lane,
            },
            Node::Call(_, a) => of(a),
            Node::Binary(_, a, b) => joined(&[*a, *b]),
            Node::Select(a, b, c) => joined(&[*a, *b, *c]),
        };
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.depends.push(depends);
        self.spans.push(self.place);
        self.known.insert(node, id);
        id
    }

    pub fn constant(&mut self, value: f64) -> Id {
        // Adding 0 makes -0 and 0 one constant.
        self.add(Node::Constant((value + 0.0).to_bits()))
    }

    /// The value of a constant.
    pub fn as_constant(&self, id: Id) -> Option<f64> {
        match self.node(id) {
            Node::Constant(bits) => Some(f64::from_bits(*bits)),
            _ => None,
        }
    }

    pub fn leaf(&mut self, node: Node) -> Id {
        self.add(node)
    }

    pub fn call(&mut self, function: Function, a: Id) -> Id {
        match self.as_constant(a) {
            Some(x) => self.constant(function.at(x)[0]),
            None => self.add(Node::Call(function, a)),
        }
    }

    pub fn negate(&mut self, a: Id) -> Id {
        let minus = self.constant(-1.0);
        self.binary(Binary::Mul, minus, a)
    }

    /// 1 − a.
    pub fn not(&mut self, a: Id) -> Id {
        let one = self.constant(1.0);
        self.binary(Binary::Sub, one, a)
    }

    pub fn select(&mut self, condition: Id, a: Id, b: Id) -> Id {
        match self.as_constant(condition) {
            Some(0.0) => b,
            Some(_) => a,
            None => self.add(Node::Select(condition, a, b)),
        }
    }

    pub fn sum(&mut self, items: &[Id]) -> Id {
        let zero = self.constant(0.0);
        let mut total = zero;
        for &item in items {
            total = self.binary(Binary::Add, total, item);
        }
        total
    }

    /// Marks the columns of numbers and of categories that `ids` are made of.
    pub fn mark_columns(&self, ids: &[Id], numbers: &mut [bool], groups: &mut [bool]) {
        let mut is_reached = vec![false; self.len()];
        ids.iter().for_each(|&id| is_reached[id as usize] = true);
        for at in (0..self.len()).rev() {
            if !is_reached[at] {
                continue;
            }
            for child in self.children(at as Id) {
                is_reached[child as usize] = true;
            }
            match &self.nodes[at] {
                Node::Column(column) => numbers[*column] = true,
                Node::LevelIs { column, .. } => groups[*column] = true,
                Node::Gather { picks, .. } => {
                    picks.iter().for_each(|(_, column)| groups[*column] = true);
                }
                Node::Constant(_)
                | Node::Parameter(_)
                | Node::Element { .. }
                | Node::Call(..)
                | Node::Binary(..)
                | Node::Select(..) => {}
            }
        }
    }

    /// Whether the value is the same for all rows, though it depends on parameters.
    fn is_uniform(&self, id: Id) -> bool {
        !self.depends(id).lane
    }

    /// What columns alone say.
    pub fn is_data(&self, id: Id) -> bool {
        let depends = self.depends(id);
        depends.lane && !depends.parameters
    }

    pub fn binary(&mut self, operation: Binary, a: Id, b: Id) -> Id {
        let (of_a, of_b) = (self.as_constant(a), self.as_constant(b));
        if let (Some(x), Some(y)) = (of_a, of_b) {
            return self.constant(operation.of(x, y));
        }
        match (operation, of_a, of_b) {
            (Binary::Add, Some(0.0), _) | (Binary::Mul, Some(1.0), _) => return b,
            (Binary::Add | Binary::Sub, _, Some(0.0)) => return a,
            (Binary::Mul | Binary::Div | Binary::Pow, _, Some(1.0)) => return a,
            (Binary::Pow, _, Some(2.0)) => return self.call(Function::Square, a),
            (Binary::Pow, _, Some(0.5)) => return self.call(Function::Sqrt, a),
            (Binary::Pow, _, Some(power)) if power.fract() == 0.0 && power.abs() <= 8.0 => {
                return self.whole_power(a, power as i32);
            }
            // One division instead of one per row.
            (Binary::Div, _, _) if !self.is_uniform(a) && self.is_uniform(b) => {
                let one = self.constant(1.0);
                let inverse = self.binary(Binary::Div, one, b);
                return self.binary(Binary::Mul, a, inverse);
            }
            (Binary::Mul, _, _) => return self.product(a, b),
            _ => {}
        }
        self.add(Node::Binary(operation, a, b))
    }

    /// a^power by multiplication, which is exact where logarithms are not and defined where a is negative.
    fn whole_power(&mut self, a: Id, power: i32) -> Id {
        let mut result = self.constant(1.0);
        let mut square = a;
        let mut left = power.unsigned_abs();
        while left > 0 {
            if left % 2 == 1 {
                result = self.binary(Binary::Mul, result, square);
            }
            left /= 2;
            if left > 0 {
                square = self.call(Function::Square, square);
            }
        }
        if power < 0 {
            let one = self.constant(1.0);
            return self.binary(Binary::Div, one, result);
        }
        result
    }

    /// a b as (what is the same for all rows) × (what columns alone say) × (the rest).
    fn product(&mut self, a: Id, b: Id) -> Id {
        let mut factors = Vec::new();
        for id in [a, b] {
            match *self.node(id) {
                // Both uniform or both data: one factor.
                Node::Binary(Binary::Mul, x, y)
                    if self.depends(id)
                        == (Depends {
                            parameters: true,
                            lane: true,
                        }) =>
                {
                    match *self.node(x) {
                        Node::Binary(Binary::Mul, u, d)
                            if self.depends(x)
                                == (Depends {
                                    parameters: true,
                                    lane: true,
                                }) =>
                        {
                            factors.extend([u, d]);
                        }
                        _ => factors.push(x),
                    }
                    factors.push(y);
                }
                _ => factors.push(id),
            }
        }
        let kind = |graph: &Self, id: Id| match graph.depends(id) {
            Depends { lane: false, .. } => 0,
            Depends {
                parameters: false, ..
            } => 1,
            _ => 2,
        };
        let mut parts: [Option<Id>; 3] = [None; 3];
        for factor in factors {
            let kind = kind(self, factor);
            parts[kind] = Some(match parts[kind] {
                Some(before) => self.multiplied(before, factor),
                None => factor,
            });
        }
        let mut result: Option<Id> = None;
        for part in parts.into_iter().flatten() {
            result = Some(match result {
                Some(before) => self.multiplied(before, part),
                None => part,
            });
        }
        result.unwrap_or(a)
    }

    fn multiplied(&mut self, a: Id, b: Id) -> Id {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) => return self.constant(x * y),
            (Some(1.0), _) => return b,
            (_, Some(1.0)) => return a,
            _ => {}
        }
        if a == b {
            return self.call(Function::Square, a);
        }
        // A product does not depend on the order of its factors.
        let (a, b) = if self.depends(a) == self.depends(b) && a > b && self.as_constant(b).is_none()
        {
            (b, a)
        } else {
            (a, b)
        };
        self.add(Node::Binary(Binary::Mul, a, b))
    }
}

impl Binary {
    /// The operation on two numbers.
    pub fn of(self, a: f64, b: f64) -> f64 {
        let truth = |is| f64::from(u8::from(is));
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
            Self::Pow => a.powf(b),
            Self::Less => truth(a < b),
            Self::LessEqual => truth(a <= b),
            Self::Equal => truth(a == b),
        }
    }
}
