"""The package as a whole: its names, and machines on which nothing can be written."""

from __future__ import annotations

import subprocess
import sys

import juryrank as jr


def test_every_public_name_is_there_and_listed() -> None:
    assert set(jr.__all__) == set(jr._HOME)
    assert {name for name in dir(jr) if not name.startswith("_")} == set(jr.__all__)
    for name in jr.__all__:
        assert getattr(jr, name).__name__ == name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(jr, "nothing")


def test_ranks_where_numba_cannot_write_its_cache() -> None:
    script = (
        "import numba.core.caching\n"
        "def refuse(self, function):\n"
        "    raise RuntimeError('cannot cache function: no locator available')\n"
        "numba.core.caching.FunctionCache.__init__ = refuse\n"
        "import juryrank._kernels as kernels\n"
        "assert not kernels.COMPILED['cache']\n"
        "import numpy as np\n"
        "print(kernels.counting_order(np.array([1, 0, 1], dtype=np.int32), 2))\n"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[1 0 2]\n"
