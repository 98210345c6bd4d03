"""Tensors in trees that treescope prints: what autograd records of each, once a cell has imported it."""

from __future__ import annotations

import sys

import pytest

treescope = pytest.importorskip("treescope")

import minigrad as torch  # noqa: E402
from minigrad_viz.shell.treescope_tensors import register_tensors, unregister_tensors  # noqa: E402

pytest_plugins = ["magic_shell"]


@pytest.fixture
def registered():
    register_tensors()
    yield
    unregister_tensors()


def test_a_tree_has_what_autograd_records(registered):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = (x**2).sum()
    y.backward()
    printed = treescope.render_to_text({"x": x, "y": y, "mask": torch.tensor([True, False])})
    assert "grad_fn='SumBackward0'" in printed and "array([[1., 2.]," in printed
    assert "≥2.0, ≤8.0" in printed, "x.grad, as a summary"
    assert "Tensor(data=np.array([ True, False]), requires_grad=False)" in printed
    assert len(treescope.render_array(x)._repr_html_()) > 1000


def test_the_extension_registers_after_the_cell_that_imports_it(shell, monkeypatch):
    """In this process treescope is imported already: it counts as new once its module is away."""
    printed = treescope.render_to_text(torch.tensor(1.0))
    assert "requires_grad" in printed, "the fixture has loaded the extension"
    shell.run_cell("%unload_ext minigrad_viz")
    assert "requires_grad" not in treescope.render_to_text(torch.tensor(1.0))
    with monkeypatch.context() as away:
        away.delitem(sys.modules, "treescope")
        shell.run_cell("%load_ext minigrad_viz")
        assert "requires_grad" not in treescope.render_to_text(torch.tensor(1.0))
    shell.run_cell("1")
    assert "requires_grad" in treescope.render_to_text(torch.tensor(1.0))
