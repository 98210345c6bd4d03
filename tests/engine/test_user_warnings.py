"""PyTorch's warnings about a user's code: which there are, in which order, and that they name its line."""

import warnings

import pytest
from twins import dialect

import minigrad


def hooked(L, register):
    layer = L.nn.Linear(2, 2)
    getattr(layer, register)(lambda *_: None)
    layer(L.ones(1, 2)).sum().backward()


def losses(L):
    """Each loss has a warning of its own, although one line gives them all."""
    for _ in range(2):
        for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
            getattr(L.nn, name)()(L.ones(2), L.ones(1))


CALLS = {
    "var of one": lambda L: L.ones(1).var(),
    "std of one": lambda L: L.std(L.ones(1)),
    "var of rows of one": lambda L: L.ones(2, 1).var(1),
    "var with a great correction": lambda L: L.ones(2).var(correction=3),
    "var of nothing": lambda L: L.ones(0, 3).var(0),
    "var to nothing": lambda L: L.ones(3, 0).var(0),
    "var_mean": lambda L: L.var_mean(L.ones(1)),
    "std_mean": lambda L: L.std_mean(L.ones(1)),
    "var without correction": lambda L: L.ones(1).var(unbiased=False),
    "var of two": lambda L: L.ones(2).var(),
    "a list of a leaf": lambda L: L.tensor([L.ones((), requires_grad=True)]),
    "a list of a result": lambda L: L.tensor([L.ones((), requires_grad=True) * 2]),
    "a list of a constant": lambda L: L.tensor([L.ones(())]),
    "float": lambda L: float(L.ones(1, requires_grad=True)),
    "a tensor": lambda L: L.tensor(L.ones(2)),
    "a full backward hook": lambda L: hooked(L, "register_full_backward_hook"),
    "a full backward pre-hook": lambda L: hooked(L, "register_full_backward_pre_hook"),
    "losses": losses,
    "an old flag that is 0": lambda L: L.nn.MSELoss(0)(L.ones(2), L.ones(2)),
}


def warnings_of(L, call, action):
    """Texts and files of the warnings that a call gives, without where PyTorch's C++ gives them."""
    with dialect("2"), warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter(action)
        call(L)
    return [(str(w.message).partition(" (Triggered")[0], w.filename) for w in shown]


@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(torch, name):
    torch.set_warn_always(True)  # also what its C++ tells once in a process
    try:
        action = "default" if name == "losses" else "always"
        ours, theirs = (warnings_of(L, CALLS[name], action) for L in (minigrad, torch))
    finally:
        torch.set_warn_always(False)
    assert [text for text, _ in ours] == [text for text, _ in theirs]
    if "flag" not in name:
        assert {file for _, file in ours} <= {__file__}
