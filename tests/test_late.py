"""What minigrad loads when it is imported, and that all the rest is there when it is asked for."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread
from types import ModuleType

import pytest

import minigrad
from minigrad.core import F, all_ops, differentiable
from minigrad.core.op import CALLS, KERNELS, OPS
from minigrad.core.written_calls import WAITING
from minigrad.later import LateModule
from minigrad.ops.index import INDEX
from minigrad.tensor import families
from minigrad.tensor.late import Late

ROOT = Path(__file__).resolve().parent.parent
MODULES = ROOT / "minigrad" / "ops"
# Loaded by the functions that need them. What `import numpy` loads by itself is allowed.
NAMES = """
dataclasses decimal fractions hashlib json numpy.fft numpy.random random secrets statistics
string traceback zipfile
minigrad.autograd.forward_ad minigrad.autograd.function minigrad.autograd.functional
minigrad.autograd.gradcheck.checks minigrad.fft minigrad.func minigrad.generator minigrad.linalg
minigrad.mistakes minigrad.nn minigrad.optim minigrad.printing minigrad.random minigrad.serialization
minigrad.special minigrad.testing minigrad.utils
"""
HEAVY = NAMES.split()


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ── what is loaded
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_importing_loads_nothing_heavy():
    code = f"""
import sys, numpy
before = set(sys.modules)
import minigrad
print(*(name for name in {HEAVY!r} if name in sys.modules and name not in before))
"""
    assert run(code) == ""


def test_importing_loads_few_modules():
    """Each module takes an eighth of a millisecond, whatever stands in it."""
    code = """
import minigrad, sys, types
print(sum(name.startswith("minigrad") and type(m) is types.ModuleType for name, m in sys.modules.items()))
"""
    assert int(run(code)) < 55


def test_a_first_graph_loads_its_own_ops_only():
    code = """
import minigrad, sys, types
x = minigrad.tensor(5.0, requires_grad=True)
(x**3).log().backward()
loaded = {name for name, m in sys.modules.items() if type(m) is types.ModuleType}
print(*sorted({"minigrad.ops." + name for name in ("special", "convolution", "linalg", "losses")} & loaded))
"""
    assert run(code) == ""


# ── what is there all the same
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_name_is_there():
    code = """
import minigrad
names = dir(minigrad)
for name in names:
    getattr(minigrad, name)
for name in dir(minigrad.Tensor):
    getattr(minigrad.Tensor, name)
scope = {}
exec("from minigrad import *", scope)
print(*sorted({name for name in names if name[0] != "_"} - set(scope)), len(names) > 600)
"""
    assert run(code) == "True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork: a process for each of 1,700 names")
@pytest.mark.parametrize("scope", ["minigrad", "minigrad.Tensor", "minigrad.nn", "minigrad.nn.functional"])
def test_every_name_may_be_the_first(scope):
    """Nothing that another name happens to load is needed: each is asked for where none was before it."""
    code = f"""
import minigrad, os, sys
scope = {scope}
for name in dir(scope):
    child = os.fork()
    if not child:
        try:
            getattr(scope, name)
        except BaseException as error:
            print(name, error, flush=True)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] not in (0, 256):
        print(name, "ended the process")
"""
    assert run(code) == ""


@pytest.mark.parametrize(
    "statement",
    [
        "import minigrad.nn as nn; nn.Linear",
        "from minigrad import nn; nn.functional.relu",
        "import minigrad; minigrad.nn.functional.conv2d",
        "import minigrad.nn.functional as F; F.softmax",
        "from minigrad.nn import functional, Linear; functional.linear",
        "from minigrad import optim, func, linalg, fft, special, utils",
        "from minigrad import save, Generator, vmap, acos, sort, maximum, exp_, tensor",
        "import minigrad.optim.lr_scheduler; minigrad.optim.SGD",
        "from minigrad.autograd import Function, functional, graph, gradcheck; gradcheck.__code__",
        "import minigrad.autograd.gradcheck; minigrad.autograd.gradcheck.__code__",
        "from minigrad.autograd.gradcheck import gradcheck; gradcheck.__code__",
        "from minigrad.ops.special import lgamma; import minigrad; minigrad.lgamma(minigrad.ones(2))",
        "from minigrad.ops import special; special.i0",
        "from minigrad.tensor.cumulative import Cumulative; import minigrad; minigrad.Tensor.cumsum",
        "import minigrad; x = minigrad.tensor([0.5]); assert minigrad.acos(x) == x.acos() == x.arccos()",
        "import minigrad; x = minigrad.ones(3); x.acos_(); x.cumsum_(0); x.sort().values; x.random_()",
    ],
)
def test_ways_to_import(statement):
    run(statement)


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'acoss'"):
        minigrad.acoss  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'torch\.autograd' has no attribute 'gard'"):
        minigrad.autograd.gard  # noqa: B018
    with pytest.raises(AttributeError, match="no op is called 'acoss'"):
        F.acoss  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'i7'"):
        importlib.import_module("minigrad.ops.special").i7  # noqa: B018


# ── the tables
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_index_of_ops_is_complete():
    """Every module of `ops` stands in `index`, and every op by its name."""
    code = """
