"""What broke something, kept as small files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from fuzzing.corpus import Seed


class Keeper:
    """Writes one file for each way to break; the names say what they are."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._known: set[str] = set()

    def keep(self, seed: Seed, said: str) -> None:
        """Keep a file, unless another has broken the same."""
        kind = said.splitlines()[-1][:200]
        if kind in self._known:
            return
        self._known.add(kind)
        self._out.mkdir(parents=True, exist_ok=True)
        name = f"{hashlib.sha256(seed.content).hexdigest()[:8]}-{seed.name}"
        (self._out / name).write_bytes(seed.content)
        print(json.dumps({"file": name, "problem": said}, indent=1), flush=True)
