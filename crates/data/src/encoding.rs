//! From the bytes of a file to text: binary formats, character encodings.

use encoding_rs::Encoding;

use ergodic_base::Reporter;

use super::error::DataError;
use super::remark::{Remark, bad_byte};
use super::sniff::Guess;
use super::split::line_at;

/// What a file begins with, in words, and what to do about it.
const BINARY_FORMATS: [(&[u8], &str, &str); 9] = [
    (
        b"PK\x03\x04",
        "it is a zip archive or an Excel workbook",
        "unpack it, or save the sheet as CSV",
    ),
    (
        b"\xD0\xCF\x11\xE0",
        "it is an Office file of an old kind",
        "save the sheet as CSV",
    ),
    (b"%PDF", "it is a PDF", "export the table as CSV"),
    (
        b"\x89PNG",
        "it is a PNG image",
        "choose a CSV or Parquet file",
    ),
    (
        b"\xFF\xD8\xFF",
        "it is a JPEG image",
        "choose a CSV or Parquet file",
    ),
    (b"\x89HDF", "it is an HDF5 file", "export the table as CSV"),
    (
        b"SQLite format 3",
        "it is an SQLite database",
        "export the table as CSV",
    ),
    (
        b"ARROW1",
        "it is an Arrow file",
        "write it as Parquet or CSV",
    ),
    (
        b"\xFD7zXZ",
        "it is compressed with xz",
        "decompress it, or use gzip, bzip2 or Zstandard",
    ),
];

/// What a text is that is no table, by how it begins, in words, and what to do about it.
fn no_table(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = text.trim_ascii_start();
    let second = text
        .get(1..)
        .and_then(|rest| rest.trim_ascii_start().first());
    let begins = |with: &str| {
        let head = text.get(..with.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()))
    };
    match (text.first()?, second) {
        (b'{', Some(b'"' | b'}')) | (b'[', Some(b'{' | b'[')) => {
            Some(("it is JSON", "write its table as CSV or Parquet"))
        }
        (b'<', _) if begins("<!doctype html") || begins("<html") => Some((
            "it is a web page",
            "download the file that the page links to, or save its table as CSV",
        )),
        (b'<', _) if begins("<?xml") => Some(("it is XML", "write its table as CSV or Parquet")),
        _ => None,
    }
}

/// Text of a file.
pub(crate) struct Decoded {
    /// UTF-8, a byte order mark included.
    pub text: String,
    /// First byte after a byte order mark.
    pub start: usize,
    pub encoding: Guess<String>,
    /// The bytes as they were, if they are not those of `text`.
    pub original: Option<Vec<u8>>,
}

