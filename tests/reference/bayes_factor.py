"""Makes bayes_factor_draws.csv and bayes_factor.csv: logarithms of Savage-Dickey ratios with their Monte Carlo errors.

    python bayes_factor.py .      (ArviZ 0.23.4, NumPy 2.4.6, SciPy 1.17.1)

The prior density is SciPy's. The posterior's is the maximum of the local likelihood of Hjort and Jones (1996, section 2),
    mean_i K(x_i) log f(x_i) − ∫ K(t) f(t) dt
over f(t) = exp(a + b t + c t²), with a Gaussian kernel K around 0. Its bandwidth is sd ess^(−1/9), with the standard deviation of all
draws (divisor n) and the effective sample size of the mean by ArviZ. The maximum is found by Newton's method with the integral by quadrature,
not by the closed form that there is. The Monte Carlo error is ArviZ's of the mean of the influence of each draw on a, which follows from the
implicit function theorem at the maximum; the influence of draws on the bandwidth is left out.

Columns of bayes_factor.csv: variable, prior and posterior density at 0, natural logarithm of the factor against 0, its Monte Carlo error.
crates/analysis/src/bayes_factor.rs compares.
"""

import pathlib
import sys

import arviz
import numpy as np
from scipy import stats
from scipy.optimize import minimize

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
CHAINS, DRAWS = 4, 150
rng = np.random.default_rng(43)


def slow(memory):
    """Chains of a standard normal that remember."""
    noise = rng.standard_normal((CHAINS, DRAWS))
    chains = np.empty_like(noise)
    chains[:, 0] = noise[:, 0]
    for i in range(1, DRAWS):
        chains[:, i] = memory * chains[:, i - 1] + np.sqrt(1 - memory**2) * noise[:, i]
    return chains


# Rounded as they are written.
draws = {
    "b[x]": np.round(0.5 + 0.4 * slow(0.5), 6),
    # Skewed.
    "b[z]": np.round(0.3 * np.exp(0.5 * slow(0.2)) - 0.25, 6),
    # Below 0, which only few draws are near: evidence against 0.
    "b[w]": np.round(-1.1 + 0.5 * slow(-0.3), 6),
}
priors = {
    "b[x]": stats.norm(0.3, 2),
    "b[z]": stats.t(4, -0.2, 1.5),
    "b[w]": stats.cauchy(-0.5, 0.4),
}
nodes, weights = np.polynomial.legendre.leggauss(400)


def local_fit(chains):
    """The logarithm of the density at 0, and its Monte Carlo error."""
    x = chains.ravel()
    ess = float(arviz.ess(chains, method="mean"))
    h = x.std(ddof=0) * ess ** (-1 / 9)
    kernel = lambda t: stats.norm.pdf(t, 0, h)
    # In units of the bandwidth, so that the three coefficients are of one size.
    powers = lambda t: np.stack([np.ones_like(t), t / h, (t / h) ** 2])
    t, w = 12 * h * nodes, 12 * h * weights
    data = (kernel(x) * powers(x)).mean(1)
    value = lambda p: np.sum(w * kernel(t) * np.exp(p @ powers(t))) - p @ data
    slope = lambda p: (w * kernel(t) * np.exp(p @ powers(t)) * powers(t)).sum(1) - data
    bend = lambda p: (w * kernel(t) * np.exp(p @ powers(t)) * powers(t)) @ powers(t).T
    p = minimize(value, [-1.0, 0.0, -0.1], jac=slope, hess=bend, method="trust-exact", options={"gtol": 1e-9}).x
    for _ in range(5):
        p = p - np.linalg.solve(bend(p), slope(p))
    assert np.abs(slope(p)).max() < 1e-14
    influence = np.linalg.solve(bend(p), kernel(x) * powers(x) - data[:, None])[0]
    return p[0], float(arviz.mcse(influence.reshape(chains.shape), method="mean"))


with open(folder / "bayes_factor_draws.csv", "w") as out:
    print("chain", *draws, sep=",", file=out)
    for chain in range(CHAINS):
        for i in range(DRAWS):
            print(chain, *(f"{it[chain, i]:.6f}" for it in draws.values()), sep=",", file=out)
with open(folder / "bayes_factor.csv", "w") as out:
    print("variable,prior,posterior,log_factor,mcse", file=out)
    for name, chains in draws.items():
        density, mcse = local_fit(chains)
        log_factor = priors[name].logpdf(0) - density
        print(f"{name},{priors[name].pdf(0):.17g},{np.exp(density):.17g},{log_factor:.17g},{mcse:.17g}", file=out)
