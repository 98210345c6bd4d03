"""Names that minigrad leaves out: the table, and the errors."""

import copy
import importlib
import pickle
import sys

import pytest

import minigrad
from minigrad.left_out import table

pytestmark = pytest.mark.quick

TABLE = table()


def found(library, namespace):
    if namespace in ("torch", "Tensor"):
        return library if namespace == "torch" else library.Tensor
    return importlib.import_module(f"{library.__name__}.{namespace}")


@pytest.mark.parametrize("namespace", TABLE)
def test_what_is_left_out_is_in_pytorch_and_not_here(torch, namespace):
    assert len(TABLE[namespace]) == len(set(TABLE[namespace]))
    ours, theirs = found(minigrad, namespace), found(torch, namespace)
    assert [name for name in TABLE[namespace] if not hasattr(theirs, name)] == []
    assert [name for name in TABLE[namespace] if hasattr(ours, name)] == []


@pytest.mark.parametrize("namespace", TABLE)
def test_the_error_of_what_is_left_out_names_the_page(namespace):
    owner = minigrad.ones(2) if namespace == "Tensor" else found(minigrad, namespace)
    for name in TABLE[namespace]:
        path = name if namespace == "torch" else f"{namespace}.{name}"
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        assert str(caught.value) == f"minigrad has no torch.{path} (see docs/ops.md)"


@pytest.mark.parametrize("path", ["foo", "linalg.foo", "special.foo", "nn.foo"])
def test_the_error_of_other_names_is_pytorchs(torch, path):
    namespace, _, name = path.rpartition(".")
    texts = []
    for library in (minigrad, torch):
        with pytest.raises(AttributeError) as caught:
            getattr(found(library, namespace or "torch"), name)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_tensors_without_a_name(torch):
    texts = []
    for library in (minigrad, torch):
        x = library.ones(2)
        assert not hasattr(x, "foo") and not hasattr(x, "_foo") and not hasattr(x, "lu_factor")
        with pytest.raises(AttributeError) as caught:
            x.foo()
        texts.append(str(caught.value))
        x.foo = 1
        assert x.foo == copy.deepcopy(x).foo == pickle.loads(pickle.dumps(x)).foo == 1
    assert texts[0] == texts[1] == "'Tensor' object has no attribute 'foo'"
    assert not hasattr(minigrad.ones(2), "lu") and getattr(minigrad.ones(2), "lu", 3) == 3


def test_without_scipy_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    x = minigrad.tensor([0.5, 2.0], requires_grad=True)
    y = minigrad.lgamma(x)
    for call in (x.digamma, lambda: x.polygamma(2), y.sum().backward):
        with pytest.raises(ImportError, match=r'pip install "minigrad-viz\[scipy\]"'):
            call()
