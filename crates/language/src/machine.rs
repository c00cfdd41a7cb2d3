//! The machine: runs a program over blocks of rows, forward for values and backward for derivatives.
//!
//! A register holds a number for each row of a block. A step is a loop over the block that compilers make vector instructions of;
//! nothing is allocated. Blocks follow each other in the order of the rows and sums are added in that order, so a result depends on
//! the rows and not on who computes it.

use ergodic_core::arithmetic::{Arithmetic, LANES, Lane, RowLoop, SimdLevel, run_loop};
use ergodic_core::models::Rows;

use crate::code::{Code, Input, Op, Operand, Store, Term};
use crate::syntax::Binary;

/// Rows of a block: few enough for the registers of a usual program to stay in the first cache, many enough to hide what a step
/// costs besides its loop.
pub(crate) const BLOCK: usize = 128;
/// Rows of a block of what is computed once: one vector.
pub(crate) const ONE: usize = LANES;

/// Registers of one chain for one program, with blocks of `B` rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers<const B: usize> {
    pub values: Vec<[f64; B]>,
    adjoints: Vec<[f64; B]>,
    pub slopes: Vec<[f64; B]>,
    /// Columns at rows that are not neighbours.
    pub picked: Vec<[f64; B]>,
    /// Derivatives by the inputs that are the same for all rows, as sums of eight.
    sums: Vec<Lane>,
}

impl<const B: usize> Registers<B> {
    pub fn of(code: &Code, num_columns: usize) -> Self {
        Self {
            values: vec![[0.0; B]; code.num_registers()],
            adjoints: vec![[0.0; B]; code.num_registers()],
            slopes: vec![[0.0; B]; code.num_slopes],
            picked: vec![[0.0; B]; num_columns],
            sums: vec![[0.0; LANES]; code.inputs.len()],
        }
    }

    /// The first row's value of an output of a program that ran once.
    pub fn output(&self, output: Operand) -> f64 {
        match output {
            Operand::Active(register) | Operand::Fixed(register) => self.values[register][0],
            Operand::Column(_) => f64::NAN,
        }
    }

    /// The derivative by input `at`, summed over rows.
    pub fn sum(&self, at: usize) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.sums[at];
        ((a + b) + (c + d)) + ((e + f) + (g + h))
    }

    /// The derivative of row `lane` of the block by input `at`.
    pub fn adjoint(&self, at: usize, lane: usize) -> f64 {
        self.adjoints[at][lane]
    }
}

/// What a pass is to find.
pub(crate) enum Want<'a, const B: usize> {
    /// One value per row.
    Values(&'a mut [f64]),
    /// The sum and its derivatives: by inputs that are the same for all rows in the sums of registers, by gathered elements ADDED
    /// here.
    Gradient(&'a mut [f64]),
    /// Derivatives of every row: called with the number of the first row of a block, how many there are, and the registers.
    Scores(&'a mut dyn FnMut(usize, usize, &Registers<B>)),
}

/// A pass of a program over rows.
pub(crate) struct Pass<'a, const B: usize> {
    pub code: &'a Code,
    pub store: &'a Store,
    /// Rows of the sum in all.
    pub num_rows: usize,
    pub rows: Rows<'a>,
    /// Elements of all parameters.
    pub theta: &'a [f64],
    /// Outputs of the head.
    pub head: &'a [f64],
    pub registers: &'a mut Registers<B>,
    pub want: Want<'a, B>,
}

/// Where column values of a block are.
pub(crate) struct Data<'a, const B: usize> {
    pub store: &'a Store,
    pub picked: &'a [[f64; B]],
    /// First row of a block of neighbours.
    pub start: Option<usize>,
}

impl<const B: usize> Data<'_, B> {
    #[inline(always)]
    fn column(&self, at: usize) -> &[f64; B] {
        match self.start {
            // Columns are longer than the rows by a block.
            Some(start) => self.store.numbers[at][start..]
                .first_chunk()
                .unwrap_or(&self.picked[at]),
            None => &self.picked[at],
        }
    }
}

