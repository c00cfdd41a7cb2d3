//! Factors of formula terms: columns and functions of columns, written as in R.
//!
//! ```text
//! log(x) log2(x) log10(x) log1p(x) sqrt(x) exp(x) abs(x)     elementwise
//! scale(x)                     mean 0 and sample standard deviation 1
//! I(x^2)                       a power
//! I(x > 2) I(x == 0)           1 where a column compares so with a number, otherwise 0; also >= < <= !=
//! I(x / 10) I(x - 50)          a column and a number; also + and *
//! factor(x)                    a column of numbers as categories; also as.factor(x), C(x)
//! poly(x, 2)                   orthogonal polynomials; poly(x, 2, raw = TRUE) for powers
//! ns(x, 3)                     natural cubic splines with 3 degrees of freedom, also ns(x, df = 3)
//! bs(x, 6)                     cubic B-splines, also bs(x, df = 6, degree = 2)
//! s(x)                         a smooth curve whose wiggliness is estimated, also s(x, k = 20)
//! log(scale(x)), ns(log(x), 3) functions of functions
//! ```

use std::fmt;

use super::quote_name;
use ergodic_base::shown::shortened;

/// Largest degree of a polynomial, a power or a spline; splines are evaluated without allocation up to it.
pub(crate) const MAX_DEGREE: u32 = 15;
/// Most columns that one function gives.
const MAX_COLUMNS: u32 = 1000;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Elementwise {
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// log(1 + x), exact near 0.
    Log1p,
    /// Square root.
    Sqrt,
    /// Exponential function.
    Exp,
    /// Absolute value.
    Abs,
}

impl Elementwise {
    pub(super) const ALL: [Self; 7] = [
        Self::Log,
        Self::Log2,
        Self::Log10,
        Self::Log1p,
        Self::Sqrt,
        Self::Exp,
        Self::Abs,
    ];

    /// Name of the function in formulas.
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Log2 => "log2",
            Self::Log10 => "log10",
            Self::Log1p => "log1p",
            Self::Sqrt => "sqrt",
            Self::Exp => "exp",
            Self::Abs => "abs",
        }
    }

    /// Value at `x`, NaN or infinite where there is none.
    pub fn at(self, x: f64) -> f64 {
        match self {
            Self::Log => x.ln(),
            Self::Log2 => x.log2(),
            Self::Log10 => x.log10(),
            Self::Log1p => x.ln_1p(),
            Self::Sqrt => x.sqrt(),
            Self::Exp => x.exp(),
            Self::Abs => x.abs(),
        }
    }

    /// The value at which this function is `y`, for functions that grow with their argument: of a response, where 0 is the
    /// least value of a square root and values of `exp` are above 0. NaN for `abs`, which two values share.
    pub fn inverse(self, y: f64) -> f64 {
        match self {
            Self::Log => y.exp(),
            Self::Log2 => y.exp2(),
            Self::Log10 => 10_f64.powf(y),
            Self::Log1p => y.exp_m1(),
            Self::Sqrt => y.max(0.0).powi(2),
            Self::Exp => y.max(f64::MIN_POSITIVE).ln(),
            Self::Abs => f64::NAN,
        }
    }

    /// Derivative at `x`.
    pub fn slope_at(self, x: f64) -> f64 {
        match self {
            Self::Log => 1.0 / x,
            Self::Log2 => 1.0 / (x * std::f64::consts::LN_2),
            Self::Log10 => 1.0 / (x * std::f64::consts::LN_10),
            Self::Log1p => 1.0 / (1.0 + x),
            Self::Sqrt => 0.5 / x.sqrt(),
            Self::Exp => x.exp(),
            Self::Abs => x.signum(),
        }
    }

    /// Whether the function can stand around a response: every prediction has a value on the scale of the data.
    pub(crate) fn is_invertible(self) -> bool {
        !matches!(self, Self::Exp | Self::Abs)
    }

    /// Where the function has values, in words.
    pub(crate) fn domain(self) -> &'static str {
        match self {
            Self::Log | Self::Log2 | Self::Log10 => "values above 0",
            Self::Log1p => "values above -1",
            Self::Sqrt => "values of at least 0",
            Self::Exp => "values below 709",
            Self::Abs => "finite values",
        }
    }
}

/// A finite number in a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Constant(u64);

