//! The benchmarks' data must be the same bits everywhere: checksums of an independent implementation (NumPy).

use ergodic_base::numerals::hex;
use ergodic_core::synthetic;
use sha2::{Digest as _, Sha256};

/// SHA-256 of the design by rows and then the labels, as little-endian binary64.
fn digest(data: &synthetic::Synthetic) -> String {
    let mut hash = Sha256::new();
    for value in data.x.iter().chain(&data.y) {
        hash.update(value.to_le_bytes());
    }
    hex(&hash.finalize())
}

#[test]
fn synthetic_logistic_data_are_reproduced_bit_for_bit() {
    let small = synthetic::logit_n1e5_d10();
    assert_eq!(small.theta[..3], [-0.3125, 0.0, 0.3125]);
    assert_eq!(small.y.iter().sum::<f64>(), 43_601.0);
    assert_eq!(
        digest(&small),
        "c08c517db584997306cf48d426f6dd03c3828a114cc4c2e5548c0d23133a9493"
    );
    let large = synthetic::logit_n1e6_d20();
    assert_eq!(large.y.iter().sum::<f64>(), 464_547.0);
    assert_eq!(
        digest(&large),
        "f1cdae0f5119eab632c216dc6438190645c6936e1ab5af97d9ba8106b0226777"
    );
}
