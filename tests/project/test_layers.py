"""A module imports only from lower layers, and nothing imports in a circle.

The table is the rule. An entry stands for a module or for a package; the modules of `minigrad.core` have
entries of their own. Modules of any other package may import each other as long as no circle arises; a
package's `__init__` stands above its modules, so that of minigrad may import all of minigrad and nothing in
minigrad may import it. Imports inside functions count; imports under `if TYPE_CHECKING:` never run and do
not, but they may go in no circle either.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from sources import parsed

ROOT = Path(__file__).resolve().parents[2]

# One line per layer, lowest first. A new module is entered here, as low as its imports allow.
LAYERS: dict[str, list[tuple[str, str]]] = {
    "minigrad": [
        ("L0 tables", "tables"),
        ("L0", "core.user_warnings left_out return_types version"),
        ("L0 state", "core.devices core.dtypes core.hooks core.modes core.public"),
        ("L0 dialect", "core.dialect core.nested_passes core.storage"),
        ("L1", "core.node"),
        ("L2", "core.op core.tensor_state"),
        ("L2 guards", "core.guards"),
        ("L2 operands", "core.accumulate core.half_tables core.operands core.view_path"),
        ("L2 engine", "core.engine core.kernel_errors core.tangents"),
        ("L3 saved", "core.saved_values"),
        ("L3 apply", "core.apply"),
        ("L3 call", "core.call"),
        ("L3 forward mode", "core.forward"),
        ("L3 closures", "core.elementwise"),
        ("L3 declare", "core.declare"),
        ("L3 core", "core"),
        ("L4", "inplace"),
        ("L5", "ops"),
        ("L6 creation", "creation random"),
        ("L6", "tensor"),
        ("L7", "autograd"),
        ("L7 transforms", "func"),
        ("L8 functions", "fft linalg special"),
        ("L8 settings", "accelerator backends cuda profiler settings"),
        ("L8 helpers", "utils"),
        ("L8 models", "nn"),
        ("L8 training", "optim"),
        ("L8 distributions", "distributions"),
        ("L8 files", "serialization"),
        ("L8 instead of torch", "as_torch"),
        ("L9 observers", "observing"),
    ],
    "minigrad_viz": [
        ("V0 isolation", "isolation"),
        ("V0 fields", "fields"),
        ("V0", "protocol words"),
        ("V0 saved", "saved_values"),
        ("V0 snapshots", "snapshots"),
        ("V0 numbers", "number_text"),
        ("V1 data", "trace"),
        ("V1 sources", "sources"),  # they only call methods of the recorder
        ("V2 record", "recording"),
        ("V2 replay", "replay"),
        ("V2 graph", "model"),
        ("V2 flow", "flow"),
        ("V2 training", "training_faults"),  # rules about runs, whoever has seen them
        ("V2 arithmetic", "arithmetic"),
        ("V3 prediction", "predicting"),
        ("V3", "drawing explaining steps"),  # a Scene and its names are all that they share
        ("V3 comparison", "comparing"),
        ("V4", "player"),
        ("V4 sharing", "sharing"),
        ("V5", "shell"),
        ("V5 notebooks", "course"),
        ("V5 doctor", "training_runs"),
        ("V5 command", "__main__"),
    ],
}
BELOW = {"minigrad": [], "minigrad_viz": ["minigrad"]}  # the whole packages that a package may import


@dataclass(frozen=True)
class Import:
    """One import: the dotted name it asks for, its line, and whether it runs when the module is imported."""

    target: str
    line: int
    at_import: bool


def imports_of(tree: ast.Module, module: str, is_package: bool, types: bool = False) -> Iterator[Import]:
    """Every import in a module's syntax tree, with relative names made absolute; with `types` those that only
    a type checker sees, too.

    `from a import b` asks for `a.b`: whether that is a module or a name in `a` is settled by `resolve`.
    """
    todo: list[tuple[ast.AST, bool]] = [(tree, True)]
    while todo:
        node, at_import = todo.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, at_import)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, module, is_package)
            for alias in node.names:
                yield Import(f"{base}.{alias.name}", node.lineno, at_import)
        elif (name := imported_by_call(node)) is not None:
            yield Import(name, node.lineno, at_import)
        if isinstance(node, ast.If) and names_type_checking(node.test) and not types:
            todo.extend((child, at_import) for child in node.orelse)
            continue
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        todo.extend((child, at_import and not inside) for child in ast.iter_child_nodes(node))


def absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """The package that a `from … import` names, without leading dots."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, node.module] if node.module else parts)


