"""Every text with several slots, as a learner reads it in both languages."""

from __future__ import annotations

import pytest
from sentences import FILE, KEYS, VALUES, sentences, values_of


@pytest.mark.quick
def test_every_sentence_stands_as_it_was_read():
    assert sentences().splitlines() == FILE.read_text(encoding="utf-8").splitlines()


def test_slots_are_told_apart():
    """What fills one slot of a text fills no other, so that slots cannot be exchanged unseen."""
    for key in KEYS:
        values = values_of(key)
        assert len(set(values.values())) == len(values), key
    assert VALUES.keys() <= set().union(*map(values_of, KEYS)), "no text has such a slot"
