//! All families as one text, a constant because settings are declared by constants.

use super::Family;

/// Bytes that the text may take; the compiler says so when a new family makes it longer.
const CAPACITY: usize = 2048;

/// A text that grows while constants are computed.
struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Text {
    /// The text followed by `more`.
    const fn then(mut self, more: &str) -> Self {
        let more = more.as_bytes();
        let mut i = 0;
        while i < more.len() {
            self.bytes[self.len] = more[i];
            self.len += 1;
            i += 1;
        }
        self
    }
}

const ALL: Text = {
    let mut text = Text {
        bytes: [0; CAPACITY],
        len: 0,
    }
    .then("Distribution of the outcome: ");
    let mut k = 0;
    while k < Family::ALL.len() {
        let family = Family::ALL[k].definition();
        let before = if k == 0 { "" } else { "; " };
        text = text
            .then(before)
            .then(family.id)
            .then(" for ")
            .then(family.about);
        k += 1;
    }
    text
};

/// What the setting `family` chooses, with the identifier of each family and the outcomes that it is for.
pub const FAMILY_CHOICES: &str = match str::from_utf8(ALL.bytes.split_at(ALL.len).0) {
    Ok(text) => text,
    Err(_) => panic!("texts of families are valid UTF-8"),
};
