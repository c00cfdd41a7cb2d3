"""Makes scores.csv: leave-one-out scores of the rows by two models each of epil and cbpp, with the effects of groups integrated out.

    python scores.py [folder]        needs numpy, scipy, pandas, arviz

A row of few in its group decides much of the group's effect, so that importance weights of whole draws are poor there. Here an effect is
integrated over a grid, with the row and without it, and importance weights are needed for the coefficients and the standard deviation
alone (Vehtari, Mononen, Tolvanen, Sivula and Winther 2016, JMLR 17(103): integrated importance sampling). Draws of these are
from a Student-t proposal around the mode of their posterior and weighted, so that no chain is involved.

Models and priors are those of answers.R; `other` of epil is without treatment, that of cbpp without period. Columns are the set, the row
from 1, and for both models the score (elpd_loo) and its Monte Carlo error. The script stops where a Pareto k is above 0.5.
"""

import pathlib
import sys

import arviz
import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import multivariate_t

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
DRAWS, CHUNK, NODES, WIDTH, DEGREES = 8_000, 100, 51, 9.0, 8
PRIOR_SD = 2.5


class Model:
    """Rows with an intercept per group; `curve` has the log density of a row and its first two derivatives in the linear predictor."""

    def __init__(self, columns, groups, centre, curve):
        columns = np.asarray(columns, float)
        self.x = (columns - columns.mean(0)) / columns.std(0)
        self.centre, self.curve = centre, curve
        self.group = pd.factorize(np.asarray(groups))[0]
        order = [np.flatnonzero(self.group == g) for g in range(self.group.max() + 1)]
        most = max(map(len, order))
        # Groups × rows of a group, filled up with a row that is masked.
        self.rows = np.array([np.r_[o, np.zeros(most - len(o), int)] for o in order])
        self.real = np.array([np.arange(most) < len(o) for o in order])

    def integrals(self, theta):
        """Draws × rows: log of the density of a row given the others of its group; draws: log of the density of all rows."""
        sd = np.exp(theta[:, -1])[:, None]
        eta = theta[:, :1] + theta[:, 1:-1] @ self.x.T
        eta = eta[:, self.rows]
        u = np.zeros(eta.shape[:2])
        for _ in range(60):
            _, slope, bend = self.curve(eta + u[..., None], self.rows)
            slope = (slope * self.real).sum(-1) - u / sd**2
            bend = (bend * self.real).sum(-1) - 1 / sd**2
            step = np.clip(-slope / bend, -1, 1)
            u += step
        assert np.abs(step).max() < 1e-8
        spread = 1 / np.sqrt(-bend)
        z = np.linspace(-WIDTH, WIDTH, NODES)
        at = u[..., None] + spread[..., None] * z
        log_p = self.curve(eta[..., None] + at[:, :, None, :], self.rows[..., None])[0] * self.real[..., None]
        prior = -0.5 * (at / sd[..., None]) ** 2 - np.log(sd)[..., None] - 0.5 * np.log(2 * np.pi)
        joint = log_p.sum(2) + prior
        logsum = lambda v: np.logaddexp.reduce(v, axis=-1)
        scale = np.log(spread * (z[1] - z[0]))
        whole = logsum(joint) + scale
        without = logsum(joint[:, :, None, :] - log_p) + scale[..., None]
        row = np.empty((len(theta), len(self.group)))
        row[:, self.rows[self.real]] = (whole[..., None] - without)[:, self.real]
        return row, whole.sum(1)

    def log_prior(self, theta):
        """Of the intercept, the coefficients and the logarithm of a standard deviation with the prior exponential(1)."""
        gaps = (theta[:, :-1] - np.r_[self.centre, np.zeros(self.x.shape[1])]) / PRIOR_SD
        return -0.5 * (gaps**2).sum(1) - np.exp(theta[:, -1]) + theta[:, -1]

    def log_posterior(self, theta):
        return self.integrals(theta)[1] + self.log_prior(theta)


