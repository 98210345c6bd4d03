"""The course: its notebooks have their parts, prose stands apart from code, what is stored is fit to read."""

from __future__ import annotations

import ast
import base64
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import course
import pytest

from minigrad_viz.course import check
from minigrad_viz.course.answers import Raised
from minigrad_viz.course.exercises import EXERCISES
from minigrad_viz.course.predictions import PREDICTIONS, judged, question
from minigrad_viz.words import CATALOGUES, columns, set_language

ANSWERS = Path(__file__).resolve().parent / "answers"
TAGS = {"raises-exception", "minigrad-only"}
CELLS = 25  # of a notebook
PROJECTS = {"from_scratch": 28, **dict.fromkeys(course.TRAININGS, 30)}
WORDS = 110  # of a prose cell
LINE = 88  # columns of a printed line
EACH = 100_000  # characters that one output may take: 45,000 are the script and the style of the player
PLOT = 40_000  # bytes of a plot
FIGURE = re.compile(r"<Figure size \d+x\d+ with \d+ Ax(is|es)>")  # how Matplotlib names one: no address


@pytest.fixture(autouse=True)
def in_english():
    set_language("en")
    yield
    set_language(None)


def test_every_documented_example_has_a_notebook():
    assert {path.stem for path in course.FOLDER.glob("*.ipynb")} == set(course.ALL)
    assert {path.name for path in course.FOLDER.iterdir() if path.suffix != ".ipynb"} <= {
        ".ipynb_checkpoints",
        "__pycache__",
        "conftest.py",
        "ko",
    }


# ------------------------------------------------------------------------------------------------- the form


@pytest.mark.parametrize("name", course.LESSONS)
def test_a_lesson_has_its_parts(name):
    known = course.by_id(name)
    assert len(known) == len(course.cells(name)), "an id stands twice"
    assert list(known)[:2] == ["title", "setup"] and list(known)[-1] == "next"
    assert known["title"].source.startswith("# ") and "**Question.**" in known["title"].source
    assert "$" in known["title"].source
    assert {"predict", "exercise", "answer", "solution"} <= set(known)
    assert known["predict"].source.startswith("## Predict first\n")
    assert known["exercise"].source.startswith("## Your turn\n")
    order = [list(known).index(part) for part in ("predict", "exercise", "answer", "solution")]
    assert order == sorted(order)
    pictured = "engine_compared" if name == "from_scratch" else name
    assert any(cell.magic.startswith("%%autograd") for cell in course.code(pictured)), "no picture"


@pytest.mark.parametrize("name", course.LESSONS)
def test_a_notebook_is_short(name):
    assert len(course.cells(name)) <= PROJECTS.get(name, CELLS), "move small print to the appendix"


@pytest.mark.parametrize("name", course.LESSONS)
def test_an_exercise_waits_for_an_answer_and_has_a_solution(name):
    known = course.by_id(name)
    numbers = [found[1] for part in known if (found := re.fullmatch(r"answer(-\d+)?", part))]
    for number in (found or "" for found in numbers):
        assert f'check("{name}' in known[f"answer{number}"].source
        assert "Not answered yet" in course.printed(known[f"answer{number}"])
        assert "check(" in course.solution(known[f"solution{number}"])


def test_both_parts_of_from_scratch_have_the_same_engine():
    known = course.by_id("from_scratch")
    parts = [known[part].source for part in ("value", "node", "leaf", "record", "ops", "backward")]
    assert course.by_id("engine_compared")["engine"].source == "\n\n\n".join(parts)


@pytest.mark.parametrize("name", course.TRAININGS)
def test_a_training_plots_its_losses_and_what_was_learnt(name):
    """It trains outside `%%autograd`, which keeps an account of every step."""
    plots = [output["data"] for cell in course.code(name) for output in cell.outputs if "data" in output]
    plots = [data for data in plots if "image/png" in data]
    assert len(plots) >= 2 and "curve" in course.by_id(name)
    for data in plots:
        assert FIGURE.fullmatch("".join(data["text/plain"]))
        assert len(base64.b64decode("".join(data["image/png"]))) <= PLOT
    assert not [cell.id for cell in course.code(name) if cell.magic and "step()" in cell.source]


