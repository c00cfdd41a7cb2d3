"""Makes shares.csv: probabilities that a variable is above 0, and that it lies in a range that counts as 0, from draws_<set>.csv.

    python shares.py .      (numpy 2.4)

Columns: set, weighted, p_positive, from, to, in_rope. The k-th draw of the file, counted from 0 row by row, has the weight
1 + (k mod 7)/4 where draws have weights. Both ends of a range belong to it. crates/diagnostics/src/extra/tests.rs compares.
"""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
with open(folder / "shares.csv", "w") as out:
    print("set,weighted,p_positive,from,to,in_rope", file=out)
    for name in ["iid", "ar09", "cauchy", "skewed", "shifted", "odd", "counts", "binary", "scaled"]:
        draws = np.loadtxt(folder / f"draws_{name}.csv", delimiter=",", ndmin=2)
        weights = 1 + np.arange(draws.size).reshape(draws.shape) % 7 / 4
        # The ends are draws.
        low, high = np.quantile(draws, [0.3, 0.6], method="inverted_cdf")
        for weighted, w in [(0, np.ones_like(draws)), (1, weights)]:
            above = np.average(np.heaviside(draws, 0), weights=w)
            within = np.average((draws >= low) & (draws <= high), weights=w)
            print(f"{name},{weighted},{above:.17g},{low:.17g},{high:.17g},{within:.17g}", file=out)