def scores(model, seed):
    """Score of each row, and the influence of each draw on it (draws × rows)."""
    start = np.r_[model.centre, np.zeros(model.x.shape[1]), -0.5]
    minus = lambda theta: -model.log_posterior(theta[None])[0]
    mode = minimize(minus, start, method="BFGS", options={"gtol": 1e-4}).x
    # Curvature by central differences, all points at once.
    d, h = len(mode), 1e-3
    unit = h * np.eye(d)
    points = np.array([mode + a * unit[i] + b * unit[j] for i in range(d) for j in range(d) for a in (1, -1) for b in (1, -1)])
    values = model.log_posterior(points).reshape(d, d, 2, 2)
    hessian = (values[:, :, 0, 0] - values[:, :, 0, 1] - values[:, :, 1, 0] + values[:, :, 1, 1]) / (4 * h * h)
    shape = 1.2 * np.linalg.inv(-(hessian + hessian.T) / 2)
    proposal = multivariate_t(mode, shape, df=DEGREES)
    theta = proposal.rvs(DRAWS, random_state=np.random.default_rng(seed))
    parts = [model.integrals(theta[k : k + CHUNK]) for k in range(0, DRAWS, CHUNK)]
    rows = np.concatenate([row for row, _ in parts])
    log_w = np.concatenate([whole for _, whole in parts]) + model.log_prior(theta) - proposal.logpdf(theta)
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    ks = [float(arviz.psislw(log_w - rows[:, i])[1]) for i in range(rows.shape[1])]
    print(f"effective draws {1 / (w**2).sum():.0f}, largest Pareto k {max(ks):.2f}", file=sys.stderr)
    assert max(ks) < 0.5
    inverse = np.exp(-rows)
    mean = w @ inverse
    return -np.log(mean), -w[:, None] * (inverse / mean - 1)


def poisson(y):
    y = np.asarray(y, float)
    constant = gammaln(y + 1)

    def curve(eta, rows):
        rate = np.exp(eta)
        return y[rows] * eta - rate - constant[rows], y[rows] - rate, -rate

    return curve


def binomial(y, n):
    y, n = np.asarray(y, float), np.asarray(n, float)
    constant = gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)

    def curve(eta, rows):
        p = 1 / (1 + np.exp(-eta))
        return constant[rows] + y[rows] * eta - n[rows] * np.logaddexp(0, eta), y[rows] - n[rows] * p, -n[rows] * p * (1 - p)

    return curve


epil = pd.read_csv(folder / "epil.csv")
treated = (epil.trt == "progabide").astype(float)
counts = lambda columns: Model(columns, epil.subject, np.log(epil.y.mean()), poisson(epil.y))
cbpp = pd.read_csv(folder / "cbpp.csv")
periods = [(cbpp.period == k).astype(float) for k in (2, 3, 4)]
herds = lambda columns: Model(columns, cbpp.herd, 0.0, binomial(cbpp.incidence, cbpp["size"]))
analyses = [
    (
        "epil",
        counts(np.column_stack([epil.lbase, treated, epil.lage, epil.V4, epil.lbase * treated])),
        counts(np.column_stack([epil.lbase, epil.lage, epil.V4])),
    ),
    ("cbpp", herds(np.column_stack(periods)), herds(np.empty((len(cbpp), 0)))),
]

with open(folder / "scores.csv", "w") as out:
    print("set,row,full,mcse_full,other,mcse_other", file=out)
    for name, *models in analyses:
        found = [scores(model, seed) for seed, model in enumerate(models, 1)]
        for what, (each, errors) in zip(("full", "other"), found):
            print(f"{name}, {what}: {each.sum():.3f} ± {np.sqrt((errors.sum(1) ** 2).sum()):.3f}", file=sys.stderr)
        (full, full_errors), (other, other_errors) = found
        total = np.sqrt(((full_errors.sum(1) ** 2) + (other_errors.sum(1) ** 2)).sum())
        print(f"{name}, difference: {(other - full).sum():.3f} ± {total:.3f}", file=sys.stderr)
        error = lambda errors: np.sqrt((errors**2).sum(0))
        for row in zip(range(1, len(full) + 1), full, error(full_errors), other, error(other_errors)):
            print(f"{name},%d,%.8g,%.3g,%.8g,%.3g" % row, file=out)
