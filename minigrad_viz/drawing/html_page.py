"""What stands around the parts of a report on a page."""

from __future__ import annotations

import html

from ..words import clean

PAGE = """\
<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root{{color-scheme:light dark}}
body{{margin:0 auto;padding:16px;max-width:1600px;font:15px/1.5 system-ui,"Segoe UI",sans-serif}}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def whole_page(title: str, body: str, lang: str) -> str:
    """A whole HTML page, which needs nothing else."""
    return PAGE.format(lang=lang, title=html.escape(clean(title)), body=body)


def preformatted(lines: str) -> str:
    """Lines of a terminal on a page."""
    return f"<pre>{html.escape(lines)}</pre>"


def paragraph(sentence: str) -> str:
    """A sentence above or below a picture."""
    style = "font:13px system-ui,sans-serif;margin:.3em 0"
    return f'<p style="{style}">{html.escape(sentence)}</p>'
