//! A checksum that tells a whole piece of a file from a torn or damaged one.

/// FNV-1a over eight bytes at a time of each of `parts`: it has to notice accidents, not to resist anybody. A change within
/// one word of eight bytes always changes it, because each step is one-to-one.
pub fn checksum(parts: &[&[u8]]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for word in part.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            sum = (sum ^ u64::from_le_bytes(bytes)).wrapping_mul(0x0000_0100_0000_01b3);
            sum ^= sum >> 32;
        }
    }
    sum
}

/// `body` behind a line that says what it is (`magic`), how many bytes follow, and their checksum.
pub fn seal(magic: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{magic} {} {:016x}\n", body.len(), checksum(&[body])).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// The first bytes that [`seal`] made and what follows them: the sealed body, and the rest. `None` if the line says something
/// else, bytes are missing, or the checksum differs.
pub fn unseal<'a>(magic: &str, bytes: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let line = std::str::from_utf8(&bytes[..end]).ok()?;
    let (length, sum) = line
        .strip_prefix(magic)?
        .strip_prefix(' ')?
        .split_once(' ')?;
    let (body, rest) = bytes[end + 1..].split_at_checked(length.parse().ok()?)?;
    (format!("{:016x}", checksum(&[body])) == sum).then_some((body, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_sealed_piece_is_noticed() {
        let body: Vec<u8> = (0..100_u8).collect();
        let sealed = seal("kind 2", &body);
        assert_eq!(unseal("kind 2", &sealed), Some((&body[..], &[][..])));
        assert_eq!(unseal("kind 1", &sealed), None);
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut damaged = sealed.clone();
                damaged[at] ^= 1 << bit;
                // A capital letter of the checksum or a sign before the length would be a second way to say the same.
                assert_eq!(unseal("kind 2", &damaged), None, "byte {at}, bit {bit}");
            }
            assert_eq!(unseal("kind 2", &sealed[..at]), None, "cut at {at}");
        }
        let mut longer = sealed;
        longer.extend_from_slice(b"more");
        assert_eq!(unseal("kind 2", &longer), Some((&body[..], &b"more"[..])));
    }
}
