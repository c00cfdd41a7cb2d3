"""Makes the reference numbers of crates/analysis/src/predict/r2/tests.rs with the standard library alone.

    python3 r2.py [folder]

writes r2_data.csv, r2_draws.csv (model,draw,value,parameter) and r2.csv (model,draw,value): Bayesian R-squared of each draw as `bayes_R2` of the
R package rstanarm defines it, the variance of the expected outcomes over rows (divisor n - 1) over the sum of this and the residual
variance: sigma squared of normal noise, the mean of p (1 - p) of yes or no, the mean of n p (1 - p) of successes among n trials, whose
expected numbers are n p. Of Poisson counts it is the mean of the expected counts, of Student-t noise sigma squared nu/(nu - 2).
"""

import math
import pathlib
import statistics
import sys

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
rows = range(14)
x = [round(math.sin(1.7 * i) + 0.1 * i, 3) for i in rows]
n = [3 + (5 * i) % 7 for i in rows]
g = ["abc"[(2 * i) % 3] for i in rows]
y = [round(1 + 0.8 * x[i] + math.cos(3.1 * i), 3) for i in rows]
yes = [(5 * i) % 3 % 2 for i in rows]
wins = [(4 * i) % (n[i] + 1) for i in rows]
count = [(7 * i) % 5 for i in rows]

with open(folder / "r2_data.csv", "w") as out:
    print("x,n,g,y,yes,wins,count", file=out)
    for i in rows:
        print(x[i], n[i], g[i], y[i], yes[i], wins[i], count[i], sep=",", file=out)

a = [0.3, -0.2, 0.5]
b = [0.7, 1.1, 0.2]
sigma = [0.9, 1.3, 0.6]
nu = [5.0, 9.5, 30.0]
effects = [{"a": 0.4, "b": -0.1, "c": -0.6}, {"a": 0.0, "b": 0.9, "c": -0.2}, {"a": -0.5, "b": 0.3, "c": 0.1}]


def chance(z):
    return 1 / (1 + math.exp(-z))


def r2(expected, residual):
    explained = statistics.variance(expected)
    return explained / (explained + residual)


def line(s):
    return [a[s] + b[s] * x[i] for i in rows]


def of_successes(s, trials):
    p = [chance(z) for z in line(s)]
    expected = [m * q for m, q in zip(trials, p)]
    return r2(expected, statistics.fmean(m * q * (1 - q) for m, q in zip(trials, p)))


def of_counts(s):
    mean = [math.exp(z) for z in line(s)]
    return r2(mean, statistics.fmean(mean))


def of_groups(s):
    return r2([z + effects[s][g[i]] for i, z in zip(rows, line(s))], sigma[s] ** 2)


line_of = [{"b[Intercept]": a[s], "b[x]": b[s]} for s in range(3)]
with_sigma = [{**line_of[s], "sigma": sigma[s]} for s in range(3)]
models = {
    "linear": (with_sigma, lambda s: r2(line(s), sigma[s] ** 2)),
    "student": (
        [{**with_sigma[s], "nu": nu[s]} for s in range(3)],
        lambda s: r2(line(s), sigma[s] ** 2 * nu[s] / (nu[s] - 2)),
    ),
    "logistic": (line_of, lambda s: of_successes(s, [1] * len(x))),
    "successes": (line_of, lambda s: of_successes(s, n)),
    "poisson": (line_of, of_counts),
    "mixed": (
        [{**with_sigma[s], **{f"r[g,{k},Intercept]": e for k, e in effects[s].items()}} for s in range(3)],
        of_groups,
    ),
}

with open(folder / "r2_draws.csv", "w") as draws, open(folder / "r2.csv", "w") as out:
    print("model,draw,value,parameter", file=draws)
    print("model,draw,value", file=out)
    for name, (of, value) in models.items():
        for s in range(3):
            for parameter, number in of[s].items():
                print(f"{name},{s},{number},{parameter}", file=draws)
            print(f"{name},{s},{value(s):.17g}", file=out)
