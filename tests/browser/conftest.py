"""For tests of pages: a file opened without a network."""

from __future__ import annotations

import pytest


@pytest.fixture
def visit(browser):
    """A function that opens a file without a network and returns its page, which must have no errors."""
    contexts, errors = [], []

    def visit(path, **options):
        context = browser.new_context(**{"viewport": {"width": 1000, "height": 800}, **options})
        contexts.append(context)
        context.set_offline(True)
        context.route("http*://**/*", lambda route: route.abort())
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()
    assert [error for error in errors if "require" not in error and "MathJax" not in error] == []
