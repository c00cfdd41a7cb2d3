"""The gamma family against scipy: gamma.py, with numpy and scipy.

Writes gamma_data.csv and gamma.csv (name, value):
- density:K, scipy's log density of row K at the linear predictor 0.3 + 0.5 x with shape 2.5, as Stan's gamma(shape, shape / mu);
- mixed:*, the maximum of the likelihood with an intercept per group, integrated by Gauss and Hermite's rule with 101 nodes.
"""
import os
import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import gamma

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20)
n, groups = 180, 15
g = np.arange(n) % groups
x = np.round(rng.normal(2, 1.5, n), 3)
mean = np.exp(1.1 + 0.3 * x + 0.5 * rng.normal(size=groups)[g])
y = np.round(rng.gamma(3.0, mean / 3.0), 4) + 1e-4
with open(os.path.join(here, "gamma_data.csv"), "w") as f:
    f.write("x,g,y\n")
    f.writelines(f"{float(a)!r},g{b},{float(np.round(c, 4))!r}\n" for a, b, c in zip(x, g, y))
y = np.round(y, 4)
X = np.column_stack([np.ones(n), x])
out = []

eta = 0.3 + 0.5 * x
for k in range(0, n, 30):
    out.append((f"density:{k}", gamma.logpdf(y[k], 2.5, scale=np.exp(eta[k]) / 2.5)))

beta = np.linalg.lstsq(X, np.log(y), rcond=None)[0]
for _ in range(100):
    # Fisher scoring: with the log link all working weights are 1.
    beta = beta + np.linalg.lstsq(X, y / np.exp(X @ beta) - 1, rcond=None)[0]
nodes, weights = np.polynomial.hermite_e.hermegauss(101)
log_weights = np.log(weights) - 0.5 * np.log(2 * np.pi)

def minus_log_lik(p):
    b0, b1, log_sd, log_shape = p
    a = np.exp(log_shape)
    eta = (b0 + b1 * x)[:, None] + np.exp(log_sd) * nodes[None, :]
    rows = gamma.logpdf(y[:, None], a, scale=np.exp(eta) / a)
    total = np.zeros((groups, len(nodes)))
    np.add.at(total, g, rows)
    return -logsumexp(total + log_weights, axis=1).sum()

found = minimize(minus_log_lik, [beta[0], beta[1], -0.7, 1.0], method="BFGS", options=dict(gtol=1e-7))
found = minimize(minus_log_lik, found.x, method="Nelder-Mead", options=dict(xatol=1e-9, fatol=1e-12, maxiter=20000, maxfev=20000))
b0, b1, log_sd, log_shape = found.x
out += [("mixed:intercept", b0), ("mixed:x", b1), ("mixed:sd", np.exp(log_sd)), ("mixed:shape", np.exp(log_shape)),
        ("mixed:log_lik", -found.fun)]
with open(os.path.join(here, "gamma.csv"), "w") as f:
    f.write("name,value\n")
    f.writelines(f"{name},{float(value)!r}\n" for name, value in out)
