"""The player's scripts are joined token by token: no line is lost because of how it begins."""

from __future__ import annotations

import pytest

from minigrad_viz.player.joining import as_expression, body, tokens
from minigrad_viz.player.static_html import EXTRAS, scripts

HOSTILE = """\
import {
  a, // with a comment
} from "./a.js";
import "./b.js";

// a comment
/* another;
   import x from "x"; */
export const text = `
// no comment
import y from "y";
export ${ { a: `}` + "}" }.a } `;
  // an indented comment
const url = "http://a"; // trailing
const slash = /[/"`]\\/\\/ import/g.test(text) ? 4 / 2 / 1 : 0;
export function f(x) {
  const importing = x;
  return /"/.test(x) ? import("./c.js") : importing / 2; // a / b
}
const more = 1 + +2 - -3;
"""
KEPT = """\
const text=`
// no comment
import y from "y";
export ${ { a: `}` + "}" }.a } `;
const url="http://a";
const slash=/[/"`]\\/\\/ import/g.test(text)?4/2/1:0;
function f(x){
const importing=x;
return /"/.test(x)?import("./c.js"):importing/2;
}
const more=1+ +2- -3;
"""


@pytest.mark.quick
def test_only_imports_comments_export_and_blanks_go():
    assert body(HOSTILE) == KEPT
    assert body("export class A {}\nexport default { A };\n", default="return") == "class A{}\nreturn{A};\n"


def test_the_value_is_what_the_last_exports_by_default():
    both = ["export const a = 1;", 'import { a } from "./a.js";\nexport const b = a;\nexport default { b };']
    assert as_expression(both) == "(() => {\nconst a=1;\nconst b=a;\nreturn{b};\n})()"


@pytest.mark.parametrize(
    "script",
    ["const a = `;", "const a = 'b;", "f(1;", "import { a } from './a.js'\n", "export default 3;"],
)
def test_what_cannot_be_joined_is_an_error(script):
    with pytest.raises(ValueError, match=r"JavaScript|closed|default"):
        body(script)


@pytest.mark.sample(1)
@pytest.mark.parametrize("also", EXTRAS)
def test_nothing_else_of_the_player_goes(also):
    """What the joined script has, and the files have, is the same but for imports, comments and `export`."""

    def words(text):
        quiet = "comment", "break", "space"
        return [each.text for each in tokens(text) if each.kind not in quiet]

    files = [words(script) for script in scripts(also)]
    assert words("".join(scripts(also)))  # together they are one script as well
    whole = [word for file in files for word in without_imports(file) if word != "export"]
    whole[whole.index("default", -10)] = "return"
    around = words("(() => {})()")
    assert words(as_expression(scripts(also))) == [*around[:6], *whole, *around[6:]]


def without_imports(words):
    """The words of a file behind its last import, which is at its beginning."""
    last = max((i for i, word in enumerate(words) if word == "import" and words[i + 1] != "("), default=None)
    return words if last is None else words[words.index(";", last) + 1 :]