impl Constant {
    /// The constant of `value`; -0 is 0.
    pub fn new(value: f64) -> Self {
        Self((value + 0.0).to_bits())
    }

    /// The number.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value();
        // Beyond these R writes exponents too; written out they could be 300 digits.
        if value == 0.0 || (1e-5..1e15).contains(&value.abs()) {
            write!(f, "{value}")
        } else {
            write!(f, "{value:e}")
        }
    }
}

/// What stands between a column and a number in `I(…)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// `>`: 1 or 0, as all comparisons.
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Divide,
}

impl Operator {
    /// All with their signs.
    pub(super) const ALL: [(Self, &str); 10] = [
        (Self::Above, ">"),
        (Self::AtLeast, ">="),
        (Self::Below, "<"),
        (Self::AtMost, "<="),
        (Self::Equal, "=="),
        (Self::Unequal, "!="),
        (Self::Plus, "+"),
        (Self::Minus, "-"),
        (Self::Times, "*"),
        (Self::Divide, "/"),
    ];

    pub(super) fn from_symbol(symbol: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, sign)| *sign == symbol);
        found.map(|(operator, _)| *operator)
    }

    fn symbol(self) -> &'static str {
        let found = Self::ALL.iter().find(|(operator, _)| *operator == self);
        found.map_or("", |(_, sign)| sign)
    }

    /// The operator with both sides exchanged; `None` where there is none.
    pub(super) fn mirrored(self) -> Option<Self> {
        match self {
            Self::Above => Some(Self::Below),
            Self::AtLeast => Some(Self::AtMost),
            Self::Below => Some(Self::Above),
            Self::AtMost => Some(Self::AtLeast),
            Self::Equal | Self::Unequal | Self::Plus | Self::Times => Some(self),
            Self::Minus | Self::Divide => None,
        }
    }

    /// The value of `x` and `c` with this between them.
    pub fn at(self, x: f64, c: f64) -> f64 {
        let one_if = |holds: bool| f64::from(u8::from(holds));
        match self {
            Self::Above => one_if(x > c),
            Self::AtLeast => one_if(x >= c),
            Self::Below => one_if(x < c),
            Self::AtMost => one_if(x <= c),
            Self::Equal => one_if(x == c),
            Self::Unequal => one_if(x != c),
            Self::Plus => x + c,
            Self::Minus => x - c,
            Self::Times => x * c,
            Self::Divide => x / c,
        }
    }
}

/// Whether `name` is the name of a function that makes categories of a column.
pub(super) fn is_category_call(name: &str) -> bool {
    matches!(name, "factor" | "as.factor" | "C")
}

/// A function in a formula with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// A function of each number alone.
    Elementwise(Elementwise),
    /// (x − mean) / sample standard deviation.
    Scale,
    /// `I(x^d)`.
    Power(u32),
    /// `I(x > 2)`.
    Inside {
        /// Between the column and the number.
        operator: Operator,
        /// The number.
        value: Constant,
    },
    /// Polynomials of degree 1 to `degree`.
    Poly {
        /// Number of columns.
        degree: u32,
        /// Powers of x instead of polynomials orthonormal over the rows.
        raw: bool,
    },
    /// Natural cubic splines.
    Natural {
        /// Degrees of freedom: the number of columns.
        df: u32,
    },
    /// B-splines.
    BSpline {
        /// Degrees of freedom: the number of columns.
        df: u32,
        /// Of the polynomials between knots.
        degree: u32,
    },
    /// A penalised smooth curve: its straight line, then the columns that bend it, whose coefficients have a spread of their own.
    Smooth {
        /// Dimension of the basis, the constant included, as in mgcv: there are k − 1 columns.
        k: u32,
    },
}

/// An argument after the first: `3`, `df = 3`, `raw = TRUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub name: Option<String>,
    pub value: String,
    /// 1-based character of the formula where it begins.
    pub position: usize,
}

/// Why a call has no meaning: the 1-based character of the formula, if it is an argument's, and the sentence.
pub(super) type CallError = (Option<usize>, String);

