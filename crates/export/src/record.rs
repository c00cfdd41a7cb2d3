//! `run.json`: the manifest, and what the other files of the folder must be, by size and SHA-256; sealed by its own checksum.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::files;
use super::manifest::Manifest;
use ergodic_base::numerals::hex;

/// Key of the other files.
const FILES: &str = "files";
/// How the line with the text's own checksum begins.
const CHECKSUM: &str = "  \"checksum\": \"";

/// What is wrong with a manifest: words to stand in parentheses.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Bytes that are no text.
    #[error(transparent)]
    Text(#[from] std::string::FromUtf8Error),
    /// Text that is no JSON, or lacks an entry.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// JSON of another kind.
    #[error("it is no object")]
    NoObject,
    /// A text that is not as it was written.
    #[error("its checksum differs")]
    OtherSum,
    /// A text that lists files, without a checksum of itself.
    #[error("its checksum is missing")]
    NoSum,
    /// A file in another folder.
    #[error("it lists `{0}`, which is no file of the folder")]
    OutsideFolder(String),
}

/// What a file was when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Size.
    pub bytes: u64,
    /// Hexadecimal digits, as of `sha256sum`.
    pub sha256: String,
}

/// Files of a run folder by name.
pub type Records = BTreeMap<String, FileRecord>;

/// The text of `run.json`.
///
/// # Errors
/// Something is not JSON.
pub fn encode(manifest: &Manifest, records: &Records) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(manifest)?;
    value[FILES] = serde_json::to_value(records)?;
    seal(&value)
}

/// What [`encode`] made, or a version before it that knew no records.
///
/// # Errors
/// What is wrong with it.
pub fn decode(text: &str) -> Result<(Manifest, Records), RecordError> {
    let mut value = unseal(text)?;
    let records = value.as_object_mut().and_then(|it| it.remove(FILES));
    let records = records.map_or_else(|| Ok(Records::new()), serde_json::from_value);
    let records: Records = records?;
    if let Some(name) = records.keys().find(|name| !files::is_plain(name)) {
        return Err(RecordError::OutsideFolder(name.clone()));
    }
    Ok((serde_json::from_value(value)?, records))
}

/// An object as JSON with a first entry that is the SHA-256 of the text without that line.
pub fn seal(value: &Value) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    let sum = hex(&Sha256::digest(&text));
    Ok(text.replacen("{\n", &format!("{{\n{CHECKSUM}{sum}\",\n"), 1))
}

/// What [`seal`] made; or an object without a checksum, as versions before it wrote.
pub fn unseal(text: &str) -> Result<Value, RecordError> {
    let sealed = text.strip_prefix("{\n").and_then(|rest| {
        let (line, rest) = rest.split_once('\n')?;
        Some((line.strip_prefix(CHECKSUM)?, rest))
    });
    if let Some((sum, rest)) = sealed
        && hex(&Sha256::digest(format!("{{\n{rest}"))) + "\"," != sum
    {
        return Err(RecordError::OtherSum);
    }
    let mut value: Value = serde_json::from_str(text)?;
    let object = value.as_object_mut().ok_or(RecordError::NoObject)?;
    if sealed.is_some() {
        object.remove("checksum");
    } else if object.contains_key(FILES) {
        return Err(RecordError::NoSum);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_lists_files_outside_of_its_folder_is_refused() {
        for name in ["/dev/zero", "../draws.csv", "a/b", "..", ""] {
            let text = seal(&serde_json::json!({"files": {name: {"bytes": 1, "sha256": ""}}}));
            let refused = decode(&text.unwrap()).unwrap_err();
            assert!(
                matches!(refused, RecordError::OutsideFolder(_)),
                "{refused}"
            );
        }
    }

    #[test]
    fn every_flipped_bit_of_a_sealed_text_is_noticed() {
        let value = serde_json::json!({"a": [1, 2.5], "files": {"x": "é"}});
        let text = seal(&value).unwrap();
        assert_eq!(unseal(&text).unwrap(), value);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut damaged = text.clone().into_bytes();
                damaged[at] ^= 1 << bit;
                let read = String::from_utf8(damaged).map_err(RecordError::from);
                let read = read.and_then(|text| unseal(&text));
                assert!(read.is_err(), "byte {at}, bit {bit}: {read:?}");
            }
        }
        assert_eq!(
            unseal("{\"seed\": 1}").unwrap(),
            serde_json::json!({"seed": 1})
        );
    }
}
