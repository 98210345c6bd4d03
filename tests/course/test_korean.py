"""The Korean notebooks say what the English ones say, with the same code, stored as it runs in Korean."""

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
    assert len(firsts) == len(course.ALL) - 3, "the map, the glossary and the sources have none"
    assert all("".join(cell["source"]).endswith('set_language("ko")') for cell in firsts)


@pytest.mark.parametrize("name", NAMES)
def test_the_code_is_the_english_one(name):
    english, translated = both(name)
    assert translated == korean.rebuilt(english, copy.deepcopy(translated)), "run helpers/korean.py"


@pytest.mark.parametrize("name", NAMES)
def test_no_english_text_has_changed_since(name):
    english, translated = both(name)
    assert not korean.stale(english, translated), (
        "translate these cells, then run helpers/korean.py --checked"
    )


def formulas(text: str) -> list[str]:
    """The formulas of a text, without the words and the blanks in them."""
    found = re.findall(r"\$\$.*?\$\$", text, re.S)
    return [re.sub(r"\\text\{[^{}]*\}|\\[;,]|\\q?quad|[()\s]", "", each) for each in found]


def streams(cell: dict[str, object]) -> str:
    """What a cell printed, without addresses."""
    printed = [output for output in cell.get("outputs", []) if output["output_type"] == "stream"]  # type: ignore[attr-defined]
    return re.sub(r"0x[0-9a-f]+", "0x", "".join("".join(output["text"]) for output in printed))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_is_korean(name):
    """Pictures, explanations and texts of `check`; what the libraries print is the same in both."""
    english, translated = both(name)
    for one, other in zip(english["cells"], translated["cells"], strict=True):
        if one["cell_type"] != "code":
            continue
        kinds = [[output["output_type"] for output in cell["outputs"]] for cell in (one, other)]
        assert kinds[0] == kinds[1], f"{one['id']}: run python tests/helpers/store_notebooks.py {name}"
        if re.search(r"(?<!grad)check\(|why_none\(|--vs ", "".join(one["source"])):
            assert re.search("[가-힣]", streams(other)) or "data" in str(other["outputs"]), one["id"]
        else:
            assert streams(one) == streams(other), one["id"]
        for output in other["outputs"]:
            if "text/html" in output.get("data", {}):
                assert re.search("[가-힣]", "".join(output["data"]["text/html"])), other["id"]
                plain = "".join(output["data"]["text/plain"])
                assert re.search("[가-힣]", plain) or not re.search(r"grad|leaf|note", plain), other["id"]


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
            assert re.findall(r"```.*?```", here, re.S) == re.findall(r"```.*?```", there, re.S)
            assert formulas(here) == formulas(there)
            for link in re.findall(r"\]\(([^)#\s]+)", there):
                assert "://" in link or (korean.KOREAN / link).exists(), link


def test_a_changed_english_text_is_noticed():
    english, translated = both("code_01")
    assert not korean.stale(english, translated)
    cell = next(cell for cell in english["cells"] if cell["cell_type"] == "markdown")
    cell["source"] = [*cell["source"], " One more sentence."]
    assert korean.stale(english, translated) == [cell["id"]]