def imported_by_call(node: ast.AST) -> str | None:
    """The name in `importlib.import_module("name")` or `__import__("name")`, if it is written out."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
        return None
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return str(node.args[0].value) if called in ("import_module", "__import__") else None


def names_type_checking(test: ast.expr) -> bool:
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def modules_under(root: Path, package: str) -> dict[str, Path]:
    """Dotted name → file of every module of a package; a subpackage is named as its directory is."""
    names = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def resolve(target: str, modules: dict[str, Path]) -> str | None:
    """The longest prefix of a dotted name that is one of our modules; None if it is another's."""
    parts = target.split(".")
    prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in modules), None)


def rank(module: str) -> int | None:
    """The layer's place in the table; the package itself is above all; None if the table does not know it."""
    package, _, rest = module.partition(".")
    if not rest:
        return len(LAYERS[package])
    entry = entry_of(module)
    return next((i for i, (_, names) in enumerate(LAYERS[package]) if entry in names.split()), None)


@cache
def entries_of(package: str) -> frozenset[str]:
    """All entries of a package's table."""
    return frozenset(name for _, names in LAYERS[package] for name in names.split())


@cache
def entry_of(module: str) -> str | None:
    """The entry of the table that a module belongs to: its own, or that of its package where the package's
    modules have none of their own.
    """
    package, _, rest = module.partition(".")
    entries = entries_of(package)
    first = rest.partition(".")[0]
    if rest in entries or not any(name.startswith(first + ".") for name in entries):
        return rest if rest in entries else first
    return None


def label(module: str) -> str:
    package, number = module.partition(".")[0], rank(module)
    assert number is not None
    return LAYERS[package][number][0] if number < len(LAYERS[package]) else "top"


def allowed(importer: str, imported: str) -> bool:
    """Whether the table lets one of our modules import another."""
    home, away = importer.partition(".")[0], imported.partition(".")[0]
    if home != away:
        return away in BELOW[home]
    if importer == imported or home == importer:
        return True
    mine = entry_of(importer)
    if mine is not None and mine == entry_of(imported):  # one package: only the way up is closed
        return imported != f"{home}.{mine}"
    low, high = rank(imported), rank(importer)
    return low is not None and high is not None and low < high


def breaches(root: Path) -> list[str]:
    """One line of text for each forbidden import and for each module that the table does not know."""
    modules = {name: path for package in LAYERS for name, path in modules_under(root, package).items()}
    unknown = [name for name in modules if rank(name) is None]
    found = [f"{name}: in no layer; enter it in LAYERS in tests/project/test_layers.py" for name in unknown]
    for name, path in modules.items():
        tree = parsed(path)
        for item in sorted(imports_of(tree, name, path.name == "__init__.py"), key=lambda item: item.line):
            where = f"{path.relative_to(root)}:{item.line}"
            if item.at_import and item.target.partition(".")[0] == "torch":
                found.append(
                    f"{where}: imports torch at module level; import it in the function that needs it"
                )
            other = resolve(item.target, modules)
            if other is None or name in unknown or other in unknown or allowed(name, other):
                continue
            found.append(f"{where}: {name} ({label(name)}) imports {other} ({label(other)})")
    return found


