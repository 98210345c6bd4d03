"""The options: on a line, in `%config`, and what is refused."""

from __future__ import annotations

import pytest
import traitlets
from traitlets.config import Config

from minigrad_viz.__main__ import main
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.shell.magic import MagicReader, parser
from minigrad_viz.shell.options import DEFAULTS, OPTIONS, Reader, Settings, report_options, settings_class
from minigrad_viz.words import CATALOGUES

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("MINIGRAD_LANG", "en")


@pytest.fixture
def settings() -> Settings:
    return settings_class()()


@pytest.fixture
def read(settings):
    """Reads the words of a line as the magic does."""
    reader = parser(settings)
    return lambda line: vars(reader.parse_args(line.split()))


@pytest.mark.parametrize(
    "line, given",
    [
        ("", {}),
        ("--step", {"show": "step"}),
        ("--static", {"show": "static"}),
        ("--no-graph", {"show": "none"}),
        ("--player --player", {"show": "player"}),
        ("--detail full", {"detail": "full"}),
        ("--detail=full --detail normal", {"detail": "normal"}),
        ("--no-values", {"values": False}),
        ("--values", {"values": True}),
        ("--show-saved", {"saved": "all"}),
        ("--no-show-saved", {"saved": "none"}),
        ("--dir TB", {"direction": "TB"}),
        ("--style torchviz", {"style": "torchviz"}),
        ("--max-nodes 7", {"max_nodes": 7}),
        ("--no-fold --no-table --steps", {"fold": False, "table": False, "steps": True}),
        ("--lang ko", {"lang": "ko"}),
        ("--output a.svg -o b.HTML", {"output": ["a.svg", "b.HTML"]}),
        ("z --steps w", {"roots": ["z", "w"], "steps": True}),
    ],
)
def test_what_is_given_and_nothing_else(read, line, given):
    assert read(line) == {"roots": [], **given}


@pytest.mark.parametrize(
    "line, problem",
    [
        ("--bogus", "unknown option or argument: --bogus"),
        (
            "--ste",
            "unknown option or argument: --ste",
        ),  # no abbreviations: a later option could make them ambiguous
        ("z --bogus 3", "unknown option or argument: --bogus"),
        ("--detail some", "--detail must be one of normal, full, not some"),
        ("--detail", "--detail needs a value after it"),
        ("--dir up", "--dir must be one of auto, LR, TB, not up"),
        ("--style pretty", "--style must be one of house, graphviz, torchviz, not pretty"),
        ("--lang fr", "--lang must be one of en, ko, not fr"),
        ("--max-nodes none", "--max-nodes must be a whole number, at least 1, not none"),
        ("--max-nodes 0", "--max-nodes must be a whole number, at least 1, not 0"),
        ("--max-nodes -3", "--max-nodes must be a whole number, at least 1, not -3"),
        ("--step --static", "--step and --static cannot be used together"),
        ("--static --no-graph", "--static and --no-graph cannot be used together"),
        ("--no-values --values", "--no-values and --values cannot be used together"),
        ("--step=3", "--player/--step/--static/--no-graph: ignored explicit argument '3'"),
        (
            "--output graph.jpg",
            "--output graph.jpg: the name must end in one of "
            ".html, .svg, .png, .pdf, .dot, .gv, .mmd, .json, .txt",
        ),
        ("--output graph", "--output graph: the name must end in one of"),
        ("-o", "-o/--output needs a value after it"),
    ],
)
def test_what_is_refused(read, line, problem):
    with pytest.raises(Exception) as refused:
        read(line)
    assert type(refused.value).__name__ == "UsageError" and str(refused.value).startswith(problem)


def test_problems_in_the_reader_s_language(settings, read):
    settings.lang = "ko"
    with pytest.raises(Exception, match="--detail의 값은 normal, full 가운데 하나여야 하는데 some입니다"):
        read("--detail some")
    with pytest.raises(Exception, match="--step, --static: 둘을 함께 쓸 수 없습니다"):
        read("--step --static")


@pytest.mark.parametrize("lang", CATALOGUES)
def test_the_help_names_and_explains_every_option(settings, lang):
    settings.lang = lang
    shown = " ".join(parser(settings).format_help().split())
    for option in OPTIONS:
        assert " ".join(option.help(lang).split()) in shown
        assert all(flag in shown for flag in (*option.flags, *option.switches))


def test_every_option_of_the_table_is_one_of_the_report_or_of_the_magic(settings):
    for_report = report_options(settings.defaults())
    for_magic = {"show", "table", "steps", "output", "embed_fonts"}
    assert for_report.keys() - {"limit"} | for_magic | {"max_nodes"} == DEFAULTS.keys()
    from minigrad_viz.trace.graph import Graph

    reports = ("depth", "fade", "fold", "ledger", "live", "memory", "predict")
    picture = Picture(Graph((), ()), **{k: v for k, v in for_report.items() if k not in reports})
    assert (picture.limit, picture.look.detail) == (DEFAULTS["max_nodes"], "normal")


class TestConfig:
    def test_defaults_are_those_of_the_table(self, settings):
        assert settings.defaults() == DEFAULTS and settings.on is False
        assert type(settings).__name__ == "Autograd"

    @pytest.mark.parametrize(
        "key, value, problem",
        [
            ("lang", "fr", "Autograd.lang must be one of en, ko, not fr"),
            ("detail", "some", "Autograd.detail must be one of normal, full, not some"),
            ("show", 3, "Autograd.show must be one of player, step, static, none, not 3"),
            ("values", "no", "Autograd.values must be one of True, False, not no"),
            ("max_nodes", 0, "Autograd.max_nodes must be a whole number"),
            ("max_nodes", 2.5, "Autograd.max_nodes must be a whole number"),
            ("output", ["a.svg", "a.jpg"], "Autograd.output a.jpg: the name must end in one of"),
            ("output", 3, "not iterable"),
        ],
    )
    def test_wrong_values_are_refused_and_change_nothing(self, settings, key, value, problem):
        with pytest.raises(traitlets.TraitError, match=problem):
            setattr(settings, key, value)
        assert settings.defaults() == DEFAULTS

    def test_values_from_a_file_and_from_a_command_line(self):
        config = Config()
        config.Autograd.lang = "ko"
        config.Autograd.output = "graph.svg"
        made = settings_class()(config=config)
        assert (made.lang, made.output) == ("ko", ("graph.svg",))
        assert type(made).values.from_string("False") is False
        assert type(made).detail.from_string("full") == "full"

    def test_help_says_what_an_option_takes(self, settings):
        shown = type(settings).class_get_help(settings)
        assert "player, step, static, none" in shown and "as %autograd on does" in shown


def test_the_command_line_says_the_same_and_ends_with_2(capsys):
    with pytest.raises(SystemExit) as left:
        Reader(prog="it").take().parse_args(["--dir", "up"])
    assert left.value.code == 2
    assert capsys.readouterr().err.endswith("it: error: --dir must be one of auto, LR, TB, not up\n")


def test_the_magic_s_reader_never_exits(settings):
    assert isinstance(parser(settings), MagicReader)
    with pytest.raises(Exception, match="unknown option or argument: --help"):
        parser(settings).parse_args(["--help"])


def test_a_misspelled_option_names_the_right_one(capsys):
    with pytest.raises(SystemExit):
        main(["--stps", "--lang", "en", "cell.py"])
    assert "--stps (did you mean --steps?)" in capsys.readouterr().err
