"""The options of runs. One table in the compiled module holds their names, defaults, descriptions and legal values."""

from __future__ import annotations

import difflib
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from . import _shoal
from ._shoal import UsageError

# Named as on the command line, with _ for -. SHARED: options of every run. ALGORITHMS: each algorithm's own options.
SHARED: dict[str, dict[str, Any]] = {option["name"]: option for option in json.loads(_shoal._options())}
ALGORITHMS: dict[str, dict[str, Any]] = {info["name"]: info for info in json.loads(_shoal._algorithms())}

_Made = TypeVar("_Made", bound=Callable[..., Any])


def own(algorithm: str) -> dict[str, dict[str, Any]]:
    """The algorithm's own options, without those that name a file: in Python, an argument stands for the file."""
    options = ALGORITHMS[algorithm]["options"]
    return {option["name"].replace("-", "_"): option for option in options if option["type"] != "file"}


def read(algorithm: str, given: Mapping[str, Any]) -> _shoal._Options:
    """Reads the options of every run. Raises TypeError, UsageError; for an unknown name it suggests the nearest."""
    shared = _shoal._Options()
    for name, value in given.items():
        if name not in SHARED:
            known = [*own(algorithm), *SHARED]
            nearest = "".join(f"did you mean {near}? " for near in difflib.get_close_matches(name, known, n=1))
            raise TypeError(f"unknown option {name!r}; {nearest}legal: {', '.join(known)}")
        try:
            setattr(shared, name, value)
        except TypeError:
            kind = type(SHARED[name]["default"])
            if kind is not str and isinstance(value, int) and not isinstance(value, bool):
                raise UsageError(f"option {name} is {value}, which is out of range") from None
            wanted = {int: "a whole number", float: "a number"}.get(kind, "a string")
            if name == "batch_wait":
                wanted += ", or microseconds such as '20us'"
            raise TypeError(f"option {name} is {value!r} ({type(value).__name__}); it must be {wanted}") from None
    return shared


def _kind(option: Mapping[str, Any]) -> str:
    return type(option["default"]).__name__


def _signature(function: Callable[..., Any], algorithm: str) -> inspect.Signature:
    """The signature of `function` with every option listed in place of `**options`."""
    signature = inspect.signature(function)
    named = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    for name, option in (own(algorithm) | SHARED).items():
        if name not in signature.parameters:
            kind = inspect.Parameter.KEYWORD_ONLY
            named.append(inspect.Parameter(name, kind, default=option["default"], annotation=_kind(option)))
    return signature.replace(parameters=named)


def _entries(algorithm: str, signature: inspect.Signature) -> str:
    """The part of a docstring that lists every option: type, default, meaning and legal range."""
    lines = []
    for name, option in (own(algorithm) | SHARED).items():
        says = option["says"] + "."
        if option.get("legal"):
            says += f" Legal: {option['legal']}."
        lines.append(f"{name} : {_kind(option)}, default {signature.parameters[name].default!r}")
        lines += textwrap.wrap(says, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)


def listed(algorithm: str) -> Callable[[_Made], _Made]:
    """Gives a class or a function that takes `**options` a signature and a docstring that list every option."""

    def add(made: _Made) -> _Made:
        function: Any = made.__init__ if isinstance(made, type) else made
        function.__signature__ = _signature(function, algorithm)
        doc = inspect.cleandoc(made.__doc__ or "")
        entries = _entries(algorithm, function.__signature__)
        made.__doc__ = re.sub(r"^\*\*options\n(?:    .*\n?)*", lambda _: entries + "\n", doc, count=1, flags=re.M)
        return made

    return add
