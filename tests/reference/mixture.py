"""Marginal likelihoods of clusters by numerical routes that the program does not use.

Normal components: Bayes' theorem m(x) = p(x | mu, Sigma) p(mu, Sigma) / p(mu, Sigma | x) with scipy's densities at an arbitrary
mu and Sigma. Items: the Dirichlet-multinomial probability of a sequence, from scipy's dirichlet_multinomial without its
coefficient. The data are those of crates/models/src/testing/mixtures.rs. Writes mixture.json.
"""

import json

import numpy as np
from scipy import stats
from scipy.special import gammaln

X = np.array([[-1.2, -0.7], [0.9, 1.4], [-0.8, -1.1], [0.2, 0.1], [1.5, 0.8], [-0.3, 0.9]])
ITEMS = [[0, 0, 1], [2, 2], [0, 1, 0, 1], [2, 2, 1], [0], [1, 2]]
CLUSTERS = [[0, 2, 3, 5], [1, 4]]
KAPPA, DF, SCALE, P = 0.2, 3.0, 0.6, 2
PSI, NU = DF * SCALE**2 * np.eye(P), DF + P - 1


def posterior(x):
    n, kappa = len(x), KAPPA + len(x)
    m = x.sum(axis=0) / kappa
    psi = PSI + x.T @ x - kappa * np.outer(m, m)
    return kappa, m, NU + n, psi


def log_normal_wishart(mu, sigma, kappa, m, nu, psi):
    return stats.multivariate_normal.logpdf(mu, m, sigma / kappa) + stats.invwishart.logpdf(sigma, nu, psi)


def log_marginal(x):
    mu, sigma = np.array([0.3, -0.2]), np.array([[0.9, 0.2], [0.2, 0.7]])
    likelihood = stats.multivariate_normal.logpdf(x, mu, sigma).sum()
    prior = log_normal_wishart(mu, sigma, KAPPA, np.zeros(P), NU, PSI)
    return likelihood + prior - log_normal_wishart(mu, sigma, *posterior(x))


def log_items(units):
    total = np.bincount(sum((ITEMS[u] for u in units), []), minlength=3)
    coefficient = gammaln(total.sum() + 1) - gammaln(total + 1).sum()
    return stats.dirichlet_multinomial.logpmf(total, [0.5] * 3, total.sum()) - coefficient


def log_predictive(unit, units):
    kappa, m, nu, psi = posterior(X[units])
    df = nu - P + 1
    return stats.multivariate_t.logpdf(X[unit], m, psi * (kappa + 1) / (kappa * df), df)


json.dump(
    {
        "full": [log_marginal(X[units]) for units in CLUSTERS],
        "items": [log_items(units) for units in CLUSTERS],
        "full_predictive": log_predictive(1, CLUSTERS[0]),
    },
    open("mixture.json", "w"),
    indent=1,
)
