//! Effective sample size from autocovariances.

/// Geyer's initial monotone positive sequence estimate of the effective sample size.
///
/// `acov`: average autocovariances of half chains with divisor n, of the first of all `lags`; `within`, `total`: variance
/// estimates within and over chains; `draws`: of all chains. `None` if the sequence goes on beyond the lags that are there.
pub(super) fn effective_size(
    acov: &[f64],
    lags: usize,
    within: f64,
    total: f64,
    draws: f64,
    rho: &mut Vec<f64>,
) -> Option<f64> {
    let correlation = |lag: usize| 1.0 - (within - acov[lag]) / total;
    rho.clear();
    rho.resize(acov.len(), 0.0);
    let (mut even, mut odd) = (1.0, correlation(1));
    rho[0] = even;
    rho[1] = odd;
    let mut last = 0;
    // Pairs of lags as long as their sum is positive.
    while last + 5 < lags && even + odd > 0.0 {
        last += 2;
        if last + 1 >= acov.len() {
            return None;
        }
        even = correlation(last);
        odd = correlation(last + 1);
        if even + odd >= 0.0 {
            rho[last] = even;
            rho[last + 1] = odd;
        }
    }
    // The first lag after the sequence is counted once: less variance for antithetic chains.
    if even > 0.0 {
        rho[last] = even;
    }
    // Sums of pairs never grow.
    let mut lag = 2;
    while lag + 2 <= last {
        let before = rho[lag - 2] + rho[lag - 1];
        if rho[lag] + rho[lag + 1] > before {
            rho[lag] = before / 2.0;
            rho[lag + 1] = before / 2.0;
        }
        lag += 2;
    }
    // Too short for a pair (last = 0): lag 0 counts both ways, as in posterior.
    let tau = -1.0 + 2.0 * rho[..last.max(1)].iter().sum::<f64>() + rho[last];
    // NaN passes through the comparison on purpose.
    let least = 1.0 / draws.log10();
    Some(draws / if tau < least { least } else { tau })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Autocovariances of an AR(1) process with unit variance.
    fn ar1(phi: f64, len: usize) -> Vec<f64> {
        (0..len).map(|lag| phi.powi(lag as i32)).collect()
    }

    fn size_of_all(acov: &[f64], within: f64, total: f64, draws: f64) -> f64 {
        effective_size(acov, acov.len(), within, total, draws, &mut Vec::new()).unwrap()
    }

    #[test]
    fn an_autoregression_has_its_closed_form() {
        for phi in [-0.3, 0.0, 0.5, 0.9] {
            let ess = size_of_all(&ar1(phi, 2000), 1.0, 1.0, 8000.0);
            let expected = 8000.0 * (1.0 - phi) / (1.0 + phi);
            assert!(
                (ess / expected - 1.0).abs() < 1e-6,
                "{phi}: {ess} against {expected}"
            );
        }
    }

    #[test]
    fn strongly_antithetic_chains_are_capped() {
        let ess = size_of_all(&ar1(-0.99, 2000), 1.0, 1.0, 8000.0);
        assert!((ess - 8000.0 * 8000.0_f64.log10()).abs() < 1e-6);
    }

    #[test]
    fn disagreement_between_chains_lowers_the_size() {
        // The variance over chains is four times that within: every lag has correlation of at least 3/4.
        let ess = size_of_all(&ar1(0.0, 500), 1.0, 4.0, 2000.0);
        assert!(ess < 3.0, "{ess}");
    }

    #[test]
    fn the_first_lags_are_enough_or_say_that_they_are_not() {
        // Correlations are positive up to lag 40 and negative after it.
        let acov: Vec<f64> = (0..500)
            .map(|lag| {
                if lag == 0 {
                    1.0
                } else {
                    0.01 * (40.5 - lag as f64)
                }
            })
            .collect();
        let size =
            |lags: usize| effective_size(&acov[..lags], 500, 1.0, 1.0, 2000.0, &mut Vec::new());
        assert_eq!(size(64), size(500));
        assert!(size(64).is_some() && size(40).is_none());
    }
}