#[inline(always)]
pub(crate) fn read<'a, const B: usize>(
    operand: Operand,
    values: &'a [[f64; B]],
    data: &'a Data<'_, B>,
) -> &'a [f64; B] {
    match operand {
        Operand::Active(register) | Operand::Fixed(register) => &values[register],
        Operand::Column(column) => data.column(column),
    }
}

impl<const B: usize> RowLoop for Pass<'_, B> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let Pass {
            code,
            store,
            num_rows,
            rows,
            theta,
            head,
            registers,
            mut want,
        } = self;
        for (input, register) in code.inputs.iter().zip(&mut registers.values) {
            match input {
                Input::Constant(value) => register.fill(*value),
                Input::Parameter(at) => register.fill(theta[*at]),
                Input::Head(at) => register.fill(head[*at]),
                Input::Gather { .. } | Input::Element(_) => {}
            }
        }
        registers.sums.fill([0.0; LANES]);
        let output = code.outputs[0];
        let len = rows.len(num_rows);
        let mut total = [0.0; LANES];
        let mut first = 0;
        while first < len {
            let live = B.min(len - first);
            let width = live.next_multiple_of(LANES).min(B);
            load(code, store, theta, rows, first, live, registers);
            let start = rows.start().map(|start| start + first);
            let Registers {
                values,
                adjoints,
                slopes,
                picked,
                sums,
            } = &mut *registers;
            let data = Data {
                store,
                picked,
                start,
            };
            let with_slopes = matches!(want, Want::Gradient(_) | Want::Scores(_));
            if with_slopes {
                forward::<A, B, true, false>(code, values, slopes, &data, width);
            } else {
                forward::<A, B, false, false>(code, values, slopes, &data, width);
            }
            let value = read(output, values, &data);
            for group in value[..live].chunks(LANES) {
                for (sum, value) in total.iter_mut().zip(group) {
                    *sum += value;
                }
            }
            match &mut want {
                Want::Values(out) => out[first..first + live].copy_from_slice(&value[..live]),
                Want::Gradient(grad) => {
                    if let Operand::Active(register) = output {
                        seed(&mut adjoints[register], live);
                        backward::<A, B, true>(code, values, adjoints, slopes, &data, sums, width);
                        fold(code, adjoints, sums, live);
                        scatter(code, store, adjoints, rows, first, live, grad);
                    }
                }
                Want::Scores(each) => {
                    adjoints.fill([0.0; B]);
                    if let Operand::Active(register) = output {
                        seed(&mut adjoints[register], live);
                        backward::<A, B, false>(code, values, adjoints, slopes, &data, sums, width);
                    }
                    each(first, live, registers);
                }
            }
            first += B;
        }
        let [a, b, c, d, e, f, g, h] = total;
        ((a + b) + (c + d)) + ((e + f) + (g + h))
    }
}

/// Derivatives by the outputs of a program that ran, for which those by the parameters are ADDED to the second.
type Back<'a> = Option<(&'a [f64], &'a mut [f64])>;

/// Runs a program for its outputs where the parameters are `theta`, or backward after that.
pub(crate) fn run_once(
    level: SimdLevel,
    code: &Code,
    theta: &[f64],
    registers: &mut Registers<ONE>,
    back: Back<'_>,
) {
    let pass = Once {
        code,
        theta,
        registers,
        back,
    };
    run_loop(level, pass);
}

impl Code {
    /// The outputs of a program that runs once, where the parameters are `theta`.
    pub fn values(&self, level: SimdLevel, theta: &[f64]) -> Vec<f64> {
        let mut registers = Registers::of(self, 0);
        run_once(level, self, theta, &mut registers, None);
        let outputs = self.outputs.iter();
        outputs.map(|output| registers.output(*output)).collect()
    }
}

/// A pass of a program that runs once.
struct Once<'a> {
    code: &'a Code,
    theta: &'a [f64],
    registers: &'a mut Registers<ONE>,
    back: Back<'a>,
}

