//! What is said of a model whose units have no order of their own.

use crate::remark::Remark;
use ergodic_base::{Class, Warning};
use ergodic_core::models::ParamInfo;

/// The remark on units that may change their numbers, where a model has any.
pub(super) fn remark(params: &[ParamInfo]) -> Option<Warning> {
    let mut exchangeable = params.iter().filter(|it| it.name.is_exchangeable());
    let class = exchangeable.next()?.name.class();
    let hidden_units = matches!(class, Class::HiddenWeight | Class::OutputWeight);
    Some(Warning::from(Remark::LabelsSwitch { hidden_units }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::models::{PriorOf, PriorSource};

    fn told(name: &str) -> Option<String> {
        let param = ParamInfo {
            name: name.into(),
            meaning: String::new(),
            prior: PriorOf::NONE,
            prior_source: PriorSource::MODEL,
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
