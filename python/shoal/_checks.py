"""Kinds of arguments, checked here: what is compiled would answer a wrong one with its own signature."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def _check(name: str, value: Any, kind: type, legal: str) -> Any:
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise TypeError(f"{name} is {value!r} ({type(value).__name__}); it must be {legal}")


def flag(name: str, value: Any) -> bool:
    """True or False, NumPy's as well. Raises TypeError."""
    return bool(value) if isinstance(value, np.bool_) else _check(name, value, bool, "True or False")


def text(name: str, value: Any) -> str:
    """Raises TypeError."""
    return _check(name, value, str, "a text")


def number(name: str, value: Any) -> float:
    """A real number, NumPy's as well. Raises TypeError."""
    return float(_check(name, value, numbers.Real, "a number"))
