"""What keeps the recorder and the cell apart: the recorder reads unnoticed, and its faults stay its own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

OPEN = contextlib.nullcontext


def observing(method: Callable[..., None], light: bool = False) -> Any:
    """A method of a recorder, or of a part that has one, through which a source tells: quiet while the
    recorder itself reads tensors, and it never raises. It is called while rounds are only counted (`light`),
    or while they are not."""

    @functools.wraps(method)
    def careful(self: Any, *args: Any) -> None:
        recorder = self.recorder
        if recorder.busy or recorder.problem is not None or recorder.light.light is not light:
            return
        recorder.busy = True
        try:
            if recorder.shield is OPEN:
                method(self, *args)
            else:
                with recorder.shield():
                    method(self, *args)
        except Exception as problem:
            recorder.problem = problem
        finally:
            recorder.busy = False

    return careful


watching_lightly = functools.partial(observing, light=True)
