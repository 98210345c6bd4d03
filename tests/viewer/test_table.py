"""The state table: every named tensor, before and after each backward call."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from cells import CELLS, traced

from minigrad_viz.drawing.sheets import ATTRIBUTES, table_html, table_of, table_text
from minigrad_viz.words import columns

pytestmark = pytest.mark.quick


def rows(table) -> dict[tuple[str, str], tuple[str | None, ...]]:
    return {(name, attribute): cells for name, attribute, cells in table.rows}


MANY = "x = torch.ones((), requires_grad=True)\nfor _ in range(9):\n    (x * 2).backward()\n"


def test_what_is_left_out_is_told():
    table = table_of(traced(MANY), "en")
    lines = table_text(table, "en").splitlines()
    assert lines[-1] == "Moments left out: 5."
    assert lines[2].split() == ["grad", "None", "2.", "…", "14.", "16.", "18."]
    page = table_html(table, "en")
    assert "attributes</label><br/>Moments left out: 5.</caption>" in page
    assert '<td class="c">2.</td><td>…</td><td class="c">14.</td>' in page
    few = table_of(traced(CELLS[4]), "en")
    assert "left out" not in table_text(few, "en") + table_html(few, "en") and "…" not in table_text(
        few, "en"
    )


def test_calls_that_were_only_counted_are_left_out_too():
    trace = traced(MANY)._replace(skipped=980)
    table = table_of(trace, "en")
    assert len(table.heads) == 5 and table.moments == 985


def test_many_tensors():
    table = table_of(traced("for i in range(100):\n    exec(f'x{i} = torch.ones(())', globals())\n"), "en")
    names = list(dict.fromkeys(name for name, _, _ in table.rows))
    assert names == [f"x{i}" for i in (*range(20), *range(80, 100))] and table.tensors == 60
    assert table_text(table, "en").endswith("Tensors left out in the middle: 60.")


def test_no_tensor_no_table():
    table = table_of(traced("a = 1\n"), "en")
    assert table.rows == () and table_html(table).endswith("</table></div>")


def test_text_stands_in_columns():
    text = table_text(table_of(traced("한글 = torch.ones(2)\nb = 한글 * 2\n"), "ko"), "ko")
    lines = text.splitlines()
    assert lines[1].startswith("한글  value") and lines[6].startswith("b     value")
    starts = {columns(line[: line.index(a)]) for line in lines for a in ATTRIBUTES[:1] if f" {a} " in line}
    assert len(starts) == 1 and not any(line != line.rstrip() for line in lines)


def test_what_did_not_change_shows_on_request():
    page = table_html(table_of(traced(CELLS[4]), "en"), "en")
    root = ET.fromstring(page.partition("</style>")[2])
    assert [part.get("class") for part in root.iter("tbody")] == [None, "u", "u"], "only x.grad changed"
    rows = [(row[-3].text, row.get("class")) for row in root.find(".//tbody").iter("tr")]
    assert rows[:3] == [("value", None), ("grad", None), ("requires_grad", "u")]
    unchanged = table_html(table_of(traced("x = torch.ones(2)\n"), "en"), "en")
    kinds = [row.get("class") for row in ET.fromstring(unchanged.partition("</style>")[2]).iter("tr")]
    assert kinds == [None, None, *["u"] * 4], "the head and the value"


def test_html_marks_what_changed():
    page = table_html(table_of(traced(CELLS[4]), "en"), "en")
    assert '<td class="a">grad</td><td>None</td><td class="c">0.6</td>' in page
    assert '<td class="a">value</td><td>5.</td><td class="s">5.</td>' in page
    root = ET.fromstring(page.partition("</style>")[2])
    assert [th.text for th in root.iter("th")] == [
        "tensor",
        "attribute",
        "before backward",
        "after backward",
        "x",
        "y",
        "z",
    ]
    assert len(list(root.iter("tr"))) == 1 + 3 * (len(ATTRIBUTES) - 1), "nothing is retained"
