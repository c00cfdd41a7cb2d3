"""Densities of the Stan programs in this folder, from data prepared here: translation.py

Writes densities.csv (case, log density, unconstrained parameters) and, where translation.R has written what brms makes of a
call (brms/CASE.stan, CASE.json), compares its density with that of our program. All programs are compiled into one binary
with the compiler and the headers of Stan 2.35 in the Python package httpstan 4.13, and g++ 12.
"""
import importlib.util, json, math, os, pathlib, re, subprocess, tempfile
import numpy as np, pandas as pd

here = os.path.dirname(os.path.abspath(__file__))
d = pd.read_csv(os.path.join(here, "data.csv"))
N = len(d)
B, C = (d.plan == "b").astype(float), (d.plan == "c").astype(float)
codes = lambda column: (np.unique(column, return_inverse=True)[1] + 1).tolist()
columns = lambda *cs: np.column_stack(cs).tolist()
yes = (d.bin == "yes").astype(int).tolist()
school = dict(J_1=5, group_1=codes(d.school))
log_n = np.log(d.n).tolist()
levels = codes(d.plan)


def bends(x, k):
    """The k - 2 functions that bend a curve along x, as crates/models/src/design/smooth.rs defines them, at its values."""
    knots = np.unique(x)
    t = 2 * (knots - knots[0]) / (knots[-1] - knots[0]) - 1
    rows = np.searchsorted(knots, x)
    E = np.abs(t[:, None] - t[None, :]) ** 3 / 12
    sizes, vectors = np.linalg.eigh(E)
    largest = np.argsort(-np.abs(sizes))[:k]
    U = vectors[:, largest]
    # Weights of these eigenvectors whose sum is orthogonal to constants and straight lines.
    line = np.column_stack([np.ones_like(t), t])
    weights = np.linalg.svd(line.T @ U)[2][2:].T
    penalty, turns = np.linalg.eigh(weights.T @ np.diag(sizes[largest]) @ weights)
    functions = E @ U @ weights @ turns / np.sqrt(penalty)
    # Over the rows: without their straight lines, orthogonal, from the largest on, above the line at the last value.
    functions = functions - line @ np.linalg.lstsq(line[rows], functions[rows], rcond=None)[0]
    amounts, turns = np.linalg.eigh(functions[rows].T @ functions[rows] / len(x))
    functions = functions @ turns[:, ::-1] / np.sqrt(amounts.sum())
    return (functions * np.sign(functions[-1]))[rows]


curve = lambda column, k=10: bends(column.to_numpy(), k).tolist()

