"""Reference posteriors of the regression templates, by NUTS of numpyro.

Writes regressions_data.csv (simulated) and regressions.csv (model,variable,mean,mean_mcse,sd). Run:

    python regressions.py

Made with numpyro 0.22, jax 0.10, numpy 2.4. Predictors, and the response of an identity link, are standardised with the population
standard deviation; priors hold for these, values are reported on the scale of the data.
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
numpyro.set_host_device_count(1)

rng = np.random.default_rng(20240)
n = 90
x1 = rng.normal(50.0, 12.0, n)
x2 = rng.exponential(0.4, n)
exposure = rng.uniform(0.5, 4.0, n)
eta = 0.3 + 0.03 * (x1 - 50.0) - 0.8 * x2 + np.log(exposure)
count = rng.poisson(np.exp(eta))
over = rng.negative_binomial(1.5, 1.5 / (1.5 + np.exp(eta)))
number = 240.0 + 1.5 * (x1 - 50.0) + 20.0 * x2 + 12.0 * rng.standard_t(2.5, n)
data = np.column_stack([x1.round(3), x2.round(4), exposure.round(3), count, over, number.round(2)])
with open("regressions_data.csv", "w", newline="") as f:
    f.write("x1,x2,exposure,count,over,number\n")
    for a, b, e, c, o, y in data:
        f.write(f"{a:.3f},{b:.4f},{e:.3f},{int(c)},{int(o)},{y:.2f}\n")

x1, x2, exposure, count, over, number = data.T
raw = np.column_stack([x1, x2])
centre, scale = raw.mean(0), raw.std(0)
z = jnp.asarray((raw - centre) / scale)
offset = jnp.log(jnp.asarray(exposure))


def coefficients():
    b = numpyro.sample("b", dist.Normal(0, 10).expand([3]))
    return b[0] + z @ b[1:]


def poisson():
    numpyro.sample("y", dist.Poisson(jnp.exp(coefficients() + offset)), obs=count)


def negative_binomial():
    shape = numpyro.sample("shape", dist.LogNormal(2, 2))
    mean = jnp.exp(coefficients() + offset)
    numpyro.sample("y", dist.NegativeBinomial2(mean, shape), obs=over)


y = (number - number.mean()) / number.std()


def student():
    sigma = numpyro.sample("sigma", dist.TruncatedDistribution(dist.StudentT(3, 0, 2.5), low=0.0))
    u = numpyro.sample("u", dist.ImproperUniform(dist.constraints.real, (), ()))
    nu = 1 + jnp.exp(u)
    numpyro.factor("nu_prior", dist.Gamma(2, 0.1).log_prob(nu) + u)
    numpyro.deterministic("nu", nu)
    numpyro.sample("y", dist.StudentT(nu, coefficients(), sigma), obs=y)


def linear():
    sigma = numpyro.sample("sigma", dist.TruncatedDistribution(dist.StudentT(3, 0, 2.5), low=0.0))
    numpyro.sample("y", dist.Normal(coefficients(), sigma), obs=y)


rows = []
for name, model in [("poisson", poisson), ("negative-binomial", negative_binomial), ("student", student),
                    ("linear", linear)]:
    mcmc = MCMC(NUTS(model, target_accept_prob=0.9), num_warmup=1500, num_samples=20000, num_chains=4,
                chain_method="vectorized", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(7))
    draws = {key: np.asarray(value) for key, value in mcmc.get_samples(group_by_chain=True).items()}
    identity = name in ("student", "linear")
    unit, shift = (number.std(), number.mean()) if identity else (1.0, 0.0)
    b = draws["b"] * unit
    slopes = b[..., 1:] / scale
    values = {"b[Intercept]": b[..., 0] + shift - slopes @ centre, "b[x1]": slopes[..., 0], "b[x2]": slopes[..., 1]}
    if identity:
        values["sigma"] = draws["sigma"] * unit
    for key in ("shape", "nu"):
        if key in draws:
            values[key] = draws[key]
    for variable, draw in values.items():
        ess = effective_sample_size(draw)
        rows.append([name, variable, f"{draw.mean():.8g}", f"{draw.std() / np.sqrt(ess):.3g}", f"{draw.std():.8g}"])
        print(rows[-1], int(ess), flush=True)
with open("regressions.csv", "w", newline="") as f:
    writer = csv.writer(f, lineterminator="\n")
    writer.writerow(["model", "variable", "mean", "mean_mcse", "sd"])
    writer.writerows(rows)
