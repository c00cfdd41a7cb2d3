//! Reading files of others without filling memory.

use std::io::{self, Read};
use std::path::Path;

/// Longest recipe, project or manifest: such files are written by people or hold one line per variable.
const MOST_TEXT: u64 = 256_000_000;

/// The text of a small file.
///
/// # Errors
/// It cannot be read, is not UTF-8, or has more than 256 MB, which is also the end of what never ends, such as a device.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    Bounded::new(file, MOST_TEXT, "which is too long for such a file").read_to_string(&mut text)?;
    Ok(text)
}

/// A reader that fails beyond a bound, instead of ending there as if that were all.
pub struct Bounded<R> {
    inner: R,
    left: u64,
    most: u64,
    /// What follows "it has more than 256 MB, " in the error.
    advice: &'static str,
}

impl<R: Read> Bounded<R> {
    /// At most `most` bytes of `inner`.
    pub fn new(inner: R, most: u64, advice: &'static str) -> Self {
        Self {
            inner,
            left: most,
            most,
            advice,
        }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!(
                    "it has more than {} MB, {}",
                    self.most / 1_000_000,
                    self.advice
                ),
            )
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_an_error_and_no_end() {
        let read = |most| {
            let mut text = String::new();
            Bounded::new(&b"12345"[..], most, "too long")
                .read_to_string(&mut text)
                .map(|_| text)
        };
        assert_eq!(read(5).unwrap(), "12345");
        assert_eq!(
            read(4).unwrap_err().to_string(),
            "it has more than 0 MB, too long"
        );
        #[cfg(unix)]
        {
            let error = read_text(Path::new("/dev/zero")).unwrap_err();
            assert!(
                error.to_string().starts_with("it has more than 256 MB"),
                "{error}"
            );
        }
    }
}
