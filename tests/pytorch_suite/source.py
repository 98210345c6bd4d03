"""Where PyTorch's test files are. They are not part of this repository.

`MINIGRAD_PYTORCH_TESTS` names a directory with one folder per version (`1.13.1/test_autograd.py`,
`1.13.1/autograd/`, `1.13.1/expect/`: PyTorch's own `test` directory, or these parts of it). Without this
variable they are looked for in the user's cache directory. Only with `MINIGRAD_PYTORCH_DOWNLOAD=1` are they
downloaded, to there.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from pathlib import Path

DIRECTORY, DOWNLOAD = "MINIGRAD_PYTORCH_TESTS", "MINIGRAD_PYTORCH_DOWNLOAD"
URL = "https://raw.githubusercontent.com/pytorch/pytorch/v{version}/test/{file}"
TIMEOUT = 5.0  # seconds
FILES = (
    "test_autograd.py",
    "autograd/test_complex.py",
    "autograd/test_functional.py",
    "expect/TestAutograd.test_function-x_grad_desc.expect",
    "expect/TestAutograd.test_function-y_grad_desc.expect",
)
LATER_FILES = ("autograd/test_logging.py",)  # since PyTorch 2


class Missing(Exception):
    """The files of a version are not at hand. The text says what to do."""


def locate(version: str) -> Path:
    """Return the folder with a version's test files. They are downloaded only when the user asks for it."""
    given = os.environ.get(DIRECTORY)
    folder = (Path(given) if given else cache()).expanduser() / version
    if (folder / FILES[0]).is_file():
        return folder.resolve()
    if not given and os.environ.get(DOWNLOAD):
        download(version, folder)
        return folder.resolve()
    raise Missing(
        f"PyTorch {version}'s test_autograd.py is not in {folder}. "
        f"Set {DIRECTORY} to a directory with {version}/test_autograd.py, or {DOWNLOAD}=1 to download it."
    )


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "minigrad" / "pytorch_tests"


def download(version: str, folder: Path) -> None:
    """Fetch the files at the tag of the version. All of them arrive, or nothing is written."""
    files = FILES if version.startswith("1.") else (*FILES, *LATER_FILES)
    texts = {}
    for file in files:
        url = URL.format(version=version, file=file)
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
                texts[file] = answer.read()
        except (urllib.error.URLError, TimeoutError) as error:
            raise Missing(f"{url} cannot be downloaded: {error}") from error
    for file, text in reversed(texts.items()):  # the file that `locate` looks for comes last
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
