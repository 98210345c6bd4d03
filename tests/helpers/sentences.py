"""Every text that has several slots, in both languages, each slot filled with something it may hold:
`tests/viewer/sentences.txt`. Exchanged slots and particles that do not fit can be read there.

`python tests/helpers/golden.py sentences` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from minigrad_viz.words import CATALOGUES, fields, text

FILE = Path(__file__).resolve().parents[1] / "viewer" / "sentences.txt"
MOST_LIKELY = """
name: w; n: 3; call: loss.backward(); names: a and b; value: 0.25; code: y = y + 1; line: 7; source: y += 1
node: MulBackward0; made: y * 2; x: x; root: loss; place: line 4; first: the first call; last: the last call
expr: x ** 3; input: inp; at: position 2; layer: Linear(3, 2); name_shape: [2, 3]; before: 1.5; step: 12; i: 2
given: [4]; a: left; b: right; function: cross_entropy; called: model; target: labels; op: log; kind: float
dtype: float32; problem: no such file; cut: detach(); opt: opt; to: AddBackward0; second: the second call
b_shape: [5, 1]; a_shape: [3, 4]; where: in the loop; shape: [6]; ratio: 40; share: 12%; mode: no_grad()
optimizer: SGD; method: Square.backward; wrong: 9; most: 4; after: 2.5; count: 24; model: net
now: version 2; new: x = x + 1; backward: line 9; needed: 16; path: x → y; loss: 0.7; other: v; what: nan
found: 0.1; steps: 100; total: 18; high: 0.01; ended: detach() ended it.; gradient: 0.5; got: 2 gradients
version: 1.13; sent: 6.0; dims: 2 and 3; m: 5; name_dim: 1; option: --style; leaf: weight; read: saved_tensors
writer: add_(1); then: 0; wanted: [1]; roots: out; hook: double; rows: 0 and 4; dim: -1; fix: Use 8 features.
input_shape: [8, 10]; target_shape: [8]; box: the box of z; why: the cell was stopped; error: ValueError
took: 1e+38; rms: 1.75; label: 6; low: 0.001; repair: Remove detach().; asked: requires_grad_(False)
write: mul_(2); reset: opt.zero_grad(); size: 50; small: [1, 3]; grad: 0.6; b_size: 5
a_size: 4; name_dtype: int64; far: 0.03; kept: 1 and 5; run: run A; module: model.0; rate: 0.1; limit: 200
times: 20; keep: Or keep the graph.; base: z; expected: 1 gradient; saved: exp(x); update: w -= lr * w.grad
numerical: 2.0; near: backwards; j: 1; options: 3, 4 and 5; missing: fc.bias; large: [64, 3]; lr: 0.05
index: 11; target_dtype: float64; old: version 1; endings: .svg and .png; close: --steps; words: on, off
file: picture.svg; cell: 1.0; numbers: 0.2 and 0.3; sum: 0.44; through: the view v; mine: 8; attribute: layers
mean: 118; std: 57; norm: 31.6; written: h; middle: hidden; earlier: the earlier y; was: float16; classes: 10
inputs: -1 and 0; data: X; of: 30; nodes: 21; tensors: 14; y: 0.9; h: 1e-6; above: z; analytical: 2.1
below: u; example: (2, 3); taken: y; inward: [7, 3]; values: 1 and 2; letter: k; name_size: 13; rest: 17
input_dtype: bool; ghost: PowBackward0; output: result; choices: native or torchviz; word: maybe; round: 15
so: so it runs once more; all: 900; settings: lr=0.1; answers: 11; questions: 15; seed: 42; decay: 0.3
sampled: 60; parameters: 1,234; backwards: 99; plain: q; added: 1; over: SGD; returned: 1.9; updates: 6
choice: abs; largest: 3.4e+38; epsilon: 1e-50; better: 0.02; picture: A graph.; labels: x and y; mark: saved
title: Linear; best: 3; used: 27; leaves: 5
digit: 0; v: v; columns: 88; row: y; eps: 1e-06
subject: x.grad; known: w.grad; outward: [9, 2]; text: y == 1
shapes: ik and kj; result: [3, 3]; weight: kernels; weight_shape: [6, 1, 5, 5]; least: 3; padded: 4; kernel: 7
a_dtype: int32; b_dtype: complex64; own: bfloat16; mask: hidden; mask_shape: [2, 2]
index_shape: [9]; others: 4; change: 1 → 2; done: 8; left: 0.4; bar: ȳ; dot: ẏ; runs: 1000
right: 10; cells: In [3]; owner: torch.nn; index_dtype: int16
"""
VALUES = dict(each.split(": ", 1) for line in MOST_LIKELY.split("\n") for each in line.split("; ") if each)
KEYS = [key for key in CATALOGUES["en"] if len(fields(key)) > 1]


def values_of(key: str) -> dict[str, str]:
    """What fills the slots of a text: what is most likely, or the name of a new slot."""
    return {name: VALUES.get(name, name) for name in sorted(fields(key))}


def sentences() -> str:
    """Each key with its text in English and in Korean."""
    both = {key: [text(key, lang, **values_of(key)) for lang in ("en", "ko")] for key in KEYS}
    return "".join(f"{key}\n  {english}\n  {korean}\n" for key, (english, korean) in both.items())
