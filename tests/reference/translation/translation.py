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
    """A binary that prints densities of program argv[1] with data argv[2] at the points in argv[3]."""
    package = pathlib.Path(importlib.util.find_spec("httpstan").origin).parent
    source = "#include <stan/model/model_header.hpp>\n" + BASE
    for name, program in programs.items():
        path = folder / f"{name}.stan"
        path.write_text(program)
        code = subprocess.run([package / "stanc", "--name", f"{name}_model", "--print-cpp", path], check=True, capture_output=True, text=True).stdout
        code = code[: code.index("using stan_model =")].replace("using stan::model::model_base_crtp;", "")
        source += code.replace("model_base_crtp", "Plain").replace(") const final", ") const")
    source += MAIN + "int main(int, char** argv) {\n  std::string name = argv[1];\n"
    for name in programs:
        source += f'  if (name == "{name}") densities<{name}_model_namespace::{name}_model>(argv[2], argv[3]);\n'
    (folder / "all.cpp").write_text(source + "}\n")
    flags = "-std=c++14 -O0 -w -D_REENTRANT -DSTAN_THREADS -DBOOST_DISABLE_ASSERTS -D_GLIBCXX_USE_CXX11_ABI=0".split()
    lib = package / "lib"
    subprocess.run(["g++", *flags, f"-I{package}/include", folder / "all.cpp", "-o", folder / "all", f"-L{lib}",
                    "-lsundials_cvodes", "-lsundials_idas", "-lsundials_kinsol", "-lsundials_nvecserial", "-ltbb", f"-Wl,-rpath,{lib}"], check=True)
    return folder / "all"


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
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        binary = compiled(programs, folder)
        values = {}
        for name in programs:
            (folder / "data.json").write_text(data[name])
            (folder / "points").write_text("".join(" ".join(map(repr, map(float, u))) + "\n" for u in at[name]))
            out = subprocess.run([binary, name, folder / "data.json", folder / "points"], check=True, capture_output=True, text=True).stdout
            values[name] = list(map(float, out.split()))
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
