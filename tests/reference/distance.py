"""Distances between two weighted samples by SciPy, for crates/diagnostics/src/distance/tests.rs and kolmogorov.rs.

Run: python distance.py > distance.json  (scipy 1.x, numpy). Draws are written with the results, so that no random stream has to
agree. Weights are whole numbers: SciPy's Kolmogorov-Smirnov test takes none, and is given each draw as often as its weight says.
The nearest neighbours of the Kullback-Leibler divergence are those of a k-d tree; its data have equal weights.
"""

import json

import numpy as np
from scipy import linalg, spatial, stats

rng = np.random.default_rng(20240)
K = 5


def ks(x, u, y, v):
    return float(stats.ks_2samp(np.repeat(x, u), np.repeat(y, v)).statistic)


def scaled(x, u, y):
    mean = np.average(x, axis=0, weights=u)
    sd = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=u))
    return (x - mean) / sd, (y - mean) / sd


def energy(x, u, y, v):
    u, v = u / u.sum(), v / v.sum()
    between = 2 * u @ spatial.distance.cdist(x, y) @ v
    within = u @ spatial.distance.cdist(x, x) @ u + v @ spatial.distance.cdist(y, y) @ v
    return float(between - within), float((between - within) / between)


def moments(x, u):
    return np.average(x, axis=0, weights=u), np.atleast_2d(np.cov(x.T, aweights=u, ddof=0))


def wasserstein(x, u, y, v):
    (m1, s1), (m2, s2) = moments(x, u), moments(y, v)
    root = linalg.sqrtm(s2)
    inner = linalg.sqrtm(root @ s1 @ root).real
    means = ((m1 - m2) ** 2).sum()
    return float(np.sqrt(means + np.trace(s1 + s2 - 2 * inner))), float(np.sqrt(means))


def rosenblatt(x, u, y, v):
    """Rosenblatt's transform for the normal distribution of the first, by the Cholesky factor of its covariance."""
    mean, covariance = moments(x, u)
    root = linalg.cholesky(covariance, lower=True)
    a, b = (linalg.solve_triangular(root, (z - mean).T, lower=True).T for z in (x, y))
    return float(np.mean([ks(a[:, j], u, b[:, j], v) for j in range(x.shape[1])]))


def divergence(x, y):
    """Wang, Kulkarni and Verdu (2009), equation 5, in coordinates in which the average covariance is the identity."""
    within = 0.5 * (np.cov(x.T, ddof=0) + np.cov(y.T, ddof=0))
    root = linalg.inv(linalg.cholesky(within, lower=True))
    x, y = x @ root.T, y @ root.T
    n, m, d = len(x), len(y), x.shape[1]
    own = spatial.cKDTree(x).query(x, K + 1)[0][:, -1]
    others = spatial.cKDTree(y).query(x, K)[0][:, -1]
    return float(d * np.mean(np.log(others / own)) + np.log(m / (n - 1)))


def case(name, x, u, y, v):
    a, b = scaled(x, u, y)
    even = bool(np.all(u == 1) and np.all(v == 1))
    total, share = energy(a, u, b, v)
    if a.shape[1] == 1:
        check = stats.energy_distance(a[:, 0], b[:, 0], u, v) ** 2
        assert abs(check - total) < 1e-10, (check, total)
    both, means = wasserstein(a, u, b, v)
    return {
        "name": name,
        "one": x.tolist(),
        "one_weights": u.tolist(),
        "other": y.tolist(),
        "other_weights": v.tolist(),
        "ks": [ks(x[:, j], u, y[:, j], v) for j in range(x.shape[1])],
        "energy": total,
        "energy_share": share,
        "rosenblatt": rosenblatt(a, u, b, v),
        "wasserstein": both,
        "wasserstein_means": means,
        "divergence": [divergence(a, b), divergence(b, a)] if even and a.shape[1] > 1 else None,
    }


def even(n):
    return np.ones(n, dtype=int)


mix = np.array([[1.0, 0.6, 0.0], [0.0, 0.8, 0.3], [0.0, 0.0, 0.5]])
cases = [
    case("plain", rng.normal(size=(40, 3)) @ mix, even(40), rng.normal(size=(30, 3)) * 1.3 + 0.4, even(30)),
    case(
        "weighted",
        np.round(rng.normal(size=(24, 2)), 6),
        rng.integers(1, 6, 24),
        np.round(2 + rng.standard_t(3, size=(36, 2)), 6),
        rng.integers(1, 4, 36),
    ),
    # Whole numbers: ties within and between the samples.
    case(
        "ties",
        rng.poisson(3, size=(30, 1)).astype(float),
        rng.integers(1, 4, 30),
        rng.poisson(4, size=(20, 1)).astype(float),
        even(20),
    ),
]
print(json.dumps(cases))
