"""Weights of any whole or real kind as one of the two that graphs keep: int32 and float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _shoal

_MOST_WHOLE = 2**53  # every whole number up to here is a float64


def array(values: Any) -> np.ndarray:
    """What the caller gave, as an array; an empty list is one of whole numbers."""
    given = np.asarray(values)
    return given.astype(np.int32) if given.size == 0 and not isinstance(values, np.ndarray) else given


def keep(data: Any, whose: str, place: Callable[[int], str]) -> tuple[np.ndarray, str]:
    """The weights as int32 where they are whole and fit, else as float64; not copied where they are that already.

    Parameters
    ----------
    data
        A NumPy array of one dimension.
    whose
        What has them, for messages: ``weights``.
    place
        Where entry i of them lies, for messages: ``of arc 7``.

    Returns
    -------
    weights : int32 or float64
    wide : str
        In words, the whole weight beyond int32 for which all are float64; empty where there is none.

    Raises
    ------
    TypeError
        Neither whole nor real numbers.
    UsageError
        A whole number beyond 2^53, which float64 would round; the message names it and its place.
    """
    if data.dtype.kind == "f" and data.dtype.itemsize <= 8:
        return data.astype(np.float64, copy=False), ""
    if data.dtype.kind not in "iu":
        raise TypeError(f"{whose} has entries of {data.dtype}; weights are whole numbers or float64")
    limits = np.iinfo(np.int32)

    def first_beyond(least: int, most: int) -> str:
        at = int(np.flatnonzero((data < least) | (data > most))[0])
        return f"the whole weight {data[at]} {place(at)}"

    if len(data) == 0 or (data.min() >= limits.min and data.max() <= limits.max):
        return data.astype(np.int32, copy=False), ""
    if data.min() < -_MOST_WHOLE or data.max() > _MOST_WHOLE:
        first = first_beyond(-_MOST_WHOLE, _MOST_WHOLE)
        raise _shoal.UsageError(
            f"{whose}: {first} cannot be kept exactly; the largest whole weight is {_MOST_WHOLE} (2^53): scale the "
            "weights down, or pass them with .astype(float) to have them rounded"
        )
    return data.astype(np.float64), f"{first_beyond(limits.min, limits.max)} is beyond 32 bits ({limits.max})"


def of_entries(data: Any, whose: str, place: Callable[[int], str]) -> tuple[tuple, str]:
    """Likewise for the entries of a matrix, as `by_kind` gives them; booleans are no weights."""
    kept, wide = (None, "") if data.dtype == bool else keep(data, whose, place)
    return by_kind(kept), wide


def by_kind(weights: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    """What `keep` returned, as the compiled part takes it: whole weights, real weights."""
    if weights is None:
        return None, None
    weights = np.ascontiguousarray(weights)
    return (weights, None) if weights.dtype == np.int32 else (None, weights)
