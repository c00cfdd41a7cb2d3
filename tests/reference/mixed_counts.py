"""Reference posteriors of template `mixed` for counts in tall groups, by NUTS of numpyro.

Writes mixed_counts_data.csv (simulated, 10 groups of 300 rows, crossed with 5 others) and mixed_counts.csv
(model,variable,mean,mean_mcse,sd):

    python mixed_counts.py

Made with numpyro 0.22, jax 0.10, numpy 2.4. Predictors of fixed effects are standardised with the population standard deviation;
columns of group terms are divided by it, not centred. Priors hold for these units, values are reported on the scale of the data.
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

rng = np.random.default_rng(97)
num_groups, num_others, per_group, shape = 10, 5, 300, 2.0
n = num_groups * per_group
g = np.repeat(np.arange(num_groups), per_group)
h = rng.integers(0, num_others, n)
x = rng.normal(1.0, 2.0, n).round(3)
effects = rng.multivariate_normal([0.0, 0.0], [[0.5, 0.1], [0.1, 0.2]], num_groups)
by_h = rng.normal(0.0, 0.5, num_others)
calls = rng.poisson(np.exp(0.6 + 0.15 * x + effects[g, 0] + by_h[h]))
mean = np.exp(0.8 + 0.1 * x + effects[g, 0] + 0.3 * effects[g, 1] * x)
visits = rng.poisson(mean * rng.gamma(shape, 1 / shape, n))
with open("mixed_counts_data.csv", "w") as f:
    f.write("g,h,x,calls,visits\n")
    for row in zip(g, h, x, calls, visits):
        f.write("{},{},{:.3f},{},{}\n".format(*row))

unit = x.std()
z = jnp.asarray((x - x.mean()) / unit)
zg = jnp.stack([jnp.ones(n), jnp.asarray(x / unit)], axis=1)
half_t = dist.TruncatedDistribution(dist.StudentT(3, 0, 2.5), low=0.0)


def poisson():
    """Groups know their intercepts well and are centred at the common one."""
    b = numpyro.sample("b", dist.Normal(0, 10).expand([2]))
    sd_g, sd_h = numpyro.sample("sd_g", half_t), numpyro.sample("sd_h", half_t)
    own = numpyro.sample("own", dist.Normal(b[0], sd_g).expand([num_groups]))
    numpyro.deterministic("r_g", own - b[0])
    r_h = numpyro.sample("r_h", dist.Normal(0, sd_h).expand([num_others]))
    numpyro.sample("y", dist.Poisson(jnp.exp(own[g] + r_h[h] + b[1] * z)), obs=calls)


def negative_binomial():
    b = numpyro.sample("b", dist.Normal(0, 10).expand([2]))
    sd = numpyro.sample("sd", half_t.expand([2]))
    lower = numpyro.sample("lower", dist.LKJCholesky(2, 1.0))
    size = numpyro.sample("shape", dist.LogNormal(2, 2))
    # Intercept at x = 0 and slope of all groups.
    centre = jnp.stack([b[0] - b[1] * x.mean() / unit, b[1]])
    own = numpyro.sample("own", dist.MultivariateNormal(centre, scale_tril=sd[:, None] * lower).expand([num_groups]))
    numpyro.deterministic("r", own - centre)
    eta = (zg * own[g]).sum(1)
    numpyro.sample("y", dist.NegativeBinomial2(jnp.exp(eta), size), obs=visits)


rows = []
for name, model in [("poisson", poisson), ("negative_binomial", negative_binomial)]:
    mcmc = MCMC(NUTS(model, target_accept_prob=0.9, dense_mass=True), num_warmup=1000, num_samples=4000, num_chains=4,
                chain_method="vectorized", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(11))
    draws = {key: np.asarray(value) for key, value in mcmc.get_samples(group_by_chain=True).items()}
    slope = draws["b"][..., 1] / unit
    values = {"b[Intercept]": draws["b"][..., 0] - slope * x.mean(), "b[x]": slope}
    if name == "poisson":
        for key in ("g", "h"):
            values[f"sd[{key},Intercept]"] = draws["sd_" + key]
            for level in range(draws["r_" + key].shape[-1]):
                values[f"r[{key},{level},Intercept]"] = draws["r_" + key][..., level]
    else:
        values["shape"] = draws["shape"]
        values["sd[g,Intercept]"] = draws["sd"][..., 0]
        values["sd[g,x]"] = draws["sd"][..., 1] / unit
        values["cor[g,Intercept,x]"] = draws["lower"][..., 1, 0]
        for level in range(num_groups):
            values[f"r[g,{level},Intercept]"] = draws["r"][..., level, 0]
            values[f"r[g,{level},x]"] = draws["r"][..., level, 1] / unit
    for variable, draw in values.items():
        ess = effective_sample_size(draw)
        rows.append([name, variable, f"{draw.mean():.8g}", f"{draw.std() / np.sqrt(ess):.3g}", f"{draw.std():.8g}"])
        print(rows[-1], int(ess), flush=True)
with open("mixed_counts.csv", "w", newline="") as f:
    writer = csv.writer(f, lineterminator="\n")
    writer.writerow(["model", "variable", "mean", "mean_mcse", "sd"])
    writer.writerows(rows)
