"""Satterthwaite's degrees of freedom by exact derivatives: satterthwaite.py

Of mixed models for the sets in lme4/, the deviance (ML or REML) is written in the entries of the covariances and minimised to the last digit, and
its curvature and the slopes of the variances of coefficients are taken by automatic differentiation in double precision. Writes
lme4/satterthwaite.csv. JAX 0.10, SciPy, pandas.
"""
import os
import jax, jax.numpy as jnp, numpy as np, pandas as pd, scipy.optimize

jax.config.update("jax_enable_x64", True)
folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lme4")


def same(codes):
    codes = np.asarray(codes)
    return (codes[:, None] == codes[None]).astype(float)


def sets():
    """Name, outcome, columns, and for each entry of a covariance the matrix that it multiplies."""
    d = pd.read_csv(os.path.join(folder, "balanced.csv"))
    one = np.ones(len(d))
    yield "balanced", d.y.values, np.column_stack([one, d.x]), [same(d.g)], [0.5]
    d = pd.read_csv(os.path.join(folder, "crossed.csv"))
    one = np.ones(len(d))
    yield "crossed", d.y.values, np.column_stack([one, d.x]), [same(d.subject), same(d.item)], [0.5, 0.5]
    d = pd.read_csv(os.path.join(folder, "slopes.csv"))
    one, day, of = np.ones(len(d)), d.day.values.astype(float), same(d.subject)
    entries = [of, of * (day[:, None] + day[None]), of * np.outer(day, day)]
    yield "slopes", d.y.values, np.column_stack([one, day]), entries, [600.0, 0.0, 35.0]


def degrees(y, x, entries, start, reml):
    entries = [*map(jnp.asarray, entries), jnp.eye(len(y))]

    def parts(p):
        v = sum(value * matrix for value, matrix in zip(p, entries))
        root = jnp.linalg.cholesky(v)
        xs = jax.scipy.linalg.solve_triangular(root, x, lower=True)
        ys = jax.scipy.linalg.solve_triangular(root, y, lower=True)
        return root, xs, ys

    def deviance(p):
        root, xs, ys = parts(p)
        information = xs.T @ xs
        rest = ys - xs @ jnp.linalg.solve(information, xs.T @ ys)
        more = jnp.linalg.slogdet(information)[1] if reml else 0.0
        return 2 * jnp.log(jnp.diag(root)).sum() + more + rest @ rest

    def variances(p):
        _, xs, _ = parts(p)
        return jnp.diag(jnp.linalg.inv(xs.T @ xs))

    value, slope, curvature = jax.jit(deviance), jax.jit(jax.grad(deviance)), jax.jit(jax.hessian(deviance))
    p = np.array([*start, np.var(y) / 2])
    scale = np.where(p == 0, 1.0, np.abs(p))

    def at(q):
        found = float(value(q * scale))
        return found if np.isfinite(found) else 1e30

    options = dict(xatol=1e-8, fatol=1e-10, maxiter=20_000, maxfev=20_000)
    p = scipy.optimize.minimize(at, p / scale, method="Nelder-Mead", options=options).x * scale
    for _ in range(12):
        p = p - np.linalg.solve(np.array(curvature(p)), np.array(slope(p)))
    covariance = 2 * np.linalg.inv(np.array(curvature(p)))
    of, slopes = np.array(variances(p)), np.array(jax.jacobian(variances)(p))
    return [2 * f * f / (g @ covariance @ g) for f, g in zip(of, slopes)]


rows = []
for name, y, x, entries, start in sets():
    for criterion in ["ml", "reml"]:
        for j, df in enumerate(degrees(y, x, entries, start, criterion == "reml")):
            rows.append((f"{name}:{criterion}", "df", j + 1, repr(float(df))))
pd.DataFrame(rows, columns=["fit", "quantity", "name", "value"]).to_csv(os.path.join(folder, "satterthwaite.csv"), index=False)
