"""Reference posteriors of template `mixed` with its default priors on data sets of textbooks, by NUTS of numpyro.

Writes posteriors.csv (set,variable,mean,mean_mcse,sd; on the scale of the data), all sets or those that are named:

    python textbook.py . [SET...]

Made with numpyro 0.22, jax 0.10, numpy 2.4. Predictors of fixed effects, and a Gaussian response, are standardised with the
population standard deviation; columns of group terms are divided by it, not centred. Priors hold for these units.

Of a Gaussian response effects of groups are integrated out: rows of different outermost groups are then independent, those of
one have the covariance sigma^2 I + Z S Z'. Means and variances of effects are those of their normal distributions given the
draws, averaged.
"""

import csv
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer import MCMC, NUTS

numpyro.enable_x64()

FOLDER = sys.argv[1]
HALF_T = dist.TruncatedDistribution(dist.StudentT(3, 0, 2.5), low=0.0)
LEAST_ESS = 2000


def table(name):
    with open(os.path.join(FOLDER, name + ".csv"), newline="") as f:
        rows = list(csv.DictReader(f))
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def numbers(column):
    return column.astype(float)


def levels(column):
    """Levels in order of the first row, and the level of each row."""
    names, first, index = np.unique(column, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(names), int)
    place[order] = np.arange(len(names))
    return list(names[order]), place[index]


def dummies(name, column):
    """Treatment coding against the level that sorts first."""
    return {f"{name}={level}": (column == level).astype(float) for level in sorted(set(column))[1:]}


class Design:
    """Named columns besides the intercept, standardised."""

    def __init__(self, num_rows, columns):
        self.names = list(columns)
        raw = np.array(list(columns.values())).reshape(len(columns), num_rows).T
        self.mean, self.sd = raw.mean(0), raw.std(0)
        self.z = jnp.asarray((raw - self.mean) / self.sd)

    def linear(self, b):
        return b[0] + self.z @ b[1:]

    def report(self, b, unit=1.0, shift=0.0):
        intercept, values = b[..., 0] * unit + shift, {}
        for j, name in enumerate(self.names):
            values[f"b[{name}]"] = b[..., j + 1] * unit / self.sd[j]
            intercept = intercept - values[f"b[{name}]"] * self.mean[j]
        return {"b[Intercept]": intercept, **values}


def sample(model, draws, warmup=1500, target=0.95, dense=False):
    mcmc = MCMC(NUTS(model, target_accept_prob=target, dense_mass=dense), num_warmup=warmup, num_samples=draws, num_chains=4,
                chain_method="vectorized", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(11), extra_fields=("diverging",))
    print("divergences:", int(mcmc.get_extra_fields()["diverging"].sum()), flush=True)
    return {key: np.asarray(value) for key, value in mcmc.get_samples(group_by_chain=True).items()}


