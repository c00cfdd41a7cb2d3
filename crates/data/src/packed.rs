//! Packed files: gzip, bzip2 and Zstandard, known by their first bytes.

use std::io::{self, Read};

use super::error::DataError;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Bzip2,
    Zstandard,
}

/// What files begin with.
const MAGIC: [(&[u8], Packing); 3] = [
    (b"\x1F\x8B", Packing::Gzip),
    (b"BZh", Packing::Bzip2),
    (b"\x28\xB5\x2F\xFD", Packing::Zstandard),
];

impl Packing {
    /// How a file with these bytes is packed, if it is.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let found = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic));
        found.map(|(_, packing)| *packing)
    }

    /// The plain bytes; files of several streams are those of all.
    fn reader(self, bytes: &[u8]) -> io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(bytes)),
            Self::Zstandard => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
        })
    }
}

/// Unpacks the bytes of a file; `cancelled` is asked now and then. With a `limit`, for a preview, it stops there, and bytes
/// that end too early are no error. More than `most` bytes are refused.
pub(crate) fn unpack(
    (bytes, packing): (&[u8], Packing),
    file: &str,
    limit: Option<usize>,
    most: u64,
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<u8>, DataError> {
    const BLOCK: u64 = 1 << 20;
    let damaged = |error: io::Error| DataError::Compressed {
        file: file.to_owned(),
        reason: error.to_string(),
    };
    let mut decoder = packing.reader(bytes).map_err(damaged)?;
    let mut out = Vec::new();
    loop {
        if cancelled() {
            return Err(DataError::Cancelled);
        }
        let read = decoder.by_ref().take(BLOCK).read_to_end(&mut out);
        let read = match read {
            Err(error) if limit.is_some() && error.kind() == io::ErrorKind::UnexpectedEof => {
                return Ok(out);
            }
            read => read.map_err(damaged)?,
        };
        if out.len() as u64 > most {
            return Err(DataError::TooLarge(format!(
                "{file} unpacks to more than {} MB, {} times its own size, and reading stopped there; if the file is right, allow \
                 more with `data.import.max_gigabytes`",
                most / 1_000_000,
                most / (bytes.len() as u64).max(1)
            )));
        }
        if read == 0 || limit.is_some_and(|limit| out.len() >= limit) {
            return Ok(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const PLAIN: &[u8] = b"a,b\n1,2\n";

    fn packed() -> Vec<(Packing, Vec<u8>)> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(PLAIN).unwrap();
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        bzip2.write_all(PLAIN).unwrap();
        vec![
            (Packing::Gzip, gzip.finish().unwrap()),
            (Packing::Bzip2, bzip2.finish().unwrap()),
            (
                Packing::Zstandard,
                zstd::stream::encode_all(PLAIN, 0).unwrap(),
            ),
        ]
    }

    #[test]
    fn packed_files_are_read_and_damage_named() {
        for (packing, bytes) in packed() {
            assert_eq!(Packing::of(&bytes), Some(packing));
            let read = |bytes: &[u8], limit, most, is_cancelled: bool| {
                unpack((bytes, packing), "x", limit, most, &|| is_cancelled)
            };
            assert_eq!(read(&bytes, None, u64::MAX, false).unwrap(), PLAIN);
            // Two streams, one after the other.
            let twice = [&bytes[..], &bytes].concat();
            let both = read(&twice, None, u64::MAX, false).unwrap();
            assert_eq!(both, [PLAIN, PLAIN].concat(), "{packing:?}");
            let cut = &bytes[..bytes.len() - 6];
            let error = read(cut, None, u64::MAX, false).unwrap_err().to_string();
            assert!(error.starts_with("x cannot be decompressed"), "{error}");
            // The beginning of a file is enough for a preview.
            assert!(read(cut, Some(4), u64::MAX, false).is_ok(), "{packing:?}");
            let error = read(&bytes, None, 4, false).unwrap_err().to_string();
            assert!(error.contains("max_gigabytes"), "{error}");
            let cancelled = read(&bytes, None, u64::MAX, true);
            assert!(matches!(cancelled, Err(DataError::Cancelled)));
        }
        assert_eq!(Packing::of(PLAIN), None);
    }
}