impl RowLoop for Once<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Once {
            code,
            theta,
            registers,
            back,
        } = self;
        let store = Store::default();
        let Registers {
            values,
            adjoints,
            slopes,
            picked,
            sums,
        } = registers;
        let data = Data {
            store: &store,
            picked,
            start: None,
        };
        let Some((seeds, grad)) = back else {
            for (input, register) in code.inputs.iter().zip(&mut *values) {
                match input {
                    Input::Constant(value) => register.fill(*value),
                    Input::Parameter(at) => register.fill(theta[*at]),
                    _ => register.fill(f64::NAN),
                }
            }
            return forward::<A, ONE, true, false>(code, values, slopes, &data, ONE);
        };
        adjoints.fill([0.0; ONE]);
        for (output, seed) in code.outputs.iter().zip(seeds) {
            if let Operand::Active(register) = output {
                adjoints[*register][0] += seed;
            }
        }
        backward::<A, ONE, false>(code, values, adjoints, slopes, &data, sums, ONE);
        for (input, adjoint) in code.inputs.iter().zip(&*adjoints) {
            if let Input::Parameter(at) = input {
                grad[*at] += adjoint[0];
            }
        }
    }
}

/// 1 for each row that counts.
#[inline(always)]
fn seed<const B: usize>(adjoint: &mut [f64; B], live: usize) {
    adjoint[..live].fill(1.0);
    adjoint[live..].fill(0.0);
}

/// The element that a gathering input reads in a row.
#[inline(always)]
pub(crate) fn gathered(
    store: &Store,
    offset: usize,
    picks: &[(usize, usize)],
    row: usize,
) -> usize {
    let codes = picks
        .iter()
        .map(|(stride, column)| stride * store.codes[*column][row] as usize);
    offset + codes.sum::<usize>()
}

/// Fills the registers of inputs that differ by row, and columns of rows that are not neighbours. Places beyond the rows that
/// count repeat the first, so that nothing there is worse than in a row that counts.
#[inline(always)]
fn load<const B: usize>(
    code: &Code,
    store: &Store,
    theta: &[f64],
    rows: Rows<'_>,
    first: usize,
    live: usize,
    registers: &mut Registers<B>,
) {
    for (input, register) in code.inputs.iter().zip(&mut registers.values) {
        match input {
            Input::Gather { offset, picks } => {
                if let [(1, column)] = picks.as_slice() {
                    let (theta, codes) = (&theta[*offset..], &store.codes[*column]);
                    for (k, value) in register[..live].iter_mut().enumerate() {
                        *value = theta[codes[rows.get(first + k)] as usize];
                    }
                } else {
                    for (k, value) in register[..live].iter_mut().enumerate() {
                        *value = theta[gathered(store, *offset, picks, rows.get(first + k))];
                    }
                }
            }
            Input::Element(offset) => {
                for (k, value) in register[..live].iter_mut().enumerate() {
                    *value = theta[offset + rows.get(first + k)];
                }
            }
            Input::Constant(_) | Input::Parameter(_) | Input::Head(_) => continue,
        }
        let repeated = register[0];
        register[live..].fill(repeated);
    }
    if rows.start().is_some() {
        return;
    }
    for (column, picked) in store.numbers.iter().zip(&mut registers.picked) {
        match rows {
            Rows::Pick(picks) => {
                for (value, &row) in picked.iter_mut().zip(&picks[first..first + live]) {
                    *value = column[row as usize];
                }
            }
            _ => {
                for (k, value) in picked[..live].iter_mut().enumerate() {
                    *value = column[rows.get(first + k)];
                }
            }
        }
        let repeated = picked[0];
        picked[live..].fill(repeated);
    }
}

/// Adds what a block says about inputs that are the same for all rows to their sums.
#[inline(always)]
fn fold<const B: usize>(code: &Code, adjoints: &[[f64; B]], sums: &mut [Lane], live: usize) {
    for (at, input) in code.inputs.iter().enumerate() {
        if code.input_is_used[at] && matches!(input, Input::Parameter(_) | Input::Head(_)) {
            for group in adjoints[at][..live].chunks(LANES) {
                for (sum, value) in sums[at].iter_mut().zip(group) {
                    *sum += value;
                }
            }
        }
    }
}