CASES = {
    "logistic": dict(x=columns(d.x, B, C), y=yes),
    "binomial_raw": dict(x=columns(d.x), y=d.succ.tolist(), trials=d.n.tolist(), weight=d.w.tolist(), offset_=d.e.tolist()),
    "linear": dict(x=columns(d.x, B, C), y=d.y.tolist(), offset_=d.e.tolist()),
    "linear_raw": dict(x=columns(d.x, B, C), y=d.y.tolist()),
    "linear_through_origin": dict(x=columns(d.x, d.z), y=d.y.tolist(), weight=d.w.tolist()),
    "student": dict(x=columns(d.x, B, C), y=d.y.tolist()),
    "student_nu": dict(x=columns(d.x), y=d.y.tolist(), weight=d.w.tolist()),
    "poisson": dict(x=columns(d.x, B, C), y=d["count"].tolist(), offset_=log_n),
    "negative_binomial": dict(x=columns(d.x, d.z), y=d["count"].tolist(), weight=d.w.tolist()),
    "mixed": dict(x=columns(d.x, d.z), y=d.y.tolist(), w_1=columns(np.ones(N), d.x, d.z), J_2=3, group_2=codes(d["class"]), **school),
    "mixed_counts": dict(x=columns(d.x), y=d["count"].tolist(), offset_=log_n, w_1=columns(np.ones(N), d.x), **school),
    "mixed_binomial_raw": dict(x=columns(d.x), y=d.succ.tolist(), trials=d.n.tolist(), w_1=columns(d.x), **school),
    "hierarchical": dict(x=columns(d.x), y=yes, G=5, g=codes(d.school)),
    "categorical": dict(n=[int((d.plan == level).sum()) for level in "abc"]),
    "normal_mean": dict(x=d.x.tolist(), weight=d.w.tolist()),
    "normal_gamma": dict(x=d.x.tolist()),
    "multivariate_t": dict(x=columns(d.x, d.z)),
    "warped_gaussian": dict(x=d.z.tolist()),
    "gaussian_mixture": dict(x=columns(d.x, d.z)),
    "bernoulli_groups": dict(x=columns(d.x), y=yes, **school),
    "poisson_groups": dict(x=columns(d.x), y=d["count"].tolist(), weight=d.w.tolist(), **school),
    "student_groups": dict(x=columns(d.x), y=d.y.tolist(), **school),
    "known_errors": dict(y=d.y.tolist(), se=d.se.tolist(), **school),
    "known_errors_raw": dict(x=columns(d.x, d.z), y=d.y.tolist(), se=d.se.tolist(), weight=d.w.tolist()),
    "gamma": dict(x=columns(d.x, B, C), y=d.hours.tolist(), offset_=d.e.tolist()),
    "gamma_raw": dict(x=columns(d.x), y=d.hours.tolist(), weight=d.w.tolist(), **school),
    "lognormal": dict(x=columns(d.x, d.z), y=d.hours.tolist()),
    "lognormal_censored": dict(x=columns(d.x), y=d.hours.tolist(), status=d.seen.tolist(), **school),
    "weibull": dict(x=columns(d.x, B, C), y=d.hours.tolist()),
    "weibull_censored_raw": dict(x=columns(d.x, B, C), y=d.hours.tolist(), status=d.seen.tolist(), weight=d.w.tolist()),
    "beta": dict(x=columns(d.x, B, C), y=d.share.tolist(), **school),
    "beta_raw": dict(x=columns(d.x, d.z), y=d.share.tolist(), weight=d.w.tolist()),
    "zero_inflated_poisson": dict(x=columns(d.x, B, C), y=d["count"].tolist(), offset_=log_n),
    "zero_inflated_negative_binomial": dict(x=columns(d.x), y=d["count"].tolist(), weight=d.w.tolist(), **school),
    "ordered_weighted": dict(x=columns(d.x, B, C), y=d.rating.tolist(), weight=d.w.tolist(), offset_=d.e.tolist()),
    "ordered_curve": dict(x=columns(d.x), y=d.rating.tolist(), c_1=curve(d.x, 5), **school),
    "curve": dict(x=columns(d.x, d.z), y=d.y.tolist(), c_1=curve(d.x)),
    "curves_raw": dict(x=columns(d.x, d.z), y=d["count"].tolist(), c_1=curve(d.x, 5), c_2=curve(d.z, 6), weight=d.w.tolist(), **school),
    "hierarchical_trials": dict(x=columns(d.x, d.z), y=d.succ.tolist(), trials=d.n.tolist(), weight=d.w.tolist(), offset_=d.e.tolist(),
                                G=5, g=codes(d.school)),
    "neural_net": dict(x=columns(d.x, d.z), y=levels),
    "neural_net_layers": dict(x=columns(d.x, d.z), y=levels, weight=d.w.tolist()),
    "factorization": dict(user=codes(d.school), item=codes(d["class"]), y=d.y.tolist()),
    "factorization_known": dict(user=codes(d.school), item=codes(d["class"]), y=d.y.tolist(), w=d.w.tolist()),
}
DIMENSIONS = {
    "logistic": 4, "binomial_raw": 2, "linear": 5, "linear_raw": 5, "linear_through_origin": 3, "student": 6, "student_nu": 3,
    "poisson": 4, "negative_binomial": 4, "mixed": 4 + 6 + 1 + 15 + 3, "mixed_counts": 2 + 1 + 2 + 10,
    "mixed_binomial_raw": 2 + 1 + 5, "hierarchical": 2 + 3 + 10, "categorical": 2, "normal_mean": 1, "normal_gamma": 2,
    "multivariate_t": 2, "warped_gaussian": 2, "gaussian_mixture": 4, "bernoulli_groups": 2 + 1 + 5, "poisson_groups": 2 + 1 + 5,
    "student_groups": 2 + 2 + 1 + 5, "known_errors": 1 + 1 + 5, "known_errors_raw": 3, "gamma": 4 + 1, "gamma_raw": 2 + 1 + 1 + 5,
    "lognormal": 3 + 1, "lognormal_censored": 2 + 1 + 1 + 5, "weibull": 4 + 1, "weibull_censored_raw": 4 + 1, "beta": 4 + 1 + 1 + 5,
    "beta_raw": 3 + 1, "zero_inflated_poisson": 4 + 1, "zero_inflated_negative_binomial": 2 + 2 + 1 + 5, "ordered_weighted": 3 + 3,
    "ordered_curve": 3 + 1 + 3 + 1 + 1 + 5, "curve": 3 + 8 + 1 + 1, "curves_raw": 3 + 3 + 4 + 1 + 2 + 1 + 5,
    "hierarchical_trials": 3 + 6 + 15, "neural_net": 3 * 3 + 4 * 3 + 4, "neural_net_layers": 2 * 3 + 4 * 2 + 3 * 3 + 5,
    "factorization": 3 * 8, "factorization_known": 2 * 8,
}
sd = lambda v: float(np.std(v))
sx, sz, sy = sd(d.x), sd(d.z), sd(d.y)
my = float(np.mean(d.y))


