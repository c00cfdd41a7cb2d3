//! What is said of a model whose units have no order of their own.

use ergodic_base::param::Class;
use ergodic_base::reporter::{Severity, Warning};
use ergodic_core::models::ParamInfo;

/// The remark on units that may change their numbers, where a model has any.
pub(super) fn remark(params: &[ParamInfo]) -> Option<Warning> {
    let mut exchangeable = params.iter().filter(|it| it.name.is_exchangeable());
    let what = match exchangeable.next()?.name.class() {
        Class::HiddenWeight | Class::OutputWeight => "Hidden units may change their numbers",
        _ => "Factors may turn",
    };
    let text = format!(
        "{what} from chain to chain without any consequence, so that R-hat and effective draws of single ones say nothing and do not count; \
         what is predicted of rows does not depend on that"
    );
    Some(Warning::new(Severity::Info, "labels-switch", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str) -> Option<String> {
        let param = ParamInfo {
            name: name.into(),
            meaning: String::new(),
            prior: String::new(),
            prior_source: String::new(),
        };
        remark(&[param]).map(|warning| warning.message)
    }

    #[test]
    fn each_model_is_told_of_units_that_it_has() {
        for (name, start) in [
            (
                "hidden_weight[1,x]",
                "Hidden units may change their numbers from chain",
            ),
            (
                "output_weight[red,1]",
                "Hidden units may change their numbers from chain",
            ),
            ("user_factor[anna,1]", "Factors may turn from chain"),
        ] {
            assert!(told(name).unwrap().starts_with(start), "{name}");
        }
        assert_eq!(told("b[x]"), None);
    }
}
