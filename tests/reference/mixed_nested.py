"""Reference posteriors of template `mixed` for a normal response, nested groups and priors other than the defaults, by NUTS of numpyro.

Writes mixed_nested_data.csv (simulated: 6 groups of 3 classes of 5 rows) and mixed_nested.csv (model,variable,mean,mean_mcse,sd) of
y ~ x + w + (1 + x | g) + (1 | h). Run:

    python mixed_nested.py

Model `scaled` has its priors on standardised predictors and response, model `raw` on the columns as they are.
"""

import csv

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.diagnostics import effective_sample_size
from numpyro.infer import MCMC, NUTS

numpyro.enable_x64()
rng = np.random.default_rng(412)
G, C, M = 6, 3, 5
n = G * C * M
g = np.repeat(np.arange(G), C * M)
h = np.repeat(np.arange(G * C), M)
x = rng.normal(3.0, 2.0, n).round(3)
w = (rng.normal(size=G)[g] + 0.3 * rng.normal(size=n)).round(3)
effects = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.2], [0.2, 0.1]], G)
classes = 0.7 * rng.normal(size=G * C)
y = (30.0 + 2.0 * x + 0.5 * w + 3.0 * (effects[g, 0] + effects[g, 1] * x + classes[h]) + 2.0 * rng.normal(size=n)).round(3)
with open("mixed_nested_data.csv", "w") as f:
    f.write("g,h,x,w,y\n")
    for row in zip(g, h, x, w, y):
        f.write("{},{},{:.3f},{:.3f},{:.3f}\n".format(*row))


def posterior(scaled):
    if scaled:
        cx, sx, cw, sw, cy, sy = x.mean(), x.std(), w.mean(), w.std(), y.mean(), y.std()
    else:
        cx, sx, cw, sw, cy, sy = 0.0, 1.0, 0.0, 1.0, 0.0, 1.0
    columns = jnp.stack([jnp.ones(n), (x - cx) / sx, (w - cw) / sw], axis=1)
    zg = jnp.stack([jnp.ones(n), jnp.asarray(x / sx)], axis=1)
    response = jnp.asarray((y - cy) / sy)

    def model():
        if scaled:
            first = numpyro.sample("b0", dist.Normal(0.0, 1.0))
            slopes = numpyro.sample("b", dist.Laplace(0.1, 0.05).expand([2]))
            sd = numpyro.sample("sd", dist.Exponential(3.0).expand([3]))
            sigma = numpyro.sample("sigma", dist.LogNormal(-1.0, 0.3))
            lower = numpyro.sample("lower", dist.LKJCholesky(2, 2.5))
        else:
            first = numpyro.sample("b0", dist.StudentT(4.0, 30.0, 1.0))
            slopes = numpyro.sample("b", dist.Cauchy(0.0, 0.3).expand([2]))
            sd = numpyro.sample("sd", dist.HalfNormal(1.5).expand([3]))
            sigma = numpyro.sample("sigma", dist.Gamma(9.0, 2.0))
            lower = numpyro.sample("lower", dist.LKJCholesky(2, 1.0))
        zr = numpyro.sample("zr", dist.Normal(0, 1).expand([G, 2]))
        zh = numpyro.sample("zh", dist.Normal(0, 1).expand([G * C]))
        r = numpyro.deterministic("r", zr @ (sd[:2, None] * lower).T)
        c = numpyro.deterministic("c", sd[2] * zh)
        eta = columns @ jnp.concatenate([first[None], slopes]) + (zg * r[g]).sum(1) + c[h]
        numpyro.sample("y", dist.Normal(eta, sigma), obs=response)

    mcmc = MCMC(NUTS(model, target_accept_prob=0.95), num_warmup=1500, num_samples=10000, num_chains=4,
                chain_method="vectorized", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(12))
    d = {key: np.asarray(value) for key, value in mcmc.get_samples(group_by_chain=True).items()}
    bx, bw = d["b"][..., 0] * sy / sx, d["b"][..., 1] * sy / sw
    values = {"b[Intercept]": d["b0"] * sy + cy - bx * cx - bw * cw, "b[x]": bx, "b[w]": bw, "sigma": d["sigma"] * sy}
    values["sd[g,Intercept]"] = d["sd"][..., 0] * sy
    values["sd[g,x]"] = d["sd"][..., 1] * sy / sx
    values["cor[g,Intercept,x]"] = d["lower"][..., 1, 0]
    values["sd[h,Intercept]"] = d["sd"][..., 2] * sy
    for level in range(G):
        values[f"r[g,{level},Intercept]"] = d["r"][..., level, 0] * sy
        values[f"r[g,{level},x]"] = d["r"][..., level, 1] * sy / sx
    for level in range(G * C):
        values[f"r[h,{level},Intercept]"] = d["c"][..., level] * sy
    for variable, draw in values.items():
        ess = effective_sample_size(draw)
        row = ["scaled" if scaled else "raw", variable, f"{draw.mean():.8g}", f"{draw.std() / np.sqrt(ess):.3g}", f"{draw.std():.8g}"]
        print(row, int(ess), flush=True)
        rows.append(row)


rows = []
posterior(True)
posterior(False)
with open("mixed_nested.csv", "w", newline="") as f:
    writer = csv.writer(f, lineterminator="\n")
    writer.writerow(["model", "variable", "mean", "mean_mcse", "sd"])
    writer.writerows(rows)
