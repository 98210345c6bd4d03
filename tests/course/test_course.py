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

import minigrad
from minigrad_viz.course import check
from minigrad_viz.course.exercise import AnswerError, praises
from minigrad_viz.course.exercises import EXERCISES
from minigrad_viz.course.exercises.predictions import PREDICTIONS
from minigrad_viz.predicting.question import same_answer
from minigrad_viz.words import CATALOGUES, columns, set_language

ANSWERS = Path(__file__).resolve().parent / "answers"
TAGS = {"raises-exception", "minigrad-only"}
CELLS = 25  # of a notebook
PROJECTS = {"from_scratch": 29, **dict.fromkeys(course.TRAININGS, 31)}
WORDS = 110  # of a prose cell
LINE = 88  # columns of a printed line
DOCUMENTED = r"requires_grad\(|next_functions \("  # of a line that the documents print, however wide
EACH = 120_000  # characters that one output may take; the script and style of a model take 49,000
PLOT = 40_000  # bytes of a plot
FIGURE = re.compile(r"<Figure size \d+x\d+ with \d+ Ax(is|es)>")  # how Matplotlib names one: no address


@pytest.fixture(autouse=True)
def in_english():
    set_language("en")
    yield
    set_language(None)


@pytest.mark.quick
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
                name = re.fullmatch(r"[\w.]+", node.value)
                assert len(words) <= 3 or name or "\n" in node.value, f"{cell.id}: prose in {node.value!r}"


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
        wide = [line for line in wide if not re.search(DOCUMENTED, line)]
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
    assert spec and spec.loader, f"tests/course/answers/{name}.py is missing"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.quick(20)
@pytest.mark.sample(60)
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
                with pytest.raises(AnswerError):
                    exercise.judge(answer)
                continue
            told = exercise.judge(answer)
            assert told in (f"{name}_{verdict}", f"exercise_{verdict}"), f"{answer!r} is told {told!r}"
            reached.add(told)
    assert {key for key in reached if not key.startswith("exercise_")} == hints
    for key in hints:
        assert re.search("[가-힣]", CATALOGUES["ko"][key]) and not re.search("[가-힣]", CATALOGUES["en"][key])


@pytest.mark.quick(12)
@pytest.mark.sample(60)
@pytest.mark.parametrize("name", [*course.LESSONS, "start_here"])
def test_answers_are_told_something_in_both_languages(name, capsys):
    for part, pairs in answers(name).ANSWERS.items():
        for answer, verdict in pairs:
            for language in ("en", "ko"):
                set_language(language)
                check(f"{name}.{part}".rstrip("."), answer)
                told = capsys.readouterr().out
                assert told.startswith("✓" if praises(f"_{verdict}") else "✗"), (answer, told)
                assert all(columns(line) <= 66 for line in told.split("\n")), told


def test_no_answer_and_no_such_exercise(capsys):
    check("code_07")
    assert capsys.readouterr().out.startswith("… Not answered yet.")
    for name in ("code_7", "code_07.nothing", "../code_07", "code_07 ", ""):
        with pytest.raises(ValueError, match="there is no exercise called"):
            check(name, 1.8)


# ---------------------------------------------------------------------------------------------- predictions


PAGES_THAT_ASK = {name: name for name in course.LESSONS} | {"00_start_here": "start_here"}
ANSWERED_BELOW = {"graph_exercise"}  # whose exercises are its questions
QUESTIONS = answers("predictions")


def check_of(name: str) -> str:
    return f'check("{name}", ...)'


@pytest.mark.parametrize("name", sorted(PAGES_THAT_ASK.keys() - ANSWERED_BELOW))
def test_every_question_is_checked_below_it(name):
    known, ids = course.by_id(name), [cell.id for cell in course.cells(name)]
    asked = re.findall(r"^\d\. ", known["predict"].source, re.M)
    names = [f"{PAGES_THAT_ASK[name]}.predict_{i + 1}" for i in range(len(asked))]
    assert names and set(names) <= PREDICTIONS.keys()
    assert f"{PAGES_THAT_ASK[name]}.predict_{len(asked) + 1}" not in PREDICTIONS
    assert ids.index("prediction") == ids.index("predict") + 1
    assert known["prediction"].source == "\n".join(map(check_of, names))
    assert course.printed(known["prediction"]).count("… ") == len(names)


