"""The catalogue of words, the hygiene of foreign text, and the text of numbers."""

from __future__ import annotations

import ast
import math
import random
import re
import string
import struct
from pathlib import Path

import numpy as np
import phrases
import pytest
import test_explained_keys
from sketches import value
from sources import nodes_of

import minigrad_viz.words as words
from minigrad_viz.number_text import number, one_line, pill, rows, summary
from minigrad_viz.protocol import Value, value_from
from minigrad_viz.snapshots import add_up
from minigrad_viz.words import CATALOGUES, clean, columns, shorten, text
from minigrad_viz.words.catalogue import fill_particles, particle

# -------------------------------------------------------------------------------------------------- catalogue


@pytest.fixture(autouse=True)
def no_language_set(monkeypatch):
    for variable in ("MINIGRAD_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(variable, raising=False)
    yield
    words.set_language(None)


def placeholders(sentence):
    return sorted({name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None})


@pytest.mark.quick
def test_languages_have_the_same_keys_in_the_same_order():
    assert list(CATALOGUES["en"]) == list(CATALOGUES["ko"])


@pytest.mark.quick
def test_languages_have_the_same_placeholders():
    for key, english in CATALOGUES["en"].items():
        assert placeholders(english) == placeholders(CATALOGUES["ko"][key]), key
        for catalogue in CATALOGUES.values():
            assert catalogue[key].strip() == catalogue[key] != "", key
            assert "" not in placeholders(catalogue[key]), f"{key}: placeholders have names, as order differs"


def test_each_key_stands_once():
    for lang in CATALOGUES:
        told = "\n".join(file.read_text("utf-8") for file in (ROOT / lang).glob("*.txt"))
        assert len(re.findall(r"^(\w+: |  \S)", told, re.MULTILINE)) == len(CATALOGUES[lang])


ROOT = Path(words.__file__).parent
SOURCES = [path for path in ROOT.parent.rglob("*.py") if ROOT not in path.parents]
# What says sentences of the catalogue, and which of its arguments are their keys.
SAYING = {
    "text": slice(1), "said": slice(1), "latex_sentence": slice(1), ".words": slice(2), ".say": slice(1),
    ".explain": slice(2), ".note": slice(1), "explained": slice(2, 4),
}  # fmt: skip


def text_of(node):
    """The text of a literal; "" for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def alternatives(node):
    """The texts that an expression can be, as far as it says so: `a if c else b` has two."""
    ends = (node.body, node.orelse) if isinstance(node, ast.IfExp) else ()
    return [way for end in ends for way in alternatives(end)] or [text_of(node)]


def named_keys(node):
    """The texts that must be keys: what a saying function is given, and all of a table in which most are."""
    if isinstance(node, ast.Call):
        function = node.func
        name = f".{function.attr}" if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return [way for given in node.args[SAYING.get(name, slice(0))] for way in alternatives(given)]
    if isinstance(node, ast.Dict | ast.Tuple):
        entries = node.values if isinstance(node, ast.Dict) else node.elts
        told = [text_of(each) for entry in entries for each in getattr(entry, "elts", [entry])]
        known = sum(each in CATALOGUES["en"] for each in told)
        return [each for each in told if "_" in each and each.isidentifier()] if 2 * known > len(told) else []
    return []


@pytest.mark.quick
def test_every_key_that_the_viewer_names_exists():
    known = {*CATALOGUES["en"], *test_explained_keys.keys()}  # these stand beside those of their sentences
    unknown = [
        (path.name, key)
        for path in SOURCES
        for node in nodes_of(path)
        for key in named_keys(node)
        if key.removesuffix(".fix").isidentifier() and key not in known
    ]
    assert not unknown


@pytest.mark.quick
def test_every_key_is_used():
    """A key stands in the source as it is: a search for it finds every use. What stands below a text goes
    with it."""
    used = {text_of(node) for path in SOURCES for node in nodes_of(path)}
    assert not {key for key in CATALOGUES["en"] if used.isdisjoint((key, key.removesuffix(".fix")))}


@pytest.mark.quick
def test_no_key_is_put_together():
    """No f-string and no sum of texts could make a key of the catalogue."""
    made = []
    for path in SOURCES:
        for node in nodes_of(path):
            joined = node.values if isinstance(node, ast.JoinedStr) else ()
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                joined = (node.left, node.right)
            fixed = [text_of(part) for part in joined]
            if any("_" in each for each in fixed):
                pattern = re.compile("".join(re.escape(each) or r"\w*" for each in fixed))
                if any(map(pattern.fullmatch, CATALOGUES["en"])):
                    made.append((path.name, ast.unparse(node)))
    assert not made


# What people read; `python tests/helpers/phrases.py FOLDER` lists the refused phrases of any folder.
PLAIN = (
    "minigrad", "minigrad_viz", "docs", "benchmarks", "site", "notebooks", "README.md", "CONTRIBUTING.md",
)  # fmt: skip


@pytest.mark.parametrize("place", PLAIN)
def test_what_people_read_is_in_plain_words(place):
    top = phrases.ROOT / place
    files = [path for path in (top.rglob("*") if top.is_dir() else [top]) if path.suffix in phrases.READ]
    written = [path for path in files if "_build" not in path.parts]  # where Sphinx puts its pages
    texts = [(path.name, text) for path in written for text in phrases.read_in(path)]
    assert texts and not [(name, hit) for name, text in texts for hit in phrases.found_in(text)]


def test_the_catalogue_is_in_plain_words():
    assert not {key: hits for key, text in CATALOGUES["en"].items() if (hits := phrases.found_in(text))}
    assert phrases.found_in("the derivative of z by x") and phrases.found_in("It knows of no gradients.")
    assert not phrases.found_in("The derivative of z with respect to x, for example: 3 instead of 2.")


# What stands after each word for 을, and for 으로: 나무를, 나무로; 책을, 책으로; 물을, 물로.
SOUNDS = {
    ("를", "로"): (
        "나무", "값(a)", "x", "R(x)", "MSE", "loss", "x.grad", "AccumulateGrad", "tmp_", "weight", "layer",
        "2", "4", "5", "9", "125.", "-0.5", "1000000000000", "float64", "inf", "50%", "∞", "λ", "f(x)",
        "y.backward()", "w'", "(2, 3.5)", "…", "", "∅",
    ),
    ("을", "으로"): (
        "책", "4행", "「책」", "'책'", "n", "m", "MLM", "fn", "grad_fn", "sum", "step", "input", "out",
        "name", "line", "None", "0", "3", "6", "10", "120,000", "100000000", "10000000000000000", "0.36",
        "1.5e+03", "nan", "x0", "float16", "MulBackward0", "ε", "f(n)", "x ** 3", "(2, 3)", "x[0]", "0.10",
    ),
    ("을", "로"): ("물", "l", "R", "model", "scale", "1", "7", "0.8", "1e-07", "int8", "[5. 7.]", "w_l"),
}  # fmt: skip


@pytest.mark.quick
def test_a_particle_follows_the_last_sound():
    """A word is read aloud: letters are named (엑스, 엔), words are English (로스, 스텝), of numbers the last
    digit is said (영점팔) or the last unit (십, 만, 조), and signs that are not said do not count."""
    for (object_, by), said in SOUNDS.items():
        for word in said:
            assert (particle(word, "을"), particle(word, "로")) == (object_, by), word
            final = object_ == "을"
            others = {"은": "는", "이": "가", "과": "와", "이라는": "라는"}
            for closed, opened in others.items():
                assert particle(word, closed) == (closed if final else opened), word
            assert particle(word, "를") == particle(word, "을")
            assert particle(word, "으로") == particle(word, "로")


def test_a_particle_is_chosen_for_the_value_as_it_is_written():
    assert fill_particles("{a:을} {b:으로} {a}", {"a": 3, "b": "{x}"}) == "{a}을 {b}로 {a}"
    assert text("step_deposit", "ko", value="0.8", name="x") == "AccumulateGrad가 x.grad에 0.8을 더함"
    with pytest.raises(ValueError, match="no Korean particle '도'"):
        fill_particles("{a:도}", {"a": "x"})
    with pytest.raises(KeyError, match="'step_deposit' needs a value for 'value'"):
        text("step_deposit", "ko", name="x")


@pytest.mark.quick
def test_no_korean_text_has_a_doubled_particle():
    """`{x:을}` chooses; a particle that stands right behind a field was not chosen."""
    doubled = re.compile(r"을\(를\)|를\(을\)|은\(는\)|이\(가\)|가\(이\)|와\(과\)|과\(와\)|\(으\)로|\(이\)")
    behind = re.compile(r"\}(은|는|이|가|을|를|와|과|으로|로)(?![가-힣])")
    for key, korean in CATALOGUES["ko"].items():
        assert not doubled.search(korean) and not behind.search(korean), key
        for _, name, form, _ in string.Formatter().parse(korean):
            assert name is None or not form or particle("x", form), key


def test_text_fills_in_values_and_leaves_their_braces_alone():
    assert text("forward_step", "en", i=3, n=12) == "forward 3 of 12"
    assert text("forward_step", "ko", i=3, n=12) == "순전파 12단계 중 3단계"
    assert text("not_kept", "en", value="{i}{0}%s") == "({i}{0}%s not kept)"


def test_a_part_is_left_out_where_a_value_of_it_is_not_known():
    assert text("mark_freed", "en", line=3) == "freed by line 3"
    assert text("mark_freed", "ko", line=3) == "3행에서 해제됨"
    for unknown in ({}, {"line": None}, {"line": ""}):
        assert text("mark_freed", "en", **unknown) == "freed"
        assert text("mark_freed", "ko", **unknown) == "해제됨"
    assert text("tip_saved", "en", name="a", value="1.", version=0).endswith(" (at version 0)")
    for catalogue in CATALOGUES.values():
        for key, sentence in catalogue.items():
            signs = re.sub(r"[^⟦⟧]", "", sentence)
            assert signs == "⟦⟧" * (len(signs) // 2), key
            assert all(placeholders(part) for part in re.findall(r"⟦(.*?)⟧", sentence)), key


def test_errors():
    with pytest.raises(KeyError, match="no text called 'nonsense'"):
        text("nonsense")
    with pytest.raises(KeyError, match="needs a value for 'n'"):
        text("forward_step", "en", i=3)
    with pytest.raises(ValueError, match="unknown language 'fr': choose one of en, ko"):
        text("row_grad", "fr")
    with pytest.raises(ValueError, match="unknown language"):
        words.set_language("deutsch")


@pytest.mark.parametrize(
    "variable, name, language",
    [
        ("LANG", "ko_KR.UTF-8", "ko"), ("LC_ALL", "ko", "ko"), ("LC_MESSAGES", "ko-KR", "ko"),
        ("LANG", "Korean_Korea.949", "ko"), ("LANG", "en_US.UTF-8", "en"), ("LANG", "C", "en"),
        ("LANG", "kok_IN.UTF-8", "en"), ("MINIGRAD_LANG", "ko", "ko"), ("MINIGRAD_LANG", "fr", "en"),
    ],
)  # fmt: skip
def test_language_of_the_environment(monkeypatch, variable, name, language):
    monkeypatch.setenv(variable, name)
    assert words.language() == language


def test_what_is_set_wins(monkeypatch):
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.setenv("MINIGRAD_LANG", "ko")
    assert words.language() == "ko"
    words.set_language("en")
    assert words.language() == "en" and text("role_root") == "root"
    words.set_language(None)
    assert words.language() == "ko" and text("role_root") == "뿌리(root)"


# ----------------------------------------------------------------------------------------------- foreign text


@pytest.mark.parametrize(
    "foreign, shown",
    [
        ("x ** 3", "x ** 3"), ("가중치", "가중치"), ("f(a,\n      b)", "f(a, b)"),
        ("a\tb", "a b"), ("a\u2028b", "a b"),
        ("nul\x00\x1b[0m", "nul[0m"), ("\u202edesrever\u2069", "desrever"), ("a\u200bb\u200eb", "abb"),
        ("\ud800", "\ufffd"), ("\ufffe\uffff\U0001ffff", ""), ("👩\u200d🔬", "👩\u200d🔬"), ("x\xadx", "xx"),
    ],
)  # fmt: skip
def test_clean(foreign, shown):
    assert clean(foreign) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize(
    "content, width", [("abc", 3), ("", 0), ("가나다", 6), ("가".encode().decode(), 2), ("e\u0301", 1),
                       ("ｘ", 2),
                       ("\u1112\u1161\u11ab", 2), ("∂z/∂x", 5), ("漢字かな", 8), ("हि", 4)],
)  # fmt: skip
def test_columns(content, width):
    assert columns(content) == width


def test_shorten():
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
    assert shorten("가나다라", 6) == "가나…"
    assert shorten("ab cdefg", 4) == "ab…"
    assert shorten("e\u0301" * 9, 4) == "e\u0301" * 3 + "…"
    assert all(columns(shorten("가a" * 20, n)) <= n for n in range(1, 40))


# ---------------------------------------------------------------------------------------------------- numbers


@pytest.mark.quick
@pytest.mark.parametrize(
    "x, expected",
    [
        (5.0, "5."), (125.0, "125."), (4.828313827514648, "4.8283"), (0.00800000037997961, "0.008"),
        (0.6000000238418579, "0.6"), (1.600000023841858, "1.6"), (-6.4e-05, "-0.000064"),
        (201.1796875, "201.18"),
        (1.6094379425048828, "1.6094"), (1.2e-7, "1.2e-07"), (-3.21987654e-21, "-3.2199e-21"),
        (1.5e8, "1.5e+08"),
        (99999999.0, "99999999."), (16777216.0, "16777216."), (123456.7, "123457."), (9.999999, "10."),
        (0.99999999, "1."), (0.0, "0."), (-0.0, "0."), (1e-5, "0.00001"), (math.nan, "nan"),
        (-math.inf, "-inf"),
        (3, "3"), (-(2**40), "-1099511627776"), (True, "True"), (1 + 2j, "1.+2.j"),
        (complex(0.5, -0.25), "0.5-0.25j"),
        (complex(math.nan, math.inf), "nan+infj"),
    ],
)  # fmt: skip
def test_number(x, expected):
    assert number(x) == expected


def test_float32_never_shows_the_noise_of_float64():
    random.seed(0)
    for _ in range(3000):
        decimal = f"{random.uniform(-1, 1) * 10 ** random.randint(-4, 6):.5g}"
        (as_float32,) = struct.unpack("f", struct.pack("f", float(decimal)))
        assert number(as_float32) == number(float(decimal))


def test_half_precision_shows_no_more_than_it_holds():
    (tenth,) = struct.unpack("e", struct.pack("e", 0.1))
    assert (tenth, number(tenth, "float16"), number(tenth, "float32")) == (0.0999755859375, "0.1", "0.099976")
    assert number(0.10009765625, "bfloat16") == "0.1"
    assert number(65504.0, "float16") == "65504."
    assert number(3.3895313892515355e38, "bfloat16") == "3.39e+38"


@pytest.mark.parametrize(
    "data, expected",
    [
        (5.0, ["5."]), ([4.0, 7.0, 9.0], ["[4. 7. 9.]"]),
        ([[1.0, 2.0], [3.0, -4.5]], ["[[1.   2.]", " [3. -4.5]]"]),
        ([[1.0], [20.0], [3.0]], ["[[ 1.]", " [20.]", " [ 3.]]"]), ([[[5.0]]], ["[[[5.]]]"]), ([], ["[]"]),
        ([1.0] * 7, ["float32 (7,) ≡ 1."]),
        ([[[1.0, 2.0]], [[3.0, 4.0]]], ["float32 (2, 1, 2)", "rms 2.74, > 0"]),
        ([[0.5] * 20] * 100, ["float32 (100, 20) ≡ 0.5"]), ([math.nan, math.inf], ["[nan inf]"]),
    ],
)  # fmt: skip
def test_rows(data, expected):
    assert list(rows(value(data))) == expected


def test_arrays_too_wide_lose_digits_before_they_lose_numbers():
    third = value([[1 / 3, -0.0012345678, 2 / 3]] * 3)
    assert rows(third, 30)[0] == "[[0.33333 -0.0012346 0.66667]"
    assert rows(third, 26)[0] == "[[0.333 -0.00123 0.667]"
    assert rows(third, 20) == ("float32 (3, 3)", "rms 0.43, ±")


def test_one_line_and_pill():
    assert one_line(value([[1.0, 2.0], [3.0, -4.5]])) == "[[1. 2.] [3. -4.5]]"
    assert one_line(value([[0.5] * 20] * 100)) == "float32 (100, 20) ≡ 0.5"
    mixed = value_from(np.array([[0.5, -0.25, 0.0, 1.0] * 5] * 100, np.float32), "float32")
    told = ["float32 (100, 20) rms 0.573, ±", "(100, 20) rms 0.573, ±", "(100, 20) rms 0.573"]
    assert [one_line(mixed, len(line)) for line in told] == told, "it loses words and is never cut"
    assert one_line(mixed, 12) == "(100, 20)"
    assert pill(mixed) == ("(100, 20)", "rms 0.573")
    assert pill(value([[1.0, 2.0], [3.0, 4.0]])) == ("[[1. 2.]", " [3. 4.]]")


@pytest.mark.parametrize(
    "snapshot, expected",
    [
        (Value((0, 3), "float32", ()), "float32 (0, 3)"),
        (Value((9, 9), "int64", None, 0.0, 99.0), "int64 (9, 9) 0…99"),
        (Value((5,), "int64", (3, 1, 0, 2, 2), 0.0, 3.0), "int64 (5,) [3 1 0 2 …]"),
        (Value((3, 1), "float32", (0.0, 3.0, 4.0), 0.0, 4.0), "float32 (3, 1) rms 2.89, ≥ 0"),
        (Value((3, 1), "float32", (-1.0, -3.0, math.nan), -3.0, -1.0), "float32 (3, 1) rms 2.24, < 0, nan"),
        (Value((9, 9), "bool", None, 0.0, 1.0), "bool (9, 9)"),
        (Value((9, 9), "complex64", None), "complex64 (9, 9)"),
        (Value((10**6,), "float64", None, -1.25, 3.4), "float64 (1000000,) -1.25…3.4"),
    ],
)  # fmt: skip
def test_summary(snapshot, expected):
    assert summary(snapshot) == expected
    assert one_line(Value((0, 3), "float32", ())) == "[] (0, 3)"


def test_adds_up_in_the_precision_of_the_dtype():
    def narrow(x):
        return struct.unpack("f", struct.pack("f", x))[0]

    assert add_up([value(narrow(0.6)), value(1.0)], value(narrow(1.6)))
    assert not add_up([value(0.6), value(0.6001)], value(1.2))
    assert add_up([value([1.0, 1.0]), value([2.0, 3.0])], value([3.0, 4.0]))
    assert not add_up([value(3.0)], value([3.0, 4.0]))
    assert add_up([value(1.0), value(math.nan)], value(math.nan))
    assert not add_up([], value(1.0))
    assert add_up([value(1, "int64"), value(2, "int64")], value(3, "int64"))
    assert not add_up([value(0.1, "float64"), value(0.2, "float64")], value(0.3 + 1e-9, "float64"))
