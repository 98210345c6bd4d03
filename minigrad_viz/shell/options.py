"""The options: one table, from which the options of `%%autograd` and of the command line are
made,
and the traits of `%config Autograd`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import traitlets
from traitlets.config import Configurable

from ..drawing.dot import DIRECTIONS
from ..drawing.look import DETAILS, SAVED
from ..drawing.picture import STYLES, UNDER_A_CELL
from ..drawing.structure import AUTO
from ..predicting.fading import ALL
from ..sharing.film import FILMS
from ..words import CATALOGUES, text

SHOWN = ("player", "step", "static", "none")  # the forms of the graph
ENDINGS = (".html", ".svg", ".png", ".pdf", ".dot", ".gv", ".mmd", ".json", ".txt", *FILMS)
NUMBER, STEPS, FILES = "number", "steps", "files"


class Option(NamedTuple):
    """One option; the catalogue says under `about` what it does. `choices` are its
    values, or NUMBER, STEPS or FILES says of what kind they are. `flags` take a value from the line; each of
    `switches` stands for a value by itself."""

    key: str
    about: str
    default: Any
    choices: Any
    flags: tuple[str, ...] = ()
    switches: Mapping[str, Any] = MappingProxyType({})

    def help(self, lang: str | None = None) -> str:
        """What it does, in one line."""
        return text(self.about, lang, default=self.default, endings=choice_list(ENDINGS))


def switch(key: str, about: str, default: bool | None) -> Option:
    """An option that is on or off: `--key` and `--no-key` (None: whichever fits)."""
    return Option(key, about, default, (True, False), switches={f"--{key}": True, f"--no-{key}": False})


OPTIONS = (
    Option(
        "show",
        "option_show",
        "player",
        SHOWN,
        switches=dict(zip(("--player", "--step", "--static", "--no-graph"), SHOWN)),
    ),
    Option("detail", "option_detail", "normal", DETAILS, ("--detail",)),
    switch("values", "option_values", True),
    Option(
        "saved", "option_saved", "some", SAVED, switches={"--show-saved": "all", "--no-show-saved": "none"}
    ),
    Option("direction", "option_direction", AUTO, (AUTO, *DIRECTIONS), ("--dir",)),
    Option("style", "option_style", "house", STYLES, ("--style",)),
    Option("depth", "option_depth", 1, NUMBER, ("--depth",)),
    Option("max_nodes", "option_max_nodes", UNDER_A_CELL, NUMBER, ("--max-nodes",)),
    switch("fold", "option_fold", True),
    Option("lang", "option_lang", None, tuple(CATALOGUES), ("--lang",)),
    switch("table", "option_table", None),
    switch("ledger", "option_ledger", None),
    switch("memory", "option_memory", False),
    switch("live", "option_live", False),
    switch("steps", "option_steps", False),
    switch("predict", "option_predict", False),
    Option("fade", "option_fade", None, STEPS, ("--fade",)),
    Option("output", "option_output", (), FILES, ("-o", "--output")),
    Option("embed_fonts", "option_embed_fonts", False, (True, False), switches={"--embed-fonts": True}),
)
DEFAULTS = {option.key: option.default for option in OPTIONS}


def report_options(chosen: dict[str, Any]) -> dict[str, Any]:
    """The chosen options that are for `Report`, in its words."""
    keys = (
        "detail",
        "values",
        "saved",
        "direction",
        "style",
        "depth",
        "fold",
        "lang",
        "ledger",
        "memory",
        "live",
        "predict",
        "fade",
    )
    return {key: chosen[key] for key in keys} | {"limit": chosen["max_nodes"]}


def choice_list(choices: Iterable[object]) -> str:
    """Choices as a message lists them."""
    return ", ".join(map(str, choices))


# ── on a line ───────────────────────────────────────────────────────────────────────────────────────────────


class Reader(argparse.ArgumentParser):
    """A parser whose errors are sentences of the catalogue, in the language that `lang` gives.

    What was given becomes an attribute; what was not given becomes none, so that a default can be had from
    elsewhere.
    """

    lang: Callable[[], str | None] = staticmethod(lambda: None)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The options; `error` is called with a sentence for any that is wrong."""
        try:
            given, rest = self.parse_known_intermixed_args(args, namespace)
        except argparse.ArgumentError as problem:
            self.error(self._sentence(problem))
        if rest:
            known = [flag for flag in self._option_string_actions if flag.startswith("--")]
            close = get_close_matches(rest[0].partition("=")[0], known, 1)
            self.error(text("option_unknown", self.lang(), words=" ".join(rest), close="".join(close)))
        return given

    def _sentence(self, problem: argparse.ArgumentError) -> str:
        if isinstance(problem.__context__, argparse.ArgumentTypeError) or problem.argument_name is None:
            return problem.message
        if "expected one argument" in problem.message:
            return text("option_needs_value", self.lang(), option=problem.argument_name)
        return f"{problem.argument_name}: {problem.message}"

    def take(self, options: Iterable[Option] = OPTIONS) -> Self:
        """Add options of the table; gives the parser itself."""
        self.exit_on_error, self.allow_abbrev, self.argument_default = False, False, argparse.SUPPRESS
        for option in options:
            explained = option.help(self.lang()).replace("%", "%%")
            if option.switches:
                self.add_argument(
                    *option.switches, action=Switch, dest=option.key, values=option.switches,
                    help=explained, default=argparse.SUPPRESS,
                )  # fmt: skip
            else:
                kinds = {NUMBER: "N", STEPS: f"N|{ALL}", FILES: "FILE"}
                metavar = kinds.get(str(option.choices)) or "|".join(option.choices)
                action = "append" if option.choices == FILES else "store"
                self.add_argument(
                    *option.flags, action=action, dest=option.key, metavar=metavar, help=explained,
                    type=self._checked(option), default=argparse.SUPPRESS,
                )  # fmt: skip
        return self

    def _checked(self, option: Option) -> Callable[[str], Any]:
        def value(word: str) -> Any:
            try:
                return check_option(option, option.flags[-1], word, self.lang())
            except ValueError as problem:
                raise argparse.ArgumentTypeError(str(problem)) from None

        return value