impl Function {
    /// The function called `name` with the arguments after the first; `None` if there is none of this name.
    pub(super) fn from_call(name: &str, args: &[Argument]) -> Option<Result<Self, CallError>> {
        if let Some(function) = Elementwise::ALL.into_iter().find(|f| f.name() == name) {
            return Some(match_args(name, &[], args).map(|_none| Self::Elementwise(function)));
        }
        Some(match name {
            "scale" => match_args(name, &[], args).map(|_none| Self::Scale),
            "poly" => poly(args),
            "ns" => match_args(name, &["df"], args).and_then(|found| {
                Ok(Self::Natural {
                    df: required("ns", "df", &found[0], 1)?,
                })
            }),
            "bs" => b_spline(args),
            "s" => smooth(args),
            _ => return None,
        })
    }

    /// The functions there are, for errors.
    pub(super) const KNOWN: &str = "log, log2, log10, log1p, sqrt, exp, abs, scale, I(x^2), I(x > 2), poly, ns, bs, s and factor";

    /// How many columns the function gives.
    pub fn num_columns(self) -> usize {
        match self {
            Self::Elementwise(_) | Self::Scale | Self::Power(_) | Self::Inside { .. } => 1,
            Self::Poly { degree, .. } => degree as usize,
            Self::Natural { df } | Self::BSpline { df, .. } => df as usize,
            Self::Smooth { k } => k as usize - 1,
        }
    }
}

/// The values of the parameters `names`, the first given by position or by name, the others by name, as in R.
fn match_args<'a>(
    function: &str,
    names: &[&str],
    args: &'a [Argument],
) -> Result<Vec<Option<&'a Argument>>, CallError> {
    let mut found: Vec<Option<&Argument>> = vec![None; names.len()];
    for named in [true, false] {
        for arg in args.iter().filter(|arg| arg.name.is_some() == named) {
            let slot = match &arg.name {
                Some(name) => names.iter().position(|other| other == name),
                // R's own order has other parameters between the first and the next.
                None => (!names.is_empty()).then_some(0),
            };
            match slot {
                Some(slot) if found[slot].is_none() => found[slot] = Some(arg),
                _ => {
                    let what = arg.name.as_ref().unwrap_or(&arg.value);
                    let takes = match names {
                        [] => "only a column".to_owned(),
                        _ => format!("a column and {}, each once", names.join(" and ")),
                    };
                    return Err((
                        Some(arg.position),
                        format!(
                            "`{}` has no meaning here; `{function}()` takes {takes}{}",
                            shortened(what),
                            match function {
                                "log" => "; `log2()` and `log10()` have other bases",
                                _ => "",
                            }
                        ),
                    ));
                }
            }
        }
    }
    Ok(found)
}

/// The argument as a whole number from `least` to `most`.
pub(super) fn whole(what: &str, arg: &Argument, least: u32, most: u32) -> Result<u32, CallError> {
    match arg.value.parse() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err((
            Some(arg.position),
            format!(
                "{what} must be a whole number from {least} to {most}, found `{}`",
                shortened(&arg.value)
            ),
        )),
    }
}

fn required(
    function: &str,
    name: &str,
    arg: &Option<&Argument>,
    least: u32,
) -> Result<u32, CallError> {
    match arg {
        Some(arg) => whole(name, arg, least, MAX_COLUMNS),
        None => Err((
            None,
            format!("`{function}()` needs {name}, such as `{function}(x, 4)`"),
        )),
    }
}

fn poly(args: &[Argument]) -> Result<Function, CallError> {
    let found = match_args("poly", &["degree", "raw"], args)?;
    let degree = found[0].map_or(Ok(1), |arg| whole("degree", arg, 1, MAX_DEGREE))?;
    let raw = match found[1] {
        None => false,
        Some(arg) => match arg.value.as_str() {
            "TRUE" | "T" => true,
            "FALSE" | "F" => false,
            other => {
                return Err((
                    Some(arg.position),
                    format!("raw must be TRUE or FALSE, found `{}`", shortened(other)),
                ));
            }
        },
    };
    Ok(Function::Poly { degree, raw })
}

fn b_spline(args: &[Argument]) -> Result<Function, CallError> {
    let found = match_args("bs", &["df", "degree"], args)?;
    let degree = found[1].map_or(Ok(CUBIC), |arg| whole("degree", arg, 1, MAX_DEGREE))?;
    let df = required("bs", "df", &found[0], degree)?;
    Ok(Function::BSpline { df, degree })
}