/// Turns bytes into text. `wanted` is the encoding the user chose; `cut` says that the bytes are only the
/// beginning of a file, so that a character may be cut in two at the end.
pub(crate) fn decode(
    bytes: Vec<u8>,
    file: &str,
    wanted: Option<&str>,
    cut: bool,
    reporter: &mut Reporter,
) -> Result<Decoded, DataError> {
    if bytes.is_empty() {
        return Err(DataError::Empty(file.to_owned()));
    }
    if let Some((_, what, advice)) = BINARY_FORMATS
        .iter()
        .find(|(magic, ..)| bytes.starts_with(magic))
    {
        return Err(DataError::Binary {
            file: file.to_owned(),
            what: (*what).to_owned(),
            advice,
        });
    }
    if let Some((what, advice)) = no_table(&bytes) {
        return Err(DataError::Binary {
            file: file.to_owned(),
            what: what.to_owned(),
            advice,
        });
    }
    let chosen = wanted
        .map(|label| {
            Encoding::for_label(label.trim().as_bytes()).ok_or_else(|| {
                DataError::Option(format!("The encoding `{label}` is not known; use utf-8, windows-1252, iso-8859-1, utf-16le or another web encoding name"))
            })
        })
        .transpose()?;
    let marked = Encoding::for_bom(&bytes);
    let wide =
        chosen.is_some_and(is_utf16) || marked.is_some_and(|(encoding, _)| is_utf16(encoding));
    let unmarked_wide = if wide || chosen.is_some() {
        None
    } else {
        utf16_without_mark(&bytes)
    };
    if !wide && unmarked_wide.is_none() {
        refuse_binary(&bytes, file)?;
    }
    let (encoding, reason) = match (chosen, marked, unmarked_wide) {
        (Some(encoding), ..) => (encoding, None),
        (None, Some((encoding, _)), _) => {
            (encoding, Some("the file begins with its byte order mark"))
        }
        (None, None, Some(encoding)) => (encoding, Some("every other byte is zero")),
        (None, None, None) => (encoding_rs::UTF_8, Some("all bytes are valid in it")),
    };
    let named = |encoding: &'static Encoding| {
        let name = encoding.name().to_lowercase();
        reason.map_or_else(
            || Guess::given(name.clone()),
            |reason| Guess::guessed(name.clone(), reason),
        )
    };
    if encoding == encoding_rs::UTF_8 {
        return decode_utf8(
            bytes,
            file,
            chosen.is_some(),
            cut,
            named(encoding),
            reporter,
        );
    }
    let (text, damaged) = encoding.decode_with_bom_removal(&bytes);
    if damaged && !cut {
        let what = "it has bytes that this encoding does not use".to_owned();
        return Err(DataError::Encoding {
            file: file.to_owned(),
            encoding: encoding.name().to_lowercase(),
            what,
        });
    }
    let text = text.into_owned();
    Ok(Decoded {
        text,
        start: 0,
        encoding: named(encoding),
        original: Some(bytes),
    })
}

/// UTF-8 without copying; bytes that are not UTF-8 are read as windows-1252 and reported, unless the user
/// chose UTF-8.
fn decode_utf8(
    bytes: Vec<u8>,
    file: &str,
    chosen: bool,
    cut: bool,
    encoding: Guess<String>,
    reporter: &mut Reporter,
) -> Result<Decoded, DataError> {
    let start = if bytes.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    };
    let error = match String::from_utf8(bytes) {
        Ok(text) => {
            return Ok(Decoded {
                text,
                start,
                encoding,
                original: None,
            });
        }
        Err(error) => error,
    };
    let (at, incomplete) = (
        error.utf8_error().valid_up_to(),
        error.utf8_error().error_len().is_none(),
    );
    let bytes = error.into_bytes();
    if cut && incomplete {
        let text = String::from_utf8_lossy(&bytes[..at]).into_owned();
        return Ok(Decoded {
            text,
            start,
            encoding,
            original: Some(bytes),
        });
    }
    let (line, byte) = (line_at(&bytes, at), bytes[at]);
    if chosen {
        return Err(DataError::Encoding {
            file: file.to_owned(),
            encoding: encoding.value,
            what: bad_byte(line, byte),
        });
    }
    reporter.report(Remark::Encoding {
        file: file.to_owned(),
        line,
        byte,
    });
    let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&bytes);
    let encoding = Guess::guessed("windows-1252".to_owned(), "the bytes are not valid UTF-8");
    Ok(Decoded {
        text: text.into_owned(),
        start: 0,
        encoding,
        original: Some(bytes),
    })
}

fn is_utf16(encoding: &'static Encoding) -> bool {
    encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE
}

/// UTF-16 without a mark: plain letters have a zero in every other byte.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(4096) & !1];
    let zeros = |first: usize| {
        head.iter()
            .skip(first)
            .step_by(2)
            .filter(|&&byte| byte == 0)
            .count()
    };
    let (even, odd, pairs) = (zeros(0), zeros(1), head.len() / 2);
    if pairs < 2 {
        return None;
    }
    if odd * 10 > pairs * 7 && even * 10 < pairs {
        Some(encoding_rs::UTF_16LE)
    } else if even * 10 > pairs * 7 && odd * 10 < pairs {
        Some(encoding_rs::UTF_16BE)
    } else {
        None
    }
}

