"""Each example of the gallery runs with few repeats, warns of nothing and draws something."""

import ast
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

plt = pytest.importorskip("matplotlib.pyplot")

FOLDER = Path(__file__).parents[2] / "examples"
# The quick start has options instead of N_REPEATS, and tests of its own in test_examples.py.
EXAMPLES = sorted(path for path in FOLDER.glob("plot_*.py") if path.stem != "plot_quickstart")
ON_REAL_TABLES = [path for path in EXAMPLES if "fetch_" in path.read_text(encoding="utf-8")]

# The columns of the real tables, each with its range or with its values, as far as they are used.
ADULT = {
    "age": (17, 90),
    "workclass": ["Private", "State-gov", None],
    "education-num": (1, 16),
    "marital-status": ["Married-civ-spouse", "Never-married"],
    "occupation": ["Sales", "Tech-support", None],
    "sex": ["Female", "Male"],
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_356),
    "hours-per-week": (1, 99),
    "native-country": ["United-States", "Laos", None],
    "class": ["<=50K", ">50K"],
}
NUMBERED = {
    1: (18, 95), 6: (-8_019, 102_127), 10: (1, 31), 12: (0, 4_918), 13: (1, 63), 14: (-1, 871),
    15: (0, 275),
}  # fmt: skip
BANK = {
    **{f"V{place}": NUMBERED.get(place, ["no", "yes", "unknown"]) for place in range(1, 17)},
    "Class": ["1", "2"],
}
HOSPITALS = {
    "encounter_id": (12_522, 443_867_222),
    "patient_nbr": (135, 160),
    "age": ["[0-10)", "[90-100)"],
    "time_in_hospital": (1, 14),
    "num_lab_procedures": (1, 132),
    "num_procedures": (0, 6),
    "num_medications": (1, 81),
    "number_outpatient": (0, 42),
    "number_emergency": (0, 76),
    "number_inpatient": (0, 21),
    "number_diagnoses": (1, 16),
    "readmitted": ["<30", ">30", "NO"],
}
CALIFORNIA = {
    "MedInc": (0, 15), "HouseAge": (1, 52), "AveRooms": (1, 142), "AveBedrms": (0, 34),
    "Population": (3, 35_682), "AveOccup": (1, 1_243), "Latitude": (32, 42),
    "Longitude": (-124, -114), "MedHouseVal": (0, 5),
}  # fmt: skip
TABLES = {1590: ADULT, 1461: BANK, 4541: HOSPITALS}


def _with_few_repeats(source):
    """Return the source of an example with two repeats instead of many, and a small twin."""
    source = re.sub(r"\btwin\(\d+_000\)$", "twin(6_000)", source, flags=re.MULTILINE)
    return re.subn(r"^N_REPEATS = \d+$", "N_REPEATS = 2", source, flags=re.MULTILINE)


def _cells_before_a_fit(source):
    """Return the source of the cells in which a table is fetched and prepared."""
    cells = re.split(r"^# %%$", source, flags=re.MULTILINE)
    used = cells[: next(i for i, cell in enumerate(cells) if ".fit(" in cell)]
    return "# %%".join(used)


def _table(columns, n_rows=60):
    """Return a small table with the columns and types of a real one."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            name: rng.integers(*values, n_rows, endpoint=True)
            if isinstance(values, tuple)
            else pd.Categorical(rng.choice(np.array(values, dtype=object), n_rows))
            for name, values in columns.items()
        }
    )


def _is_empty(figure):
    """Tell whether a figure has nothing in it but empty axes."""
    return not any(axes.has_data() for axes in figure.axes)


@pytest.fixture(autouse=True)
def _no_figures_left():
    plt.close("all")
    yield
    plt.close("all")


def test_there_are_examples():
    assert EXAMPLES


def test_many_examples_are_on_real_tables():
    assert len(ON_REAL_TABLES) >= 7


@pytest.mark.parametrize("path", ON_REAL_TABLES, ids=lambda path: path.stem)
def test_a_real_table_is_taken_where_there_is_one(path, monkeypatch, capsys):
    """The cells that fetch and prepare run on its columns, which a twin doesn't add to."""
    fetched = []

    def fetch_openml(*, data_id, n_retries, delay):
        fetched.append(_table(TABLES[data_id]))
        return Bunch(frame=fetched[-1])

    def fetch_california_housing(*, return_X_y, as_frame, n_retries, delay):
        fetched.append(_table(CALIFORNIA))
        return fetched[-1].drop(columns="MedHouseVal"), fetched[-1]["MedHouseVal"]

    for fetch in (fetch_openml, fetch_california_housing):
        monkeypatch.setattr(sklearn.datasets, fetch.__name__, fetch)
    names = {"__name__": "__main__"}
    source = _cells_before_a_fit(path.read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(source, path.name, "exec"), names)
        made = names["twin"](100)
    assert "twin" not in capsys.readouterr().out
    assert len(names["X"])
    assert len(np.unique(np.asarray(names["y"]))) > 1
    made = made[0] if isinstance(made, tuple) else made
    assert set(made.columns) <= {*fetched[0].columns, *names.get("NAMES", "").split()}


@pytest.mark.parametrize("path", ON_REAL_TABLES, ids=lambda path: path.stem)
def test_a_missing_network_costs_little_and_is_told(path):
    """One retry, whose warning isn't shown; the text says what a twin is worth."""
    source = path.read_text(encoding="utf-8")
    text = " ".join(line[2:] for line in source.splitlines() if line.startswith("# "))
    assert "a made-up twin takes" in text
    assert "found on the twin says nothing of the" in text
    (quiet,) = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.With) and "fetch_" in ast.unparse(node)
    )
    assert ast.unparse(quiet.items[0]) == "warnings.catch_warnings(action='ignore')"
    (attempt,) = quiet.body
    assert [ast.unparse(handler.type) for handler in attempt.handlers] == ["OSError"]
    assert "n_retries=1, delay=0.1)" in ast.unparse(attempt)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title_and_cells(path):
    """sphinx-gallery needs both, and fails late where they are missing."""
    source = path.read_text(encoding="utf-8")
    title, *rest = ast.get_docstring(ast.parse(source)).splitlines()
    assert rest[:2] == ["=" * len(title), ""]
    assert len(re.findall(r"^# %%$", source, flags=re.MULTILINE)) >= 2


def test_an_empty_figure_is_noticed():
    figure, axes = plt.subplots()
    assert _is_empty(figure)
    axes.plot([0, 1], [0, 1])
    assert not _is_empty(figure)


def test_repeats_are_replaced_once():
    assert _with_few_repeats("a = 1\nN_REPEATS = 20\n") == ("a = 1\nN_REPEATS = 2\n", 1)
    assert _with_few_repeats("n_repeats = 20\n")[1] == 0
    assert _with_few_repeats("x = twin(20_000)\n") == ("x = twin(6_000)\n", 0)
