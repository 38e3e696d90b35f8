"""Checks the types of arguments in Python, because the compiled module would report a wrong type with its own C++ signature."""

from __future__ import annotations

import numbers
import operator
import os
from typing import Any

import numpy as np

from ._shoal import UsageError


def _check(name: str, value: Any, kind: type, legal: str) -> Any:
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise TypeError(f"{name} is {value!r} ({type(value).__name__}); it must be {legal}")


def flag(name: str, value: Any) -> bool:
    """Accepts True and False, and NumPy's booleans. Raises TypeError."""
    return bool(value) if isinstance(value, np.bool_) else _check(name, value, bool, "True or False")


def text(name: str, value: Any) -> str:
    """Accepts a text that can be encoded as UTF-8 and does not hold the character 0. Raises TypeError, UsageError."""
    _check(name, value, str, "a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name} is {value!r}, which has a lone surrogate, so it cannot be encoded as UTF-8") from None
    if "\0" in value:
        raise UsageError(f"{name} is {value!r}, which contains a NUL character")
    return value


def file(name: str, value: Any) -> bytes:
    """The name of a file as the system stores it: any bytes but 0, at least one. Raises TypeError, UsageError."""
    try:
        encoded = os.fsencode(value)
    except TypeError:
        raise TypeError(
            f"{name} is {value!r} ({type(value).__name__}); it must be a file name: str, bytes or os.PathLike"
        ) from None
    except UnicodeEncodeError:
        raise UsageError(f"{name} is {value!r}, which cannot be a file name") from None
    if b"\0" in encoded or not encoded:
        raise UsageError(f"{name} is {value!r}, which cannot be a file name")
    return encoded


def number(name: str, value: Any) -> float:
    """Accepts a real number, of Python or NumPy. Raises TypeError."""
    return float(_check(name, value, numbers.Real, "a number"))


def whole(name: str, value: Any) -> int:
    """Accepts a whole number of any size, of Python or NumPy. Raises TypeError."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r} ({type(value).__name__}); it must be a whole number") from None


def no_vertex(v: int, num_vertices: int) -> str:
    """Says why v is not a vertex."""
    legal = f"vertices are 0 to {num_vertices - 1}" if num_vertices > 0 else "it has no vertices"
    return f"{v} is not in the graph: {legal}"


def vertex(name: str, value: Any, num_vertices: int) -> int:
    """Accepts a whole number of at most 64 bits. The caller must check that it is a vertex. Raises TypeError, UsageError."""
    v = whole(name, value)
    if -(2**63) <= v < 2**63:
        return v
    raise UsageError(f"{name} {no_vertex(v, num_vertices)}")