def test_no_prediction_is_of_an_unknown_notebook():
    assert {name.partition(".")[0] for name in PREDICTIONS} == set(PAGES_THAT_ASK.values()) - ANSWERED_BELOW


def printed_judgment(name: str, answer: object, language: str, capsys: pytest.CaptureFixture[str]) -> str:
    set_language(language)
    check(name, answer)
    printed = capsys.readouterr().out
    assert all(columns(line) <= 66 for line in printed.split("\n")), printed
    return printed


@pytest.mark.parametrize("name", PREDICTIONS)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_predictions_are_judged(name, language, capsys):
    right, wrong = QUESTIONS.ANSWERS.get(name, ([], []))
    assert printed_judgment(name, ..., language, capsys).startswith("… ")
    for answer in right:
        assert printed_judgment(name, answer, language, capsys).startswith("✓"), answer
    for answer in wrong:
        assert printed_judgment(name, answer, language, capsys).startswith("✗"), answer
    options = PREDICTIONS[name].options
    assert options or len(wrong) >= 3 or isinstance(right[0], bool | str)
    if options:  # all words, and others that mean the same, in either language
        praised = []
        for lang in CATALOGUES:
            for i, words in enumerate(CATALOGUES[lang][options].split(" | ")):
                marks = {printed_judgment(name, word, language, capsys)[0] for word in words.split("/")}
                assert len(marks) == 1
                praised += [i] if marks == {"✓"} else []
        assert len(set(praised)) <= 1
        assert praised or right


@pytest.mark.parametrize("name", QUESTIONS.PROGRAMS)
def test_predictions_are_what_the_program_computes(name):
    program, asked = QUESTIONS.PROGRAMS[name]
    variables: dict[str, object] = {"torch": minigrad}
    exec(program, variables)
    exercise = PREDICTIONS[name].exercise
    assert praises(exercise.judge(eval(asked, variables)))


def values_of(cases: object) -> tuple[list[object], list[object]]:
    """The right answers that are plain values, and the wrong ones."""
    plain = [(praises(key), value) for key, value in cases if not callable(value)]
    return [value for right, value in plain if right], [value for right, value in plain if not right]


@pytest.mark.parametrize("name", [*PREDICTIONS, *EXERCISES])
def test_no_wrong_way_gives_the_right_answer(name):
    exercise = PREDICTIONS[name].exercise if name in PREDICTIONS else EXERCISES[name]
    if callable(exercise.cases):
        return  # functions that somebody wrote are tried at several points
    right, wrong = values_of(exercise.cases)
    assert not [(a, b) for a in right for b in wrong if same_answer(a, b) or same_answer(b, a)]
    program, asked = QUESTIONS.PROGRAMS.get(name, ("", ""))
    if asked.endswith(".grad"):  # nor does the value of the root, which stands in many a formula
        variables: dict[str, object] = {"torch": minigrad}
        exec(program, variables)
        roots = [variables[root] for root in ("total", "z", "out") if root in variables]
        assert not [root for root in roots if praises(exercise.judge(root))]


@pytest.mark.parametrize(
    "name, answer, key",
    [
        ("code_04.predict_1", [75, None, None], "predict_code_04_local"),
        ("code_07.predict_2", 0.6, "code_07_replaced"),
        ("code_08.predict_1", 1.2, "predict_code_08_reset"),
        ("code_09.predict_1", 1, "code_09_through_w"),
        ("code_19.predict_1", 0.6, "predict_code_19_no_hook"),
        ("intro_composite.predict_1", 36, "intro_composite_outer"),
    ],
)
def test_the_usual_mistakes_of_predictions(name, answer, key):
    assert PREDICTIONS[name].exercise.judge(answer) == key


@pytest.mark.parametrize("name", PREDICTIONS)
def test_no_prediction_is_given_away(name):
    """By what its cell prints before it is answered."""
    right, _ = values_of(PREDICTIONS[name].exercise.cases)
    form = PREDICTIONS[name].ask(1).split(": ", 1)[1]
    for answer in right:
        if isinstance(answer, float) and answer > 2:
            assert f"{answer:g}" not in re.findall(r"[\d.]+", form)