def graph_of(root: Path, package: str, types: bool = False) -> dict[str, set[str]]:
    """Which modules of a package each of them imports, inside functions, too; with `types` also those whose
    names only a type checker needs."""
    modules = modules_under(root, package)
    found: dict[str, set[str]] = {}
    for name, path in modules.items():
        tree = parsed(path)
        imports = imports_of(tree, name, path.name == "__init__.py", types)
        targets = {resolve(i.target, modules) for i in imports}
        found[name] = {target for target in targets if target is not None} - {name}
    return found


def circles(graph: dict[str, set[str]]) -> list[str]:
    """The modules that are left when, again and again, all are taken away that import none that is left."""
    left = {name: set(others) for name, others in graph.items()}
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    return sorted(left)


@pytest.mark.parametrize("package", LAYERS)
def test_table_names_each_module_once(package):
    names = [name for _, line in LAYERS[package] for name in line.split()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("package", LAYERS)
def test_every_entry_of_the_table_stands_for_a_module(package):
    modules = modules_under(ROOT, package)
    entries = {f"{package}.{name}" for _, line in LAYERS[package] for name in line.split()}
    assert entries <= modules.keys()


@pytest.mark.quick
def test_imports_go_downwards():
    assert modules_under(ROOT, "minigrad") and modules_under(ROOT, "minigrad_viz"), (
        "the packages are not where they were"
    )
    found = breaches(ROOT)
    assert not found, "\n".join(["", *found])


@pytest.mark.quick
def test_no_imports_go_in_a_circle():
    assert circles(graph_of(ROOT, "minigrad", types=True)) == []


def test_no_imports_of_the_viewer_go_in_a_circle():
    assert circles(graph_of(ROOT, "minigrad_viz", types=True)) == []


def test_a_circle_of_types_is_found(tmp_path):
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import B\n"
    for name, text in {"__init__": "", "a": source, "b": "from .a import A\n"}.items():
        (tmp_path / "p").mkdir(exist_ok=True)
        (tmp_path / "p" / f"{name}.py").write_text(text, encoding="utf-8")
    assert circles(graph_of(tmp_path, "p")) == []
    assert circles(graph_of(tmp_path, "p", types=True)) == ["p.a", "p.b"]


@pytest.mark.parametrize(
    "graph, left",
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, ["a", "b"]),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}, ["a", "b", "c"]),
    ],
)
def test_a_circle_is_found(graph, left):
    assert circles(graph) == left


# -------------------------------------------------------------------------- the rules, on small made-up trees


@pytest.fixture
def tree(tmp_path):
    """A function that writes `{path: source}` into a tree with both packages and returns its breaches."""

    def write(files: dict[str, str]) -> list[str]:
        packages = dict.fromkeys(["minigrad/__init__.py", "minigrad_viz/__init__.py"], "")
        for path, source in (packages | files).items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(source, encoding="utf-8")
        return breaches(tmp_path)

    return write


OPS = {"minigrad/ops/__init__.py": "", "minigrad/ops/shape.py": ""}
CORE = {"minigrad/core/__init__.py": ""}
GRAPH = CORE | {"minigrad/core/node.py": ""}
ENGINE = CORE | {"minigrad/core/engine.py": ""}
MODES = {"minigrad/core/modes.py": "import numpy"}
SOURCES = {"minigrad_viz/sources/__init__.py": ""}


