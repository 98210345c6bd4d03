"""Run in Pyodide: tests of the engine that need no other library."""

import sys

import pytest

FILES = """
test_dtypes test_modes test_inference_mode test_storage test_node test_engine test_engine_errors
test_engine_hooks test_engine_memory test_views test_function_calls test_module test_optim test_serialization
"""


class Fixtures:
    """Those of conftest.py, which needs psutil and a browser's driver."""

    @pytest.fixture
    def torch(self):
        pytest.skip("PyTorch does not run in a browser")

    @pytest.fixture
    def L(self, torch):
        return torch

    @pytest.fixture
    def note(self):
        return None

    @pytest.fixture
    def library(self):
        import minigrad

        return minigrad


if __name__ == "__main__":
    sys.path.insert(0, "/repository/tests/helpers")
    files = [f"/repository/tests/engine/{name}.py" for name in FILES.split()]
    options = ["--noconftest", "-q", "-c", "/dev/null", "--rootdir", "/repository", "-p", "no:cacheprovider"]
    options += ["--capture=sys", "--import-mode=importlib", "-k", "not threads"]  # Pyodide starts no threads
    print("status", int(pytest.main([*options, *files], plugins=[Fixtures()])))
