"""Check a wheel and a source distribution, and run the installed wheel.

``python .ci/check_dist.py dist``, where the wheel in dist is installed.
"""

import re
import sys
import tarfile
import textwrap
import zipfile
from importlib import import_module
from pathlib import Path, PurePosixPath
from pkgutil import walk_packages

import skdp

SOURCE = Path(__file__).resolve().parents[1]
TEXTS = {".cff", ".cfg", ".css", ".csv", ".html", ".in", ".js", ".json", ".py", ".rst", ".toml"}
ALLOWED = TEXTS | {".txt", ".png", ".svg", ""}
# What tests, site and README need, of what a wheel doesn't have.
NEEDED = (
    "*.rst",
    "CITATION.cff",
    "LICENSE",
    ".ci/*",
    "tests/**/*.py",
    "examples/*.py",
    "benchmarks/**/*.py",
    "benchmarks/results/*",
    "doc/*.rst",
    "doc/_ext/*.py",
    "doc/figures/*.py",
    "doc/figures/*.png",
    "doc/stories/*.py",
    "doc/_templates/**/*.*",
)


def check_wheel(path):
    """It holds the package's modules, the licence and metadata, and nothing else."""
    names = set(zipfile.ZipFile(path).namelist())
    metadata = {name for name in names if PurePosixPath(name).parts[0].endswith(".dist-info")}
    modules = {file.relative_to(SOURCE).as_posix() for file in SOURCE.glob("skdp/**/*.py")}
    assert names - metadata == modules, sorted((names - metadata) ^ modules)
    assert any(name.endswith("licenses/LICENSE") for name in metadata), sorted(metadata)


def check_source(path):
    """It holds what is needed, and no file of an unusual kind."""
    with tarfile.open(path) as archive:
        names = {file.name.partition("/")[2] for file in archive if file.isfile()}
    needed = {file for pattern in NEEDED for file in SOURCE.glob(pattern) if file.is_file()}
    needed = {file.relative_to(SOURCE).as_posix() for file in needed}
    assert needed <= names, sorted(needed - names)
    junk = {name for name in names if PurePosixPath(name).suffix not in ALLOWED}
    assert not junk, sorted(junk)


def run_installed():
    """Import what no missing extra keeps from it, and run README's example."""
    assert Path(skdp.__file__).parent != SOURCE / "skdp", "this is the source"
    for module in walk_packages(skdp.__path__, "skdp."):
        if module.name.endswith("__main__"):
            continue
        try:
            import_module(module.name)
        except ImportError as error:
            if "pip install '.[" not in str(error) and error.name != "numba":
                raise
    readme = (SOURCE / "README.rst").read_text(encoding="utf-8")
    code = re.search(r"code-block:: python\n\n((?: +.*\n|\n)+)", readme)
    exec(textwrap.dedent(code[1]), {})


if __name__ == "__main__":
    (folder,) = map(Path, sys.argv[1:])
    (wheel,) = folder.glob("*.whl")
    (source,) = folder.glob("*.tar.gz")
    check_wheel(wheel)
    check_source(source)
    run_installed()
    print(f"skdp {skdp.__version__} from {wheel.name}: built, complete, and runs")