fn refuse_binary(bytes: &[u8], file: &str) -> Result<(), DataError> {
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        let what = format!("line {} has a NUL byte", line_at(bytes, at));
        let advice = "remove the NUL bytes, or choose a CSV or Parquet file";
        return Err(DataError::Binary {
            file: file.to_owned(),
            what,
            advice,
        });
    }
    let head = &bytes[..bytes.len().min(4096)];
    let controls = head
        .iter()
        .filter(|&&byte| byte < 0x20 && !b"\t\n\r\x0b\x0c\x1a\x1b".contains(&byte))
        .count();
    if controls * 10 > head.len() {
        let what = "it holds control characters".to_owned();
        return Err(DataError::Binary {
            file: file.to_owned(),
            what,
            advice: "choose a CSV or Parquet file",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], wanted: Option<&str>) -> (Decoded, Reporter) {
        let mut reporter = Reporter::default();
        (
            decode(bytes.to_vec(), "x.csv", wanted, false, &mut reporter).unwrap(),
            reporter,
        )
    }

    #[test]
    fn encodings_are_recognised() {
        let (plain, reporter) = decoded("a,ö\n".as_bytes(), None);
        assert_eq!(
            (
                plain.text.as_str(),
                plain.start,
                plain.encoding.value.as_str()
            ),
            ("a,ö\n", 0, "utf-8")
        );
        assert!(reporter.warnings.is_empty());

        let (marked, _) = decoded(b"\xEF\xBB\xBFa\n", None);
        assert_eq!(&marked.text[marked.start..], "a\n");

        let (latin, reporter) = decoded(b"stra\xDFe\n1\n", None);
        assert_eq!(
            (latin.text.as_str(), latin.encoding.value.as_str()),
            ("straße\n1\n", "windows-1252")
        );
        assert!(
            reporter.warnings[0]
                .message
                .contains("line 1 has the byte 0xDF")
        );

        let wide: Vec<u8> = "a,ö\n1,2\n3,4\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(decoded(&wide, None).0.text, "a,ö\n1,2\n3,4\n");
        let with_mark: Vec<u8> = "\u{feff}ö\n1\n"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        let (big, _) = decoded(&with_mark, None);
        assert_eq!(
            (&big.text[big.start..], big.encoding.value.as_str()),
            ("ö\n1\n", "utf-16be")
        );

        assert_eq!(decoded(b"\xA4\n", Some("iso-8859-15")).0.text, "€\n");
    }

    #[test]
    fn a_character_cut_in_two_ends_a_preview_quietly() {
        let mut reporter = Reporter::default();
        let cut = decode(
            "aö".as_bytes()[..2].to_vec(),
            "x",
            None,
            true,
            &mut reporter,
        )
        .unwrap();
        assert_eq!(
            (cut.text.as_str(), cut.encoding.value.as_str()),
            ("a", "utf-8")
        );
    }

    #[test]
    fn tables_may_begin_with_brackets() {
        for text in ["[x],y\n1,2\n", "{x},y\n1,2\n", "<x>,y\n1,2\n", "[\n", "<"] {
            assert_eq!(no_table(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_in_words() {
        let refused = |bytes: &[u8], wanted| {
            decode(
                bytes.to_vec(),
                "x.csv",
                wanted,
                false,
                &mut Reporter::default(),
            )
            .err()
            .unwrap()
            .to_string()
        };
        assert!(refused(b"a,b\n1,\0\n", None).contains("line 2 has a NUL byte"));
        assert!(refused(b"PK\x03\x04....", None).contains("Excel"));
        assert!(refused(b"", None).contains("empty"));
        assert!(refused(b"{\n  \"a\": [1, 2]\n}\n", None).contains("JSON"));
        assert!(refused(b"\xEF\xBB\xBF [{\"a\": 1}]", None).contains("JSON"));
        assert!(refused(b"\n<!DOCTYPE html><html>", None).contains("web page"));
        assert!(refused(b"<?xml version=\"1.0\"?>", None).contains("XML"));
        assert!(refused(b"\x01\x02\x03\x04\x05", None).contains("control characters"));
        assert!(refused(b"a\n\xFF\n", Some("utf-8")).contains("line 2 has the byte 0xFF"));
        assert!(refused(b"a", Some("klingon")).contains("`klingon` is not known"));
    }
}
