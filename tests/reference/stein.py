"""Makes stein.json: squared kernel Stein discrepancies of points with scores.

    python stein.py > stein.json      (jax 0.10, numpy 2.4; printed numbers were made so)

The Langevin Stein kernel tr ∇_x∇_y k + s(x)·∇_y k + s(y)·∇_x k + s(x)·s(y) k (Liu, Lee and Jordan 2016; Chwialkowski, Strathmann and Gretton
2016) of the inverse multiquadric k = (1 + |x − y|²/D)^(−1/2) (Gorham and Mackey 2017), its derivatives by automatic differentiation of
k, none by hand. `u` is the mean over pairs of different points; `weighted` the mean with weights w_i w_j of such pairs.
crates/diagnostics/src/stein.rs compares.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def kernel(x, y):
    return (1 + jnp.sum((x - y) ** 2) / x.size) ** -0.5


def stein(x, y, score_x, score_y):
    mixed = jax.jacfwd(jax.grad(kernel, 0), 1)(x, y)
    return (
        jnp.trace(mixed)
        + score_x @ jax.grad(kernel, 1)(x, y)
        + score_y @ jax.grad(kernel, 0)(x, y)
        + score_x @ score_y * kernel(x, y)
    )


pairs = jax.jit(jax.vmap(jax.vmap(stein, (None, 0, None, 0)), (0, None, 0, None)))
rng = np.random.default_rng(41)
cases = []
# Points of the standard normal, of a wider and shifted one, and of one that is far away beside repeated points.
for n, dim, shift, spread in [(40, 1, 0.0, 1.0), (30, 3, 0.5, 1.5), (25, 7, -3.0, 0.2)]:
    points = np.round(shift + spread * rng.standard_normal((n, dim)), 6)
    points[1] = points[0]
    # Scores of the standard normal, with noise as of minibatches.
    scores = np.round(-points + 0.3 * rng.standard_normal((n, dim)), 6)
    weights = np.round(rng.gamma(0.7, size=n), 6)
    values = np.array(pairs(points, points, scores, scores))
    np.fill_diagonal(values, 0)
    both = np.outer(weights, weights)
    np.fill_diagonal(both, 0)
    cases.append(
        {
            "dim": dim,
            "points": points.ravel().tolist(),
            "scores": scores.ravel().tolist(),
            "weights": weights.tolist(),
            "u": values.sum() / (n * (n - 1)),
            "weighted": (both * values).sum() / both.sum(),
        }
    )
print(json.dumps(cases))
