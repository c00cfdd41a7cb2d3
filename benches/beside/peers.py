"""Times of a Python program for `benches/beside.sh`: blackjax, sgmcmcjax, numpyro or arviz, named by the only argument.

Reads requests from standard input, one a line, and answers each by one line, as `benches/beside.rs` describes them; `-` for what the
program does not have. Compiling is never timed. BlackJAX and SGMCMCJax compute in single precision, their default; NumPyro in
double precision.
"""

import os
import sys
import time
import types

# Four chains at once; must be set before JAX is imported.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import numpy as np

ROWS = 100_000
STRETCH = 0.05  # seconds
STRETCHES = 5
LEAPFROGS = 5  # of SGHMC, between fresh momenta


def words(seed, count):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def table(columns, cache={}):
    """The rows of `synthetic-100000xD`, bit for bit, and their labels."""
    if columns in cache:
        return cache[columns]
    seed, scale = (20_240_101, 1.0) if columns < 20 else (20_240_202, 0.5)
    z = words(seed, 3 * ROWS * (columns - 1))
    total = sum(((z >> np.uint64(16 * k)) & np.uint64(0xFFFF)).astype(np.int64) for k in range(4))
    z = (total.reshape(-1, 3).sum(1) - 393_210.0) / 65_536.0
    z = z.reshape(ROWS, columns - 1)
    x = np.ones((ROWS, columns))
    for j in range(1, columns):
        x[:, j] = z[:, 0] if j == 1 else 0.5 * x[:, j - 1] + z[:, j - 1]
    theta = np.array([(-8.0 + (5 * j + 3) % 17) / 16.0 * scale for j in range(columns)])
    eta = np.zeros(ROWS)
    for j in range(columns):
        eta = eta + x[:, j] * theta[j]
    uniform = (words(seed + 1, ROWS) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    y = (uniform < 1.0 / (1.0 + np.exp(-eta))).astype(np.float64)
    cache[columns] = x, y
    return x, y


def mode(x, y, variance=100.0):
    """Newton's steps to the posterior mode."""
    theta = np.zeros(x.shape[1])
    for _ in range(15):
        p = 1.0 / (1.0 + np.exp(-(x @ theta)))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(len(theta)) / variance
        theta = theta + np.linalg.solve(hessian, x.T @ (y - p) - theta / variance)
    return theta


def shortest(work):
    """Seconds of one `work`, the shortest of several stretches."""
    work()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            work()
        if time.perf_counter() - start >= STRETCH:
            break
        count *= 2
    best = float("inf")
    for _ in range(STRETCHES):
        start = time.perf_counter()
        for _ in range(count):
            work()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def per_step(scan):
    """Seconds of a step of `scan(steps)`, a compiled function of no arguments that makes that number of steps."""
    trial = 200
    steps = int(trial * STRETCH / shortest(scan(trial))) + 1
    return shortest(scan(steps)) / steps


def single_precision():
    import jax.numpy as jnp

    def log_prior(theta):
        return -0.005 * jnp.sum(theta**2)

    def log_likelihood(theta, x, y):
        z = jnp.dot(x, theta)
        return y * z - jnp.logaddexp(0.0, z)

    def data(columns):
        x, y = table(columns)
        return jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32), jnp.asarray(mode(x, y), jnp.float32)

    return log_prior, log_likelihood, data


def blackjax():
    import blackjax
    import jax
    from blackjax.sgmcmc.gradients import control_variates, grad_estimator

    log_prior, log_likelihood, data = single_precision()

    def step(kind, columns, batch, scheme):
        x, y, centre = data(columns)
        grad = grad_estimator(log_prior, lambda theta, row: log_likelihood(theta, *row), ROWS)
        if kind == "sgld-cv":
            grad = control_variates(grad, centre, (x, y))
        kernel = blackjax.sghmc(grad, LEAPFROGS) if kind == "sghmc" else blackjax.sgld(grad)
        updates = LEAPFROGS if kind == "sghmc" else 1

        def minibatch(key, i):
            # The rows were shuffled when they were made: neighbours are the fastest fair choice.
            if scheme == "blocks":
                first = (i * batch) % (ROWS - batch)
                slice_of = lambda a: jax.lax.dynamic_slice_in_dim(a, first, batch)
                return slice_of(x), slice_of(y)
            rows = jax.random.randint(key, (batch,), 0, ROWS)
            return x[rows], y[rows]

        def scan(steps):
            @jax.jit
            def run(key):
                def body(theta, i):
                    rows, noise = jax.random.split(jax.random.fold_in(key, i))
                    theta = kernel.step(noise, theta, minibatch(rows, i), 1e-7)
                    return theta, theta

                return jax.lax.scan(body, centre, jax.numpy.arange(steps))[1]

            return lambda: run(jax.random.key(1)).block_until_ready()

        return per_step(scan) / updates

    def answer(request):
        match request:
            case ["sgld" | "sgld-cv" | "sghmc" as kind, columns, batch, scheme]:
                return step(kind, int(columns), int(batch), scheme)

    return f"BlackJAX {blackjax.__version__}, f32", answer


