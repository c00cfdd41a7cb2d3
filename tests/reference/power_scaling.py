"""Pareto-smoothed weights and power-scaling sensitivities of arviz, for crates/diagnostics/src/power_scaling/tests.rs.

Run: python power_scaling.py > power_scaling.json  (arviz 0.23). Draws are written with the results, so that no random
stream has to agree. Powers are 0.99 and 1.01, as in the R package priorsense.
"""

import json

import arviz.stats.stats as stats
import numpy as np

rng = np.random.default_rng(20231)
S = 400


def smoothed(log_ratios):
    weights, k = stats.psislw(np.array(log_ratios))
    return np.exp(weights), float(k)


def sensitivity(draws, component):
    total = 0.0
    for power in (0.99, 1.01):
        weights, _ = smoothed((power - 1.0) * component)
        total += max(stats._cjs_dist(draws, weights), stats._cjs_dist(-draws, weights))
    return total / (2 * np.log2(1.01))


normal = rng.normal(size=S)
heavy = rng.standard_t(2, size=S)
theta = rng.normal(1.0, 0.5, size=S)
skewed = np.exp(theta)
log_prior = -0.5 * theta**2 / 0.8**2
log_lik = -0.5 * (theta - 2.0) ** 2 / 0.6**2
rounded = lambda values: [float(f"{v:.9g}") for v in values]

cases = []
for logs in (0.3 * normal, 3.0 * normal, 2.0 * heavy, 0.01 * log_prior):
    logs = np.array(rounded(logs))
    weights, k = smoothed(logs)
    cases.append({"log_ratios": logs.tolist(), "weights": weights.tolist(), "k": k})
theta, skewed, log_prior, log_lik = (np.array(rounded(v)) for v in (theta, skewed, log_prior, log_lik))
print(
    json.dumps(
        {
            "smoothing": cases,
            "log_prior": log_prior.tolist(),
            "log_lik": log_lik.tolist(),
            "variables": [
                {
                    "name": name,
                    "draws": draws.tolist(),
                    "prior": sensitivity(draws, log_prior),
                    "likelihood": sensitivity(draws, log_lik),
                }
                for name, draws in (("theta", theta), ("skewed", skewed), ("normal", np.array(rounded(normal))))
            ],
        }
    )
)
