"""What would hide an import or a function from a reader: there is little of it, and all of it is listed here.

Where a low module needs something of a higher one, which it cannot import, the higher one hands it over at a
registration point. No text is compiled at run time, and few attributes of modules are computed.
"""

from __future__ import annotations

import ast
from functools import cache

import pytest
from sources import parsed
from test_layers import ROOT, absolute, modules_under

pytestmark = pytest.mark.quick

# Places where a high module hands something to a low one, which cannot import it.
REGISTRATION = {
    "core.tensor_state: TensorBase.regenerate": "ops bring a view's grad_fn up to date: `inplace.views`",
    "core.elementwise: Tensor": "results are of the class `Tensor`, which stands above: `tensor.tensor`",
    "core.public: _install": "published names are put in their places by `tensor.publishing`",
}
# Module variables that functions set and that hold the state of a setting or of a block, no code.
SETTINGS = {
    "core.engine: edge_changes",
    "core.dialect: _current",
    "core.dtypes: _default",
    "core.dtypes: _default_complex",
    "core.modes: active",
    "core.modes: grad_switches",
    "nn.utils.parametrize: _cache",
    "tensor.printing: _options",
}
# Module attributes that are computed when they are asked for. All other `__getattr__` only raise.
COMPUTED = {
    "": "subpackages, which are loaded on first use",
    "autograd.forward_ad": "`_current_level` changes",
}


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax trees of minigrad, by the module's name inside the package."""
    return {name.partition(".")[2]: parsed(path) for name, path in modules_under(ROOT, "minigrad").items()}


def handed_over(name: str, tree: ast.Module) -> set[str]:
    """Where a module sets an attribute of what it imports while it is imported itself."""
    homes = {
        alias.asname or alias.name: absolute(node, f"minigrad.{name}", False)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    targets: list[ast.expr] = []
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            targets.append(node.target)
    set_here = [ast.unparse(t) for t in targets if isinstance(t, ast.Attribute)]
    found = {
        f"{homes[text.partition('.')[0]].removeprefix('minigrad.')}: {text}"
        for text in set_here
        if text.partition(".")[0] in homes
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            found |= {f"{name}: {variable}" for variable in node.names}
    return found


def test_registration_points_are_those_listed():
    found = set().union(*(handed_over(name, tree) for name, tree in trees().items()))
    assert found - SETTINGS == REGISTRATION.keys()
    assert not SETTINGS - found
    assert len(REGISTRATION) <= 3


def test_what_a_module_hands_over_is_found():
    tree = ast.parse("from ..core.node import Node\nNode.run = staticmethod(run)\nx = 1\nThing.a = 2")
    assert handed_over("inplace.views", tree) == {"core.node: Node.run"}
    tree = ast.parse("def connect(f):\n    global run\n    run = f")
    assert handed_over("core.call", tree) == {"core.call: run"}


RUNS_TEXT = {"exec", "eval", "compile", "FunctionType", "CodeType", "__import__"}


def runs_text(tree: ast.Module) -> list[int]:
    """The lines at which a module runs text as code, or puts other code into a function."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            prefixes = "", "builtins.", "types."
            replaces = called == "setattr" and ast.unparse(node.args[1]) == "'__code__'"
            if replaces or any(called == prefix + name for prefix in prefixes for name in RUNS_TEXT):
                lines.append(node.lineno)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            lines += [node.lineno] if node.attr == "__code__" else []
    return lines


def test_no_text_is_compiled_at_run_time():
    assert {name: lines for name, tree in trees().items() if (lines := runs_text(tree))} == {}


@pytest.mark.parametrize(
    "source, count",
    [
        ("exec('1')", 1),
        ("def f():\n    return eval('1')", 1),
        ("import builtins\nbuiltins.compile('1', '', 'eval')", 1),
        ("import types\ntypes.FunctionType(code, {})", 1),
        ("f.__code__ = g.__code__", 1),
        ("setattr(f, '__code__', g)", 1),
        ("names = f.__code__.co_varnames\nmodel.eval()\nre.compile('a')\nx.__class__ is FunctionType", 0),
    ],
)
def test_text_that_is_compiled_is_found(source, count):
    assert len(runs_text(ast.parse(source))) == count


def test_attributes_of_modules_are_computed_in_few_places_only():
    found = set()
    for name, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
                assert node.returns is not None, name
                if "NoReturn" not in ast.unparse(node.returns):
                    found.add(name)
    assert found == COMPUTED.keys()


def test_only_the_package_imports_by_name():
    for name, tree in trees().items():
        used = {n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in ast.walk(tree)}
        by_name = {"import_module", "_import_module"}
        assert name in ("", "as_torch") or not used & by_name, name  # `import torch` names any module
