"""Converts weights of any whole or real type to one of the two types that graphs keep: int32 and float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _shoal

_MOST_WHOLE = 2**53  # float64 holds every whole number up to here exactly


def array(values: Any) -> np.ndarray:
    """The caller's weights as an array. An empty list becomes an array of int32."""
    given = np.asarray(values)
    return given.astype(np.int32) if given.size == 0 and not isinstance(values, np.ndarray) else given


def keep(data: Any, whose: str, place: Callable[[int], str]) -> tuple[np.ndarray, str]:
    """The weights as int32 if they are whole and fit, else as float64. An array that has this type already is not copied.

    Parameters
    ----------
    data
        A NumPy array of one dimension.
    whose
        The name of the weights in messages, such as ``weights``.
    place
        Where entry i is, in words for messages, such as ``of arc 7``.

    Returns
    -------
    weights : int32 or float64
    wide : str
        The first whole weight that does not fit in int32, in words: the reason for float64. Empty if there is none.

    Raises
    ------
    TypeError
        The entries are neither whole nor real numbers.
    UsageError
        A whole number is beyond 2^53, so float64 would round it. The message names it and its place.
    """
    if data.dtype.kind == "f" and data.dtype.itemsize <= 8:
        return data.astype(np.float64, copy=False), ""
    if data.dtype.kind not in "iu":
        raise TypeError(
            f"{whose} has entries of {data.dtype}; weights must be whole numbers, or floats of at most 64 bits"
        )
    limits = np.iinfo(np.int32)

    def first_beyond(least: int, most: int) -> str:
        at = int(np.flatnonzero((data < least) | (data > most))[0])
        return f"the whole weight {data[at]} {place(at)}"

    if len(data) == 0 or (data.min() >= limits.min and data.max() <= limits.max):
        return data.astype(np.int32, copy=False), ""
    if data.min() < -_MOST_WHOLE or data.max() > _MOST_WHOLE:
        first = first_beyond(-_MOST_WHOLE, _MOST_WHOLE)
        raise _shoal.UsageError(
            f"{whose}: {first} cannot be kept exactly; the largest whole weight is {_MOST_WHOLE} (2^53); scale the "
            "weights down, or round them with .astype(float)"
        )
    return data.astype(np.float64), f"{first_beyond(limits.min, limits.max)} is beyond 32 bits ({limits.max})"


def of_entries(data: Any, whose: str, place: Callable[[int], str]) -> tuple[tuple, str]:
    """The same for the entries of a matrix, returned as by `by_kind`. Booleans are not weights."""
    kept, wide = (None, "") if data.dtype == bool else keep(data, whose, place)
    return by_kind(kept), wide


def by_kind(weights: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The pair (whole weights, real weights) that the compiled module takes, from the array that `keep` returned."""
    if weights is None:
        return None, None
    weights = np.ascontiguousarray(weights)
    return (weights, None) if weights.dtype == np.int32 else (None, weights)
