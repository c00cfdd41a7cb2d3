"""Makes rootogram.json: observed and expected frequencies of counts with intervals.

    python rootogram.py > rootogram.json      (numpy 2.4)

Frequencies of each count in the data, and in replicated data sets their mean and their quantiles of 5 %, 50 % and 95 % (numpy's default, type 7
of Hyndman and Fan 1996), by np.bincount. Counts above the largest observed one stand together at the end; where the largest is above
59, as few counts stand together as leave at most 60 bars up to it. crates/analysis/src/check/rootogram.rs compares.
"""

import json

import numpy as np

rng = np.random.default_rng(45)
cases = []
for name, rows, sets, rate, size in [("small", 40, 60, 2.5, 2.0), ("large", 50, 41, 70.0, 4.0)]:
    draw = lambda shape: rng.negative_binomial(size, size / (size + rate), shape)
    observed, replicated = draw(rows), draw((sets, rows))
    values = observed.max() + 1
    wide = -(-values // 60)
    bars = -(-values // wide)
    frequencies = lambda data: np.bincount(np.minimum(data // wide, bars), minlength=bars + 1)
    each = np.array([frequencies(data) for data in replicated])
    low, middle, high = np.quantile(each, [0.05, 0.5, 0.95], axis=0)
    cases.append(
        {
            "name": name,
            "observed": observed.tolist(),
            "replicated": replicated.tolist(),
            "from": (np.arange(bars + 1) * wide).tolist(),
            "frequency": frequencies(observed).tolist(),
            "expected": each.mean(0).tolist(),
            "lower": low.tolist(),
            "median": middle.tolist(),
            "upper": high.tolist(),
        }
    )
print(json.dumps(cases))
