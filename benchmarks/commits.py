"""Commits side by side: each is checked out, built, and installed into an environment of its own.

All other packages are those of this environment, so that nothing but juryrank differs.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import ROOT, git


@dataclass(frozen=True)
class State:
    """A commit, checked out and installed."""

    name: str
    folder: Path
    python: Path

    @property
    def environment(self) -> dict[str, str]:
        """In which its Python is run; older commits compile into a cache of their own."""
        return {"PYTHONPATH": "", "NUMBA_CACHE_DIR": str(self.folder / ".numba")}

    def check_home(self, home: str) -> None:
        """Refuse code that was imported from elsewhere."""
        if self.folder.resolve() not in Path(home).resolve().parents:
            raise SystemExit(f"Not the code of {self.name} was run, but that of {home}.")


@contextmanager
def built(commits: Sequence[str]) -> Iterator[list[State]]:
    """Check the commits out, build them, and tidy up."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / f"state-{number}" for number in range(len(commits))]
        try:
            for name, place in zip(commits, places, strict=True):
                _check_out(name, place)
            yield [
                State(name, place, installed(name, place, place / ".environment"))
                for name, place in zip(commits, places, strict=True)
            ]
        finally:
            for place in filter(Path.exists, places):
                git("worktree", "remove", "--force", str(place))


def _check_out(name: str, place: Path) -> None:
    words = ["git", "worktree", "add", "--detach", "--quiet", str(place), name]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} cannot be checked out: {done.stderr.strip()}")


def installed(name: str, folder: Path, place: Path, *settings: str) -> Path:
    """The Python of an environment with the juryrank of a folder, and all else of this one.

    What a `.pth` file names is searched after the environment's own packages, and `.pth` files that
    lie there are not read: an editable juryrank beside this Python is not found.

    Args:
        name: What the folder holds, for messages.
        folder: The source.
        place: Where the environment is made.
        settings: Of the build, such as ``cmake.build-type=Debug``.
    """
    venv.create(place, with_pip=False, symlinks=os.name != "nt")
    variables = {"base": str(place), "platbase": str(place)}
    own = Path(sysconfig.get_path("purelib", "venv", variables))
    ours = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    (own / "beside.pth").write_text("\n".join(ours) + "\n", encoding="utf-8")
    pip = [
        sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-build-isolation", "--no-deps", "--upgrade", "--target", str(own), str(folder),
        *(f"--config-settings={setting}" for setting in settings),
    ]  # fmt: skip
    run(pip, f"{name} cannot be built", _compiler())
    scripts = Path(sysconfig.get_path("scripts", "venv", variables))
    return scripts / Path(sys.executable).name


def _compiler() -> dict[str, str]:
    """What to set for the build, as `make` does."""
    command = [sys.executable, str(ROOT / "tools" / "compiler.py")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(word.split("=", 1) for word in shlex.split(said))


def run(command: Sequence[str], complaint: str, environment: Mapping[str, str]) -> None:
    """Run a command; end with what it said if it fails."""
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip()[-2_000:]
        raise SystemExit(f"{complaint} (exit code {done.returncode}): {said}")
