"""Warnings that name the line of the user's code, however deep in minigrad they are given."""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from typing import Any

PACKAGE = __name__.partition(".")[0]
# What Python has shown, by the file and by what the warnings are about.
_shown: defaultdict[tuple[str, str], dict[Any, Any]] = defaultdict(dict)


def warn(text: str, about: str = "") -> None:
    """Give a warning about the innermost line that is not minigrad's. Python shows a text once for each line;
    here also once for each function that it is `about`.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame = frame.f_back
    file, module = frame.f_code.co_filename, frame.f_globals.get("__name__", "<string>")
    warnings.warn_explicit(text, UserWarning, file, frame.f_lineno, module, _shown[file, about])