from minigrad.op import F
from minigrad.ops.index import INDEX
from minigrad import ops
for module, names in INDEX.items():
    ops.load(getattr(ops, module))
    assert not set(names.split()) - set(vars(F)), (module, set(names.split()) - set(vars(F)))
indexed = {name for names in INDEX.values() for name in names.split()}
print(*sorted(set(vars(F)) - indexed - {"in_place", "product"}))
"""
    files = {path.stem for path in MODULES.glob("*.py")} - {"__init__", "index"}
    assert files == set(INDEX), "enter new modules of minigrad/ops in its index.py"
    assert run(code) == "", "these ops stand in no entry of minigrad/ops/index.py"


def test_every_vjp_uses_ops_that_are_declared():
    assert len(all_ops()) > 300


def test_every_member_of_a_waiting_class_is_one_of_tensors():
    for path, names in families.MEMBERS.items():
        module, _, kind = path.partition(".")
        defined = vars(getattr(importlib.import_module(f"minigrad.tensor.{module}"), kind))
        assert set(defined) - set(vars(Empty)) == set(names.split()), path


def test_no_two_waiting_classes_have_a_member_of_one_name():
    names = [name for names in families.MEMBERS.values() for name in names.split()]
    assert len(names) == len(set(names))
    assert not set(names) & {name for part in minigrad.Tensor.__mro__[1:-3] for name in vars(part)} - {
        "__module__",
        "__doc__",
    }


class Empty:
    """A class without members."""

    __slots__ = ()


class Home:
    """What numbers have that wait for it."""

    value = 3

    def double(self) -> int:
        """Twice the value."""
        return 2 * self.value

    @property
    def half(self) -> float:
        """Half the value, which cannot be set."""
        return self.value / 2


@pytest.fixture
def number():
    """A class whose members wait."""
    home = ModuleType("home")
    home.Home = Home  # type: ignore[attr-defined]

    class Number:
        value = 3
        twice, half = Late(home, "Home.double"), Late(home, "Home.half")

    return Number


def test_a_late_member_stands_in_its_own_place(number):
    assert number().twice() == 6 and number().half == 1.5
    assert vars(number)["twice"] is Home.double and vars(number)["half"] is Home.half


def test_a_late_member_is_set_and_deleted_as_what_it_stands_for(number):
    t = number()
    for name in ("half", "half"):  # the first loads it
        with pytest.raises(AttributeError):
            setattr(t, name, 2)
    with pytest.raises(AttributeError):
        del t.twice
    t.twice = 5
    assert t.twice == 5 and number().twice() == 6
    with pytest.raises(AttributeError, match="half"):
        del number().half


def test_a_late_method_is_called_by_that_of_a_subclass(number):
    calls = []

    class Counted(number):
        def twice(self):
            calls.append(self)
            return super().twice()

    assert Counted().twice() == 6 and len(calls) == 1


def test_attributes_of_tensors_are_set_before_they_are_asked_for():
    """In a fresh interpreter: what can be set is set, what cannot raises AttributeError."""
    code = """
import minigrad
x = minigrad.tensor([1 + 2j])
x.real = minigrad.tensor([5.0])
x.sum = 3
print(x, x.sum)
for name in ("is_meta", "device", "itemsize", "name", "_base", "T"):
    try:
        setattr(minigrad.tensor(1.0), name, 1)
    except AttributeError:
        continue
    print(name)