/// Adds what a block says about gathered elements to the gradient.
#[inline(always)]
fn scatter<const B: usize>(
    code: &Code,
    store: &Store,
    adjoints: &[[f64; B]],
    rows: Rows<'_>,
    first: usize,
    live: usize,
    grad: &mut [f64],
) {
    for (at, input) in code.inputs.iter().enumerate() {
        if !code.input_is_used[at] {
            continue;
        }
        let adjoint = &adjoints[at][..live];
        match input {
            Input::Gather { offset, picks } => {
                if let [(1, column)] = picks.as_slice() {
                    let (grad, codes) = (&mut grad[*offset..], &store.codes[*column]);
                    for (k, adjoint) in adjoint.iter().enumerate() {
                        grad[codes[rows.get(first + k)] as usize] += adjoint;
                    }
                } else {
                    for (k, adjoint) in adjoint.iter().enumerate() {
                        grad[gathered(store, *offset, picks, rows.get(first + k))] += adjoint;
                    }
                }
            }
            Input::Element(offset) => {
                for (k, adjoint) in adjoint.iter().enumerate() {
                    grad[offset + rows.get(first + k)] += adjoint;
                }
            }
            Input::Constant(_) | Input::Parameter(_) | Input::Head(_) => {}
        }
    }
}

/// Runs the steps of a block. `ACROSS`: its places are draws of one row, so factors of affine terms differ too.
#[inline(always)]
pub(crate) fn forward<A: Arithmetic, const B: usize, const SLOPES: bool, const ACROSS: bool>(
    code: &Code,
    values: &mut [[f64; B]],
    slopes: &mut [[f64; B]],
    data: &Data<'_, B>,
    width: usize,
) {
    let inputs = code.inputs.len();
    let width = width.min(B);
    for (at, step) in code.steps.iter().enumerate() {
        let (before, after) = values.split_at_mut(inputs + at);
        let out = &mut after[0];
        let [a, b, c] = step.operands;
        match step.op {
            Op::Binary(operation) => {
                let (a, b) = (read(a, before, data), read(b, before, data));
                macro_rules! each {
                    ($value:expr) => {
                        for k in 0..width {
                            out[k] = $value(a[k], b[k]);
                        }
                    };
                }
                match operation {
                    Binary::Add => each!(|a, b| a + b),
                    Binary::Sub => each!(|a, b| a - b),
                    Binary::Mul => each!(|a, b| a * b),
                    Binary::Div => each!(|a, b| a / b),
                    Binary::Pow => each!(f64::powf),
                    Binary::Less => each!(|a, b| if a < b { 1.0 } else { 0.0 }),
                    Binary::LessEqual => each!(|a, b| if a <= b { 1.0 } else { 0.0 }),
                    Binary::Equal => each!(|a, b| if a == b { 1.0 } else { 0.0 }),
                }
            }
            Op::Call(function, slope) => {
                let a = read(a, before, data);
                let lanes = width / LANES;
                let from = a.as_chunks::<LANES>().0.iter().take(lanes);
                let to = out.as_chunks_mut::<LANES>().0.iter_mut();
                let of_slope = slopes[slope].as_chunks_mut::<LANES>().0.iter_mut();
                for ((x, value), slope) in from.zip(to).zip(of_slope) {
                    let (f, df) = function.of_lane::<A, SLOPES>(x);
                    *value = f;
                    if SLOPES {
                        *slope = df;
                    }
                }
            }
            Op::Select => {
                let (a, b, c) = (
                    read(a, before, data),
                    read(b, before, data),
                    read(c, before, data),
                );
                for k in 0..width {
                    out[k] = if a[k] == 0.0 { c[k] } else { b[k] };
                }
            }
            Op::Affine { from, to } if ACROSS => {
                affine_across::<A, B>(&code.terms[from..to], before, data, width, out);
            }
            Op::Affine { from, to } => {
                affine::<A, B>(&code.terms[from..to], before, data, width, out);
            }
        }
    }
}

/// Σ sign × factor × column with factors of their own, in the order of [`affine`].
#[inline(always)]
fn affine_across<A: Arithmetic, const B: usize>(
    terms: &[Term],
    values: &[[f64; B]],
    data: &Data<'_, B>,
    width: usize,
    out: &mut [f64; B],
) {
    let width = width.min(B);
    out[..width].fill(0.0);
    for term in terms.iter().filter(|term| term.column.is_none()) {
        let factor = &values[term.factor];
        for k in 0..width {
            out[k] += term.sign * factor[k];
        }
    }
    for term in terms {
        let Some(column) = term.column else {
            continue;
        };
        let (factor, x) = (&values[term.factor], data.column(column));
        for k in 0..width {
            out[k] = A::mul_add(term.sign * factor[k], x[k], out[k]);
        }
    }
}

