"""Puts the shipped weights into a wheel, as gozero/shipped; everything else stands in setup.cfg.

A mapping of weights/ to a package would do the same, but then an editable installation is an importer that is asked
after the path: from the folder above a clone called gozero, the clone itself would be taken for the package.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PATTERNS = ("*.pt", "*.md", "*.toml")


class BuildWithWeights(build_py):
    """`build_py`, and the weights."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # they are found in the source tree
            return
        shipped = Path(self.build_lib, "gozero", "shipped")
        shipped.mkdir(parents=True, exist_ok=True)
        for pattern in PATTERNS:
            for path in Path("weights").glob(pattern):
                shutil.copy(path, shipped)


setup(cmdclass={"build_py": BuildWithWeights})
