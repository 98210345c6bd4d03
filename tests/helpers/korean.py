"""The Korean notebooks, `notebooks/ko/`: their text is Korean, their code is the English ones', and they are
stored with what that code shows in Korean.

`python tests/helpers/korean.py` takes code and the order of the cells from the English notebooks again; a
cell whose code has changed loses its outputs, which `python tests/helpers/store_notebooks.py` stores anew.
`python tests/helpers/korean.py --stale` lists the Korean cells whose English text has changed since they were
translated. After the translation was checked, `--checked NOTEBOOK` notes that it belongs to the English text
as it is now.

A Korean cell keeps in its metadata, as `english`, a digest of the English text that it translates.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

ENGLISH = Path(__file__).resolve().parents[2] / "notebooks"
KOREAN = ENGLISH / "ko"
SWITCH = """
from minigrad_viz import set_language

set_language("ko")"""
LINK = re.compile(r"\]\((?:\.\./)?(\w+\.ipynb)")

Notebook = dict[str, Any]


def read(path: Path) -> Notebook:
    """The notebook in a file."""
    found: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return found


def digest(cell: dict[str, Any]) -> str:
    """What tells one English text from another."""
    return hashlib.sha256("".join(cell["source"]).encode()).hexdigest()[:12]


def linked(text: str) -> str:
    """A text whose links lead to the Korean notebooks, where there are such, else to the English ones."""
    return LINK.sub(lambda link: f"]({'' if (KOREAN / link[1]).exists() else '../'}{link[1]}", text)


def rebuilt(english: Notebook, korean: Notebook) -> Notebook:
    """The Korean notebook with everything but its texts and outputs taken from the English one. A text that
    has no translation stays English. The first cell of code switches hints and pictures to Korean."""
    codes = {cell["id"]: cell for cell in korean["cells"] if cell["cell_type"] == "code"}
    texts = {cell["id"]: cell for cell in korean["cells"] if cell["cell_type"] == "markdown"}
    kept = []
    for cell in english["cells"]:
        if cell["cell_type"] == "markdown" and cell["id"] in texts:
            known = texts[cell["id"]]
            noted = {key: known["metadata"][key] for key in ("english",) if key in known["metadata"]}
            text = linked("".join(known["source"])).splitlines(keepends=True)
            cell = {**cell, "metadata": {**cell["metadata"], **noted}, "source": text}
        elif cell["id"] == "setup":
            cell = {**cell, "source": "".join([*cell["source"], SWITCH]).splitlines(keepends=True)}
        if cell["cell_type"] == "code":
            known = codes.get(cell["id"], {})
            same = known.get("source") == cell["source"]
            cell = {**cell, "outputs": known["outputs"] if same else []}
        kept.append(cell)
    return {**english, "cells": kept}


def stale(english: Notebook, korean: Notebook) -> list[str]:
    """The cells whose English text is not the one that was translated, or is not translated."""
    known = {cell["id"]: cell["metadata"].get("english") for cell in korean["cells"]}
    texts = [cell for cell in english["cells"] if cell["cell_type"] == "markdown"]
    return [cell["id"] for cell in texts if known.get(cell["id"]) != digest(cell)]


def store(path: Path, notebook: Notebook) -> None:
    """Write a notebook as Jupyter does."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    """What the command says: see above."""
    for path in sorted(KOREAN.glob("*.ipynb")):
        english, korean = read(ENGLISH / path.name), read(path)
        if arguments == ["--stale"]:
            for cell in stale(english, korean):
                print(f"{path.name}: {cell}")
            continue
        if arguments[:1] == ["--checked"] and path.stem in arguments:
            now = {cell["id"]: digest(cell) for cell in english["cells"]}
            for cell in korean["cells"]:
                if cell["cell_type"] == "markdown" and cell["id"] in now:
                    cell["metadata"]["english"] = now[cell["id"]]
        store(path, rebuilt(english, korean))


if __name__ == "__main__":
    main(sys.argv[1:])