"""
    assert run(code) == "tensor([5.+2.j]) 3"


OPERATORS = """
import copy, pickle, minigrad, numpy
a, b = minigrad.tensor([1, 2]), minigrad.tensor([3, 1])
print(a & b, a | b, a ^ b, ~a, 1 & a, 1 | a, 1 ^ a, a << 1, 1 << a, a >> 1, 8 >> a)
print(a // 2, 2 // a, a % 2, 5 % a)
print(a == b, a < b, a != 1, 1 in a, len(a), [*reversed(a)], [*a], a[1:], a @ b, minigrad.Tensor.sum(a))
print(copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), numpy.asarray(a), numpy.add(a, 1))
a &= 3; a |= 4; a ^= 1; a <<= 2; a >>= 1; a //= 2; a %= 5; a[0] = 7
print(a)
"""


def test_every_operator_is_there_at_once(capsys):
    """In a fresh interpreter what it is in this one."""
    fresh = run(OPERATORS)
    exec(OPERATORS, {})
    assert fresh == capsys.readouterr().out.strip()


def test_a_first_call_has_the_frames_of_any_other():
    """In a fresh interpreter: what reads tracebacks, and warnings, must not see that something was loaded."""
    code = """
import traceback, warnings, minigrad
minigrad.set_dialect("2")
x = minigrad.tensor([1.0, 2.0], requires_grad=True)
def frames(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function()
            return [warning.filename for warning in caught]
        except Exception as error:
            return [frame.name for frame in traceback.extract_tb(error.__traceback__)]
for function in (lambda: x.backward(), lambda: x.T, lambda: x.sum("a"), lambda: x + "a", lambda: x.acos(1)):
    print(frames(function) == frames(function), len(frames(function)) > 0)
"""
    assert set(run(code).splitlines()) == {"True True"}


def test_threads_load_a_module_once():
    code = """
from threading import Barrier, Thread
import minigrad
from minigrad.op import registry
declared = []
class Ops(dict):
    def __setitem__(self, name, op):
        declared.append(op.name)
        dict.__setitem__(self, name, op)
import minigrad.op.declare as declare
declare.OPS = Ops(declare.OPS)
start, failed = Barrier(8), []
def work():
    x = minigrad.ones(2)
    start.wait()
    try:
        minigrad.i0(x); x.digamma(); minigrad.nn.functional.gelu(x); x.sort()
    except BaseException as error:
        failed.append(error)
threads = [Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert not failed, failed
assert len(declared) == len(set(declared)), declared
"""
    run(code)


# ── calls that are written out when they first run
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def call():
    """An op that nobody has called."""

    @differentiable(self=lambda g: g, elementwise=True, floating=True, node="ForThisTestBackward0")
    def for_this_test(self):
        """The number itself."""
        return self

    yield for_this_test
    for registry in (F, KERNELS, CALLS):
        delattr(registry, "for_this_test")
    del OPS["ForThisTestBackward0"]


def test_a_call_is_compiled_in_place_when_it_first_runs(call):
    waiting = call.__code__
    assert waiting.co_code == WAITING[1].__code__.co_code
    assert str(inspect.signature(call)) == "(input)" and call.__doc__ == "The number itself."
    with pytest.raises(TypeError, match=r"for_this_test\(\) missing 1 required positional argument: 'input'"):
        call()
    x = minigrad.tensor(2.0, requires_grad=True)
    assert call(input=x).item() == 2.0
    compiled = call.__code__
    assert compiled is not waiting and str(inspect.signature(call)) == "(input)"
    call(x).backward()
    assert call.__code__ is compiled and x.grad.item() == 1.0


def test_threads_may_all_run_a_call_first(call):
    start, results = Barrier(8), []

    def work() -> None:
        x = minigrad.tensor(3.0, requires_grad=True)
        start.wait()
        results.append(call(x).item())

    threads = [Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [3.0] * 8


def test_a_late_module_is_an_ordinary_one_once_it_is_loaded():
    module = importlib.import_module("minigrad.ops.special")
    assert module.log_gamma(1.0) == 0.0
    assert type(module) is ModuleType and not isinstance(module, LateModule)
    assert module.__file__ and module.__file__.endswith("special.py")
    assert inspect.getsource(module).startswith('"""Special functions')
