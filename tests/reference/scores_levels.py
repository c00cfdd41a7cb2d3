"""Makes the reference numbers of crates/analysis/src/predict/scores/tests/levels.rs with scikit-learn and SciPy.

    python3 scores_levels.py [folder]

writes, for outcomes of four levels without an order (`party`) and of four ordered ones (`rating`):

- scores_levels_data.csv: predictors x and f, how often a row counts (n), both outcomes, and which rows are held out (split);
- scores_levels_draws.csv: eight draws of coefficients in two chains of five and three, with a weight each, of which one is 0. Of
  the multinomial regression they are, for green, none and red against blue, the intercept, x, f=b and f=c; of the ordinal one x,
  f=b, f=c and three cut points;
- scores_levels.csv (template,draws,rows,quantity,value with 17 significant digits): scores of the rows held out, by the mean of the
  predictive probabilities of all draws, alike or weighted, over rows that count alike or weighted.

Probabilities are those of scipy.special.softmax, and differences of scipy.special.expit; scores those of sklearn.metrics. Perplexity
is of no function of scikit-learn, nor are standard errors: e to the power of the log loss, and the standard deviation over rows
(divisor n - 1) by the root of n. The most probable level is wrong for some rows, one outcome is nearly impossible, and one nearly
certain.
"""

import pathlib
import sys

import numpy as np
import scipy
import sklearn
from scipy.special import expit, softmax
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, root_mean_squared_error

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
rng = np.random.default_rng(20261127)
n = 150
parties = np.array(["blue", "green", "none", "red"])
places = np.arange(1, 5)
x = np.round(rng.normal(0.5, 1.3, n), 3)
f = np.array(["a", "b", "c"])[np.arange(n) % 3]
counts = np.round(rng.gamma(2.0, 1.0, n) + 0.01, 2)
held = np.arange(n) % 2 == 1
terms = np.column_stack([np.ones(n), x, f == "b", f == "c"])

true_logits = np.array([[0.4, 0.9, -0.3, 0.5], [-0.2, -0.6, 0.8, 0.1], [0.1, 0.3, 0.2, -1.0]])
true_slopes, true_cuts = np.array([0.8, -0.5, 0.6]), np.array([-0.9, 0.4, 1.7])


def unordered(logits):
    """Probabilities of the four levels, a row of the table each."""
    eta = np.column_stack([np.zeros(n), terms @ logits.T])
    return softmax(eta, axis=1)


def ordered(slopes, cuts):
    """Probabilities of the four levels, a row of the table each."""
    upto = expit(cuts - (terms[:, 1:] @ slopes)[:, None])
    return np.diff(np.column_stack([np.zeros(n), upto, np.ones(n)]), axis=1)


def draw_levels(probabilities):
    return (rng.random(n)[:, None] > probabilities.cumsum(1)[:, :-1]).sum(1)


party = draw_levels(unordered(true_logits))
rating = draw_levels(ordered(true_slopes, true_cuts))
# Far out: first what is nearly impossible there, then what is nearly certain.
x[1], party[1], rating[1] = 12.0, 2, 0
x[3], party[3], rating[3] = 11.0, 1, 3
terms[:, 1] = x

weights = np.round(rng.gamma(2.0, 0.5, 8) + 0.05, 2)
weights[2] = 0.0
logits = np.round(true_logits + 0.35 * rng.normal(size=(8, 3, 4)), 4)
slopes = np.round(true_slopes + 0.35 * rng.normal(size=(8, 3)), 4)
cuts = np.round(np.sort(true_cuts + 0.25 * rng.normal(size=(8, 3)), axis=1), 4)

version = f"# made by scores_levels.py: scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}"
with open(folder / "scores_levels_data.csv", "w") as out:
    print("x,f,n,party,rating,split", file=out)
    for i in range(n):
        split = "test" if held[i] else "train"
        print(f"{x[i]},{f[i]},{counts[i]},{parties[party[i]]},{rating[i] + 1},{split}", file=out)

with open(folder / "scores_levels_draws.csv", "w") as out:
    print(version, "template,chain,weight,values", sep="\n", file=out)
    for s in range(8):
        chain = 1 if s < 5 else 2
        for template, values in [("multinomial", logits[s].ravel()), ("ordered", np.concatenate([slopes[s], cuts[s]]))]:
            print(template, chain, weights[s], *values, sep=",", file=out)

with open(folder / "scores_levels.csv", "w") as out:
    print(version, "template,draws,rows,quantity,value", sep="\n", file=out)
    for template, each, y in [
        ("multinomial", np.array([unordered(one) for one in logits]), party + 1),
        ("ordered", np.array([ordered(*both) for both in zip(slopes, cuts)]), rating + 1),
    ]:
        for draws, of_draw in [("alike", None), ("weighted", weights)]:
            p = np.average(each, axis=0, weights=of_draw)[held]
            seen, called, expected = y[held], p.argmax(1) + 1, p @ places
            for rows, of_row in [("alike", None), ("weighted", counts[held])]:
                loss = log_loss(seen, p, labels=places, sample_weight=of_row)
                found = {
                    "lpd": -loss,
                    "log_loss": loss,
                    "error_rate": 1 - accuracy_score(seen, called, sample_weight=of_row),
                    "perplexity": np.exp(loss),
                }
                if template == "ordered":
                    found["rmse"] = root_mean_squared_error(seen, expected, sample_weight=of_row)
                    found["mae"] = mean_absolute_error(seen, expected, sample_weight=of_row)
                if of_row is None:
                    own = -np.log(p[np.arange(len(p)), seen - 1])
                    found["log_loss_se"] = own.std(ddof=1) / np.sqrt(len(p))
                    found["error_rate_se"] = (called != seen).std(ddof=1) / np.sqrt(len(p))
                for quantity, value in found.items():
                    print(f"{template},{draws},{rows},{quantity},{value:.17g}", file=out)
