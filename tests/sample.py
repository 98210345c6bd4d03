"""A pytest plugin: how much of a large check runs. It is a fixed sample, and all of it with `pytest --full`.

`CASES` names the test functions with very many or very slow cases, and how many of them run. Which ones
depends on nothing but their parameters, so a new case leaves the choice among the others as it was; cases of
the quick tier run besides. Where a test makes its programs itself, it asks `examples` how many to make; the
programs are always the same ones.
"""

from __future__ import annotations

import zlib
from collections import defaultdict

import pytest
from hypothesis import settings

full = False  # set before any test is imported
PART = 6  # one random program of so many
LEAST = 10

CASES = {
    "browser/test_course_lab.py::test_a_notebook_runs_in_jupyterlab": 3,
    "browser/test_course_offline.py::test_a_converted_notebook_is_whole_offline": 6,
    "browser/test_lab.py::TestOneLab::test_a_screenshot_of_the_whole_notebook": 0,  # of the harness itself
    "browser/test_lab.py::TestOneLab::test_an_error_stops_the_run_and_is_returned": 0,
    "browser/test_lab.py::TestOneLab::test_an_expected_error_does_not_stop_the_run": 0,
    "browser/test_lab.py::TestOneLab::test_cells_run_and_their_output_is_in_the_page": 1,
    "browser/test_lab.py::test_an_error_in_the_block_stops_everything_too": 0,
    "browser/test_lab.py::test_the_command_line_takes_a_screenshot": 0,
    "browser/test_lab.py::test_the_server_ends_with_the_process_that_started_it": 0,
    "browser/test_live_lab.py::test_in_jupyterlab": 1,
    "test_comparing.py::test_a_changed_op_is_the_first_difference": 30,
    "test_derivative_shown.py::test_no_two_numbers_of_an_axis_look_alike": 4,
    "test_derivative_shown.py::test_text_stays_inside_and_apart": 6,
    "test_directions.py::test_arrows_leave_and_reach_the_right_sides": 14,
    "test_directions.py::test_nothing_is_covered": 14,
    "test_fast_notes.py::test_both_ways_lead_to_the_same_events": 30,
    "test_forward_random.py::test_random_programs": 3,  # of 20 programs each
    "test_hostile.py::test_graphviz_draws_it": 8,
    "test_hostile.py::test_html": 8,
    "test_hostile.py::test_json": 8,
    "test_hostile.py::test_latex": 8,
    "test_hostile.py::test_outline_and_steps": 8,
    "test_hostile.py::test_svg": 8,
    "test_json.py::test_documented_cells": 12,
    "test_json.py::test_strange_cells": 8,
    "test_late.py::test_a_subpackage_is_loaded_when_it_is_asked_for": 4,
    "test_late.py::test_ways_to_import": 4,
    "test_looks.py::test_every_graph_in_every_look": 14,
    "test_marks.py::test_every_look": 11,
    "test_marks.py::test_nothing_is_covered_in_any_direction": 14,
    "test_modified_in_place.py::test_a_write_after_the_op": 120,
    "test_outline_whole.py::test_every_text_of_the_picture_is_in_the_outline": 60,
    "test_quick.py::test_every_layer_is_run_by_its_tests": 0,  # it runs the quick tier
    "test_random_pictures.py::test_graphs_made_by_hand": 3,  # of 20 graphs each
    "test_random_pictures.py::test_recorded_cells": 3,  # of 20 cells each
    "test_repeated_passes.py::test_a_change_between_two_passes": 56,
    "test_repeated_passes.py::test_a_change_between_two_passes_as_in_pytorch": 56,
    "test_rows.py::test_rows_of_an_op": 400,
    "test_step_numbers.py::test_deposits_over_two_calls": 6,
    "test_step_numbers.py::test_gradients_and_values_against_autograd": 12,
    "test_step_numbers.py::test_the_gradient_of_a_gradient": 6,
    "test_unnoticed.py::test_every_number_shown_is_the_engines": 16,
    "test_unnoticed.py::test_random_programs_do_not_notice": 16,
    "test_watched_autograd.py::test_cell": 24,
    "test_zoo.py::test_korean_says_the_same": 62,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "run large checks whole, not a fixed sample of them"
    parser.getgroup("minigrad").addoption("--full", action="store_true", help=about)


def pytest_configure(config: pytest.Config) -> None:
    global full
    full = config.getoption("full")
    # Machines are slow at times: a deadline per example would fail by chance. In CI hypothesis makes the same
    # examples each time, with `--full` as well.
    fixed = {} if full else {"derandomize": True}
    settings.register_profile("minigrad", deadline=None, **fixed)
    settings.load_profile("minigrad")


def examples(count: int) -> int:
    """How many of `count` random programs are run."""
    return count if full else min(count, max(LEAST, count // PART))


def sampled(ids: list[str], count: int) -> list[str]:
    """So many of the ids, chosen by their parameters alone: functions that share cases take the same ones."""
    return sorted(ids, key=lambda one: zlib.crc32(one.partition("[")[2].encode()))[:count]


def leave_out(config: pytest.Config, items: list[pytest.Item], ids: set[str]) -> None:
    """Deselect the tests with these ids."""
    if out := [item for item in items if item.nodeid in ids]:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item.nodeid not in ids]


@pytest.hookimpl(trylast=True)  # what -m and -k leave out makes room for others
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if full:
        return
    functions: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("quick"):
            functions[item.nodeid.partition("[")[0]].append(item.nodeid)
    out: set[str] = set()
    for name, count in CASES.items():
        ids = functions[f"tests/{name}"]
        out.update(set(ids) - set(sampled(ids, count)))
    leave_out(config, items, out)
