"""The state of the backward passes of a thread.

Note [Nested passes]
    A hook or a custom Function may run backward, whose hooks may run backward, thousands of levels deep. Each
    pass needs a dozen Python frames. If a pass is about to run user code while half of the frames that Python
    allows are in use, it continues in a new thread, which starts with none. The first thread waits, so
    nothing runs at the same time. The modes are passed on to the new thread and back. An interrupt that
    reaches a waiting thread is passed on to the one that works.
"""

from __future__ import annotations

import contextvars
import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any

from . import modes

MOST = 500  # threads; with Python's usual limit that is backward inside backward some 20,000 times


class Here(threading.local):
    """State of this thread: the innermost pass that runs user code; the node that runs (only in anomaly
    mode); the node whose hook was called last (only with observers); the threads that wait for each other in
    nested passes. `limited` is True if the pass, or one around it, computes only certain gradients.
    """

    task: Any = None
    limited = False
    node: Any = None
    hooked: Any = None
    chain: tuple[Any, ...] = ()


here = Here()


def inside(task: Any, function: Callable[..., None], *args: Any) -> None:
    """Call `function(*args)`, which runs user code as part of the pass `task`."""
    __tracebackhide__ = True
    before, limited = here.task, here.limited
    if before is not None and is_deep():
        Elsewhere(inside, task, function, *args).run()
        return
    task.notes = {}
    here.task, here.limited = task, limited or task.needed is not None
    try:
        function(*args)
    finally:
        here.task, here.limited = before, limited


def is_deep() -> bool:
    """Return whether half of the frames that Python allows (by default) are in use."""
    try:
        sys._getframe(min(sys.getrecursionlimit(), 1000) // 2)
    except ValueError:
        return False
    return True


class Elsewhere:
    """One call in a new thread, for which this thread waits. See Note [Nested passes]."""

    def __init__(self, *call: Any) -> None:
        self.call = call
        self.modes = dict(vars(modes.state))
        self.node, self.limited, self.chain = here.node, here.limited, (*here.chain, self)
        self.inner: Elsewhere | None = None
        self.done = threading.Event()
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=contextvars.copy_context().run, args=(self.work,), daemon=True)

    def work(self) -> None:
        """Run the call in the new thread."""
        vars(modes.state).update(self.modes)
        here.node, here.limited, here.chain = self.node, self.limited, self.chain
        try:
            function, *args = self.call
            function(*args)
        except BaseException as error:
            self.error = error
        finally:
            self.modes = dict(vars(modes.state))
            self.done.set()

    def run(self) -> None:
        """Start the thread, wait, take over its modes, and raise the error that it raised."""
        __tracebackhide__ = True
        if len(self.chain) > MOST:
            raise RecursionError("maximum recursion depth exceeded: backward inside backward without end")
        outer = self.chain[-2] if len(self.chain) > 1 else None
        if outer is not None:
            outer.inner = self
        interrupt: BaseException | None = None
        try:
            self.thread.start()
            while not self.done.is_set():
                try:
                    self.done.wait()
                except BaseException as error:
                    interrupt = error
                    self.interrupt(error)
            vars(modes.state).update(self.modes)
            if self.error is not None:
                raise self.error
            if interrupt is not None:
                raise interrupt
        finally:
            if outer is not None:
                outer.inner = None
            interrupt = self.error = None  # an error refers to its frames, and they refer to it

    def interrupt(self, error: BaseException) -> None:
        """Raise an error of this class in the thread that works."""
        worker = self
        while worker.inner is not None:
            worker = worker.inner
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        raise_in(ctypes.c_ulong(worker.thread.ident or 0), ctypes.py_object(type(error)))
