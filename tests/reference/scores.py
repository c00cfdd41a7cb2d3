"""Makes the reference numbers of crates/diagnostics/src/scores/tests.rs with scikit-learn.

    python3 scores.py [folder]

writes scores_data.csv (outcome, probability, weight; one line per row) and scores.csv (quantity,value with 17 significant
digits; a curve has one line per point, in order). Probabilities have ties, and one is nearly 1.

calibration.csv has the isotonic regression of the outcomes on these probabilities, one line per row, for crates/analysis/src/check/tests.rs.

Curves are those of roc_curve without dropping points in between. Standard errors are of no function of scikit-learn: that of
the Brier score is the standard deviation over rows (divisor n - 1) by the root of n; that of the area is by the definition of
DeLong, DeLong and Clarke-Pearson (1988), over all pairs.
"""

import pathlib
import sys

import numpy as np
import sklearn
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score, roc_curve

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
rng = np.random.default_rng(20261123)
n = 240
eta = rng.normal(-0.3, 1.6, n)
p = 1 / (1 + np.exp(-eta))
p[: n // 2] = np.round(p[: n // 2], 1).clip(0.05, 0.95)
p[-1] = 1 - 1e-9
y = (rng.random(n) < p).astype(int)
y[-2] = 1 - y[-2]
w = np.round(rng.gamma(2.0, 1.0, n), 2)
w[5] = 0.0

version = f"# made by scores.py: scikit-learn {sklearn.__version__}, numpy {np.__version__}"
with open(folder / "scores_data.csv", "w") as out:
    print(version, "outcome,probability,weight", sep="\n", file=out)
    for row in zip(y, p, w):
        print(f"{row[0]},{row[1]:.17g},{row[2]:.17g}", file=out)

with open(folder / "scores.csv", "w") as out:
    print(version, "quantity,value", sep="\n", file=out)
    for weights, end in [(None, ""), (w, "_weighted")]:
        print(f"log_loss{end},{log_loss(y, p, sample_weight=weights):.17g}", file=out)
        print(f"brier{end},{brier_score_loss(y, p, sample_weight=weights):.17g}", file=out)
        print(f"auc{end},{roc_auc_score(y, p, sample_weight=weights):.17g}", file=out)
        false, true, thresholds = roc_curve(y, p, sample_weight=weights, drop_intermediate=False)
        for name, values in [("threshold", thresholds), ("false_positives", false), ("true_positives", true)]:
            for value in values:
                print(f"roc_{name}{end},{value:.17g}", file=out)
    squares = (p - y) ** 2
    print(f"brier_se,{squares.std(ddof=1) / np.sqrt(n):.17g}", file=out)
    yes, no = p[y == 1], p[y == 0]
    pairs = (yes[:, None] > no[None, :]) + 0.5 * (yes[:, None] == no[None, :])
    variance = pairs.mean(1).var(ddof=1) / len(yes) + pairs.mean(0).var(ddof=1) / len(no)
    print(f"auc_se,{np.sqrt(variance):.17g}", file=out)

with open(folder / "calibration.csv", "w") as out:
    print(version, "plain,weighted", sep="\n", file=out)
    # A row that counts for nothing has a place on the curve, but no part in it.
    curves = [IsotonicRegression().fit(p, y, sample_weight=weights).predict(p) for weights in [None, w]]
    for row in zip(*curves):
        print(f"{row[0]:.17g},{row[1]:.17g}", file=out)
