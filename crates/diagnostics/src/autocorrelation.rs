//! Autocorrelation of one chain.

use super::Missing;
use super::fourier::Plan;

/// Autocorrelations at lags 0 to `max_lag` (at most the number of draws less one), with the divisor n at every
/// lag, as the effective sample size uses them. Lag 0 is 1.
pub fn autocorrelation(chain: &[f64], max_lag: usize) -> Result<Vec<f64>, Missing> {
    let n = chain.len();
    if n < 2 {
        return Err(Missing::TooFew);
    }
    if chain.iter().any(|x| !x.is_finite()) {
        return Err(Missing::NotFinite);
    }
    if chain.iter().all(|&x| x == chain[0]) {
        return Err(Missing::Constant);
    }
    let mean = chain.iter().sum::<f64>() / n as f64;
    let plan = Plan::at_least(2 * n);
    let mut buffers = plan.buffers();
    for (out, &x) in buffers.real.iter_mut().zip(chain) {
        *out = x - mean;
    }
    plan.forward(&mut buffers);
    for z in &mut buffers.spectrum {
        *z = z.norm_sqr().into();
    }
    plan.inverse(&mut buffers);
    let first = buffers.real[0];
    Ok(buffers.real[..=max_lag.min(n - 1)]
        .iter()
        .map(|acov| acov / first)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_sum_over_pairs() {
        let chain: Vec<f64> = (0..37)
            .map(|i| ((i * i * 7 + 3 * i) % 23) as f64 + 1e3)
            .collect();
        let mean = chain.iter().sum::<f64>() / 37.0;
        let pairs = |lag: usize| {
            (0..37 - lag)
                .map(|i| (chain[i] - mean) * (chain[i + lag] - mean))
                .sum::<f64>()
        };
        let fast = autocorrelation(&chain, 100).unwrap();
        assert_eq!(fast.len(), 37);
        for (lag, rho) in fast.iter().enumerate() {
            assert!((rho - pairs(lag) / pairs(0)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_chain_that_stands_still_has_none() {
        assert_eq!(autocorrelation(&[1.0; 9], 3), Err(Missing::Constant));
        assert_eq!(
            autocorrelation(&[1.0, f64::NAN], 1),
            Err(Missing::NotFinite)
        );
    }
}
