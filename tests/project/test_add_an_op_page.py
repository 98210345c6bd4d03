"""`docs/add_an_op.md` declares an op. Its code runs in a new interpreter, so no op is left behind."""

from __future__ import annotations

from pages import ROOT, blocks, printed

import minigrad
from minigrad.core import all_ops

PAGE = ROOT / "docs" / "add_an_op.md"


def test_the_op_is_not_there_yet():
    assert not hasattr(minigrad, "softclip") and not hasattr(minigrad.Tensor, "softclip")
    assert "SoftclipBackward0" not in all_ops()


def test_code_prints_what_the_page_says(tmp_path):
    assert printed(PAGE, tmp_path) == [block.output for block in blocks(PAGE)]
