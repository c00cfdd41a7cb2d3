"""Makes hdi.csv: shortest intervals of the draws in draws_<set>.csv by ArviZ, all chains together.

    python3 hdi.py .

Columns: set, probability, low and high with 17 significant digits. crates/diagnostics/src/extra/tests.rs asks for the same numbers.
"""

import pathlib
import sys

import arviz
import numpy as np

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
SETS = ["iid", "ar09", "cauchy", "skewed", "shifted", "odd", "counts", "far"]
with open(folder / "hdi.csv", "w") as out:
    print(f"# made by hdi.py: arviz {arviz.__version__}, numpy {np.__version__}", "set,probability,low,high", sep="\n", file=out)
    for name in SETS:
        draws = np.loadtxt(folder / f"draws_{name}.csv", delimiter=",", ndmin=2).ravel()
        for probability in [0.5, 0.8, 0.9, 0.95]:
            low, high = arviz.hdi(draws, hdi_prob=probability)
            print(f"{name},{probability},{low:.17g},{high:.17g}", file=out)