@pytest.mark.parametrize(
    "files",
    [
        ENGINE | {"minigrad/core/node.py": "from minigrad.core.engine import run"},
        ENGINE | {"minigrad/core/node.py": "from minigrad.core import engine"},
        ENGINE | {"minigrad/core/node.py": "import minigrad.core.engine as e"},
        ENGINE | {"minigrad/core/node.py": "from .engine import run"},
        ENGINE | {"minigrad/core/node.py": "from . import engine"},
        ENGINE | {"minigrad/core/node.py": "def f():\n    from .engine import run"},
        ENGINE
        | {"minigrad/core/node.py": "import importlib\nimportlib.import_module('minigrad.core.engine')"},
        ENGINE | {"minigrad/core/node.py": "try:\n    pass\nfinally:\n    from .engine import run"},
        ENGINE | {"minigrad/core/node.py": "if TYPE_CHECKING:\n    pass\nelse:\n    from .engine import run"},
        ENGINE | {"minigrad/core/tensor_state.py": "from .engine import run"},
        GRAPH | MODES | {"minigrad/core/modes.py": "from .node import Node"},
        CORE | OPS | {"minigrad/core/op.py": "from ..ops.shape import view"},
        OPS | {"minigrad/ops/linalg.py": "from ..tensor import Tensor", "minigrad/tensor/__init__.py": ""},
        OPS | {"minigrad/ops/linalg.py": "from minigrad.ops import something"},
        CORE | {"minigrad/core/node.py": "import minigrad"},
        CORE | {"minigrad/core/node.py": "from . import something"},
        CORE | {"minigrad/core/node.py": "from .. import something"},
        {"minigrad/nn/__init__.py": "import minigrad_viz"},
        {"minigrad/nn/__init__.py": "def f():\n    import minigrad_viz"},
        {"minigrad_viz/words.py": "from .shell.magic import load", "minigrad_viz/shell/magic.py": ""},
        {"minigrad_viz/drawing/svg.py": "import torch"},
        {"minigrad_viz/drawing/svg.py": "class Source:\n    from torch.autograd import graph"},
        {"minigrad/surprise.py": ""},
        CORE | {"minigrad/core/surprise.py": ""},
        {"minigrad/surprise/deep.py": "", "minigrad/surprise/__init__.py": ""},
    ],
)
def test_a_breach_is_found(tree, files):
    found = tree(files)
    assert found
    assert all(any(path in line or "surprise" in line for path in files) for line in found)


@pytest.mark.parametrize(
    "files",
    [
        GRAPH
        | ENGINE
        | {"minigrad/__init__.py": "from .core.node import Node\nfrom .core.engine import run"},
        GRAPH | {"minigrad/core/engine.py": "from .node import Node\nimport minigrad.core.node"},
        ENGINE | {"minigrad/core/node.py": "if TYPE_CHECKING:\n    from .engine import run"},
        ENGINE | {"minigrad/core/node.py": "if typing.TYPE_CHECKING:\n    from .engine import run"},
        OPS | {"minigrad/ops/__init__.py": "from . import shape\nfrom .shape import view"},
        OPS | {"minigrad/ops/linalg.py": "from .shape import view"},
        OPS | {"minigrad/ops/linalg.py": "from . import shape\nfrom minigrad.ops import shape"},
        OPS | {"minigrad/tensor/__init__.py": "from ..ops.shape import view\nfrom ..ops import view"},
        CORE | MODES | {"minigrad/tensor/__init__.py": "from ..core.modes import state"},
        SOURCES | {"minigrad_viz/sources/torch.py": "def f():\n    import torch"},
        SOURCES | {"minigrad_viz/drawing/svg.py": "from ..sources import torch"},
        {
            "minigrad_viz/words.py": "import minigrad\nfrom minigrad.core import F",
            "minigrad/core/__init__.py": "",
        },
        CORE | {"minigrad/core/engine.py": "import heapq\nfrom collections import abc\nimport minigrade"},
    ],
)
def test_what_is_allowed_is_not_a_breach(tree, files):
    assert tree(files) == []


def test_the_message_names_file_line_and_layers(tree):
    found = tree(ENGINE | {"minigrad/core/node.py": "import heapq\n\nfrom .engine import run"})
    assert found == [
        f"{Path('minigrad/core/node.py')}:3: minigrad.core.node (L1) imports minigrad.core.engine (L2 engine)"
    ]


def test_an_unknown_module_is_asked_to_enter_the_table(tree):
    assert tree({"minigrad/surprise.py": ""}) == [
        "minigrad.surprise: in no layer; enter it in LAYERS in tests/project/test_layers.py"
    ]
