"""Reference posteriors of template `mixed`, by NUTS of numpyro.

Writes mixed_data.csv (simulated, 12 groups of 8 rows) and mixed.csv (model,variable,mean,mean_mcse,sd); with the argument
`tall` mixed_tall_data.csv (10 groups of 300 rows) and mixed_tall.csv. Run:

    python mixed.py
    python mixed.py tall

Made with numpyro 0.22, jax 0.10, numpy 2.4. Predictors of fixed effects, and the response of the Gaussian family, are standardised
with the population standard deviation; columns of group terms are divided by it, not centred. Priors hold for these units, values
are reported on the scale of the data.
"""

import csv
import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.diagnostics import effective_sample_size
from numpyro.infer import MCMC, NUTS

numpyro.enable_x64()

TALL = sys.argv[1:] == ["tall"]
NAME = "mixed_tall" if TALL else "mixed"
rng = np.random.default_rng(411)
num_groups, per_group = (10, 300) if TALL else (12, 8)
n = num_groups * per_group
g = np.repeat(np.arange(num_groups), per_group)
h = rng.integers(0, 5, n)
x = rng.normal(1.0, 2.0, n).round(3)
effects = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.3], [0.3, 0.36]], num_groups)
by_h = rng.normal(0.0, 0.5, 5)
reaction = (20.0 + 1.5 * x + 4.0 * (effects[g, 0] + 0.5 * effects[g, 1] * x) + 3.0 * rng.normal(size=n)).round(3)
ill = (rng.random(n) < 1 / (1 + np.exp(-(0.2 + 0.4 * x + effects[g, 0])))).astype(int)
calls = rng.poisson(np.exp(0.6 + 0.15 * x + 0.6 * effects[g, 0] + by_h[h]))
with open(NAME + "_data.csv", "w") as f:
    f.write("g,h,x,reaction,ill,calls\n")
    for row in zip(g, h, x, reaction, ill, calls):
        f.write("{},{},{:.3f},{:.3f},{},{}\n".format(*row))

z = jnp.asarray((x - x.mean()) / x.std())
zg = jnp.stack([jnp.ones(n), jnp.asarray(x / x.std())], axis=1)
y = jnp.asarray((reaction - reaction.mean()) / reaction.std())
half_t = dist.TruncatedDistribution(dist.StudentT(3, 0, 2.5), low=0.0)


def coefficients():
    return numpyro.sample("b", dist.Normal(0, 10).expand([2]))


def fixed():
    b = coefficients()
    return b[0] + b[1] * z


def fixed_and_groups():
    """Groups that know their intercepts well are centred at the common one."""
    if not TALL:
        return fixed() + intercepts("g", g, num_groups)
    b = coefficients()
    sd = numpyro.sample("sd_g", half_t)
    own = numpyro.sample("own", dist.Normal(b[0], sd).expand([num_groups]))
    numpyro.deterministic("r_g", own - b[0])
    return own[g] + b[1] * z


def intercepts(name, index, size):
    sd = numpyro.sample("sd_" + name, half_t)
    raw = numpyro.sample("z_" + name, dist.Normal(0, 1).expand([size]))
    return numpyro.deterministic("r_" + name, sd * raw)[index]


def gaussian():
    sigma = numpyro.sample("sigma", half_t)
    sd = numpyro.sample("sd", half_t.expand([2]))
    lower = numpyro.sample("lower", dist.LKJCholesky(2, 1.0))
    if TALL:
        b = coefficients()
        # Intercept at x = 0 and slope of all groups.
        centre = jnp.stack([b[0] - b[1] * x.mean() / x.std(), b[1]])
        own = numpyro.sample("own", dist.MultivariateNormal(centre, scale_tril=sd[:, None] * lower).expand([num_groups]))
        numpyro.deterministic("r", own - centre)
        eta = (zg * own[g]).sum(1)
    else:
        raw = numpyro.sample("z", dist.Normal(0, 1).expand([num_groups, 2]))
        r = numpyro.deterministic("r", raw @ (sd[:, None] * lower).T)
        eta = fixed() + (zg * r[g]).sum(1)
    numpyro.sample("y", dist.Normal(eta, sigma), obs=y)


def bernoulli():
    numpyro.sample("y", dist.Bernoulli(logits=fixed_and_groups()), obs=ill)


def poisson():
    eta = fixed_and_groups() + intercepts("h", h, 5)
    numpyro.sample("y", dist.Poisson(jnp.exp(eta)), obs=calls)


rows = []
for name, model in [("gaussian", gaussian), ("bernoulli", bernoulli), ("poisson", poisson)]:
    mcmc = MCMC(NUTS(model, target_accept_prob=0.9 if TALL else 0.95), num_warmup=1000 if TALL else 1500,
                num_samples=4000 if TALL else 40000, num_chains=4, chain_method="vectorized", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(11))
    draws = {key: np.asarray(value) for key, value in mcmc.get_samples(group_by_chain=True).items()}
    unit, shift = (reaction.std(), reaction.mean()) if name == "gaussian" else (1.0, 0.0)
    slope = draws["b"][..., 1] * unit / x.std()
    values = {"b[Intercept]": draws["b"][..., 0] * unit + shift - slope * x.mean(), "b[x]": slope}
    if name == "gaussian":
        values["sigma"] = draws["sigma"] * unit
        values["sd[g,Intercept]"] = draws["sd"][..., 0] * unit
        values["sd[g,x]"] = draws["sd"][..., 1] * unit / x.std()
        values["cor[g,Intercept,x]"] = draws["lower"][..., 1, 0]
        for level in range(num_groups):
            values[f"r[g,{level},Intercept]"] = draws["r"][..., level, 0] * unit
            values[f"r[g,{level},x]"] = draws["r"][..., level, 1] * unit / x.std()
    else:
        for key in ("g", "h"):
            if "sd_" + key in draws:
                values[f"sd[{key},Intercept]"] = draws["sd_" + key]
                for level in range(draws["r_" + key].shape[-1]):
                    values[f"r[{key},{level},Intercept]"] = draws["r_" + key][..., level]
    if name == "bernoulli":
        values["icc[g]"] = draws["sd_g"] ** 2 / (draws["sd_g"] ** 2 + np.pi**2 / 3)
    for variable, draw in values.items():
        ess = effective_sample_size(draw)
        rows.append([name, variable, f"{draw.mean():.8g}", f"{draw.std() / np.sqrt(ess):.3g}", f"{draw.std():.8g}"])
        print(rows[-1], int(ess), flush=True)
with open(NAME + ".csv", "w", newline="") as f:
    writer = csv.writer(f, lineterminator="\n")
    writer.writerow(["model", "variable", "mean", "mean_mcse", "sd"])
    writer.writerows(rows)
