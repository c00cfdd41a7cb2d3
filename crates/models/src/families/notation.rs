//! What a family is in words, in equations, and in code of other programs.

/// How a response follows from its linear predictor, in other notations.
#[derive(Debug)]
pub struct Notation {
    /// What the linear predictor is, in words: "The log odds that `churned` is `yes`".
    pub predicted: String,
    /// How the response varies given that, as a sentence; empty where that follows.
    pub given: String,
    /// How the response follows from `eta[i]`, one relation per line.
    pub response: Vec<String>,
    /// Declarations in Stan's data block besides N, x, offset and weight.
    pub stan_data: Vec<String>,
    /// Functions of Stan that the density needs.
    pub stan_functions: Vec<String>,
    /// Name of the density in Stan: `bernoulli_logit`.
    pub stan_density: &'static str,
    /// Arguments of the density in Stan, of which those that end in `[]` are one value per row: `eta[]`, `sigma`.
    pub stan_arguments: Vec<String>,
    /// R code that prepares the response.
    pub r_response: Vec<String>,
    /// Family in brms.
    pub brms_family: &'static str,
}

/// A text of R or Stan.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text in a comment of code: one line.
pub fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
