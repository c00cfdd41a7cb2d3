//! Expressions in Stan as text, and positions in vectors.

/// How tightly an expression holds together: sums, products, signs, powers, everything else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bind {
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

/// An expression as code.
pub(super) struct Code {
    pub text: String,
    pub bind: Bind,
}

impl Code {
    pub fn atom(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            bind: Bind::Atom,
        }
    }

    /// In parentheses where it is not held together as tightly as `least`.
    pub fn within(self, least: Bind) -> String {
        if self.bind < least {
            format!("({})", self.text)
        } else {
            self.text
        }
    }
}

/// A position in a dimension.
#[derive(Clone, Debug)]
pub(super) enum At {
    /// 1-based.
    Fixed(usize),
    /// An expression, such as `i` or `region[n]`.
    Code(String),
}

impl At {
    pub fn text(&self) -> String {
        match self {
            Self::Fixed(at) => at.to_string(),
            Self::Code(text) => text.clone(),
        }
    }
}

/// The position of element `at`, in rows.
pub(super) fn fixed(mut at: usize, sizes: &[usize]) -> Vec<At> {
    let mut all = vec![At::Fixed(1); sizes.len()];
    for (place, size) in all.iter_mut().zip(sizes).rev() {
        *place = At::Fixed(at % size + 1);
        at /= size;
    }
    all
}

/// `[2, i]`; nothing of a number.
pub(super) fn index(at: &[At]) -> String {
    if at.is_empty() {
        return String::new();
    }
    let all: Vec<String> = at.iter().map(At::text).collect();
    format!("[{}]", all.join(", "))
}

/// A number as Stan reads it, never a whole one, for whole numbers divide otherwise.
pub(super) fn number(value: f64) -> String {
    format!("{value:?}")
}
