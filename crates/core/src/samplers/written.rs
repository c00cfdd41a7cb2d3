//! Samplers of parts of a problem as they are written in a setting: an id, and settings in parentheses where some are not left to
//! defaults, `sgld(batch=200, step_size=0.1)`.

use ergodic_base::settings::{Settings, Value};

/// The id and the settings of `text`; `None` where a parenthesis is left open or a setting has no `=`.
pub(super) fn read(text: &str) -> Option<(&str, Settings)> {
    let (id, listed) = match text.split_once('(') {
        Some((id, rest)) => (id.trim_end(), rest.trim_end().strip_suffix(')')?),
        None => (text.trim_end(), ""),
    };
    let mut settings = Settings::default();
    let listed = listed.split(',').map(str::trim);
    for one in listed.filter(|one| !one.is_empty()) {
        let (key, value) = one.split_once('=')?;
        settings.set(key.trim(), Value::parse(value.trim()));
    }
    Some((id.trim_start(), settings))
}
