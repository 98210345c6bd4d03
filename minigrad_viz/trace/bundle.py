"""A trace beside its picture, under its own MIME type, for hosts and tools that read notebooks.

Note [A trace in an output]

Every output of a notebook is stored with it, so what is stored beside the page has to be small. A cell of the
course has a trace of 3 to 35 kB, beside a page of 58 to 78 kB. A training has one of 300 kB to 11 MB, which
takes seconds to write: it would be most of its notebook. So a trace is part of the output up to `LARGEST`
characters, and a longer one is not. A reference in its place would name a file that another computer does
not have; `save("cell.json")` writes a trace of any size. What has more than `EVENTS` events is not written
to be measured. A cell whose reader is asked first has none: a trace has all answers.
"""

from __future__ import annotations

import json
from typing import Any

from .events import Trace

TRACE = "application/vnd.minigrad.trace+json"
LARGEST = 40_000  # characters
EVENTS = 150  # each takes some 800 characters


def trace_bundle(trace: Trace) -> dict[str, Any]:
    """The trace as data by its MIME type, as an output of a notebook has it; nothing of a long one.
    `Trace.from_json` reads it again, as JSON. See Note [A trace in an output]."""
    if len(trace.events) > EVENTS:
        return {}
    written = trace.to_json()
    if len(written) > LARGEST:
        return {}
    data = json.loads(written)
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a character, which no notebook can store
        return {}
    return {TRACE: data}
