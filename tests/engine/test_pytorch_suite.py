"""PyTorch's own `test_autograd.py`, with minigrad instead of torch: recorded tests still pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytorch_suite import source
from pytorch_suite.left_out import is_excused, read_left_out
from pytorch_suite.run import Verdict, read_names, run

HERE = Path(__file__).parents[1]
RECORDS = sorted((HERE / "pytorch_suite").glob("passes_*.txt"))
LEFT_OUT = HERE.parent / "minigrad" / "tables" / "left_out.txt"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem.removeprefix("passes_"))
def test_the_recorded_tests_of_pytorch_pass(record: Path) -> None:
    try:
        folder = source.locate(record.stem.removeprefix("passes_"))
    except source.Missing as missing:
        pytest.skip(str(missing))
    left_out = read_left_out(LEFT_OUT)
    names = read_names(record)
    verdicts = list(run(folder, names))
    assert [verdict.name for verdict in verdicts] == names
    lost = [v for v in verdicts if v.verdict != "passed" and not is_excused(v, left_out)]
    assert not lost, "\n\n".join(f"{v.name}: {v.verdict}\n{v.error}" for v in lost)


def test_every_version_has_a_record() -> None:
    assert {record.stem for record in RECORDS} >= {"passes_1.13.1", "passes_2.6.0"}
    for record in RECORDS:
        names = read_names(record)
        assert len(names) > 300
        assert names == sorted(set(names))


# A file as PyTorch writes them, with one test per verdict.
SUITE = """
import subprocess
import sys
import time
import unittest
import torch
import torch.somewhere.far
from torch.autograd import Function, never_heard_of
from torch.autograd.gradcheck import GradcheckError
from torch.testing._internal.common_device_type import (
    deviceCountAtLeast, dtypes, instantiate_device_type_tests, onlyCUDA)
from torch.testing._internal.common_utils import (
    TestCase, gradcheck, instantiate_parametrized_tests, parametrize, run_tests, skipIfXpu, slowTest, subtest)

class TestOne(TestCase):
    def test_passes(self):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (x ** 2).log().sum().backward()
        self.assertEqual(x.grad, [2.0, 1.0])
        self.assertEqual(type(x.log().grad_fn).__name__, "LogBackward0")
        self.assertEqual(torch.Tensor.__module__.split(".")[0], "minigrad")

    def test_fails(self):
        self.assertEqual(torch.ones(2), torch.tensor([1.0, 1.1]))

    def test_other_shape(self):
        self.assertEqual(torch.ones(2), torch.ones(2, 1))

    def test_other_dtype(self):
        self.assertEqual(torch.ones(2), torch.ones(2, dtype=torch.double))

    def test_unequal(self):
        self.assertNotEqual(torch.ones(2), torch.ones(2))

    def test_is_skipped(self):
        self.skipTest("no reason")

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    def test_absent_import(self):
        never_heard_of(1)

    def test_absent_attribute(self):
        torch.lu_of_the_day(1)

    def test_absent_module(self):
        import torch.somewhere.else_

    def test_hangs(self):
        time.sleep(600)

    def test_ends_the_process(self):
        import os
        os._exit(1)

    def test_child(self):
        code = "import torch; print(torch.Tensor.__module__.split('.')[0])"
        self.assertEqual(subprocess.check_output([sys.executable, "-c", code], text=True).strip(), "minigrad")

    @skipIfXpu
    @slowTest
    @parametrize("flag", [True, False])
    @parametrize("make", [subtest(torch.ones, name="ones"), subtest(torch.zeros, name="zeros")])
    def test_cases(self, make, flag):
        self.assertEqual(bool(make(1)), flag)

class TestTwo(TestCase):
    @dtypes(torch.double, torch.cdouble, torch.dtype_of_the_day)
    def test_gradcheck(self, device, dtype):
        x = torch.randn(2, dtype=dtype, device=device, requires_grad=True)
        self.assertTrue(gradcheck(torch.exp, x))

    def test_wrong_gradient(self, device):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x):
                return x.exp()
            @staticmethod
            def backward(ctx, grad):
                return grad
        with self.assertRaises(GradcheckError):
            gradcheck(Wrong.apply, torch.randn(2, dtype=torch.double, device=device, requires_grad=True))

    @onlyCUDA
    def test_cuda(self, device):
        pass

    @deviceCountAtLeast(1)
    def test_devices(self, devices):
        self.assertEqual(torch.ones(1, device=devices[0]).device, torch.device("cpu"))

instantiate_parametrized_tests(TestOne)
instantiate_device_type_tests(TestTwo, globals())

if __name__ == "__main__":
    run_tests()
