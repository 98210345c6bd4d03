"""A module imports only from lower layers.

The table is the rule. A name stands for a module or for a package. Modules of one package may import each
other; a package's `__init__` stands above its other modules, so that of minigrad may import all of minigrad
and nothing in minigrad may import it. Imports inside functions count; imports under `if TYPE_CHECKING:` are
never executed and do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# One line per layer, lowest first. A new module is entered here, as low as its imports allow.
LAYERS: dict[str, list[tuple[str, str]]] = {
    "minigrad": [
        ("pure", "printing print_options"),  # L6 by use; imports NumPy only, so that everything may print
        ("pure results", "return_types version"),
        ("pure texts", "left_out"),
        ("pure names", "later"),
        ("L0", "dtypes modes dialect hooks devices cuda backends"),
        ("L0 memory", "refusals storage"),
        ("L0 passes", "running"),
        ("L0 anomaly", "anomaly"),
        ("L1", "graph"),
        ("L2", "tensor_base"),
        ("L2 hooks", "hook_calls"),
        ("L2 random", "generator"),
        ("L2 draws", "draws"),
        ("L2 tasks", "tasks"),
        ("L2 nodes", "node_by_node"),
        ("L2 pass", "engine"),
        ("L3", "op"),
        ("L4", "ops"),
        ("L5 views", "views overlap plain_writes"),
        ("L5", "inplace"),
        ("L6", "creation random"),
        ("L6 class", "tensor"),
        ("L6 mistakes", "mistakes"),
        ("L6 errors", "explained"),
        ("L6 results", "outs in_place_functions settings testing"),
        ("L6 functions", "fft linalg special"),
        ("L7", "autograd"),
        ("L7 transforms", "func"),
        ("L8 helpers", "utils"),
        ("L8 models", "nn"),
        ("L8 training", "optim"),
        ("L8 files", "serialization"),
    ],
    "minigrad_viz": [
        ("V0 texts", "words_en words_ko"),
        ("V0", "protocol words"),
        ("V0 saved", "kept"),
        ("V0 numbers", "numbers"),
        ("V1 data", "trace"),
        ("V1 sources", "sources"),  # they know nothing of the recorder but the methods that they call
        ("V2 record", "recording"),
        ("V2 graph", "model"),
        ("V2 arithmetic", "arithmetic"),
        ("V3 picture", "drawing"),
        ("V3 frames", "steps"),
        ("V3 errors", "explaining"),
        ("V4", "player"),
        ("V5", "shell"),
        ("V5 notebooks", "course"),
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


def imports_of(tree: ast.Module, module: str, is_package: bool) -> Iterator[Import]:
    """Every import in a module's syntax tree, with relative names made absolute.

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
        if isinstance(node, ast.If) and names_type_checking(node.test):
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
    name = rest.partition(".")[0]
    return next((i for i, (_, names) in enumerate(LAYERS[package]) if name in names.split()), None)


def label(module: str) -> str:
    package, number = module.partition(".")[0], rank(module)
    assert number is not None
    return LAYERS[package][number][0] if number < len(LAYERS[package]) else "top"


def allowed(importer: str, imported: str) -> bool:
    """Whether the table lets one of our modules import another."""
    home, away = importer.partition(".")[0], imported.partition(".")[0]
    if home != away:
        return away in BELOW[home]
    mine, theirs = importer.split(".")[:2], imported.split(".")[:2]
    if (
        mine == theirs
    ):  # one module, or one subpackage: only the way up to the subpackage's __init__ is closed
        return len(mine) == 1 or importer == imported or imported != ".".join(mine)
    low, high = rank(imported), rank(importer)
    return low is not None and high is not None and low < high


def breaches(root: Path) -> list[str]:
    """One line of text for each forbidden import and for each module that the table does not know."""
    modules = {name: path for package in LAYERS for name, path in modules_under(root, package).items()}
    unknown = [name for name in modules if rank(name) is None]
    found = [f"{name}: in no layer; enter it in LAYERS in tests/test_layers.py" for name in unknown]
    for name, path in modules.items():
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
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


@pytest.mark.parametrize("package", LAYERS)
def test_table_names_each_module_once(package):
    names = [name for _, line in LAYERS[package] for name in line.split()]
    assert len(names) == len(set(names))


