//! What estimates may cost.

use super::rare_level;
use crate::samplers::subsampling::energy_conserving::*;
use ergodic_base::settings::{Settings, Value};

/// A subsample larger than the table costs more than the table.
#[test]
fn estimates_from_more_rows_than_there_are_are_refused() {
    let (model, centre) = rare_level();
    let target = Target::new(&model, Some(&centre));
    let refusal = |id, settings: &Settings| {
        let entry = crate::samplers::find(id).unwrap();
        (entry.affords)(settings, &target, model.as_ref(), &centre).err()
    };
    assert_eq!(refusal("hmc-ecs-signed", &Settings::default()), None);
    let mut many = Settings::default();
    many.set("scheme", Value::Text("iid".to_owned()));
    many.set("variance", Value::Real(1e-4));
    let refused = refusal("hmc-ecs-signed", &many).unwrap();
    let Unsuitable::TooManyRows {
        rows,
        num_obs,
        weighted,
    } = refused.reason
    else {
        panic!("{refused}");
    };
    assert!(rows >= 2000 && num_obs == 2000 && !weighted, "{refused}");
    let said = refused.to_string();
    assert!(said.contains("`nuts`") && said.contains("sampler.scheme=differences"));
    // The others take all rows at most, and who says how many factors there are to be gets them.
    assert_eq!(refusal("hmc-ecs", &many), None);
    many.set("factors", Value::Int(1000));
    assert_eq!(refusal("hmc-ecs-signed", &many), None);
    // A run is refused before it begins, also by the way of a job.
    many.unset("factors");
    let entry = crate::samplers::find("hmc-ecs-signed").unwrap();
    let afford = |centre| entry.afford(&many, model.as_ref(), &target, centre);
    assert!(afford(Some(&centre)).is_err() && afford(None).is_ok());
}
