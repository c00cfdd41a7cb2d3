"""Makes loo_pit.json: places of outcomes in their predictive distributions without their rows.

    python loo_pit.py > loo_pit.json      (arviz 0.23.4, numpy 2.4, scipy 1.17)

Weights are those of arviz.psislw of −log_lik with the relative efficiency of exp(log_lik) by arviz.ess. Of numbers without ties
arviz.loo_pit makes the values themselves; `distance` of these is scipy's Kolmogorov-Smirnov statistic. Of counts, and of yes or no by the
probability of yes, `below` and `upto` are the weighted shares, and `curve` is the mean at 0, 0.01, …, 1 of the distribution functions of Czado, Gneiting
and Held (2009, equation 2). log_lik and replicates are rows × draws, two chains one after the other.
crates/analysis/src/check/pit.rs compares.
"""

import json

import arviz
import numpy as np
from scipy import stats

CHAINS, DRAWS, ROWS = 2, 100, 10
S = CHAINS * DRAWS
rng = np.random.default_rng(44)
PLACES = np.linspace(0, 1, 101)


def weigh(log_lik):
    """Logarithms of weights, and Pareto k."""
    found = []
    for row in log_lik:
        lik = np.exp(row - row.max()).reshape(CHAINS, DRAWS)
        efficiency = float(arviz.ess(lik, method="mean")) / S
        found.append(arviz.psislw(-row, efficiency))
    return np.array([w for w, _ in found]), [float(k) for _, k in found]


def told(y, log_lik, replicates, below, upto, ks):
    share = (PLACES[:, None] - below) / (upto - below) if np.all(upto > below) else None
    return {
        "observed": y.tolist(),
        "log_lik": log_lik.tolist(),
        "replicates": replicates.tolist(),
        "below": below.tolist(),
        "upto": upto.tolist(),
        "k": ks,
        "curve": None if share is None else np.clip(share, 0, 1).mean(1).tolist(),
    }


def counted(y, log_lik, replicates):
    log_w, ks = weigh(log_lik)
    w = np.exp(log_w)
    below = np.sum(w * (replicates < y[:, None]), 1)
    upto = np.sum(w * (replicates <= y[:, None]), 1)
    return told(y, log_lik, replicates, below, upto, ks)


mean = np.round(0.3 * rng.standard_normal(S), 6)
y = np.round(1.3 * rng.standard_normal(ROWS), 6)
log_lik = np.round(stats.norm.logpdf(y[:, None], mean, 1), 6)
replicates = np.round(mean + rng.standard_normal((ROWS, S)), 4)
log_w, ks = weigh(log_lik)
values = arviz.loo_pit(y=y, y_hat=replicates, log_weights=log_w)
numbers = told(y, log_lik, replicates, values, values, ks)
numbers["distance"] = stats.kstest(values, "uniform").statistic

rate = np.round(np.exp(1.2 + 0.2 * rng.standard_normal(S)), 6)
y = rng.poisson(3.5, ROWS).astype(float)
counts = counted(y, np.round(stats.poisson.logpmf(y[:, None], rate), 6), rng.poisson(rate, (ROWS, S)).astype(float))

chance = np.round(1 / (1 + np.exp(-0.4 - 0.3 * rng.standard_normal((ROWS, S)))), 4)
y = (rng.random(ROWS) < 0.6).astype(float)
log_lik = np.round(np.log(np.where(y[:, None] > 0, chance, 1 - chance)), 6)
log_w, ks = weigh(log_lik)
yes = np.sum(np.exp(log_w) * chance, 1)
# No lies below yes: an outcome of yes has the share of no below it.
below = np.where(y > 0, 1 - yes, 0)
binary = told(y, log_lik, chance, below, np.where(y > 0, 1, 1 - yes), ks)
print(json.dumps({"numbers": numbers, "counts": counts, "binary": binary}))
