"""minigrad still does what was recorded in `record/`: signatures, nodes, results of wrong calls, versions.

A name may be gone if `minigrad/tables/left_out.txt` lists it. Where the code differs from the record, it must
do what PyTorch does.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opinfo import entries, table
from record import errors, nodes, removals, signatures, store, verdicts, versions
from record.names import find
from record.store import FOLDER, left_out

import minigrad

SIGNATURES = signatures.recorded()
ERRORS = errors.recorded()
VERSIONS = versions.recorded()
NODES, GRAPHS = nodes.recorded(nodes.OPS), nodes.recorded(nodes.GRAPHS)


def pytorch() -> object:
    """PyTorch, or None: a difference from the record is then a failure whatever PyTorch does."""
    try:
        import torch
    except ImportError:
        return None
    return torch


def whole(space: str, name: str) -> str:
    return name if space == "torch" else f"{space}.{name}"


def gone(space: str, name: str) -> bool:
    """Whether a name is no longer there; a failure unless it is listed as left out."""
    try:
        find(minigrad, whole(space, name))
    except AttributeError:
        assert store.is_left_out(space, name), f"{whole(space, name)} is gone, and left_out.txt lacks it"
        return True
    return False


@pytest.mark.parametrize("space", SIGNATURES)
def test_what_signatures_accepted_is_accepted(space):
    failures = []
    for name, before in SIGNATURES[space].items():
        if gone(space, name) or (space, name) in signatures.CHANGED:
            continue
        now = signatures.parameters_of(find(minigrad, whole(space, name)))
        refused = signatures.refused(before, now)
        if refused and not (pytorch() and signatures.is_pytorchs(whole(space, name), now)):
            failures.append(f"{whole(space, name)}: {refused}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("letter", sorted({name[0] for name in NODES}))
def test_names_inputs_and_saved_names_of_nodes(letter):
    now = nodes.declared()
    expected = {name: rest for name, rest in NODES.items() if name[0] == letter}
    expected.pop("NotImplemented", None)  # the node of several ops
    different = {f"nodes/{name}": now.get(name) for name, rest in expected.items() if now.get(name) != rest}
    left = removals.unexplained(different)
    assert not left, [(name, different[name]) for name in left]


@pytest.mark.filterwarnings("ignore::UserWarning")  # of T on tensors that are not matrices
@pytest.mark.parametrize("letter", sorted({title[0] for title in GRAPHS}))
def test_graphs_of_the_table_of_ops(letter):
    tried = nodes.tried()
    expected = {title: text for title, text in GRAPHS.items() if title[0] == letter}
    different = [
        f"graphs/{title}"
        for title, text in expected.items()
        if title not in tried or nodes.graph_of(*tried[title]) != text
    ]
    assert not removals.unexplained(different)


@pytest.mark.parametrize(("space", "letter"), ERRORS)
def test_calls_end_as_they_did(space, letter):
    failures = []
    torch = pytorch()
    for (name, call), before in ERRORS[space, letter].items():
        if gone(space, name):
            continue
        now = errors.end(minigrad, space, name, call)
        if errors.is_same(before, now) or store.is_argument_left_out(now):
            continue
        if torch is None or errors.ended(torch, space, name, call) != now:
            failures.append(f"{whole(space, name)}{call}: {now}\n    recorded: {before}")
    assert not failures, "\n".join(failures)


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", VERSIONS)
def test_versions_after_writes(kind):
    failures = []
    for name, before in VERSIONS[kind].items():
        if kind != "write" and gone(kind.partition(" ")[2] if kind.startswith("out") else "Tensor", name):
            continue
        if name.startswith("step of ") and gone("optim", name.removeprefix("step of ")):
            continue
        failures += [f"{name} {difference}" for difference in otherwise(kind, name, before)]
    assert not failures, "\n".join(failures)


def otherwise(kind: str, name: str, before: str) -> Iterator[str]:
    """In which calls the versions are neither those of the record nor PyTorch's."""
    now = calls(versions.end(minigrad, kind, name))
    expected = calls(before)
    if now == expected:
        return
    torch = pytorch()
    theirs = calls(versions.end(torch, kind, name)) if torch else {}
    for call in sorted(now.keys() | expected.keys()):
        mine = now.get(call)
        if mine != expected.get(call) and (torch is None or mine != theirs.get(call)):
            yield f"{call}: {mine}, recorded {expected.get(call)}"