def sgmcmcjax():
    import jax

    # Needed by its progress bar only, and gone from JAX.
    stub = types.ModuleType("jax.experimental.host_callback")
    sys.modules["jax.experimental.host_callback"] = stub
    jax.experimental.host_callback = stub
    from importlib.metadata import version

    from sgmcmcjax import samplers

    log_prior, log_likelihood, data = single_precision()

    def step(kind, columns, batch):
        x, y, centre = data(columns)
        rest = (log_likelihood, log_prior, (x, y), batch)
        if kind == "sgld":
            sampler = samplers.build_sgld_sampler(1e-7, *rest, pbar=False)
        elif kind == "sgld-cv":
            sampler = samplers.build_sgldCV_sampler(1e-7, *rest, centre, pbar=False)
        else:
            sampler = samplers.build_sghmc_sampler(1e-7, LEAPFROGS, *rest, pbar=False)
        updates = LEAPFROGS if kind == "sghmc" else 1

        def scan(steps):
            return lambda: sampler(jax.random.PRNGKey(1), steps, centre).block_until_ready()

        return per_step(scan) / updates

    def answer(request):
        match request:
            case ["sgld" | "sgld-cv" | "sghmc" as kind, columns, batch, "iid"]:
                return step(kind, int(columns), int(batch))

    return f"SGMCMCJax {version('sgmcmcjax')}, f32", answer


def smallest_size(draws):
    """Smallest bulk effective sample size over the columns of draws (chains, draws, variables)."""
    import arviz

    return min(float(arviz.ess(draws[:, :, j], method="bulk")) for j in range(draws.shape[2]))


def numpyro():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import HMCECS, MCMC, NUTS
    from numpyro.infer.util import initialize_model

    def prior(columns):
        return numpyro.sample("theta", dist.Normal(jnp.zeros(columns), 10.0).to_event(1))

    def logistic(x, y, batch=None):
        theta = prior(x.shape[1])
        with numpyro.plate("rows", x.shape[0], subsample_size=batch):
            x, y = numpyro.subsample(x, event_dim=1), numpyro.subsample(y, event_dim=0)
            numpyro.sample("y", dist.Bernoulli(logits=x @ theta), obs=y)

    def linear(x, y):
        z, sigma = x @ prior(x.shape[1]), numpyro.sample("sigma", dist.HalfCauchy(1.0))
        numpyro.sample("y", dist.Normal(z, sigma), obs=y)

    def poisson(x, y):
        numpyro.sample("y", dist.Poisson(jnp.exp(x @ prior(x.shape[1]))), obs=y)

    def student(x, y):
        z, sigma = x @ prior(x.shape[1]), numpyro.sample("sigma", dist.HalfCauchy(1.0))
        numpyro.sample("y", dist.StudentT(numpyro.sample("nu", dist.Gamma(2.0, 0.1)), z, sigma), obs=y)

    def negative_binomial(x, y):
        z, shape = x @ prior(x.shape[1]), numpyro.sample("shape", dist.LogNormal(2.0, 2.0))
        numpyro.sample("y", dist.NegativeBinomial2(jnp.exp(z), shape), obs=y)

    models = {
        "logistic": logistic,
        "linear": linear,
        "poisson": poisson,
        "student": student,
        "negative-binomial": negative_binomial,
    }

    def full(family, columns):
        x, y = (jnp.asarray(a) for a in table(columns))
        if family in ("poisson", "negative-binomial"):
            y = y.astype(jnp.int64)
        start, potential, *_ = initialize_model(jax.random.key(1), models[family], model_args=(x, y))
        call = jax.jit(jax.value_and_grad(potential))
        u = jax.tree.map(lambda a: 0.01 * jnp.ones_like(a), start.z)
        return shortest(lambda: jax.block_until_ready(call(u)))

    def run(kind, chains, draws):
        x, y = table(10)
        start = time.perf_counter()
        centre = mode(x, y)
        search = time.perf_counter() - start
        data = jnp.asarray(x), jnp.asarray(y)
        if kind == "nuts":
            kernel, length, search, fields = NUTS(logistic), (1000, draws), 0.0, ()
        else:
            inner = NUTS(logistic)
            proxy = HMCECS.taylor_proxy({"theta": jnp.asarray(centre)})
            kernel, length, fields = HMCECS(inner, num_blocks=20, proxy=proxy), (500, draws), (100,)
        mcmc = MCMC(
            kernel,
            num_warmup=length[0],
            num_samples=length[1],
            num_chains=chains,
            chain_method="parallel" if chains > 1 else "sequential",
            progress_bar=False,
        )
        # The first run compiles and is not timed.
        mcmc.run(jax.random.key(2), *data, *fields)
        start = time.perf_counter()
        mcmc.run(jax.random.key(3), *data, *fields)
        draws = np.asarray(mcmc.get_samples(group_by_chain=True)["theta"])
        seconds = time.perf_counter() - start + search
        return smallest_size(draws) / seconds

    def answer(request):
        match request:
            case ["full", family, columns]:
                return full(family, int(columns))
            case ["run", "nuts" | "hmc-ecs" | "nuts-ecs" as kind, chains, draws]:
                return run(kind, int(chains), int(draws))

    return f"NumPyro {numpyro.__version__}, f64", answer


def arviz():
    import arviz

    def answer(request):
        if request != ["summary"]:
            return None
        rng = np.random.default_rng(1)
        innovation = np.sqrt(1 - 0.9**2) * rng.standard_normal((10_000, 4, 100))
        draws = np.zeros((4, 10_000, 100))
        state = np.zeros((4, 100))
        for i in range(10_000):
            state = 0.9 * state + innovation[i]
            draws[:, i] = state
        data = arviz.from_dict(posterior={f"b{j}": draws[:, :, j] for j in range(100)})
        return shortest(lambda: arviz.summary(data))

    return f"ArviZ {arviz.__version__}", answer


def main():
    (name,) = sys.argv[1:]
    # Libraries write notices to standard output; answers go where it was.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    title, answer = {"blackjax": blackjax, "sgmcmcjax": sgmcmcjax, "numpyro": numpyro, "arviz": arviz}[name]()
    for line in sys.stdin:
        request = line.split()
        if request == ["hello"]:
            print(title, file=answers)
            continue
        seconds = answer(request)
        print("-" if seconds is None else f"{seconds:.9e}", file=answers)


main()
