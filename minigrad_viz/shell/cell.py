"""The mechanics of a cell magic that watches its cell: IPython runs the body as it runs any cell, once.

`CellRunner` knows IPython and nothing of what is watched for: it calls `begin` just before the body runs, and
`end` just after the cell's own output, or its error, is out.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import shlex
import sys
import threading
import tokenize
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from IPython.core import error
from IPython.core.magic import no_var_expand
from IPython.core.magic_arguments import MagicArgumentParser

from ..isolation import has_arrived, pass_on, silence
from ..words import text
from .tracebacks import write_first_line

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell


# ─── The texts of cells, read as IPython reads them


class CellText:
    """The text of a cell as a shell sees it in which a magic is called `name`."""

    def __init__(self, shell: Any, name: str) -> None:
        self._shell = shell
        self._head = re.compile(rf"%%{re.escape(name)}(?=\s|$)(.*)")

    def heads_python(self, lines: list[str]) -> bool:
        """Whether line 1 is `%%name` and what follows is no other cell magic, and not nothing."""
        if not lines or not self._head.match(lines[0]):
            return False
        body = "".join(lines[1:])
        return bool(body) and not body.lstrip().startswith("%%")

    def arguments(self, lines: list[str]) -> str | None:
        """What is after `%%name` in line 1; None if that begins otherwise."""
        match = self._head.match(lines[0]) if lines else None
        return match[1].strip() if match else None

    def cleaned(self, text: str) -> list[str]:
        """The lines of a cell without prompts, common indent and empty lines above, as IPython cleans it."""
        lines = (text if text.endswith("\n") else text + "\n").splitlines(keepends=True)
        for transform in self._shell.input_transformer_manager.cleanup_transforms:
            lines = transform(lines)
        return lines

    def source(self, text: str) -> tuple[str, str]:
        """The Python of a cell as written, and as transformed; the latter twice if their lines disagree."""
        lines = self.cleaned(text)
        if lines and lines[0].startswith("%%") and not self.heads_python(lines):
            return self.source("".join(lines[1:]))
        written = "".join(lines)
        code = self._shell.transform_cell(written)
        return (written if written.count("\n") == code.count("\n") else code), code

    def is_plain(self, text: str) -> bool:
        """Whether a cell is Python that parses, under no cell magic."""
        try:
            lines = self.cleaned(text)
            with silence():  # IPython's own compilation will warn
                ast.parse(self._shell.transform_cell(text))
        except Exception:  # whatever is wrong with it, IPython says so when it comes to run it
            return False
        return bool(lines) and not lines[0].startswith("%%")

    def ends_silenced(self, text: str) -> bool:
        """Whether a cell ends in `;` after an expression, so that its value is not shown."""
        passed_over = (tokenize.ENDMARKER, tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT)
        try:
            tokens = [
                token
                for token in tokenize.generate_tokens(io.StringIO(text).readline)
                if token.type not in passed_over
            ]
        except (SyntaxError, tokenize.TokenError):  # the body of `%%bash`, say, is no Python
            return False
        return bool(tokens) and tokens[-1].string == ";"


def asks_for_help(arguments: str) -> bool:
    """Whether one of the arguments of a line is `--help` or `-h`."""
    return not {"--help", "-h"}.isdisjoint(arguments.split())


# ─── The mechanics of a cell magic that watches its cell


Begin = Callable[[argparse.Namespace, str, dict[str, Any]], Any]
End = Callable[..., str | None]


class UsageError(error.UsageError):
    """Wrong arguments of the magic.

    IPython shows its own UsageError as a mere line on stderr, and a notebook is left without an error output.
    This subclass is shown as an error, and its traceback is that one line.
    """

    def _render_traceback_(self) -> list[str]:
        return [f"UsageError: {self}"]


@dataclass
class _Cell:
    """A cell that IPython is running."""

    info: ExecutionInfo
    text: str
    watched: bool = False
    handle: Any = None
    silenced: bool = False


class CellRunner:
    """Registers `%%name` and `%name` with a shell.

    Note [The body is left to IPython]
    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    A cell magic receives its body as a string, and every way to run that string loses something. `run_cell`
    ignores a final `;`, gives wrong line and output numbers, and does not pass errors on. `exec` does not
    support top-level `await`. So an input transformer turns line 1, `%%name ARGS`, into a call of the line
    magic on the same line, `get_ipython().run_line_magic('name', 'cell ARGS')`, and leaves the body in place.
    That call starts the recording. IPython's `post_run_cell` event, which comes after the cell's output or
    traceback, ends it. A cell that does not compile never makes the call.

    The registered cell magic itself runs only where the transformer keeps out: above another cell magic,
    whose body is not ours to take apart, and when a program calls it. Below one (`%%time`), the transformer
    has done its work by the time that magic compiles its body.

    Cells nest (`run_cell` called in a cell, `%%capture`), each with its own events, so the running ones are
    kept on a stack, one a thread. A cell is watched once: further requests while it runs are part of it.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        name: str,
        begin: Begin,
        end: End,
        parser: MagicArgumentParser | None = None,
        lang: Callable[[], str | None] = lambda: None,
        words: Mapping[str, tuple[str, Callable[[str], object]]] = MappingProxyType({}),
        drop: Callable[[Any], object] = lambda handle: None,
    ):
        """`begin(options, source, namespace) -> handle` is called just before the body runs.

        `options` is what the parser made of the arguments, with one more attribute: `automatic`, true for a
        cell watched only because of `%name on`. `source` is the cell's text: its line numbers are those of
        the code that runs, `%%name` being line 1 if it is directly above the body. `namespace` is the
        user's. A UsageError that it raises is the cell's error. After any other the cell runs as it is, and a
        warning says so.

        `end(handle, error=..., result_silenced=...)` is called after the cell's own output was shown. `error`
        is what the cell raised, or None; `result_silenced` says that the cell ended in `;`. An error it
        raises is shown as a warning of one line. It may give the traceback of a failure that it has reported
        itself, for `%name traceback`.

        `lang` gives the language of what the runner itself says; None is the one in force. `words` are
        further words of `%name`, each with the key of what it does, and a function that takes the rest of
        the line and returns what to show. `drop(handle)` is called where `end` has failed.
        """
        self._shell: Any = shell  # IPython's own annotations do not hold for all that is used here
        self._name, self._begin, self._end = name, begin, end
        self._parser = parser or MagicArgumentParser(prog=f"%{name}")
        self._lang, self._words, self._drop = lang, words, drop
        self._texts = CellText(shell, name)
        self.always: str | None = None  # the arguments of `%name on`; None when it is off
        self.switched: Callable[[bool], Any] = lambda on: None  # told of `%name on` and `%name off`
        self._problem: str | None = None  # traceback of the last failure of `begin` or `end`
        self.unstored: list[str] = []  # the cells that a program runs without storing them in the history
        self._running = threading.local()
        self._magic = self._make_magic()

    # --------------------------------------------------------------------------------------- coming and going

    def install(self) -> None:
        """Register magic, transformer and events; takes the place of another runner of the same name."""
        before = vars_of(self._shell.magics_manager.magics["cell"].get(self._name)).get("runner")
        if before is self:
            return
        if before is not None:
            before.uninstall()
        self._shell.register_magic_function(self._magic, "line_cell", self._name)
        self._shell.input_transformer_manager.line_transforms.insert(0, self._transform)
        self._shell.events.register("pre_run_cell", self._pre_run_cell)
        self._shell.events.register("post_run_cell", self._post_run_cell)

    def uninstall(self) -> None:
        """Take all of it back; a cell being watched is ended here. Does nothing if not installed."""
        manager, transforms = (
            self._shell.magics_manager,
            self._shell.input_transformer_manager.line_transforms,
        )
        if self._transform not in transforms:
            return
        transforms.remove(self._transform)
        for table in (manager.magics["line"], manager.magics["cell"], vars_of(manager.user_magics)):
            if table.get(self._name) is self._magic:  # and not somebody else's of the same name
                del table[self._name]
        self._shell.events.unregister("pre_run_cell", self._pre_run_cell)
        self._shell.events.unregister("post_run_cell", self._post_run_cell)
        self.always = None
        self._leave(0, None)

    # ------------------------------------------------------------------------------------------- entry points

    def _transform(self, lines: list[str]) -> list[str]:
        """The input transformer: `%%name ARGS` above a Python body becomes a call on the same line. Where
        that fails, IPython finds the cell magic."""
        try:
            return self._transformed(lines)
        except Exception as problem:
            pass_on(problem)
            return lines

    def _transformed(self, lines: list[str]) -> list[str]:
        arguments = self._texts.arguments(lines)
        if arguments is not None and asks_for_help(arguments):
            return [f"get_ipython().run_line_magic({self._name!r}, '--help')\n"]  # the body is not run
        if not self._texts.heads_python(lines):
            return lines
        call = f"cell {arguments}".strip()
        return [f"get_ipython().run_line_magic({self._name!r}, {call!r})\n", *lines[1:]]

    def _make_magic(self) -> Callable[..., object]:
        def magic(line: str, cell: str | None = None) -> object:
            __tracebackhide__ = True
            if cell is not None:
                return self._cell_magic(line, cell)
            return self._line_magic(line)

        magic.__name__ = magic.__qualname__ = self._name
        magic.__doc__ = f"{self._parser.format_help()}\n{self._line_help()}\n"
        magic.runner = self  # type: ignore[attr-defined]
        return no_var_expand(magic)

    def _line_help(self) -> str:
        """What the line magic takes, one word a line."""
        lines = {
            "on [options]": text("magic_line_on", self._lang()),
            "off": text("magic_line_off", self._lang()),
            "cell [options]": text("magic_line_cell", self._lang()),
            **{word: text(key, self._lang()) for word, (key, _) in self._words.items()},
            "traceback": text("magic_line_traceback", self._lang()),
        }
        return "\n".join(f"%{self._name} {words:<16}{told}" for words, told in lines.items())

    def _line_magic(self, line: str) -> object:
        __tracebackhide__ = True
        word, arguments = (*line.split(None, 1), "", "")[:2]
        if not word or asks_for_help(line):
            print(str(self._magic.__doc__).removeprefix("::\n\n"))
        elif word == "cell":
            self._try_to_watch(arguments, "magic_begin_failed")
        elif word == "on":
            self._options(arguments, "magic_bad_on")
            self.always = arguments
            self.switched(True)
        elif word == "off":
            self.always = None
            self.switched(False)
        elif word == "traceback":
            print(self._problem or self._say("magic_no_traceback"))
        elif word in self._words:
            return self._words[word][1](arguments.strip())
        else:
            words = ", ".join(["on", "off", "cell", *self._words])
            raise UsageError(self._say("magic_bad_line", word=word, words=words))
        return None

    def _show_as_written(self, arguments: str) -> None:
        """Let tracebacks show line 1 of the running cell as `#%%name ARGS`, not as what the transformer
        made of it. It has to be Python, or nothing of the cell could be shown."""
        if self._cells and self._texts.heads_python(self._texts.cleaned(self._cells[-1].text)):
            write_first_line(self._shell, f"#%%{self._name} {arguments}".strip())

    def _cell_magic(self, line: str, body: str) -> object:
        """Runs a body that the transformer has left alone; see Note [The body is left to IPython]."""
        __tracebackhide__ = True
        shell = self._shell
        text = shell.transform_cell(body)
        tree = shell.transform_ast(shell.compile.ast_parse(text))
        file = shell.compile.cache(text, shell.displayhook.prompt_count, raw_code=body)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        code = shell.compile(tree, file, "exec")
        self._try_to_watch(line, "magic_begin_failed")
        exec(code, shell.user_global_ns, shell.user_ns)
        if last is None:
            return None
        code = shell.compile(ast.Expression(last.value), file, "eval")
        value = eval(code, shell.user_global_ns, shell.user_ns)
        return None if self._texts.ends_silenced(body) else value

    def _pre_run_cell(self, info: ExecutionInfo) -> None:
        self._cells.append(_Cell(info, info.raw_cell or ""))
        if len(self._cells) == 1 and not (info.store_history or info.silent):
            self.unstored.append(info.raw_cell or "")
        if self.always is None or len(self._cells) > 1 or not self._texts.is_plain(self._cells[0].text):
            return
        try:
            self._try_to_watch(self.always, "magic_on_failed", automatic=True)
        except UsageError as problem:
            self._warn("magic_on_failed", problem)

    def _post_run_cell(self, result: ExecutionResult | None) -> None:
        if result is None:  # the run itself was cut short, by the error that is now on its way out
            self._leave(-1, sys.exception() or KeyboardInterrupt())
            return
        info: Any = result.info
        if not info.raw_cell or info.raw_cell.isspace():
            return  # IPython announces the end of an empty cell, but not its beginning
        depths = [depth for depth, cell in enumerate(self._cells) if cell.info is info]
        self._leave(depths[-1] if depths else -1, result.error_before_exec or result.error_in_exec)

    # ----------------------------------------------------------------------------------------------- watching

    @property
    def _cells(self) -> list[_Cell]:
        """The cells running in this thread, outermost first."""
        return vars_of(self._running).setdefault("cells", [])

    def _try_to_watch(self, arguments: str, message: str, automatic: bool = False) -> None:
        """Begin watching the running cell. Where that fails the cell runs as it is, with a warning."""
        __tracebackhide__ = True
        try:
            if not automatic:
                self._show_as_written(arguments)
            self._watch(arguments, automatic)
        except UsageError:
            raise
        except Exception as problem:
            if has_arrived(problem):
                raise
            self._warn(message, problem)

    def _watch(self, arguments: str, automatic: bool) -> None:
        """Begin watching the running cell. IPython does not announce cells that run silently, so these are
        skipped."""
        __tracebackhide__ = True
        options = self._options(arguments, "magic_bad_arguments")
        options.automatic = automatic
        if not self._cells or self._cells[-1].watched:
            return
        cell = self._cells[-1]
        source, code = self._texts.source(cell.text)
        cell.silenced = self._texts.ends_silenced(code)
        cell.handle = self._begin(options, source, self._shell.user_ns)
        cell.watched = True

    def _leave(self, depth: int, problem: BaseException | None) -> None:
        """End the cells from `depth` inward: the finished one, and any inside it that never reported back."""
        cells = self._cells[depth:]
        del self._cells[depth:]
        for cell in reversed(cells):
            if cell.watched:
                try:
                    told = self._end(cell.handle, error=problem, result_silenced=cell.silenced)
                    self._problem = told or self._problem
                except BaseException as failure:
                    self._drop(cell.handle)
                    if not isinstance(failure, Exception | KeyboardInterrupt):
                        raise
                    self._warn("magic_end_failed", failure)

    def _options(self, arguments: str, message: str) -> argparse.Namespace:
        __tracebackhide__ = True
        try:
            return self._parser.parse_args(shlex.split(arguments))
        except (error.UsageError, ValueError) as problem:
            raise UsageError(self._say(message, problem=problem)) from None

    def _warn(self, message: str, problem: BaseException) -> None:
        """Say on one line of stderr that our side failed, and keep where."""
        kind = type(problem).__name__
        try:
            self._problem = "".join(traceback.format_exception(problem))
            said = self._say(message, problem=" ".join(f"{kind}: {problem}".split()))
        except Exception as another:  # where a cell has replaced functions of Python's own
            pass_on(another)
            said = f"%%{self._name}: {kind}"
        sys.stderr.write(said + "\n")

    def _say(self, message: str, **values: object) -> str:
        return text(message, self._lang(), name=self._name, **values)


def vars_of(thing: object) -> dict[str, Any]:
    return getattr(thing, "__dict__", {})