class Switch(argparse.Action):
    """Flags, each of which means a value of one option; two different ones exclude each other."""

    def __init__(
        self, option_strings: list[str], dest: str, values: Mapping[str, Any], **kwargs: Any
    ) -> None:
        super().__init__(option_strings, dest, nargs=0, **kwargs)
        self.values = values

    def __call__(self, parser: Any, namespace: Any, values: Any, flag: str | None = None) -> None:
        assert flag is not None
        earlier = getattr(namespace, self.dest, self.values[flag])
        if earlier != self.values[flag]:
            first = next(other for other, value in self.values.items() if value == earlier)
            said = text("option_exclusive", parser.lang(), first=first, second=flag)
            raise argparse.ArgumentError(None, said)
        setattr(namespace, self.dest, self.values[flag])

    def format_usage(self) -> str:
        """All flags; argparse would name the first alone."""
        return " | ".join(self.option_strings)


def check_option(option: Option, flag: str, value: Any, lang: str | None = None) -> Any:
    """A value of an option as its type is; ValueError, with the sentence to show, if it is none."""
    if option.choices == NUMBER:
        if not str(value).isdecimal() or int(value) < 1:
            raise ValueError(text("option_number", lang, option=flag, value=value))
        return int(value)
    if option.choices == STEPS:
        if value in (None, ALL):
            return value
        if not str(value).isdecimal():
            raise ValueError(text("option_steps_left", lang, option=flag, value=value))
        return int(value)
    if option.choices == FILES:
        if Path(value).suffix.lower() not in ENDINGS:
            said = text("option_ending", lang, option=flag, value=value, endings=choice_list(ENDINGS))
            raise ValueError(said)
        return str(value)
    if value not in option.choices:
        said = text("option_one_of", lang, option=flag, choices=choice_list(option.choices), value=value)
        raise ValueError(said)
    return value


# ── %config ─────────────────────────────────────────────────────────────────────────────────────────────────


class Choice(traitlets.TraitType):  # no type arguments: traitlets 5.7 accepts none
    """A trait with the values of an option."""

    def __init__(self, option: Option, **kwargs: Any) -> None:
        self.option = option
        super().__init__(option.default, allow_none=option.default is None, **kwargs)

    def validate(self, obj: Any, value: Any) -> Any:
        """The value; TraitError, with a sentence, if it is none."""
        name = f"Autograd.{self.option.key}"
        try:
            if self.option.choices != FILES:
                return check_option(self.option, name, value, obj.lang)
            files = [value] if isinstance(value, str | Path) else list(value)
            return tuple(check_option(self.option, name, file, obj.lang) for file in files)
        except (TypeError, ValueError) as problem:
            raise traitlets.TraitError(str(problem)) from None

    def from_string(self, s: str) -> Any:
        """The value that a command line writes as `s`."""
        choices = self.option.choices if isinstance(self.option.choices, tuple) else ()
        return next((choice for choice in choices if str(choice) == s), s)


class Settings(Configurable):
    """What holds for every cell whose line does not say otherwise."""

    on: Any
    log: Any
    lang: Any

    def defaults(self) -> dict[str, Any]:
        """Value by key, for every option."""
        return {key: getattr(self, key) for key in DEFAULTS}


def settings_class() -> type[Settings]:
    """The class `Autograd`, by which name `%config` knows it, explained in the language in force."""
    traits: dict[str, Any] = {}
    for option in OPTIONS:
        values = [choice_list(option.choices)] if isinstance(option.choices, tuple) else []
        told = "\n\n".join([option.help(), *values])
        traits[option.key] = Choice(option, help=told).tag(config=True)
    traits["log"] = traitlets.Unicode("", help=text("option_log")).tag(config=True)
    traits["on"] = traitlets.Bool(False, help=text("option_on")).tag(config=True)
    return type("Autograd", (Settings,), traits)
