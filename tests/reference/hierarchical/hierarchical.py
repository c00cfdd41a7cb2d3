"""Reference for the template `hierarchical`: data drawn here, posterior by NUTS of numpyro on the same model.

Writes clinics.csv (the data) and posterior.json (means and standard deviations of mu, the upper triangle of Sigma, and
theta, on standardised predictors). One group has a single row, one has failures only.

    python tests/reference/hierarchical/hierarchical.py
"""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
from numpyro.infer import MCMC, NUTS

numpyro.enable_x64()
numpyro.set_host_device_count(2)
HERE = pathlib.Path(__file__).parent

rng = np.random.default_rng(20180915)
P, sizes = 3, [60, 25, 1, 40, 90, 12, 35, 50, 20, 70, 30, 45]
mu = np.array([-0.4, 0.9, -0.5])
sigma = np.array([[0.8, 0.3, 0.0], [0.3, 0.5, -0.1], [0.0, -0.1, 0.3]])
rows = []
for g, size in enumerate(sizes):
    theta = rng.multivariate_normal(mu, sigma)
    for _ in range(size):
        dose, age = rng.normal(3.0, 2.0), rng.normal(50.0, 12.0)
        z = theta @ [1.0, (dose - 3.0) / 2.0, (age - 50.0) / 12.0]
        y = int(rng.random() < 1.0 / (1.0 + np.exp(-z)))
        rows.append((f"c{g + 1:02}", round(dose, 3), round(age, 1), 0 if g == 5 else y))
data = pd.DataFrame(rows, columns=["clinic", "dose", "age", "cured"])
data.to_csv(HERE / "clinics.csv", index=False)

x = data[["dose", "age"]].to_numpy()
x = (x - x.mean(0)) / x.std(0)
x = np.column_stack([np.ones(len(x)), x])
group = data["clinic"].str[1:].astype(int).to_numpy() - 1
y = data["cured"].to_numpy()
G = len(sizes)


def model():
    # Sigma ~ inv_wishart(P + 2, I), that is, its inverse ~ W(P + 2, I).
    chol = numpyro.sample("Q", dist.WishartCholesky(P + 2.0, scale_tril=jnp.eye(P)))
    half = jax.scipy.linalg.solve_triangular(chol, jnp.eye(P), lower=True)
    cov = numpyro.deterministic("Sigma", half.T @ half)
    lower = jnp.linalg.cholesky(cov)
    mean = numpyro.sample("mu", dist.MultivariateNormal(jnp.zeros(P), scale_tril=lower * 10.0))
    z = numpyro.sample("z", dist.Normal(0.0, 1.0).expand([G, P]).to_event(2))
    theta = numpyro.deterministic("theta", mean + z @ lower.T)
    numpyro.sample("y", dist.Bernoulli(logits=(x * theta[group]).sum(1)), obs=y)


mcmc = MCMC(NUTS(model, target_accept_prob=0.9), num_warmup=2000, num_samples=20000, num_chains=4, progress_bar=False)
mcmc.run(jax.random.PRNGKey(1))
draws = mcmc.get_samples(group_by_chain=True)
names = ["Intercept", "dose", "age"]
out = {}


def add(name, values):
    summary = numpyro.diagnostics.summary({"v": values}, group_by_chain=True)["v"]
    out[name] = {
        "mean": float(values.mean()),
        "sd": float(values.std()),
        "ess": float(summary["n_eff"]),
        "rhat": float(summary["r_hat"]),
    }


for i in range(P):
    add(f"mu[{names[i]}]", np.asarray(draws["mu"][:, :, i]))
for i in range(P):
    for j in range(i, P):
        add(f"Sigma[{names[i]},{names[j]}]", np.asarray(draws["Sigma"][:, :, i, j]))
for g in range(G):
    for i in range(P):
        add(f"theta[c{g + 1:02},{names[i]}]", np.asarray(draws["theta"][:, :, g, i]))
print("least ess", min(v["ess"] for v in out.values()), "largest rhat", max(v["rhat"] for v in out.values()))
print("divergences", int(np.asarray(mcmc.get_extra_fields().get("diverging", np.zeros(1))).sum()))
(HERE / "posterior.json").write_text(json.dumps(out, indent=1) + "\n")