def gaussian(y, design, outer, terms, draws):
    """`terms`: name of the group, level of each row (inside of `outer` or equal to it), names and columns of effects."""
    unit, shift = y.std(), y.mean()
    _, block = levels(outer)
    count = block.max() + 1
    rows_of = [np.flatnonzero(block == b) for b in range(count)]
    longest = max(map(len, rows_of))
    places = np.array([np.pad(rows, (0, longest - len(rows)), constant_values=-1) for rows in rows_of])
    there = places >= 0
    # Per term and block: levels inside of it, and their columns.
    parts = []
    for name, level, effects, columns in terms:
        scales = np.array([1.0 if effect == "Intercept" else column.std() for effect, column in zip(effects, columns)])
        inside = [list(dict.fromkeys(level[rows])) for rows in rows_of]
        assert len({len(names) for names in inside}) == 1, "as many levels in every block"
        z = np.zeros((count, longest, len(inside[0]), len(effects)))
        for b in range(count):
            for r, row in enumerate(rows_of[b]):
                for j in range(len(effects)):
                    z[b, r, inside[b].index(level[row]), j] = columns[j][row] / scales[j]
        parts.append((name, inside, effects, scales, jnp.asarray(z)))
    scaled = jnp.asarray(np.where(there, ((y - shift) / unit)[places], 0.0))
    mask = jnp.asarray(there.astype(float))

    def spreads(draw):
        """Covariance of the effects of each term."""
        out = []
        for t, (_, _, effects, _, _) in enumerate(parts):
            lower = draw[f"sd{t}"][:, None] * (draw[f"lower{t}"] if len(effects) > 1 else jnp.eye(1))
            out.append(lower @ lower.T)
        return out

    def covariance(draw):
        eye = jnp.eye(longest)
        out = jnp.where(eye > 0, 1.0 + mask[:, :, None] * (draw["sigma"] ** 2 - 1.0), 0.0)
        for (_, _, _, _, z), spread in zip(parts, spreads(draw)):
            out = out + jnp.einsum("brlj,jk,bslk->brs", z, spread, z)
        return out

    def rest(draw):
        return mask * (scaled - design.linear(draw["b"])[places])

    def model():
        draw = {"b": numpyro.sample("b", dist.Normal(0, 2.5).expand([1 + len(design.names)])),
                "sigma": numpyro.sample("sigma", HALF_T)}
        for t, (_, _, effects, _, _) in enumerate(parts):
            draw[f"sd{t}"] = numpyro.sample(f"sd{t}", HALF_T.expand([len(effects)]))
            if len(effects) > 1:
                draw[f"lower{t}"] = numpyro.sample(f"lower{t}", dist.LKJCholesky(len(effects), 1.0))
        e = rest(draw)
        factor = jnp.linalg.cholesky(covariance(draw))
        white = jax.scipy.linalg.solve_triangular(factor, e[..., None], lower=True)[..., 0]
        log_det = jnp.log(jnp.diagonal(factor, axis1=1, axis2=2)).sum()
        numpyro.factor("rows", -0.5 * (white**2).sum() - log_det)

    found = sample(model, draws, dense=True)
    values = design.report(found["b"], unit, shift)
    values["sigma"] = found["sigma"] * unit
    for t, (name, _, effects, scales, _) in enumerate(parts):
        for j, effect in enumerate(effects):
            values[f"sd[{name},{effect}]"] = found[f"sd{t}"][..., j] * unit / scales[j]
        if len(effects) == 2:
            values[f"cor[{name},{effects[0]},{effects[1]}]"] = found[f"lower{t}"][..., 1, 0]

    def effects_given(draw):
        weight = jnp.linalg.inv(covariance(draw))
        e, out = rest(draw), []
        for (_, _, _, _, z), spread in zip(parts, spreads(draw)):
            by_row = jnp.einsum("brlj,jk->brlk", z, spread)
            mean = jnp.einsum("brlk,brs,bs->blk", by_row, weight, e)
            taken = jnp.einsum("brlk,brs,bslk->blk", by_row, weight, by_row)
            out.append((mean, jnp.diagonal(spread)[None, None] - taken))
        return out

    every = {key: jnp.asarray(value[:, ::4].reshape(-1, *value.shape[2:])) for key, value in found.items()}
    chains, effects_of = 4, jax.lax.map(effects_given, every)
    spread_values = {}
    for (name, inside, effects, scales, _), (mean, variance) in zip(parts, effects_of):
        for b in range(count):
            for k, level in enumerate(inside[b]):
                for j, effect in enumerate(effects):
                    factor = unit / scales[j]
                    centre = np.asarray(mean[:, b, k, j]).reshape(chains, -1) * factor
                    sd = float(np.sqrt(np.var(centre) + np.mean(variance[:, b, k, j]) * factor**2))
                    spread_values[f"r[{name},{level},{effect}]"] = (centre, sd)
    return values, spread_values