def test_imports_go_downwards():
    assert modules_under(ROOT, "minigrad") and modules_under(ROOT, "minigrad_viz"), (
        "the packages are not where they were"
    )
    found = breaches(ROOT)
    assert not found, "\n".join(["", *found])


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
GRAPH = {"minigrad/graph.py": ""}
ENGINE = {"minigrad/engine.py": ""}
PRINTING = {"minigrad/printing.py": "import numpy"}
SOURCES = {"minigrad_viz/sources/__init__.py": ""}


@pytest.mark.parametrize(
    "files",
    [
        ENGINE | {"minigrad/graph.py": "from minigrad.engine import run"},
        ENGINE | {"minigrad/graph.py": "from minigrad import engine"},
        ENGINE | {"minigrad/graph.py": "import minigrad.engine as e"},
        ENGINE | {"minigrad/graph.py": "from .engine import run"},
        ENGINE | {"minigrad/graph.py": "from . import engine"},
        ENGINE | {"minigrad/graph.py": "def f():\n    from .engine import run"},
        ENGINE | {"minigrad/graph.py": "import importlib\nimportlib.import_module('minigrad.engine')"},
        ENGINE | {"minigrad/graph.py": "try:\n    pass\nfinally:\n    from .engine import run"},
        ENGINE | {"minigrad/graph.py": "if TYPE_CHECKING:\n    pass\nelse:\n    from .engine import run"},
        ENGINE | {"minigrad/tensor_base.py": "from .engine import run"},
        GRAPH | {"minigrad/printing.py": "from .graph import Node"},
        OPS | {"minigrad/op.py": "from .ops.shape import view"},
        OPS | {"minigrad/ops/linalg.py": "from ..tensor import Tensor", "minigrad/tensor/__init__.py": ""},
        OPS | {"minigrad/ops/linalg.py": "from minigrad.ops import something"},
        {"minigrad/graph.py": "import minigrad"},
        {"minigrad/graph.py": "from . import something"},
        {"minigrad/nn/__init__.py": "import minigrad_viz"},
        {"minigrad/nn/__init__.py": "def f():\n    import minigrad_viz"},
        {"minigrad_viz/words.py": "from .shell.magic import load", "minigrad_viz/shell/magic.py": ""},
        {"minigrad_viz/drawing/svg.py": "import torch"},
        {"minigrad_viz/drawing/svg.py": "class Source:\n    from torch.autograd import graph"},
        {"minigrad/surprise.py": ""},
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
        GRAPH | ENGINE | {"minigrad/__init__.py": "from .graph import Node\nfrom .engine import run"},
        GRAPH
        | {
            "minigrad/engine.py": "from .graph import Node\nfrom minigrad import graph\nimport minigrad.graph"
        },
        ENGINE | {"minigrad/graph.py": "if TYPE_CHECKING:\n    from .engine import run"},
        ENGINE | {"minigrad/graph.py": "if typing.TYPE_CHECKING:\n    from .engine import run"},
        OPS | {"minigrad/ops/__init__.py": "from . import shape\nfrom .shape import view"},
        OPS | {"minigrad/ops/linalg.py": "from .shape import view"},
        OPS | {"minigrad/ops/linalg.py": "from . import shape\nfrom minigrad.ops import shape"},
        OPS | {"minigrad/inplace.py": "from .ops.shape import view\nfrom .ops import view"},
        PRINTING | {"minigrad/tensor/__init__.py": "from ..printing import format_tensor"},
        SOURCES | {"minigrad_viz/sources/torch.py": "def f():\n    import torch"},
        SOURCES | {"minigrad_viz/drawing/svg.py": "from ..sources import torch"},
        {"minigrad_viz/words.py": "import minigrad\nfrom minigrad.op import F", "minigrad/op.py": ""},
        {"minigrad/engine.py": "import heapq\nfrom collections import abc\nimport minigrade"},
    ],
)
def test_what_is_allowed_is_not_a_breach(tree, files):
    assert tree(files) == []


def test_the_message_names_file_line_and_layers(tree):
    found = tree(ENGINE | {"minigrad/graph.py": "import heapq\n\nfrom .engine import run"})
    assert found == [f"{Path('minigrad/graph.py')}:3: minigrad.graph (L1) imports minigrad.engine (L2 pass)"]


def test_an_unknown_module_is_asked_to_enter_the_table(tree):
    assert tree({"minigrad/surprise.py": ""}) == [
        "minigrad.surprise: in no layer; enter it in LAYERS in tests/test_layers.py"
    ]