/// Σ sign × factor × column.
#[inline(always)]
fn affine<A: Arithmetic, const B: usize>(
    terms: &[Term],
    values: &[[f64; B]],
    data: &Data<'_, B>,
    width: usize,
    out: &mut [f64; B],
) {
    let factor = |term: &Term| term.sign * values[term.factor][0];
    let mut base = 0.0;
    for term in terms.iter().filter(|term| term.column.is_none()) {
        base += factor(term);
    }
    out[..width].fill(base);
    let mut held: [(f64, usize); 4] = [(0.0, 0); 4];
    let mut count = 0;
    for term in terms {
        let Some(column) = term.column else {
            continue;
        };
        held[count] = (factor(term), column);
        count += 1;
        if count == held.len() {
            // Four at a time, so that the sum is loaded and stored once for four columns.
            let [(f0, c0), (f1, c1), (f2, c2), (f3, c3)] = held;
            let (x0, x1) = (data.column(c0), data.column(c1));
            let (x2, x3) = (data.column(c2), data.column(c3));
            for k in 0..width {
                let z = A::mul_add(f1, x1[k], A::mul_add(f0, x0[k], out[k]));
                out[k] = A::mul_add(f3, x3[k], A::mul_add(f2, x2[k], z));
            }
            count = 0;
        }
    }
    for &(f, column) in &held[..count] {
        let x = data.column(column);
        for k in 0..width {
            out[k] = A::mul_add(f, x[k], out[k]);
        }
    }
}

/// Hands seed × `slope` to an operand. `LIMITS`: the slope may be infinite or none, as that of log x is at 0, and counts for nothing where the
/// seed is 0, for there nothing depends on the operand, such as in the part of a `where` that is not taken.
#[inline(always)]
fn give<A: Arithmetic, const B: usize, const LIMITS: bool>(
    before: &mut [[f64; B]],
    operand: Operand,
    first: bool,
    seed: &[f64; B],
    width: usize,
    slope: impl Fn(usize) -> f64,
) {
    let Operand::Active(register) = operand else {
        return;
    };
    let to = &mut before[register];
    let width = width.min(B);
    if first {
        for k in 0..width {
            to[k] = if LIMITS && seed[k] == 0.0 {
                0.0
            } else {
                seed[k] * slope(k)
            };
        }
    } else {
        for k in 0..width {
            to[k] = if LIMITS && seed[k] == 0.0 {
                to[k]
            } else {
                A::mul_add(seed[k], slope(k), to[k])
            };
        }
    }
}

