//! What a prior expects in outcome units while it is being typed, in the background.

use std::sync::Arc;

use super::state::AppState;
use super::tasks::{Effects, Ended, Handle};
use ergodic_analysis::prior_predictive::PriorPredictive;

/// A prior being typed.
#[derive(Debug)]
pub struct PriorPreview {
    /// The class or parameter.
    pub key: String,
    /// The prior.
    pub text: String,
    /// What the prior expects; that of the text before until this one's is known.
    pub expected: Option<Arc<PriorPredictive>>,
    /// Ends the work when the preview is dropped.
    _going: Handle,
}

/// Looks at a prior that is being typed, or no longer does.
pub(super) fn preview(state: &mut AppState, prior: Option<(String, String)>, fx: &mut dyn Effects) {
    let before = state.preview.take();
    let (Some((key, text)), Some(document)) = (prior, &state.document) else {
        return;
    };
    let Some(rows) = state
        .check
        .as_ref()
        .and_then(|check| check.preview_rows.clone())
    else {
        return;
    };
    let mut recipe = document.recipe.clone();
    recipe.priors.insert(key.clone(), text.clone());
    let going = state.begin(
        fx,
        ("Looking at the prior of", &key),
        move |control| rows.expect(&recipe, control).map(Arc::new),
        // A prior that cannot be used says so below its field.
        |state, ended, _fx| {
            if let Some(preview) = &mut state.preview {
                preview.expected = match ended {
                    Ended::Done(expected) => Some(expected),
                    Ended::Cancelled | Ended::Failed(_) => None,
                };
            }
        },
    );
    state.preview = Some(PriorPreview {
        expected: before
            .filter(|before| before.key == key)
            .and_then(|before| before.expected),
        key,
        text,
        _going: going,
    });
}

#[cfg(test)]
mod tests {
    use crate::app::testing::Session;
    use crate::app::{DraftChange, DraftCommand};
    use ergodic_analysis::prior_predictive::Plausibility;

    #[test]
    fn a_prior_being_typed_is_looked_at_and_given_up_again() {
        let mut session = Session::with_draft("churn");
        let expected = |session: &Session| {
            let check = session.state.check.clone().unwrap();
            check.expected.clone().unwrap().unwrap().outcomes.remove(0)
        };
        assert_eq!(expected(&session).plausibility, Plausibility::Plausible);
        let key = ergodic_core::models::default_priors::KEY.to_owned();
        session.send(DraftChange::Prior(key.clone(), Some("papers".to_owned())));
        assert_eq!(expected(&session).plausibility, Plausibility::VeryWide);
        session.send(DraftChange::Prior(
            key,
            Some("weakly-informative".to_owned()),
        ));
        let type_prior = |session: &mut Session, key: &str, text: &str| {
            session.send(DraftCommand::PreviewPrior(Some((
                key.to_owned(),
                text.to_owned(),
            ))));
        };
        type_prior(&mut session, "intercept", "normal(9, 0.1)");
        let preview = session.state.preview.as_ref().unwrap();
        let shown = preview.expected.clone().unwrap();
        assert_ne!(shown.outcomes[0].sentence, expected(&session).sentence);
        // The draft is as it was.
        assert!(
            session
                .state
                .document
                .as_ref()
                .unwrap()
                .recipe
                .own_priors()
                .next()
                .is_none()
        );
        type_prior(&mut session, "intercept", "normal(9,");
        assert!(session.state.preview.as_ref().unwrap().expected.is_none());
        session.send(DraftCommand::PreviewPrior(None));
        assert!(session.state.preview.is_none());
        type_prior(&mut session, "b", "normal(0, 0.3)");
        for (key, prior) in [("b", "normal(0, 0.3)"), ("intercept", "normal(-1, 0.7)")] {
            session.send(DraftChange::Prior(key.to_owned(), Some(prior.to_owned())));
        }
        assert!(session.state.preview.is_none());
        assert_eq!(expected(&session).plausibility, Plausibility::Plausible);
    }

    #[test]
    fn a_prior_that_cannot_be_drawn_from_says_so() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Prior("b".to_owned(), Some("flat".to_owned())));
        let why = session
            .state
            .check
            .unwrap()
            .expected
            .clone()
            .unwrap()
            .unwrap_err();
        assert!(why.contains("a flat prior cannot be drawn from"), "{why}");
    }
}