@pytest.mark.parametrize("name", course.ALL)
def test_prose_stands_in_cells_of_its_own(name):
    """So that another language changes only the cells of prose."""
    for cell in course.code(name):
        assert not re.search(r"(^|\s)#", cell.python), f"{cell.id}: a comment"
        for node in ast.walk(ast.parse(cell.python)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words = re.findall(r"[^\W\d_]{2,}", node.value)
                assert len(words) <= 3 or "\n" in node.value, f"{cell.id}: prose in {node.value!r}"


@pytest.mark.parametrize("name", course.ALL)
def test_prose_is_no_wall_of_text(name):
    for cell in course.prose(name):
        paragraphs = re.sub(r"^\|.*\|$|```.*?```|\$\$.*?\$\$", "", cell.source, flags=re.M | re.S)
        words = re.sub(r"\$[^$]*\$|`[^`]*`|\([^)]*\.ipynb[^)]*\)", "x", paragraphs).split()
        assert len(words) <= WORDS, f"{cell.id}: {len(words)} words"


@pytest.mark.parametrize("name", course.ALL)
def test_links_lead_somewhere(name):
    targets = [
        target
        for cell in course.prose(name)
        for target in re.findall(r"\]\(([^)]+)\)", cell.source)
        if not target.startswith("https://")
    ]
    assert targets
    for target in targets:
        path, _, _ = target.partition("#")
        assert not path or (course.FOLDER / path).exists(), target


def test_the_index_and_the_map_name_every_notebook():
    for page in ("00_index", "00_map"):
        text = "\n".join(cell.source for cell in course.prose(page))
        linked = set(re.findall(r"\]\((\w+)\.ipynb", text))
        assert linked >= set(course.LESSONS), f"{page} lacks {sorted(set(course.LESSONS) - linked)}"


# ------------------------------------------------------------------------------------------- what is stored


@pytest.mark.parametrize("name", course.ALL)
def test_what_is_stored_is_fit_to_be_read(name):
    codes = course.code(name)
    assert [cell.count for cell in codes] == list(range(1, len(codes) + 1)), "not run once from the top"
    for cell in codes:
        assert set(cell.tags) <= TAGS
        kinds = [output["output_type"] for output in cell.outputs]
        assert ("error" in kinds) == ("raises-exception" in cell.tags), cell.id
        assert not [output for output in cell.outputs if output.get("name") == "stderr"], cell.id
        wide = [line for line in course.printed(cell).split("\n") if columns(line) > LINE]
        assert not wide, f"{cell.id}: {wide}"
        for output in cell.outputs:
            assert len(json.dumps(output.get("data", {}), ensure_ascii=False)) <= EACH, cell.id


@pytest.mark.parametrize("name", course.ALL)
def test_nothing_stored_tells_of_the_machine(name):
    text = (course.FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    for found in re.findall(r"(?:/(?:home|root|work|tmp|usr|Users)/|[A-Z]:\\\\)[^\s\"']*", text):
        raise AssertionError(f"a path of the machine: {found}")
    metadata = json.loads(text)["metadata"]
    assert metadata["kernelspec"]["name"] == "python3" and "version" not in metadata["language_info"]


# ---------------------------------------------------------------------------------------------- exercises


def answers(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"answers_{name}", ANSWERS / f"{name}.py")
    assert spec and spec.loader, f"tests/answers/{name}.py is missing"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [*course.LESSONS, "start_here"])
def test_every_hint_is_for_some_answer(name):
    given = answers(name).ANSWERS
    assert {f"{name}.{part}".rstrip(".") for part in given} == {
        e for e in EXERCISES if e.split(".")[0] == name
    }
    hints = {key for key in CATALOGUES["en"] if key.startswith(f"{name}_")}
    reached = set()
    for part, pairs in given.items():
        exercise = EXERCISES[f"{name}.{part}".rstrip(".")]
        for answer, verdict in pairs:
            if verdict == "raised":
                with pytest.raises(Raised):
                    exercise.judge(answer)
                continue
            told = exercise.judge(answer)
            assert told in (f"{name}_{verdict}", f"exercise_{verdict}"), f"{answer!r} is told {told!r}"
            reached.add(told)
    assert {key for key in reached if not key.startswith("exercise_")} == hints
    for key in hints:
        assert re.search("[가-힣]", CATALOGUES["ko"][key]) and not re.search("[가-힣]", CATALOGUES["en"][key])


@pytest.mark.parametrize("name", [*course.LESSONS, "start_here"])
def test_answers_are_told_something_in_both_languages(name, capsys):
    for part, pairs in answers(name).ANSWERS.items():
        for answer, verdict in pairs:
            for language in ("en", "ko"):
                set_language(language)
                check(f"{name}.{part}".rstrip("."), answer)
                told = capsys.readouterr().out
                assert told.startswith("✓" if verdict == "right" else "✗"), (answer, told)
                assert all(columns(line) <= 66 for line in told.split("\n")), told


def test_no_answer_and_no_such_exercise(capsys):
    check("code_07")
    assert capsys.readouterr().out.startswith("… Not answered yet.")
    for name in ("code_7", "code_07.nothing", "../code_07", "code_07 ", ""):
        with pytest.raises(ValueError, match="there is no exercise called"):
            check(name, 1.8)


# ---------------------------------------------------------------------------------------------- predictions


def asking() -> dict[str, course.Cell]:
    """The cells that ask a question of "Predict first", by notebook."""
    found = {name: {cell.id: cell for cell in course.code(name)} for name in course.LESSONS}
    return {name: cells["prediction"] for name, cells in found.items() if "prediction" in cells}


def test_every_prediction_is_asked_in_its_notebook():
    assert {f"{name}.predict" for name in asking()} == set(PREDICTIONS)
    for name, cell in asking().items():
        ids = [each.id for each in course.cells(name)]
        assert ids.index("prediction") == ids.index("predict") + 1
        assert cell.source == f'prediction = ...\n\ncheck("{name}.predict", prediction)'
        assert course.printed(cell).startswith("… ")


@pytest.mark.parametrize("name", PREDICTIONS)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_predictions_are_judged_by_their_program(name, language, capsys):
    set_language(language)
    asked = question(name, language)
    check(name, asked.truth)
    assert capsys.readouterr().out.startswith("✓")
    for wrong in asked.wrong:
        check(name, wrong.answer)
        told = capsys.readouterr().out
        assert told.startswith("✗") and all(columns(line) <= 66 for line in told.split("\n"))
    assert asked.wrong
    check(name)
    assert capsys.readouterr().out.startswith("… ")


@pytest.mark.parametrize(
    "name, answer, key",
    [
        ("code_07.predict", 0.6, "quiz_forgets_before"),
        ("code_08.predict", 1.2, "quiz_no_zero"),
        ("code_09.predict", "1", "quiz_one_path"),
        ("code_15.predict", 74, "quiz_ignores_detach"),
        ("code_15.predict", 0, "quiz_zero_for_none"),
        ("engine_compared.predict", "LogBackward", "quiz_next_recursion"),
    ],
)
def test_the_usual_mistakes_of_predictions(name, answer, key):
    assert key in judged(name, answer).keys


def test_no_prediction_is_given_away():
    """Neither by its cell nor by what it prints before it is answered."""
    for name, cell in asking().items():
        truth = question(f"{name}.predict", "en").truth
        if isinstance(truth, float):
            assert f"{truth:.4g}" not in re.findall(r"[\d.]+", cell.source + course.printed(cell))
