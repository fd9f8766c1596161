"""Files to begin with: as real tools write them, and every past finding."""

from __future__ import annotations

import gzip
import io
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import polars as pl

ROOT = Path(__file__).parents[1]
FINDINGS = Path(__file__).parent / "findings"
BINARY = (".parquet", ".arrow", ".feather", ".xlsx", ".ods", ".zip", ".gz")


class Seed(NamedTuple):
    """A file: its name, whose ending tells the format, and what is in it."""

    name: str
    content: bytes

    @property
    def is_binary(self) -> bool:
        """Whether there are no lines and cells to change."""
        return self.name.endswith(BINARY)


def corpus() -> list[Seed]:
    """All files to begin with, always in the same order."""
    return [*_as_tools_write_them(), *_other_formats(), *findings()]


def findings() -> list[Seed]:
    """The files that once broke something."""
    return [
        Seed(path.name, path.read_bytes())
        for path in sorted(FINDINGS.iterdir())
        if not path.name.startswith(".")
    ]


def _as_tools_write_them() -> list[Seed]:
    helpers = str(ROOT / "tests" / "helpers")
    if helpers not in sys.path:
        sys.path.append(helpers)
    return [Seed(one.name, one.content) for one in import_module("messy_files").messy_files()]


def _other_formats() -> list[Seed]:
    """The same votes in every format that is read."""
    votes = pl.DataFrame(
        {
            "judge": ["ann", "bob", "cy"] * 3,
            "left": ["tea"] * 6 + ["milk"] * 3,
            "right": ["milk"] * 3 + ["coffee"] * 6,
            "winner": ["left", "tie", "right"] * 3,
            "weight": [1.0, 2.0, 0.5] * 3,
        }
    )
    orders = votes.select("judge", ranking=pl.lit("tea>milk=coffee"))
    parquet, arrow, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
    votes.write_parquet(parquet)
    votes.write_ipc(arrow)
    votes.write_ipc_stream(stream)
    text = votes.write_csv().encode()
    return [
        Seed("votes.csv", text),
        Seed("votes.tsv", votes.write_csv(separator="\t").encode()),
        Seed("votes.json", json.dumps(votes.to_dicts()).encode()),
        Seed("votes.ndjson", votes.write_ndjson().encode()),
        Seed("votes.parquet", parquet.getvalue()),
        Seed("votes.arrow", arrow.getvalue()),
        Seed("stream.arrow", stream.getvalue()),
        Seed("votes.csv.gz", gzip.compress(text, mtime=0)),
        Seed("orders.csv", orders.write_csv().encode()),
        Seed("label-studio.json", json.dumps(_label_studio()).encode()),
        Seed("argilla.json", json.dumps(_argilla()).encode()),
        Seed("orders.soc", _PREFLIB.encode()),
        Seed("orders.toi", _OLD_PREFLIB.encode()),
    ]


def _label_studio() -> list[object]:
    answer = {"from_name": "c", "to_name": "x", "type": "pairwise", "value": {"selected": "left"}}
    return [
        {
            "id": number,
            "data": {"left": "tea", "right": "milk"},
            "annotations": [{"completed_by": {"email": "ann@example.org"}, "result": [answer]}],
        }
        for number in range(3)
    ]


def _argilla() -> list[object]:
    ranks = [{"rank": place, "value": name} for place, name in enumerate(("tea", "milk"), start=1)]
    answer = {"user_id": "ann", "status": "submitted", "values": {"order": {"value": ranks}}}
    return [{"id": number, "fields": {}, "responses": [answer]} for number in range(3)]


_PREFLIB = """# FILE NAME: orders.soc
# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: milk
# ALTERNATIVE NAME 3: coffee
3: 1,2,3
2: 2,{1,3}
"""
_OLD_PREFLIB = "3\n1,tea\n2,milk\n3,coffee\n5,5,2\n3,1,2,3\n2,2,{1,3}\n"
