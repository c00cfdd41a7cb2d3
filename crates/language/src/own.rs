//! The template `own`: a model of one's own, as text.

use std::sync::Arc;

use ergodic_base::settings::{Declared as _, Field, Settings};
use ergodic_core::design::{Design, ResponseUse};
use ergodic_core::models::translation::{Context, NoTranslation, Translation};
use ergodic_core::models::{Model, ModelError, ModelOptions, ModelSpec, PriorSpec, Template};

use crate::place::ProgramError;
use crate::program::Program;

/// The template `own`.
pub struct Own;

/// A text without a default.
const TEXT: Field = Field {
    default: None,
    ..Field::text("Model", &[], "target ⏎ -0.5 * a^2", "")
};

ergodic_base::settings! {
    /// Settings of [`Own`].
    struct OwnSettings {
        program: Option<String> = TEXT
            .help("The model in the language of docs/models-as-text.md; on the command line the contents of `--model FILE`")
            .why("there is no other way to say it");
    }
}

/// Priors of these models are part of their text.
const PRIORS_ARE_TEXT: PriorSpec = PriorSpec {
    classes: &[],
    check: |_text| {
        let why = "The priors of this template are part of its text";
        Err(ModelError::Data(why.to_owned()))
    },
    forms: "the priors are part of the model's text",
    example: "",
};

impl Own {
    /// Name in recipes.
    pub const ID: &'static str = "own";
    /// The setting that holds the text.
    pub const PROGRAM: &'static str = "program";

    /// The program among the settings of a model.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn program(settings: &Settings) -> Result<Program, ProgramError> {
        match settings.text(Self::PROGRAM) {
            Some(text) if !text.trim().is_empty() => Program::parse(text),
            _ => Err(ProgramError {
                message: "There is no model; name a file with --model FILE, or write it as `model.program`".to_owned(),
                line: 1,
                column: 1,
                width: 1,
                text: String::new(),
            }),
        }
    }
}

fn refused(error: &ProgramError) -> ModelError {
    ModelError::Data(error.to_string())
}

impl Template for Own {
    const SPEC: ModelSpec = ModelSpec {
        id: Self::ID,
        title: "Model as text",
        about: "Whatever can be written down: parameters with priors, how likely a row is, or any log density",
        fields: OwnSettings::FIELDS,
        response: |_settings| ResponseUse::Absent,
        priors: PRIORS_ARE_TEXT,
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        if let Some((key, _)) = options.priors.first() {
            return Err(ModelError::Data(format!(
                "The priors of template `own` are part of its text; remove `priors.{key}`"
            )));
        }
        let program = Self::program(&options.settings).map_err(|error| refused(&error))?;
        program.model(&design).map_err(|error| refused(&error))
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let program = Self::program(&context.options.settings).map_err(|error| refused(&error))?;
        let names: Vec<String> = (program.parameters().iter())
            .map(|name| format!("`{name}`"))
            .collect();
        let rows = match program.needs_no_data() {
            true => "It has no data.".to_owned(),
            false => context.rows(),
        };
        Ok(Translation {
            words: format!(
                "A model as text with the parameter{} {}. {rows}",
                if names.len() == 1 { "" } else { "s" },
                names.join(", ")
            ),
            equation: program.equation(Some(context.design.rows_used)),
            stan: program
                .stan_of(&context.design.columns, context.design.num_obs())
                .map_err(|error| NoTranslation::Text(error.to_string())),
            brms: Err(NoTranslation::Absent(
                "A model as text has no formula that brms could fit; its Stan code is the translation",
            )),
        })
    }
}
