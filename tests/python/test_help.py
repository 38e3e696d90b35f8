"""help(), inspect and editors show every option of the algorithms with its type, default and range."""

import ast
import inspect
import json
import pathlib

import pytest
import shoal
from shoal import _shoal

SHARED = [option["name"] for option in json.loads(_shoal._options())]
CLASSES = {"bfs": shoal.Bfs, "sssp": shoal.Sssp, "pagerank": shoal.PageRank, "components": shoal.Components}
ALGORITHMS = [
    (info["name"], made)
    for info in json.loads(_shoal._algorithms())
    for made in (getattr(shoal, info["name"]), CLASSES.get(info["name"]) or getattr(shoal, info["name"].capitalize()))
]


@pytest.mark.parametrize(("name", "made"), ALGORITHMS)
def test_every_option_is_a_parameter_with_a_default_and_is_said(name: str, made: object) -> None:
    parameters = inspect.signature(made).parameters
    doc = inspect.getdoc(made)
    (info,) = (info for info in json.loads(_shoal._algorithms()) if info["name"] == name)
    own = [option["name"] for option in info["options"] if option["type"] != "file"]
    assert all(p.kind is not inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    for option in own + SHARED:
        assert f"\n{option} : {type(parameters[option].default).__name__}, default " in doc
    for section in ("Parameters\n---", "Raises\n---", "graph\n"):
        assert section in doc


def test_defaults_are_those_that_are_taken() -> None:
    for name, made in ALGORITHMS:
        required = {"graph", "source", "personalization"}
        defaults = {n: p.default for n, p in inspect.signature(made).parameters.items() if n not in required}
        source = {"source": 0} if "source" in inspect.signature(made).parameters else {}
        made("chain:5", **source, **defaults)
        assert defaults["pes_per_gpu"] == 1, name


def test_ranges_are_those_that_are_refused() -> None:
    legal = {option["name"]: option["legal"] for option in json.loads(_shoal._options()) if option["legal"]}
    assert len(legal) == 16
    for option in set(legal) - {"seed"}:
        with pytest.raises(shoal.UsageError) as caught:
            shoal.bfs("chain:5", 0, **{option: -7})
        assert legal[option].removesuffix(" seconds") in str(caught.value)
        assert f"Legal: {legal[option][:15]}" in " ".join(shoal.bfs.__doc__.split())


@pytest.mark.parametrize(
    ("call", "nearest"),
    [
        (lambda: shoal.bfs("chain:5", 0, thread=2), "threads"),
        (lambda: shoal.bfs("chain:5", 0, parent=True), "parents"),
        (lambda: shoal.sssp("chain:5", 0, weight="unit"), "weights"),
        (lambda: shoal.pagerank("chain:5", alpa=0.5), "alpha"),
        (lambda: shoal.kcore("chain:5", strateg="async"), "strategy"),
    ],
)
def test_a_misspelt_option_names_the_nearest(call: object, nearest: str) -> None:
    with pytest.raises(TypeError, match=rf"unknown option '\w+'; did you mean {nearest}\? legal: "):
        call()


def test_the_stub_has_what_the_module_has() -> None:
    """Editors read the stub: its parameters, their order, and the options with their types are those of the
    module."""
    stub = ast.parse(pathlib.Path(shoal.__file__).with_name("__init__.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}

    def fields(name: str) -> dict[str, str]:
        return {n.target.id: ast.unparse(n.annotation) for n in classes[name].body if isinstance(n, ast.AnnAssign)}

    def kind(annotation: str) -> str:
        if annotation.startswith("Literal["):
            return "str"
        return annotation.removesuffix(" | str")  # a number, or text with a unit

    shared = {option["name"]: type(option["default"]).__name__ for option in json.loads(_shoal._options())}
    assert {name: kind(said) for name, said in fields("_Options").items()} == shared
    functions = [(node.name, node) for node in stub.body if isinstance(node, ast.FunctionDef)]
    inits = [(c, n) for c, node in classes.items() for n in node.body if getattr(n, "name", "") == "__init__"]
    for name, node in functions + inits:
        said = [a.arg for a in node.args.args + node.args.kwonlyargs if a.arg != "self"]
        if node.args.kwarg:
            own = ast.unparse(node.args.kwarg.annotation).removeprefix("Unpack[").removesuffix("]")
            said += [*fields(own), *fields("_Options")]
        assert sorted(said) == sorted(inspect.signature(getattr(shoal, name)).parameters), name
    assert {name for name, _ in functions + inits} | set(classes) >= set(shoal.__all__) - {"__version__"}