/// Dimension of the basis of a smooth curve if none is named, that of mgcv.
pub const SMOOTH_K: u32 = 10;
/// Least dimension: a constant, a straight line, and one column that bends.
pub(crate) const LEAST_K: u32 = 3;
/// Largest dimension: more columns than the widest curves need, and eigenvectors that are still exact.
const MOST_K: u32 = 100;

fn smooth(args: &[Argument]) -> Result<Function, CallError> {
    for arg in args {
        if let Some(name @ ("bs" | "by" | "fx" | "m" | "sp" | "id" | "pc" | "xt")) =
            arg.name.as_deref()
        {
            return Err((
                Some(arg.position),
                format!(
                    "`s()` has no argument `{name}` here; it takes a column and k, such as `s(x, k = 20)`"
                ),
            ));
        }
        let number = arg
            .value
            .starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if arg.name.is_none() && !number {
            return Err((
                Some(arg.position),
                format!(
                    "`s()` is a curve along one column here, so `{}` needs one of its own, `s({0})`",
                    shortened(&arg.value)
                ),
            ));
        }
    }
    let found = match_args("s", &["k"], args)?;
    let k = found[0].map_or(Ok(SMOOTH_K), |arg| whole("k", arg, LEAST_K, MOST_K))?;
    Ok(Function::Smooth { k })
}

/// Degree of B-splines if none is named.
const CUBIC: u32 = 3;

/// One factor of a term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Factor {
    /// A column as it is.
    Column(String),
    /// `factor(x)`: a column as categories, also if it holds numbers.
    Category(String),
    /// A function of a factor that is one column of numbers.
    Call(Function, Box<Self>),
}

impl Factor {
    /// Whether a regression spline, `ns` or `bs`, is in it.
    pub fn has_spline(&self) -> bool {
        match self {
            Self::Column(_) | Self::Category(_) => false,
            Self::Call(Function::Natural { .. } | Function::BSpline { .. }, _) => true,
            Self::Call(_, inner) => inner.has_spline(),
        }
    }

    /// The column below all functions.
    pub fn column(&self) -> &str {
        match self {
            Self::Column(name) | Self::Category(name) => name,
            Self::Call(_, inner) => inner.column(),
        }
    }

    /// The column, if it stands alone.
    pub fn as_column(&self) -> Option<&str> {
        match self {
            Self::Column(name) => Some(name),
            Self::Category(_) | Self::Call(..) => None,
        }
    }

    /// Whether this is a penalised smooth curve.
    pub fn is_smooth(&self) -> bool {
        matches!(self, Self::Call(Function::Smooth { .. }, _))
    }

    /// The factor as it is reported between the brackets of `b[…]`: a column's name as it is, also that of
    /// categories, a call as it is written, a smooth curve without its k: a formula has one along a column.
    pub fn label(&self) -> String {
        match self {
            Self::Column(name) | Self::Category(name) => name.clone(),
            Self::Call(Function::Smooth { .. }, of) => format!("s({of})"),
            Self::Call(..) => self.to_string(),
        }
    }
}

impl From<String> for Factor {
    fn from(name: String) -> Self {
        Self::Column(name)
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (function, of) = match self {
            Self::Column(name) => return f.write_str(&quote_name(name)),
            Self::Category(name) => return write!(f, "factor({})", quote_name(name)),
            Self::Call(function, of) => (function, of),
        };
        match function {
            Function::Elementwise(function) => write!(f, "{}({of})", function.name()),
            Function::Scale => write!(f, "scale({of})"),
            Function::Power(power) => write!(f, "I({of}^{power})"),
            // As R writes them: divisions without spaces.
            Function::Inside {
                operator: Operator::Divide,
                value,
            } => write!(f, "I({of}/{value})"),
            Function::Inside { operator, value } => {
                write!(f, "I({of} {} {value})", operator.symbol())
            }
            Function::Poly { degree, raw: false } => write!(f, "poly({of}, {degree})"),
            Function::Poly { degree, raw: true } => write!(f, "poly({of}, {degree}, raw = TRUE)"),
            Function::Natural { df } => write!(f, "ns({of}, {df})"),
            Function::BSpline { df, degree: CUBIC } => write!(f, "bs({of}, {df})"),
            Function::BSpline { df, degree } => write!(f, "bs({of}, {df}, degree = {degree})"),
            Function::Smooth { k: SMOOTH_K } => write!(f, "s({of})"),
            Function::Smooth { k } => write!(f, "s({of}, k = {k})"),
        }
    }
}
