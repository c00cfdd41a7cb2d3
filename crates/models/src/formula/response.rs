//! The left side of formulas, as brms and as R write it.

use super::factor::{Elementwise, Function, is_category_call};
use super::parser::{Parser, at};
use super::tokens::Token;
use super::{FormulaError, Response, Trials, quote_name};
use ergodic_base::shown::shortened;

impl Parser {
    /// `y`, `log(y)`, `cbind(r, s)`, `r/n`, with `| trials(n) + weights(w) + se(s) + cens(c)`.
    pub(super) fn response(&mut self) -> Result<Response, FormulaError> {
        let mut divided = false;
        let mut response = match self.at_call() {
            Some("cbind") => self.successes_and_failures()?,
            Some(_) => self.function_of_response()?,
            None => {
                let column = self.name("the outcome, a column name")?;
                divided = self.take_if("/");
                let trials = divided.then(|| self.trials()).transpose()?;
                Response {
                    column,
                    function: None,
                    ordered: false,
                    trials,
                    weights: None,
                    se: None,
                    cens: None,
                }
            }
        };
        let position = self.position();
        match self.peek() {
            Token::Symbol(
                sign @ ("+" | "-" | "*" | "/" | "^" | ">" | "<" | ">=" | "<=" | "==" | "!="),
            ) => {
                let instead = match *sign {
                    "==" | "!=" => {
                        "which of two values is a success is the setting `model.success`, and other conditions need a column in the data"
                    }
                    _ => "add a column with the result of the calculation to the data",
                };
                return self.error(format!(
                    "`{sign}` has no meaning here: an outcome is a column, a function of one such as `log(y)`, `r/n` or \
                     `cbind(r, s)`; {instead}"
                ));
            }
            Token::Symbol("|") => self.take(),
            _ => return Ok(response),
        };
        loop {
            match self.at_call() {
                Some("trials") if response.trials.is_none() => {
                    if let Some(function) = response.function {
                        return self.error(format!(
                            "`{}({})` is not a number of successes, so it has no trials; leave `trials(…)` out",
                            function.name(),
                            shortened(&response.column)
                        ));
                    }
                    self.next += 2;
                    response.trials = Some(self.trials()?);
                }
                Some("weights") if response.weights.is_none() => {
                    self.next += 2;
                    let weights = self.name("a column name")?;
                    if divided && response.trials == Some(Trials::Column(weights.clone())) {
                        return at(
                            position,
                            format!(
                                "`{0}` is the number of trials already, which R calls weights of shares; leave `weights({0})` out",
                                shortened(&quote_name(&weights))
                            ),
                        );
                    }
                    response.weights = Some(weights);
                }
                Some("se") if response.se.is_none() => {
                    self.next += 2;
                    response.se = Some(self.name("a column name")?);
                }
                Some("cens") if response.cens.is_none() => {
                    if let Some(function) = response.function {
                        return self.error(format!(
                            "censored outcomes are explained as they are: write `{}` without `{}()`, and choose the family \
                             `lognormal` for a model of its logarithm",
                            shortened(&response.column),
                            function.name()
                        ));
                    }
                    self.next += 2;
                    response.cens = Some(self.name("a column name")?);
                }
                _ => {
                    return self
                        .expected("`trials(…)`, `weights(…)`, `se(…)` or `cens(…)`, each once");
                }
            }
            self.expect(")")?;
            if !self.take_if("+") {
                return Ok(response);
            }
        }
    }

    /// `cbind(successes, failures)`, or `cbind(successes, trials - successes)`.
    fn successes_and_failures(&mut self) -> Result<Response, FormulaError> {
        const WHAT: &str = "`cbind()` takes two columns here, the successes and the failures, as in `cbind(died, survived)`";
        self.next += 2;
        let column = self.name("the column that counts successes")?;
        if !self.take_if(",") {
            return self.error(format!(
                "expected `,`, found {}: {WHAT}",
                self.peek().shown()
            ));
        }
        let minus_follows = matches!(self.peek_at(1), Some(Token::Symbol("-")));
        let position = self.position();
        let trials = if minus_follows {
            let trials = self.trials()?;
            self.expect("-")?;
            let taken = self.position();
            if self.name("the column that counts successes")? != column {
                return at(
                    taken,
                    format!(
                        "trials less `{}` are the failures here; {WHAT}",
                        shortened(&column)
                    ),
                );
            }
            trials
        } else {
            Trials::Failures(self.name("the column that counts failures")?)
        };
        if trials == Trials::Failures(column.clone()) {
            return at(
                position,
                format!("successes and failures are one column; {WHAT}"),
            );
        }
        if !self.take_if(")") {
            return self.error(format!(
                "expected `)`, found {}: {WHAT}",
                self.peek().shown()
            ));
        }
        Ok(Response {
            column,
            function: None,
            ordered: false,
            trials: Some(trials),
            weights: None,
            se: None,
            cens: None,
        })
    }

