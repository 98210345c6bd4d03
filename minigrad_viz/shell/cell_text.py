"""The texts of cells, read as IPython reads them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import Any

from ..silence import silence


class CellText:
    """What the text of a cell is to a shell in which a magic is called `name`."""

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
        """What stands after `%%name` in line 1; None if that begins otherwise."""
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
