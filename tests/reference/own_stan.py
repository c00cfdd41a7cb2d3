"""Log densities of programs own_stan/*.stan by Stan: python tests/reference/own_stan.py

The programs are those of own_stan/*.model; the tests in crates/language write them where ERGODIC_UPDATE_STAN is set. Writes
own_stan/NAME.csv: unconstrained coordinates, and the log density there with the Jacobian, up to a constant. What is data is found here: columns,
codes of categories in the order of the alphabet, and the columns and expressions that comments in the block `data` have. Needs httpstan and g++,
as translation/translation.py.
"""
import json, pathlib, re, sys, tempfile
import numpy as np, pandas as pd

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / "translation"))
from translation import compiled, densities, dimension

FOLDER = here / "own_stan"
POINTS = 4
table = pd.read_csv(FOLDER / "data.csv")


def data_of(program):
    """The data of a program, a text of JSON."""
    data = {"N": len(table)}
    for name, column in table.items():
        levels, codes = np.unique(column, return_inverse=True)
        is_number = pd.api.types.is_numeric_dtype(column)
        data[name] = column.tolist() if is_number else (codes + 1).tolist()
        if not is_number:
            data[f"K_{name}"] = len(levels)
    for name, columns in re.findall(r"(?m)^  (?:matrix|array)\[N, \w+\].* (\w+);  // (.*)$", program):
        columns = columns.split(", ")
        data[name] = table[columns].to_numpy().tolist()
        data[f"K_{name}"] = len(columns)
    for name, expression in re.findall(r"(?m)^  array\[N\].* (y\d+);  // (.*)$", program):
        data[name] = np.asarray(eval(expression, {}, dict(table.items()))).astype(int).tolist()
    return json.dumps(data)


def main():
    programs = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.stan"))}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        binary = compiled(programs, folder)
        for name, program in programs.items():
            data = data_of(program)
            dim = dimension(binary, folder, name, data)
            points = np.random.default_rng(1).normal(0, 0.7, (POINTS, dim)).round(3)
            values = densities(binary, folder, name, data, points)
            assert np.isfinite(values).all(), (name, values)
            rows = [",".join(map(repr, map(float, [*u, value]))) for u, value in zip(points, values)]
            head = ",".join([*(f"u{k + 1}" for k in range(dim)), "log_density"])
            (FOLDER / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")


if __name__ == "__main__":
    main()