def poisson(y, design, terms, draws, centred=()):
    """`terms`: names and levels of rows of intercepts. Terms of `centred` are sampled as they are, around the intercept."""
    parts = [(name, *levels(level)) for name, level in terms]
    expected = np.floor(np.log((y.sum() + 0.5) / len(y)) * 100 + 0.5) / 100

    def model():
        b0 = numpyro.sample("b0", dist.Normal(expected, 2.5))
        slopes = numpyro.sample("slopes", dist.Normal(0, 2.5).expand([len(design.names)])) if design.names else jnp.zeros(0)
        numpyro.deterministic("b", jnp.concatenate([b0[None], slopes]))
        eta, inside = design.z @ slopes, False
        for name, names, index in parts:
            sd = numpyro.sample("sd_" + name, HALF_T)
            if name in centred:
                assert not inside
                inside = True
                own = numpyro.sample("own", dist.Normal(b0, sd).expand([len(names)]))
                numpyro.deterministic("r_" + name, own - b0)
                eta = eta + own[index]
            else:
                raw = numpyro.sample("z_" + name, dist.Normal(0, 1).expand([len(names)]))
                eta = eta + numpyro.deterministic("r_" + name, sd * raw)[index]
        numpyro.sample("y", dist.Poisson(jnp.exp(eta if inside else b0 + eta)), obs=y.astype(int))

    return of_counts(sample(model, draws), design, parts)


def of_counts(found, design, parts):
    values = design.report(found["b"])
    for name, _, _ in parts:
        values[f"sd[{name},Intercept]"] = found["sd_" + name]
    for name, names, _ in parts:
        # Of many groups the first ten.
        for k, level in enumerate(names[:10]):
            values[f"r[{name},{level},Intercept]"] = found["r_" + name][..., k]
    return values, {}


def nested_poisson(y, design, terms, draws):
    """`terms`, from outermost to innermost: names and levels of rows of intercepts. Given coefficients and standard deviations
    the coordinates of effects are independent standard normals if each row's log likelihood is a parabola: that of a
    penalised fit."""
    parts = [(name, *levels(level)) for name, level in terms]
    expected = np.floor(np.log((y.sum() + 0.5) / len(y)) * 100 + 0.5) / 100
    columns = np.column_stack([np.ones(len(y)), design.z, *(np.eye(len(names))[index] for _, names, index in parts)])
    at, start = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    start[0] = at[0] = expected
    for _ in range(50):
        mean = np.exp(columns @ at)
        step = np.linalg.solve((columns.T * mean) @ columns + np.eye(len(at)), columns.T @ (y - mean) - (at - start))
        at += step * min(1, 3 / np.abs(step).max())
    assert np.abs(step).max() < 1e-9
    weights, working = jnp.asarray(mean), jnp.asarray(columns @ at + (y - mean) / mean)

    def model():
        b0 = numpyro.sample("b0", dist.Normal(expected, 2.5))
        slopes = numpyro.sample("slopes", dist.Normal(0, 2.5).expand([len(design.names)]))
        numpyro.deterministic("b", jnp.concatenate([b0[None], slopes]))
        eta, w, known = b0 + design.z @ slopes, weights, []
        for name, names, index in reversed(parts):
            sd = numpyro.sample("sd_" + name, HALF_T)
            by_group = jax.ops.segment_sum(w, index, num_segments=len(names))
            known.append((name, names, index, sd, w, sd**2 / (1 + sd**2 * by_group)))
            w = w / (1 + sd**2 * by_group)[index]
        for name, names, index, sd, w, variance in reversed(known):
            z = numpyro.sample("z_" + name, dist.Normal(0, 1).expand([len(names)]).mask(False))
            sums = jax.ops.segment_sum(w * (working - eta), index, num_segments=len(names))
            r = numpyro.deterministic("r_" + name, variance * sums + jnp.sqrt(variance) * z)
            numpyro.factor("f_" + name, (dist.Normal(0, sd).log_prob(r) + 0.5 * jnp.log(variance)).sum())
            eta = eta + r[index]
        numpyro.sample("y", dist.Poisson(jnp.exp(eta)), obs=y.astype(int))

    return of_counts(sample(model, draws), design, parts)


