"""From the labels that users give to the codes that everything is computed by."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, listing
from juryrank.hints import did_you_mean_all
from juryrank.inference.prediction import UNSEEN

Codes = NDArray[np.int64]


def is_sequence(labels: object) -> bool:
    """Whether these are several labels, and not one."""
    return isinstance(labels, Iterable) and not isinstance(labels, str | bytes)


class Labels:
    """The labels of items or of judges, whose name is that of the series, and their codes."""

    def __init__(self, labels: pl.Series, code: Codes) -> None:
        self._labels = labels
        self._code = code

    @cached_property
    def _code_of(self) -> dict[object, int]:
        return dict(zip(self._labels.to_list(), self._code.tolist(), strict=True))

    @cached_property
    def _type(self) -> type:
        return type(self._labels[0])

    def code(self, label: object) -> int | None:
        """The code of a single label, quickly.

        There is none for what is not one of the labels, or is of another type: 1.0 is equal to 1,
        but no label of whole numbers.
        """
        return self._code_of.get(label) if type(label) is self._type else None

    def codes(self, labels: Any, *, unseen: bool = False) -> Codes:
        """The codes of one label or several, in their order; of None, if it may be, `UNSEEN`."""
        name = self._labels.name
        given = list(labels) if is_sequence(labels) else [labels]
        try:
            wanted = pl.DataFrame({name: pl.Series(given, dtype=self._labels.dtype, strict=True)})
        except (TypeError, pl.exceptions.PolarsError):
            raise InputError(f"There is no {name} such as {listing(given)} in the votes.") from None
        known = pl.DataFrame({name: self._labels, "code": self._code})
        found = wanted.join(known, on=name, how="left", maintain_order="left")
        if unseen:
            nobody = pl.when(pl.col(name).is_null()).then(pl.lit(UNSEEN, dtype=pl.Int64))
            found = found.with_columns(nobody.otherwise("code").alias("code"))
        strange = found.filter(pl.col("code").is_null())[name].to_list()
        if strange:
            many = " is" if len(strange) == 1 else "s are"
            hint = did_you_mean_all(strange, self._labels.to_list())
            raise InputError(
                f"{len(strange):,} {name}{many} not in the votes: {listing(strange)}.{hint}"
            )
        return found["code"].to_numpy()
