"""Makes total_variation.json: total variation distances of histograms of two samples, with their halves.

    python total_variation.py > total_variation.json      (numpy 2.4)

Bins hold equal shares of both samples together, each sample with half of the weight: a value belongs to the bin in which the middle of its
share of the distribution function lies. Sums are of exact fractions, so that no value is put into another bin by rounding. `value` is half the
sum of absolute differences of shares. `halves` is the largest distance of a sample's halves: first half of each chain against second,
and every second chain against the others. crates/diagnostics/src/total_variation.rs compares.
"""

import json
from fractions import Fraction

import numpy as np


def distance(one, other, bins):
    """Of two lists of (value, weight)."""
    laws = []
    for sample in (one, other):
        total = sum(Fraction(w) for _, w in sample)
        law = {}
        for x, w in sample:
            law[x] = law.get(x, 0) + Fraction(w) / total
        laws.append(law)
    p, q = laws
    counts = [[Fraction(0), Fraction(0)] for _ in range(bins)]
    below = Fraction(0)
    for x in sorted(set(p) | set(q)):
        shares = [p.get(x, Fraction(0)), q.get(x, Fraction(0))]
        share = sum(shares) / 2
        place = min(int((below + share / 2) * bins), bins - 1)
        for side in (0, 1):
            counts[place][side] += shares[side]
        below += share
    return float(sum(abs(a - b) for a, b in counts) / 2)


def flat(chains, weights):
    return [(x, w) for chain, ws in zip(chains, weights) for x, w in zip(chain, ws)]


def halves(chains, weights, bins):
    n = len(chains[0])
    first = [(c[: (n + 1) // 2], w[: (n + 1) // 2]) for c, w in zip(chains, weights)]
    second = [(c[(n + 1) // 2 :], w[(n + 1) // 2 :]) for c, w in zip(chains, weights)]
    even, odd = list(zip(chains, weights))[::2], list(zip(chains, weights))[1::2]
    found = []
    for a, b in [(first, second), (even, odd)]:
        if a and b:
            found.append(distance(flat(*zip(*a)), flat(*zip(*b)), bins))
    return found


rng = np.random.default_rng(42)
normal = lambda chains, draws, mean=0.0, sd=1.0: np.round(mean + sd * rng.standard_normal((chains, draws)), 6).tolist()
counts = lambda chains, draws, rate: rng.poisson(rate, (chains, draws)).astype(float).tolist()
weigh = lambda chains: np.round(rng.gamma(1.5, size=np.shape(chains)), 6).tolist()
sets = [
    ("normal", normal(4, 61), normal(4, 61, 0.4, 1.3), False),
    ("lengths", normal(3, 50), normal(1, 83, -0.2), False),
    ("weighted", normal(2, 70), normal(4, 40, 0.3), True),
    ("counts", counts(4, 53, 3.0), counts(4, 47, 4.0), False),
    ("weighted counts", counts(2, 60, 6.0), counts(2, 60, 5.0), True),
]
cases = []
for name, one, other, weighted in sets:
    weights = [weigh(one), weigh(other)] if weighted else [[], []]
    ones = lambda chains: [[1] * len(c) for c in chains]
    used = weights if weighted else [ones(one), ones(other)]
    for bins in (6, 10):
        cases.append(
            {
                "name": name,
                "one": one,
                "other": other,
                "weights": weights,
                "bins": bins,
                "value": distance(flat(one, used[0]), flat(other, used[1]), bins),
                "halves": max(halves(one, used[0], bins) + halves(other, used[1], bins)),
            }
        )
print(json.dumps(cases))