def calls(text: str) -> dict[str, str]:
    """Call → versions."""
    return {call: how for call, _, how in (part.rpartition(" ") for part in text.split("  "))}


@pytest.mark.skipif(not table(), reason="PyTorch's table of ops cannot be imported")
def test_every_entry_of_pytorchs_table_is_still_compared():
    """How many samples are compared of each is held in the tests of that table, where they are run."""
    titles = {title for title, _ in verdicts.recorded()[1]}
    lost = [title for title in sorted(titles - set(entries())) if not entry_is_left_out(title.split()[0])]
    assert len(titles) > 600 and not removals.unexplained(f"verdicts/{title}" for title in lost)


def entry_is_left_out(name: str) -> bool:
    """An entry without a namespace is a function, a method or both, or only a method that works in place."""
    space, _, last = name.rpartition(".")
    if space:
        return store.is_left_out(space, last)
    return any(
        store.is_left_out(*where) for where in (("torch", last), ("Tensor", last), ("Tensor", last + "_"))
    )


def test_a_check_that_compares_less_is_noticed(torch):
    (title, check), counts = next(iter(verdicts.recorded()[1].items()))
    if torch.__version__.partition("+")[0] != verdicts.recorded()[0]:
        pytest.skip("the record is of another version of PyTorch")
    assert not verdicts.missing(title, check, counts)
    fewer = counts | {"float32": counts["float32"] - 1}
    assert verdicts.missing(title, check, fewer) == {"float32": f"{fewer['float32']} of {counts['float32']}"}


# ------------------------------------------------------------------------------------------ the record itself


def test_left_out_names_are_read(tmp_path, monkeypatch):
    path = tmp_path / "left_out.txt"
    path.write_text("# a comment\ntorch: lu_factor ctc_loss\nnn.functional: fold\nnn: Fold  # a layer\n")
    assert left_out(path) == {"torch": {"lu_factor", "ctc_loss"}, "nn.functional": {"fold"}, "nn": {"Fold"}}
    assert left_out(tmp_path / "none.txt") == {}
    monkeypatch.setattr(store, "left_out", lambda: left_out(path))
    assert store.is_left_out("torch", "ctc_loss") and store.is_left_out("nn", "Fold.forward")
    assert not store.is_left_out("nn", "fold") and not store.is_left_out("Tensor", "ctc_loss")


@pytest.mark.parametrize(
    ("before", "now", "refused"),
    [
        ("(*args, **kwargs)", "(tensors, dim=0, *, out=None)", ""),
        ("(input, dim=0)", "(input, dim=0, keepdim=False)", ""),
        ("(input, dim)", "(input, dim=None)", ""),
        ("(input, dim=0)", "(input, dim=1)", "default of dim"),
        ("(input, dim=0)", "(input, *, dim=0)", "dim does not stand"),
        ("(input, other)", "(other, input)", "input does not stand"),
        ("(input, dim=0)", "(input)", "parameter dim"),
        ("(input)", "(input, dim)", "dim is required"),
        ("(x)", "(*args, **kwargs)", "parameter x"),
        ("= property", "(self)", "= property"),
    ],
)
def test_what_a_signature_may_become(before, now, refused):
    found = signatures.refused(before, now)
    assert refused in found and bool(found) == bool(refused)


def test_ends_that_are_the_same():
    assert errors.is_same("TypeError: …", "TypeError: f() takes 1 positional argument but 2 were given")
    assert errors.is_same("AttributeError: …", "TypeError: must be Tensor, not float")
    assert not errors.is_same("TypeError: …", "float64[2]")
    assert not errors.is_same("IndexError: a", "IndexError: b")


def test_what_was_left_out_explains_what_is_missing(monkeypatch):
    monkeypatch.setattr(removals, "removed", lambda: {"nodes/g[x*": "ctc_loss", "nodes/h*": ""})
    assert removals.unexplained(["nodes/g[x-1]", "nodes/h"]) == ["nodes/h"], "an explanation names something"


def test_the_record_is_small():
    made = (path for path in FOLDER.iterdir() if path.is_file() and path.name != removals.NAME)
    assert sum(path.stat().st_size for path in made) < 400_000