/// Hands derivatives back from the output to the inputs. `SUMMED`: those of affine terms go to the sums of their factors at once,
/// and registers need not be 0 before; otherwise to their registers, row by row, and all registers are added to.
#[inline(always)]
fn backward<A: Arithmetic, const B: usize, const SUMMED: bool>(
    code: &Code,
    values: &[[f64; B]],
    adjoints: &mut [[f64; B]],
    slopes: &[[f64; B]],
    data: &Data<'_, B>,
    sums: &mut [Lane],
    width: usize,
) {
    let inputs = code.inputs.len();
    for (at, step) in code.steps.iter().enumerate().rev() {
        if !step.live {
            continue;
        }
        let (before, after) = adjoints.split_at_mut(inputs + at);
        let seed = &after[0];
        let [a, b, c] = step.operands;
        let first = step.first.map(|first| SUMMED && first);
        macro_rules! give {
            ($operand:expr, $k:expr, $slope:expr, $limits:literal) => {
                give::<A, B, $limits>(
                    before,
                    $operand,
                    first[$k],
                    seed,
                    width,
                    #[inline(always)]
                    $slope,
                )
            };
        }
        match step.op {
            Op::Binary(operation) => {
                let (x, y) = (read(a, values, data), read(b, values, data));
                match operation {
                    Binary::Add => {
                        give!(a, 0, |_| 1.0, false);
                        give!(b, 1, |_| 1.0, false);
                    }
                    Binary::Sub => {
                        give!(a, 0, |_| 1.0, false);
                        give!(b, 1, |_| -1.0, false);
                    }
                    Binary::Mul => {
                        give!(a, 0, |k: usize| y[k], true);
                        give!(b, 1, |k: usize| x[k], true);
                    }
                    Binary::Div => {
                        give!(a, 0, |k: usize| 1.0 / y[k], true);
                        give!(b, 1, |k: usize| -x[k] / (y[k] * y[k]), true);
                    }
                    Binary::Pow => {
                        give!(a, 0, |k: usize| y[k] * x[k].powf(y[k] - 1.0), true);
                        give!(b, 1, |k: usize| x[k].powf(y[k]) * x[k].ln(), true);
                    }
                    Binary::Less | Binary::LessEqual | Binary::Equal => {}
                }
            }
            Op::Call(_, slope) => {
                let slope = &slopes[slope];
                give!(a, 0, |k: usize| slope[k], true);
            }
            Op::Select => {
                let is = read(a, values, data);
                give!(b, 1, |k: usize| if is[k] == 0.0 { 0.0 } else { 1.0 }, false);
                give!(c, 2, |k: usize| if is[k] == 0.0 { 1.0 } else { 0.0 }, false);
            }
            Op::Affine { from, to } => {
                let terms = &code.terms[from..to];
                if SUMMED {
                    affine_sums::<A, B>(terms, data, seed, width, sums);
                } else {
                    for term in terms.iter().filter(|term| term.active) {
                        let (to, sign) = (Operand::Active(term.factor), term.sign);
                        match term.column {
                            Some(column) => {
                                let x = data.column(column);
                                give::<A, B, false>(
                                    before,
                                    to,
                                    false,
                                    seed,
                                    width,
                                    #[inline(always)]
                                    |k| sign * x[k],
                                );
                            }
                            None => give::<A, B, false>(
                                before,
                                to,
                                false,
                                seed,
                                width,
                                #[inline(always)]
                                |_| sign,
                            ),
                        }
                    }
                }
            }
        }
    }
}

/// Adds Σ seed × column to the sums of the factors.
#[inline(always)]
fn affine_sums<A: Arithmetic, const B: usize>(
    terms: &[Term],
    data: &Data<'_, B>,
    seed: &[f64; B],
    width: usize,
    sums: &mut [Lane],
) {
    let seeds = &seed.as_chunks::<LANES>().0[..width / LANES];
    let mut held: [&Term; 4] = match terms.first() {
        Some(term) => [term; 4],
        None => return,
    };
    let mut count = 0;
    for term in terms.iter().filter(|term| term.active) {
        if term.column.is_none() {
            for group in seeds {
                for k in 0..LANES {
                    sums[term.factor][k] = A::mul_add(term.sign, group[k], sums[term.factor][k]);
                }
            }
            continue;
        }
        held[count] = term;
        count += 1;
        if count == held.len() {
            sum_of::<A, B, 4>(held, data, seeds, sums);
            count = 0;
        }
    }
    for term in &held[..count] {
        sum_of::<A, B, 1>([term], data, seeds, sums);
    }
}

/// The sum of `T` terms with columns together: one sum would wait for its last addition.
#[inline(always)]
fn sum_of<A: Arithmetic, const B: usize, const T: usize>(
    terms: [&Term; T],
    data: &Data<'_, B>,
    seeds: &[Lane],
    sums: &mut [Lane],
) {
    let mut columns: [&[Lane]; T] = [&[]; T];
    for (column, term) in columns.iter_mut().zip(terms) {
        *column = &data
            .column(term.column.unwrap_or_default())
            .as_chunks::<LANES>()
            .0[..seeds.len()];
    }
    let mut total = [[0.0; LANES]; T];
    for (g, group) in seeds.iter().enumerate() {
        for t in 0..T {
            let x = &columns[t][g];
            for k in 0..LANES {
                total[t][k] = A::mul_add(group[k], x[k], total[t][k]);
            }
        }
    }
    for t in 0..T {
        for k in 0..LANES {
            let sum = &mut sums[terms[t].factor][k];
            *sum = A::mul_add(terms[t].sign, total[t][k], *sum);
        }
    }
}
