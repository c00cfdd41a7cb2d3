"""Densities of the Stan programs in this folder, from data prepared here: elsewhere.py [CASE...]

Writes densities.csv (case, log density, unconstrained parameters) and, where elsewhere.R has written what brms makes of a
call (brms/CASE.stan, CASE.json), compares its density with that of our program. Made with PyStan 3.10 (Stan 2.35).
"""
import json, math, os, re, sys
import numpy as np, pandas as pd

os.environ.setdefault("CXXFLAGS", "-O0")
import stan
from stan import model as stan_model

here = os.path.dirname(os.path.abspath(__file__))
d = pd.read_csv(os.path.join(here, "data.csv"))
N = len(d)
B, C = (d.plan == "b").astype(float), (d.plan == "c").astype(float)
codes = lambda column: (np.unique(column, return_inverse=True)[1] + 1).tolist()
columns = lambda *cs: np.column_stack(cs).tolist()
yes = (d.bin == "yes").astype(int).tolist()
school = dict(J_1=5, group_1=codes(d.school))

CASES = {
    "logistic": dict(x=columns(d.x, B, C), y=yes),
    "binomial_raw": dict(x=columns(d.x), y=d.succ.tolist(), trials=d.n.tolist(), weight=d.w.tolist(), offset_=d.e.tolist()),
    "linear": dict(x=columns(d.x, B, C), y=d.y.tolist(), offset_=d.e.tolist()),
    "linear_raw": dict(x=columns(d.x, B, C), y=d.y.tolist()),
    "linear_through_origin": dict(x=columns(d.x, d.z), y=d.y.tolist(), weight=d.w.tolist()),
    "student": dict(x=columns(d.x, B, C), y=d.y.tolist()),
    "student_nu": dict(x=columns(d.x), y=d.y.tolist(), weight=d.w.tolist()),
    "poisson": dict(x=columns(d.x, B, C), y=d["count"].tolist(), offset_=np.log(d.n).tolist()),
    "negative_binomial": dict(x=columns(d.x, d.z), y=d["count"].tolist(), weight=d.w.tolist()),
    "mixed": dict(x=columns(d.x, d.z), y=d.y.tolist(), w_1=columns(np.ones(N), d.x, d.z), J_2=3, group_2=codes(d["class"]), **school),
    "mixed_counts": dict(x=columns(d.x), y=d["count"].tolist(), offset_=np.log(d.n).tolist(), w_1=columns(np.ones(N), d.x), **school),
    "mixed_binomial_raw": dict(x=columns(d.x), y=d.succ.tolist(), trials=d.n.tolist(), w_1=columns(d.x), **school),
    "hierarchical": dict(x=columns(d.x), y=yes, G=5, g=codes(d.school)),
    "categorical": dict(n=[int((d.plan == level).sum()) for level in "abc"]),
    "normal_mean": dict(x=d.x.tolist(), weight=d.w.tolist()),
    "normal_gamma": dict(x=d.x.tolist()),
    "multivariate_t": dict(x=columns(d.x, d.z)),
    "warped_gaussian": dict(x=d.z.tolist()),
    "gaussian_mixture": dict(x=columns(d.x, d.z)),
}
DIMENSIONS = {
    "logistic": 4, "binomial_raw": 2, "linear": 5, "linear_raw": 5, "linear_through_origin": 3, "student": 6, "student_nu": 3,
    "poisson": 4, "negative_binomial": 4, "mixed": 4 + 6 + 1 + 15 + 3, "mixed_counts": 2 + 1 + 2 + 10,
    "mixed_binomial_raw": 2 + 1 + 5, "hierarchical": 2 + 3 + 10, "categorical": 2, "normal_mean": 1, "normal_gamma": 2,
    "multivariate_t": 2, "warped_gaussian": 2, "gaussian_mixture": 4,
}
sd = lambda v: float(np.std(v))
sx, sz, sy = sd(d.x), sd(d.z), sd(d.y)
my = float(np.mean(d.y))


def density(program, data):
    posterior = stan.build(program, data=data)
    return lambda u: posterior.log_prob(list(map(float, u)))


def in_brms(name, u):
    """brms' unconstrained parameters at ours, up to shifts of logarithms that the change of scale makes."""
    ly = math.log(sy)
    if name == "logistic":
        scale = np.array([sx, sd(B), sd(C)])
        return [*(u[1:4] / scale), u[0]]
    if name == "linear":
        s = sd(d.y - d.e)
        scale = np.array([sx, sd(B), sd(C)])
        return [*(s * u[1:4] / scale), float(np.mean(d.y - d.e)) + s * u[0], u[4] + math.log(s)]
    if name == "student":
        scale = np.array([sx, sd(B), sd(C)])
        return [*(sy * u[1:4] / scale), my + sy * u[0], u[4] + ly, u[5]]
    if name == "negative_binomial":
        return [*(u[1:3] / np.array([sx, sz])), u[0], u[3]]
    if name == "mixed":
        b, aux, scales = u[:3], u[3], u[4:11]
        tau1 = scales[:3] + ly - np.log([1, sx, sz])
        cor, tau2, v1, v2 = scales[3:6], scales[6] + ly, u[11:26], u[26:29]
        # brms numbers group terms by the names of groups: class comes first.
        return [sy * b[1] / sx, sy * b[2] / sz, my + sy * b[0], aux + ly, tau2, *v2, *tau1, *v1, *cor]
    return None


def modern(program):
    """Arrays as Stan writes them now."""
    return re.sub(r"(?m)^(\s*)(int(?:<[^>]*>)?|vector(?:<[^>]*>)?\[[^\]]*\]|real) (\w+)\[([^\]]+)\];", r"\1array[\4] \2 \3;", program)


def main():
    chosen = sys.argv[1:] or list(CASES)
    rng = np.random.default_rng(20)
    points = {name: rng.normal(0, 0.7, (5, DIMENSIONS[name])).round(3) for name in CASES}
    path = os.path.join(here, "densities.csv")
    lines = {}
    if os.path.exists(path):
        for line in open(path):
            lines.setdefault(line.split(",")[0], []).append(line)
    for name in chosen:
        program = open(os.path.join(here, f"{name}.stan")).read()
        data = CASES[name] if name == "categorical" else dict(N=N, **CASES[name])
        ours = density(program, data)
        values = [ours(u) for u in points[name]]
        lines[name] = [",".join([name, repr(v), *map(repr, map(float, u))]) + "\n" for v, u in zip(values, points[name])]
        print(name, values, flush=True)
        if in_brms(name, points[name][0]) is not None and os.path.exists(os.path.join(here, "brms", f"{name}.stan")):
            made = modern(open(os.path.join(here, "brms", f"{name}.stan")).read())
            theirs = density(made, json.load(open(os.path.join(here, "brms", f"{name}.json"))))
            apart = [theirs(in_brms(name, u)) - v for u, v in zip(points[name], values)]
            print("  brms apart by", apart, flush=True)
            assert max(apart) - min(apart) < 1e-8 * max(100, max(map(abs, values))), name
        with open(path, "w") as file:
            for case in CASES:
                file.writelines(lines.get(case, []))


if __name__ == "__main__":
    main()
