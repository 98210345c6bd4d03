"""The Korean notebooks say what the English ones say, with the same code and outputs."""

from __future__ import annotations

import copy
import re

import course
import korean
import pytest

NAMES = [path.stem for path in sorted(korean.KOREAN.glob("*.ipynb"))]


def both(name: str) -> tuple[korean.Notebook, korean.Notebook]:
    return korean.read(korean.ENGLISH / f"{name}.ipynb"), korean.read(korean.KOREAN / f"{name}.ipynb")


def test_every_notebook_has_a_korean_edition():
    assert set(NAMES) == set(course.ALL)


def test_a_korean_notebook_switches_hints_and_pictures_to_korean():
    firsts = [cell for name in NAMES for cell in both(name)[1]["cells"] if cell["id"] == "setup"]
    assert len(firsts) == len(course.ALL) - 2, "the map and the glossary have none"
    assert all("".join(cell["source"]).endswith('set_language("ko")') for cell in firsts)


@pytest.mark.parametrize("name", NAMES)
def test_code_and_outputs_are_the_english_ones(name):
    english, translated = both(name)
    assert translated == korean.rebuilt(english, copy.deepcopy(translated)), "run python tests/korean.py"


@pytest.mark.parametrize("name", NAMES)
def test_no_english_text_has_changed_since(name):
    english, translated = both(name)
    assert not korean.stale(english, translated), "translate these cells, then --checked (tests/korean.py)"


@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_korean_and_keeps_formulas_and_code(name):
    english, translated = both(name)
    for one, other in zip(english["cells"], translated["cells"], strict=True):
        if one["cell_type"] == "markdown":
            here, there = "".join(one["source"]), "".join(other["source"])
            assert re.search("[가-힣]", there) and "을(를)" not in there and "이(가)" not in there
            assert not re.search(r"[)\]`.\"]\*+[가-힣]", there), (
                "no emphasis ends there, by the rules of Markdown"
            )
            for pattern in (r"```.*?```", r"\$\$.*?\$\$"):
                assert re.findall(pattern, here, re.S) == re.findall(pattern, there, re.S)
            for link in re.findall(r"\]\(([\w./]+\.ipynb)", there):
                assert (korean.KOREAN / link).exists(), link


def test_a_changed_english_text_is_noticed():
    english, translated = both("code_01")
    assert not korean.stale(english, translated)
    cell = next(cell for cell in english["cells"] if cell["cell_type"] == "markdown")
    cell["source"] = [*cell["source"], " One more sentence."]
    assert korean.stale(english, translated) == [cell["id"]]
