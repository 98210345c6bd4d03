"""`minigrad/tables/signatures.txt` is what PyTorch's parsers of arguments expect."""

import signature_list


def test_the_table_is_pytorchs(torch):
    expected = signature_list.text().splitlines()
    stored = signature_list.TARGET.read_text(encoding="utf-8").splitlines()
    assert sorted(set(stored) ^ set(expected)) == [], "python tests/helpers/signature_list.py writes it"