    /// `log(y)`.
    fn function_of_response(&mut self) -> Result<Response, FormulaError> {
        let position = self.position();
        let name = self.at_call().unwrap_or_default().to_owned();
        if name == "ordered" {
            self.next += 2;
            let column = self.name("a column name")?;
            if !self.take_if(")") {
                return self.error(format!(
                    "expected `)`, found {}: `ordered()` of an outcome takes one column; the order of its levels is the setting \
                     `model.levels` where they do not say it themselves",
                    self.peek().shown()
                ));
            }
            let ordered = true;
            return Ok(Response {
                ordered,
                ..Response::of(&column)
            });
        }
        if let Some(sentence) = refused(&name) {
            return at(position, sentence);
        }
        let function = match Function::from_call(&name, &[]) {
            Some(Ok(Function::Elementwise(function))) if function.is_invertible() => function,
            Some(_) => {
                return at(
                    position,
                    format!(
                        "predictions of `{name}()` of an outcome have no way back to the scale of the data; {WORKS}, or add a \
                         column with the values to the data"
                    ),
                );
            }
            None => {
                return at(
                    position,
                    super::call_hints::unknown_of_response(&name, WORKS),
                );
            }
        };
        self.next += 2;
        if self.at_call().is_some() {
            return self.error(format!(
                "`{name}()` of an outcome takes a column here, no other function; add a column with the values to the data"
            ));
        }
        let column = self.name("a column name")?;
        if !self.take_if(")") {
            return match (function, self.peek(), self.peek_at(1)) {
                (Elementwise::Log, Token::Symbol("+"), Some(Token::Number(one))) if one == "1" => {
                    self.error("`log()` takes one column here; log(y + 1) is `log1p(y)`")
                }
                _ => self.error(format!(
                    "expected `)`, found {}: `{name}()` of an outcome takes one column and nothing else; add a column with the \
                     values to the data",
                    self.peek().shown()
                )),
            };
        }
        Ok(Response {
            column,
            function: Some(function),
            ordered: false,
            trials: None,
            weights: None,
            se: None,
            cens: None,
        })
    }

    fn trials(&mut self) -> Result<Trials, FormulaError> {
        const WHAT: &str = "a column name or a whole number of at least 1";
        if let Token::Number(number) = self.peek() {
            return match number.parse() {
                Ok(count) if count >= 1 => {
                    self.take();
                    Ok(Trials::Constant(count))
                }
                _ => self.expected(WHAT),
            };
        }
        Ok(Trials::Column(self.name(WHAT)?))
    }
}

/// Functions that may stand around a response.
const WORKS: &str = "outcomes can be `log(y)`, `log2(y)`, `log10(y)`, `log1p(y)` and `sqrt(y)`, `r/n` and `cbind(r, s)`";

/// The sentence for functions whose purpose is served otherwise.
fn refused(name: &str) -> Option<String> {
    let what = match name {
        _ if is_category_call(name) => {
            "an outcome is read as the template needs it, so the name of the column is enough; `model.categorical` lists \
             columns of numbers that are categories"
        }
        "scale" => {
            "leave it out: priors are in standard deviations of the outcome by themselves, and results in its own units"
        }
        "I" => {
            "an outcome is a column, `r/n` or `cbind(r, s)`; add a column with the result of the calculation to the data"
        }
        "trials" | "weights" | "se" | "cens" => "it follows the outcome, as in `r | trials(n) ~ x`",
        "Surv" => {
            "write `t | cens(s)`, where the column s is 1 (or `right`) for times that are known only to be longer and 0 (or `none`) \
             for events: the reverse of what `Surv()` takes"
        }
        "lm" | "glm" | "lmer" | "glmer" | "gam" | "brm" | "stan_glm" => {
            "write the formula alone, as in `y ~ x`"
        }
        _ => return None,
    };
    Some(format!("`{name}()` cannot stand around an outcome; {what}"))
}