"""
VERDICTS = {
    "TestOne.test_passes": "passed",
    "TestOne.test_fails": "failed",
    "TestOne.test_other_shape": "failed",
    "TestOne.test_other_dtype": "failed",
    "TestOne.test_unequal": "failed",
    "TestOne.test_is_skipped": "skipped",
    "TestOne.test_expected": "expected failure",
    "TestOne.test_absent_import": "failed",
    "TestOne.test_absent_attribute": "failed",
    "TestOne.test_absent_module": "failed",
    "TestOne.test_hangs": "timeout",
    "TestOne.test_ends_the_process": "crashed",
    "TestOne.test_child": "passed",
    "TestOne.test_cases_flag_True_ones": "passed",
    "TestOne.test_cases_flag_True_zeros": "failed",
    "TestOne.test_cases_flag_False_ones": "failed",
    "TestOne.test_cases_flag_False_zeros": "passed",
    "TestTwoCPU.test_gradcheck_cpu_float64": "passed",
    "TestTwoCPU.test_gradcheck_cpu_complex128": "passed",
    "TestTwoCPU.test_wrong_gradient_cpu": "passed",
    "TestTwoCPU.test_cuda_cpu": "skipped",
    "TestTwoCPU.test_devices_cpu": "passed",
}


@pytest.mark.full
def test_a_file_in_pytorchs_manner_gets_its_verdicts(tmp_path: Path) -> None:
    (tmp_path / "test_autograd.py").write_text(SUITE, encoding="utf-8")
    verdicts = {v.name: v for v in run(tmp_path, limit=10)}
    assert {name: v.verdict for name, v in verdicts.items()} == VERDICTS
    assert verdicts["TestOne.test_fails"].error.startswith("AssertionError: ")
    missing = {name: v for name, v in verdicts.items() if "absent" in name}
    words = frozenset({"never_heard_of", "lu_of_the_day", "else_"})
    assert all(is_excused(v, words) for v in missing.values()), missing
    assert not any(is_excused(v, frozenset({"torch", "minigrad", "at"})) for v in verdicts.values())


def test_a_name_that_the_file_does_not_have_fails(tmp_path: Path) -> None:
    (tmp_path / "test_autograd.py").write_text("", encoding="utf-8")
    assert [v.verdict for v in run(tmp_path, ["TestOne.test_gone"])] == ["failed"]


@pytest.mark.full
def test_a_file_that_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "test_autograd.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="could not be imported"):
        list(run(tmp_path))


def test_left_out_names(tmp_path: Path) -> None:
    file = tmp_path / "left_out.txt"
    assert read_left_out(file) == frozenset()
    file.write_text("# why\ntorch: lobpcg lu_factor\nTensor: lu_factor set_\n\n", encoding="utf-8")
    left_out = read_left_out(file)
    assert left_out == {"lobpcg", "lu_factor", "set_"}
    for text, excused in {
        "AttributeError: minigrad has no torch.lobpcg (see docs/ops.md)": True,
        "AttributeError: 'Tensor' object has no attribute 'set_'\nat test_autograd.py:1: x.set_(y)": True,
        "ImportError: cannot import name 'lobpcg' from 'torch'": True,
        "AttributeError: minigrad has no torch.log": False,
        "AttributeError: minigrad has no torch.log\nat test_autograd.py:1: has no lobpcg": False,
        "AssertionError: minigrad has no torch.lobpcg": False,
        "": False,
    }.items():
        assert is_excused(Verdict("name", "failed", text), left_out) is excused, text


def test_files_are_found_or_the_reason_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(source.DIRECTORY, str(tmp_path))
    monkeypatch.delenv(source.DOWNLOAD, raising=False)
    with pytest.raises(source.Missing, match=source.DIRECTORY):
        source.locate("1.13.1")
    (tmp_path / "1.13.1").mkdir()
    (tmp_path / "1.13.1" / "test_autograd.py").write_text("", encoding="utf-8")
    assert source.locate("1.13.1") == (tmp_path / "1.13.1").resolve()


def test_a_download_writes_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = tmp_path / "v9.9" / "test"  # an address of the file system: nothing is asked of the network
    monkeypatch.setattr(source, "URL", tmp_path.as_uri() + "/v{version}/test/{file}")
    monkeypatch.delenv(source.DIRECTORY, raising=False)
    monkeypatch.setenv(source.DOWNLOAD, "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = (*source.FILES, *source.LATER_FILES)
    for file in files[:-1]:
        (server / file).parent.mkdir(parents=True, exist_ok=True)
        (server / file).write_text(file, encoding="utf-8")
    with pytest.raises(source.Missing, match="cannot be downloaded"):
        source.locate("9.9")
    assert not (tmp_path / "cache").exists()
    (server / files[-1]).write_text("", encoding="utf-8")
    folder = source.locate("9.9")
    assert (folder / "expect" / "TestAutograd.test_function-x_grad_desc.expect").is_file()
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(files)
