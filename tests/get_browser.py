"""Find a browser for the tests of the report, or get one: run by the set-up of `make test`."""

from __future__ import annotations

import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 300


def installed_browser() -> str | None:
    """The path of a browser on this machine; None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def main() -> None:
    """Let Playwright fetch its own browser if the machine has none; the tests can do without."""
    if installed_browser() is not None:
        return
    fetch = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        done = subprocess.run(  # noqa: S603
            fetch, capture_output=True, check=False, timeout=PATIENCE
        )
        got = done.returncode == 0
    except subprocess.TimeoutExpired:
        got = False
    if not got:
        sys.stderr.write(
            "No browser could be had: tests of the report in a browser are skipped (with CI=true "
            "they fail).\n"
        )


if __name__ == "__main__":
    main()
