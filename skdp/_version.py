"""The version of the code that runs, which packaging and reports read here."""

import sys

__version__ = "0.3.0"


class _FilesOfOldVersions:
    """Says of private modules that are gone what to do with files that name them, as pickles do."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Raise an error where no other finder knew a private module of this package."""
        if name.startswith("skdp.") and name.rpartition(".")[2].startswith("_"):
            raise ModuleNotFoundError(
                f"there is no {name} in skdp {__version__}. A file that names it, such as a pickle "
                "of an estimator, was made by skdp 0.2.0 or before: fit again with this version, "
                "or read the file with that one.",
                name=name,
            )


sys.meta_path.append(_FilesOfOldVersions)