PACKAGE = pathlib.Path(importlib.util.find_spec("httpstan").origin).parent
# In the place of the base class of models, which asks for derivatives that nobody needs here.
BASE = """
template <class> struct Plain {
  size_t num_params_r__;
  Plain(size_t n) : num_params_r__(n) {}
};
"""
MAIN = """
#include <stan/io/json/json_data.hpp>
#include <fstream>
#include <iomanip>
template <class Model> void densities(const char* data_file, const char* points_file) {
  std::ifstream data_stream(data_file), points(points_file);
  stan::json::json_data data(data_stream);
  Model model(data, 1, nullptr);
  std::cout << model.num_params_r__ << std::endl;
  std::string line;
  while (std::getline(points, line)) {
    std::istringstream numbers(line);
    std::vector<double> u;
    std::vector<int> none;
    for (double value; numbers >> value;) u.push_back(value);
    if (u.size() != model.num_params_r__) throw std::runtime_error(std::string("wrong number of parameters: ") + data_file);
    std::cout << std::setprecision(17) << model.template log_prob<false, true>(u, none, nullptr) << std::endl;
  }
}
"""


def compiled(programs, folder):
    """A binary that prints the dimension of program argv[1] with data argv[2], and its densities at the points in argv[3]."""
    source = "#include <stan/model/model_header.hpp>\n" + BASE
    for name, program in programs.items():
        path = folder / f"{name}.stan"
        path.write_text(program)
        code = subprocess.run([PACKAGE / "stanc", "--name", f"{name}_model", "--print-cpp", path], check=True, capture_output=True, text=True).stdout
        code = code[: code.index("using stan_model =")].replace("using stan::model::model_base_crtp;", "")
        source += code.replace("model_base_crtp", "Plain").replace(") const final", ") const")
    source += MAIN + "int main(int, char** argv) {\n  std::string name = argv[1];\n"
    for name in programs:
        source += f'  if (name == "{name}") densities<{name}_model_namespace::{name}_model>(argv[2], argv[3]);\n'
    (folder / "all.cpp").write_text(source + "}\n")
    flags = "-std=c++14 -O0 -w -D_REENTRANT -DSTAN_THREADS -DBOOST_DISABLE_ASSERTS -D_GLIBCXX_USE_CXX11_ABI=0".split()
    lib = PACKAGE / "lib"
    subprocess.run(["g++", *flags, f"-I{PACKAGE}/include", folder / "all.cpp", "-o", folder / "all", f"-L{lib}",
                    "-lsundials_cvodes", "-lsundials_idas", "-lsundials_kinsol", "-lsundials_nvecserial", "-ltbb", f"-Wl,-rpath,{lib}"], check=True)
    return folder / "all"


def asked(binary, folder, name, data, points):
    """What the binary answers of a program with these data, a text of JSON, at these points."""
    (folder / "data.json").write_text(data)
    (folder / "points").write_text("".join(" ".join(map(repr, map(float, u))) + "\n" for u in points))
    answer = subprocess.run([binary, name, folder / "data.json", folder / "points"], check=True, capture_output=True, text=True)
    return answer.stdout.split()


def dimension(binary, folder, name, data):
    """Number of unconstrained parameters."""
    return int(asked(binary, folder, name, data, [])[0])


def densities(binary, folder, name, data, points):
    """Log densities with Jacobian, a list."""
    return list(map(float, asked(binary, folder, name, data, points)[1:]))