def pastes():
    d = table("pastes")
    cask = np.array([f"{b}:{c}" for b, c in zip(d["batch"], d["cask"])])
    one = [np.ones(len(cask))]
    terms = [("batch", d["batch"], ["Intercept"], one), ("batch:cask", cask, ["Intercept"], one)]
    return gaussian(numbers(d["strength"]), Design(len(cask), {}), d["batch"], terms, 20000)


def dyestuff2():
    d = table("dyestuff2")
    y = numbers(d["Yield"])
    return gaussian(y, Design(len(y), {}), d["Batch"], [("Batch", d["Batch"], ["Intercept"], [np.ones(len(y))])], 20000)


def chickweight():
    d = table("chickweight")
    time = numbers(d["Time"])
    diet = dummies("Diet", d["Diet"])
    columns = {"Time": time, **diet, **{"Time:" + name: time * column for name, column in diet.items()}}
    terms = [("Chick", d["Chick"], ["Intercept", "Time"], [np.ones(len(time)), time])]
    return gaussian(numbers(d["weight"]), Design(len(time), columns), d["Chick"], terms, 5000)


def grouseticks():
    d = table("grouseticks")
    columns = {**dummies("YEAR", d["YEAR"]), "cHEIGHT": numbers(d["cHEIGHT"])}
    terms = [(name, d[name]) for name in ("BROOD", "INDEX", "LOCATION")]
    y = numbers(d["TICKS"])
    return poisson(y, Design(len(y), columns), terms, 10000)


def plants():
    d = table("plants")
    columns = {"nutrient": numbers(d["nutrient"]), **dummies("damage", d["damage"]), "rack": numbers(d["rack"]),
               **dummies("sown", d["sown"])}
    terms = [(name, d[name]) for name in ("region", "population", "genotype")]
    y = numbers(d["fruits"])
    return nested_poisson(y, Design(len(y), columns), terms, 5000)


def sites():
    d = table("sites")
    y = numbers(d["obs"])
    return poisson(y, Design(len(y), {}), [("site", d["site"])], 5000, centred=("site",))


SETS = [pastes, dyestuff2, chickweight, grouseticks, plants, sites]
path = os.path.join(FOLDER, "posteriors.csv")
wanted = sys.argv[2:] or [make.__name__ for make in SETS]
kept = []
if os.path.exists(path):
    with open(path, newline="") as f:
        kept = [row for row in list(csv.reader(f))[1:] if row[0] not in wanted]
for make in SETS:
    if make.__name__ not in wanted:
        continue
    values, given = make()
    smallest, largest = np.inf, 1.0
    for variable, draw in {**values, **{name: centre for name, (centre, _) in given.items()}}.items():
        sd = given[variable][1] if variable in given else draw.std()
        # Of heavy-tailed quantities the error of the mean rests on few draws; it stands beside the number.
        ess = float(effective_sample_size(draw))
        smallest, largest = min(smallest, ess), max(largest, float(split_gelman_rubin(draw)))
        kept.append([make.__name__, variable, f"{draw.mean():.8g}", f"{draw.std() / np.sqrt(ess):.3g}", f"{sd:.8g}"])
    print(make.__name__, len(values) + len(given), "quantities, smallest ESS", int(smallest), "R-hat", largest, flush=True)
    assert smallest > LEAST_ESS and largest < 1.01, make.__name__
    order = [make.__name__ for make in SETS]
    kept.sort(key=lambda row: order.index(row[0]))
    with open(path, "w", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(["set", "variable", "mean", "mean_mcse", "sd"])
        writer.writerows(kept)
