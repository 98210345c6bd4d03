"""`help` and `inspect.signature` show PyTorch's parameters."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from typing import Any

import pytest
from scoped_names import find, functions

import minigrad
from minigrad.core.public import ShownSignature, shown_as
from minigrad.nn import functional

SPACES = {
    "torch": minigrad,
    "Tensor": minigrad.Tensor,
    "nn.functional": functional,
    "linalg": minigrad.linalg,
    "fft": minigrad.fft,
    "special": minigrad.special,
}
STARRED = {  # what shows any arguments, and why
    "torch.atleast_1d": "takes tensors, as in PyTorch",
    "torch.atleast_2d": "takes tensors, as in PyTorch",
    "torch.atleast_3d": "takes tensors, as in PyTorch",
    "torch.block_diag": "takes tensors, as in PyTorch",
    "torch.broadcast_tensors": "takes tensors, as in PyTorch",
    "torch.cartesian_prod": "takes tensors, as in PyTorch",
    "torch.compile": "PyTorch's options are accepted and ignored",
    "torch.einsum": "an equation and tensors, as in PyTorch",
    "torch.meshgrid": "takes tensors, as in PyTorch",
    "torch.printoptions": "those of set_printoptions, as in PyTorch",
    "Tensor.new": "the old constructor, which PyTorch does not document",
    "Tensor.to": "a dtype, a device or a tensor, as in PyTorch",
    **dict.fromkeys(("torch.empty", "torch.ones", "torch.rand", "torch.randn", "torch.zeros"), "*size"),
    **{f"Tensor.{n}": "*size" for n in ("expand", "reshape", "resize_", "sum_to_size", "view")},
    **{f"Tensor.{n}": "one number for each dimension" for n in ("permute", "repeat")},
}
# Documented parameters that minigrad's signature does not name, and why.
UNNAMED = {
    "torch.Tensor.bmm": "PyTorch's error messages name mat2",
    "torch.Tensor.dot": "PyTorch's error messages name tensor",
    "torch.Tensor.copy_": "PyTorch's parser calls it other",
    **{
        f"torch.Tensor.{n}": "PyTorch's parser calls it other"
        for n in ("div", "div_", "fmod", "mul", "mul_", "multiply", "remainder", "matmul", "type_as", "where")
    },
    "torch.Tensor.narrow": "PyTorch's parser calls it dim",
    "torch.Tensor.take": "PyTorch's parser calls it index",
    "torch.Tensor.new_tensor": "one layout, and no memory to pin",
    **dict.fromkeys(("torch.Tensor.random_", "torch.Tensor.uniform_"), "from is a keyword of Python"),
    "torch.det": "the same function as linalg.det",
    "torch.from_numpy": "positional in PyTorch",
    "torch.func.jacrev": "a parameter that begins with an underscore",
    **{f"torch.linalg.{n}": "takes no out" for n in ("eig", "eigvalsh", "norm", "solve")},
    "torch.load": "files are read in one way",
    "torch.save": "files are written in one way",
    "torch.nn.Embedding.from_pretrained": "the settings of the class",
    "torch.nn.EmbeddingBag.from_pretrained": "the settings of the class",
    "torch.nn.functional.one_hot": "named as in the other functions",
    "torch.range": "deprecated in PyTorch",
    "torch.set_num_threads": "positional in PyTorch",
    "torch.std_mean": "PyTorch documents an out, and refuses it",
}


def star(function: Any) -> bool:
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    return not kinds.isdisjoint((inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD))


@pytest.mark.parametrize("space", SPACES)
def test_signatures_name_their_parameters(space):
    found = {n: getattr(SPACES[space], n) for n in dir(SPACES[space]) if not n.startswith("_")}
    functions = {f"{space}.{n}": f for n, f in found.items() if inspect.isroutine(f)}
    assert len(functions) > 15
    starred = [name for name, function in functions.items() if star(function)]
    assert sorted(starred) == sorted(n for n in STARRED if n.rpartition(".")[0] == space)


def documented(theirs: Any) -> list[str]:
    """The parameters in the first form that PyTorch documents."""
    try:
        found = list(inspect.signature(theirs).parameters)
    except ValueError:
        match = re.search(r"^\s*(?:\w+\.)*\w+\((.*?)\)(?: ->.*)?$", theirs.__doc__ or "", re.M)
        parts = re.split(r",(?![^\[(]*[\])])", match.group(1)) if match else []
        found = [re.split(r"[=:]", part)[0].strip().removeprefix("Tensor ") for part in parts]
    names = [name.lstrip("*").strip() for name in found]
    return [
        n for n in names if n.isidentifier() and n not in ("self", "args", "kwargs", "Tensor", "LongTensor")
    ]


def test_documented_parameters_are_shown(torch):
    missing, compared = {}, 0
    for name, function in functions(1):
        theirs = find(torch, name)
        mine = inspect.signature(function).parameters
        wanted = documented(theirs) if theirs is not None else []
        compared += len(wanted)
        if absent := [n for n in wanted if n not in mine]:
            missing[name] = f"{absent} not in {inspect.signature(function)}"
    assert compared > 500
    assert {n: text for n, text in missing.items() if n not in UNNAMED} == {}
    assert [n for n in UNNAMED if n not in missing] == [], "listed, but shown"


@pytest.mark.parametrize(
    "function, expected",
    [
        (minigrad.stack, "(tensors, dim=0, *, out=None)"),
        (minigrad.log, "(input, *, out=None)"),
        (minigrad.Tensor.log, "(self)"),
        (minigrad.Tensor.log_, "(self)"),
        (minigrad.sum, "(input, dim=None, keepdim=False, *, out=None, dtype=None)"),
        (minigrad.Tensor.sum, "(self, dim=None, keepdim=False, *, dtype=None)"),
        (minigrad.ones(2).sum, "(dim=None, keepdim=False, *, dtype=None)"),
        (minigrad.div, "(input, other, *, out=None, rounding_mode=None)"),
        (minigrad.Tensor.div_, "(self, other, *, rounding_mode=None)"),
        (minigrad.maximum, "(input, other, *, out=None)"),
        (minigrad.addcmul, "(input, tensor1, tensor2, *, out=None, value=1)"),
        (minigrad.matmul, "(input, other, *, out=None)"),
        (minigrad.Tensor.matmul, "(self, other)"),
        (minigrad.Tensor.add, "(self, other, *, alpha=1)"),
        (minigrad.Tensor.pow, "(self, exponent)"),
        (minigrad.pow, "(input, exponent, *, out=None)"),
        (minigrad.Tensor.random_, "(self, from_=0, to=None, *, generator=None)"),
    ],
)
def test_a_signature_is_shown_as_pytorch_documents_it(function, expected):
    assert str(inspect.signature(function)) == expected


def test_what_is_shown_behaves_as_a_signature():
    shown = inspect.signature(minigrad.stack)
    plain = inspect.Signature(list(shown.parameters.values()))
    assert isinstance(shown, ShownSignature) and shown == plain and hash(shown) == hash(plain)
    assert shown.bind([1], dim=2).arguments == {"tensors": [1], "dim": 2}
    assert shown.replace(return_annotation=int).return_annotation is int
    assert pickle.loads(pickle.dumps(shown)) == copy.deepcopy(shown) == plain

    @shown_as(lambda a, b=1: None)
    def anything(*args: Any) -> None: ...

    assert str(inspect.signature(anything)) == "(a, b=1)"


def test_every_shown_name_is_accepted():
    x = minigrad.ones(2, 3)
    assert minigrad.reshape(input=x, shape=(3, 2)).shape == (3, 2)
    assert minigrad.matmul(input=x, other=x.t()).shape == (2, 2)
    assert minigrad.pow(input=x, exponent=2).shape == x.pow(exponent=2).shape == (2, 3)
    assert minigrad.mm(input=x, mat2=x.t()).shape == x.matmul(other=x.t()).shape == (2, 2)
    assert minigrad.stack(tensors=[x, x], dim=0).shape == (2, 2, 3)