# Standard deviations of the columns of models whose response has no unit: in brms slopes come first, then the intercept, and the rest is the same.
PLAN = [sx, sd(B), sd(C)]
IN_BRMS = {
    "logistic": PLAN, "negative_binomial": [sx, sz], "bernoulli_groups": [sx], "poisson_groups": [sx], "gamma": PLAN, "lognormal": [sx, sz],
    "lognormal_censored": [sx], "weibull": PLAN, "beta": PLAN, "zero_inflated_poisson": PLAN, "zero_inflated_negative_binomial": [sx],
}
# Models of columns as they are, with the intercept among the coefficients.
ALIKE = ["known_errors_raw", "gamma_raw", "weibull_censored_raw", "beta_raw"]


def in_brms(name, u):
    """brms' unconstrained parameters at ours, up to shifts of logarithms that the change of scale makes."""
    ly = math.log(sy)
    scales = np.array(IN_BRMS.get(name, []))
    k = len(scales)
    if name in IN_BRMS:
        return [*(u[1 : k + 1] / scales), u[0], *u[k + 1 :]]
    if name in ALIKE:
        return u
    if name == "linear":
        s = sd(d.y - d.e)
        scale = np.array([sx, sd(B), sd(C)])
        return [*(s * u[1:4] / scale), float(np.mean(d.y - d.e)) + s * u[0], u[4] + math.log(s)]
    if name == "student":
        scale = np.array([sx, sd(B), sd(C)])
        return [*(sy * u[1:4] / scale), my + sy * u[0], u[4] + ly, u[5]]
    if name == "student_groups":
        return [sy * u[1] / sx, my + sy * u[0], u[2] + ly, u[3], u[4] + ly, *u[5:]]
    if name == "known_errors":
        return [my + sy * u[0], u[1] + ly, *u[2:]]
    if name == "ordered_weighted":
        return [*(u[3:] / np.array(PLAN)), *u[:3]]
    if name == "mixed":
        b, aux, scales = u[:3], u[3], u[4:11]
        tau1 = scales[:3] + ly - np.log([1, sx, sz])
        cor, tau2, v1, v2 = scales[3:6], scales[6] + ly, u[11:26], u[26:29]
        # brms numbers group terms by the names of groups: class comes first.
        return [sy * b[1] / sx, sy * b[2] / sz, my + sy * b[0], aux + ly, tau2, *v2, *tau1, *v1, *cor]
    return None


def modern(program):
    """Arrays as Stan writes them now."""
    program = program.replace("int[]", "array[] int")
    return re.sub(r"(?m)^(\s*)(int(?:<[^>]*>)?|vector(?:<[^>]*>)?\[[^\]]*\]|real) (\w+)\[([^\]]+)\];", r"\1array[\4] \2 \3;", program)


def main():
    rng = np.random.default_rng(20)
    points = {name: rng.normal(0, 0.7, (5, DIMENSIONS[name])).round(3) for name in CASES}
    programs, data, at = {}, {}, {}
    for name in CASES:
        programs[name] = open(os.path.join(here, f"{name}.stan")).read()
        data[name] = json.dumps(CASES[name] if name == "categorical" else dict(N=N, **CASES[name]))
        at[name] = points[name]
        brms = os.path.join(here, "brms", name)
        if in_brms(name, points[name][0]) is not None and os.path.exists(brms + ".stan"):
            programs["brms_" + name] = modern(open(brms + ".stan").read())
            data["brms_" + name] = open(brms + ".json").read()
            at["brms_" + name] = [in_brms(name, u) for u in points[name]]
    for path in sorted(pathlib.Path(here).glob("*.stan")):
        # Programs of models without a density here are read by Stan, no more.
        subprocess.run([PACKAGE / "stanc", path, "--print-canonical"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        binary = compiled(programs, folder)
        values = {name: densities(binary, folder, name, data[name], at[name]) for name in programs}
    with open(os.path.join(here, "densities.csv"), "w") as file:
        for name in CASES:
            for value, u in zip(values[name], points[name]):
                file.write(",".join([name, repr(value), *map(repr, map(float, u))]) + "\n")
    for name in CASES:
        if "brms_" + name in values:
            apart = np.array(values["brms_" + name]) - np.array(values[name])
            print(name, "brms apart by", apart)
            assert np.ptp(apart) < 1e-8 * max(100, np.abs(values[name]).max()), name


if __name__ == "__main__":
    main()
