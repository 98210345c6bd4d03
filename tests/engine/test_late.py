"""What minigrad loads when it is imported, and that all the rest is there when it is asked for."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from minigrad.core import F

ROOT = Path(__file__).resolve().parents[2]
# Loaded by what needs them. What `import numpy` loads by itself is allowed.
NAMES = """
decimal fractions hashlib json numpy.fft numpy.random random secrets statistics string
tempfile textwrap traceback urllib zipfile scipy
minigrad.distributions minigrad.fft minigrad.func minigrad.linalg minigrad.nn minigrad.optim minigrad.special
minigrad.utils
"""
HEAVY = NAMES.split()
PACKAGES = """
backends cuda distributions fft func linalg nn optim profiler random special utils
"""


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ── what is loaded


@pytest.mark.quick
def test_importing_loads_no_subpackage_and_nothing_heavy():
    code = f"""
import sys, numpy
before = set(sys.modules)
import minigrad
print(*(name for name in {HEAVY!r} if name in sys.modules and name not in before))
"""
    assert run(code) == ""


@pytest.mark.full
def test_an_ordinary_graph_loads_no_subpackage():
    code = f"""
import sys, numpy
before = set(sys.modules)
import minigrad
x = minigrad.tensor([1.0, 2.0], requires_grad=True)
((x**3).log() @ minigrad.ones(2)).backward()
(x.sum() + x.max()).backward(create_graph=True)
print(*(name for name in {HEAVY!r} if name in sys.modules and name not in before))
"""
    assert run(code) == ""


# ── what is there all the same


def test_every_name_is_there():
    code = """
import minigrad
names = dir(minigrad)
for name in names:
    getattr(minigrad, name)
for name in dir(minigrad.Tensor):
    getattr(minigrad.Tensor, name)
print(len(names) > 450)
"""
    assert run(code) == "True"


def test_a_star_import_gives_every_name_that_does_not_come_with_a_subpackage():
    code = """
from minigrad import *
import minigrad
missing = {name for name in dir(minigrad) if name[0] != "_"} - set(globals())
print(sorted(missing), tensor is minigrad.tensor, nn is minigrad.nn, log is minigrad.log)
"""
    assert run(code) == "[] True True True"


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize("package", PACKAGES.split())
def test_a_subpackage_is_loaded_when_it_is_asked_for(package):
    code = f"""
import sys, minigrad
before = "minigrad.{package}" in sys.modules
print(minigrad.{package} is sys.modules["minigrad.{package}"], before)
"""
    assert run(code).startswith("True")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork: a process for each name")
@pytest.mark.full
@pytest.mark.parametrize("scope", ["minigrad", "minigrad.nn", "minigrad.nn.functional"])
def test_every_name_can_be_the_first(scope):
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


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "statement",
    [
        "import minigrad.nn as nn; nn.Linear",
        "from minigrad import nn; nn.functional.relu",
        "import minigrad; minigrad.nn.functional.conv2d",
        "import minigrad; minigrad.conv2d; minigrad.vmap",
        "import minigrad.nn.functional as F; F.softmax",
        "from minigrad.nn import functional, Linear; functional.linear",
        "from minigrad import optim, func, linalg, fft, special, utils",
        "from minigrad import save, Generator, vmap, acos, sort, maximum, exp_, tensor",
        "import minigrad.optim.lr_scheduler; minigrad.optim.SGD",
        "import minigrad as torch; torch.distributions.Normal(0.0, 1.0).sample()",
        "from minigrad.distributions import Categorical, kl_divergence",
        "from minigrad.distributions.normal import Normal",
        "from minigrad.autograd import Function, functional, graph, gradcheck; gradcheck.__code__",
        "import minigrad; minigrad.return_types.max(1, 2).indices",
        "import minigrad; x = minigrad.tensor([0.5]); assert minigrad.acos(x) == x.acos() == x.arccos()",
        "import minigrad; x = minigrad.ones(3); x.acos_(); x.cumsum_(0); x.sort().values; x.random_()",
    ],
)
def test_ways_to_import(statement):
    run(statement)


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'acoss'"):
        minigrad.acoss  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'gard'"):
        minigrad.autograd.gard  # noqa: B018
    with pytest.raises(AttributeError, match="acoss"):
        F.acoss  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'i7'"):
        importlib.import_module("minigrad.ops.special").i7  # noqa: B018


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


@pytest.mark.full
def test_threads_import_subpackages_at_once():
    code = """
from threading import Barrier, Thread
import minigrad
start, failed = Barrier(8), []
def work():
    x = minigrad.ones(2)
    start.wait()
    try:
        minigrad.nn.functional.gelu(x); minigrad.func.grad(minigrad.sum)(x); minigrad.linalg.norm(x)
    except BaseException as error:
        failed.append(error)
threads = [Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert not failed, failed
"""
    run(code)
