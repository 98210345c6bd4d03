"""What keeps the recorder and the cell apart: the recorder reads unnoticed, and its faults stay its own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

OPEN = contextlib.nullcontext


def observing(method: Callable[..., None], light: bool = False) -> Any:
    """A method of a part of a recorder, which has a `tape`, through which a source tells: quiet while the
    recorder itself reads tensors, and it never raises. It is called while rounds are only counted (`light`),
    or while they are not."""

    @functools.wraps(method)
    def careful(self: Any, *args: Any) -> None:
        tape = self.tape
        if tape.busy or tape.problem is not None or tape.rounds.light is not light:
            return
        tape.busy = True
        try:
            if tape.shield is OPEN:
                method(self, *args)
            else:
                with tape.shield():
                    method(self, *args)
        except Exception as problem:
            tape.problem = problem
        finally:
            tape.busy = False

    return careful


watching_lightly = functools.partial(observing, light=True)
