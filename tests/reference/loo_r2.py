"""Makes the reference numbers of crates/analysis/src/predict/loo_r2/tests.rs with the standard library alone.

    python3 loo_r2.py [folder]

reads r2_data.csv and writes loo_r2_draws.csv (model,draw,value,parameter), loo_r2_errors.csv (model,row,value) and loo_r2.csv
(model,mean,sd). LOO-R-squared is what `loo_R2` of the R package rstanarm has: each row is expected by the posterior without it, by
Pareto-smoothed importance weights (Vehtari, Simpson, Gelman, Yao and Gabry 2024) of 1/p(y); errors are these less what was observed, of
successes among trials their numbers. Of rows with Dirichlet(1, ..., 1) weights w it is 1 - (sum w e^2 - sum (w e)^2)/var_w(y), not below
-1: mean and standard deviation over 200,000 weights. With 40 draws the tail has 8 weights whatever the effective sample size.
"""

import csv
import math
import pathlib
import random
import statistics
import sys

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
with open(folder / "r2_data.csv") as file:
    table = list(csv.DictReader(file))
rows = range(len(table))


def column(name):
    return [float(row[name]) for row in table]


x, n, y, yes, wins, count = map(column, ["x", "n", "y", "yes", "wins", "count"])
g = [row["g"] for row in table]
DRAWS = 40


def wave(s, speed, shift):
    """Numbers in (-1, 1) that look like draws."""
    return 2 * ((math.sin(speed * s + shift) * 43758.5453) % 1) - 1


a = [0.6 + 0.3 * wave(s, 12.9, 0) for s in range(DRAWS)]
b = [0.5 + 0.4 * wave(s, 78.2, 1) for s in range(DRAWS)]
sigma = [0.9 + 0.2 * wave(s, 39.4, 2) for s in range(DRAWS)]
nu = [8 + 4 * wave(s, 11.1, 3) for s in range(DRAWS)]
effects = [{k: 0.5 * wave(s, 5.3 * j, 4) for j, k in enumerate("abc", 1)} for s in range(DRAWS)]


def chance(z):
    return 1 / (1 + math.exp(-z))


def line(s, i):
    return a[s] + b[s] * x[i]


def normal(value, mean, scale):
    return -0.5 * ((value - mean) / scale) ** 2 - math.log(scale)


def student(value, mean, scale, df):
    t = (value - mean) / scale
    return math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df) - math.log(scale) - (df + 1) / 2 * math.log1p(t * t / df)


def successes(value, trials, z):
    return value * math.log(chance(z)) + (trials - value) * math.log(chance(-z))


def grouped(s, i):
    return line(s, i) + effects[s][g[i]]


line_of = [{"b[Intercept]": a[s], "b[x]": b[s]} for s in range(DRAWS)]
with_sigma = [{**line_of[s], "sigma": sigma[s]} for s in range(DRAWS)]
# Parameters, outcomes, expected outcomes, log densities.
models = {
    "linear": (with_sigma, y, line, lambda s, i: normal(y[i], line(s, i), sigma[s])),
    "student": (
        [{**with_sigma[s], "nu": nu[s]} for s in range(DRAWS)],
        y,
        line,
        lambda s, i: student(y[i], line(s, i), sigma[s], nu[s]),
    ),
    "logistic": (line_of, yes, lambda s, i: chance(line(s, i)), lambda s, i: successes(yes[i], 1, line(s, i))),
    "successes": (line_of, wins, lambda s, i: n[i] * chance(line(s, i)), lambda s, i: successes(wins[i], n[i], line(s, i))),
    "poisson": (
        line_of,
        count,
        lambda s, i: math.exp(line(s, i)),
        lambda s, i: count[i] * line(s, i) - math.exp(line(s, i)),
    ),
    "mixed": (
        [{**with_sigma[s], **{f"r[g,{k},Intercept]": e for k, e in effects[s].items()}} for s in range(DRAWS)],
        y,
        grouped,
        lambda s, i: normal(y[i], grouped(s, i), sigma[s]),
    ),
}


def generalised_pareto(values):
    """Shape and scale by Zhang and Stephens (2009), the shape with the prior of Vehtari et al. (2024)."""
    values = sorted(values)
    count = len(values)
    points = 30 + int(math.sqrt(count))
    quartile = values[int(count / 4 + 0.5) - 1]
    grid = [1 / values[-1] + (1 - math.sqrt(points / (j - 0.5))) / (3 * quartile) for j in range(1, points + 1)]

    def shape(theta):
        return statistics.fmean(math.log1p(-theta * value) for value in values)

    profile = [count * (math.log(-theta / shape(theta)) - shape(theta) - 1) for theta in grid]
    weights = [1 / sum(math.exp(other - mine) for other in profile) for mine in profile]
    weights = [weight if weight >= 10 * sys.float_info.epsilon else 0 for weight in weights]
    theta = sum(weight * theta for weight, theta in zip(weights, grid)) / sum(weights)
    k = shape(theta)
    return (count * k + 5) / (count + 10), -k / theta


def smoothed(log_ratios):
    largest = max(log_ratios)
    ratios = [math.exp(ratio - largest) for ratio in log_ratios]
    order = sorted(range(len(ratios)), key=ratios.__getitem__)
    tail = order[-math.ceil(0.2 * len(ratios)) :]
    cutoff = ratios[order[-len(tail) - 1]]
    k, scale = generalised_pareto([ratios[s] - cutoff for s in tail])
    for place, s in enumerate(tail):
        p = (place + 0.5) / len(tail)
        quantile = -scale * math.log1p(-p) if k == 0 else scale * math.expm1(-k * math.log1p(-p)) / k
        ratios[s] = min(cutoff + quantile, 1)
    return [ratio / sum(ratios) for ratio in ratios]


def errors(outcomes, expected, log_density):
    for i in rows:
        weights = smoothed([-log_density(s, i) for s in range(DRAWS)])
        yield sum(w * expected(s, i) for s, w in enumerate(weights)) - outcomes[i]


def variance(weights, total, values):
    mean = sum(w * v for w, v in zip(weights, values)) / total
    return sum(w * (v - mean) ** 2 for w, v in zip(weights, values))


with (
    open(folder / "loo_r2_draws.csv", "w") as draws,
    open(folder / "loo_r2_errors.csv", "w") as of_rows,
    open(folder / "loo_r2.csv", "w") as out,
):
    print("model,draw,value,parameter", file=draws)
    print("model,row,value", file=of_rows)
    print("model,mean,sd", file=out)
    for name, (parameters, outcomes, expected, log_density) in models.items():
        for s in range(DRAWS):
            for parameter, number in parameters[s].items():
                print(f"{name},{s},{number:.17g},{parameter}", file=draws)
        found = list(errors(outcomes, expected, log_density))
        for i in rows:
            print(f"{name},{i},{found[i]:.17g}", file=of_rows)
        rng = random.Random(1)
        values = []
        for _ in range(200_000):
            weights = [rng.expovariate(1) for _ in rows]
            total = sum(weights)
            of_errors = sum(w * e**2 for w, e in zip(weights, found)) - sum((w * e) ** 2 for w, e in zip(weights, found)) / total
            ratio = of_errors / variance(weights, total, outcomes)
            values.append(min(max(1 - ratio, -1), 1))
        print(f"{name},{statistics.fmean(values):.6f},{statistics.stdev(values):.6f}", file=out)
