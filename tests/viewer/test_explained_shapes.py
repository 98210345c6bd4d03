"""Errors of shapes: the sizes that do not fit are marked in the picture, and code that nobody watched is
explained as far as it goes."""

from __future__ import annotations

import pytest

from minigrad_viz.shell.explain import explain

pytestmark = pytest.mark.quick


def unwatched(torch):
    x = torch.ones(4, 2)
    w = torch.ones(3, 2)
    return x @ w


class Net:
    def __init__(self, torch):
        self.fc = torch.nn.Linear(5, 2)

    def __call__(self, x):
        return self.fc(x)


def test_code_that_nobody_watched(library):
    with pytest.raises(RuntimeError) as raised:
        unwatched(library)
    text = str(explain(raised.value))
    assert "x is 4×2 and w is 3×2; the inner sizes 2 and 3 must be equal" in text
    assert "return x @ w.T. This change was not tried" in text


def test_a_layer_that_nobody_watched(library):
    with pytest.raises(RuntimeError) as raised:
        Net(library)(library.ones(3, 4))
    text = str(explain(raised.value))
    assert "self.fc (Linear 5→2): in_features is 5, but the last size of its input is 4" in text
    assert "write torch.nn.Linear(4, 2) instead of torch.nn.Linear(5, 2). This change was not tried" in text
