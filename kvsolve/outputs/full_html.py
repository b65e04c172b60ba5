"""The full matrix as one HTML page with a box to filter it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kvsolve.outputs.full import sections, summary
from kvsolve.outputs.matrix_html import state_html
from kvsolve.outputs.page import escape, html_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["full_html"]

_CODE = re.compile(r"\bKV\d{4}\b")
_STATES = {
    "Values that no launch has": "no",
    "Values that are accepted and reported to fail": "reported",
    "Values that are not decided": "unknown",
    "Values that need something else": "with",
    "Pairs that do not go together": "no",
    "Pairs that are not decided": "unknown",
}
_FILTER = """
const box = document.getElementById("filter");
const tables = [...document.querySelectorAll("section")];
function filter() {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const section of tables) {
    let shown = 0;
    for (const row of section.querySelectorAll("tbody tr, li")) {
      const text = row.dataset.text ??= row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    section.querySelector(".count").textContent = shown;
    section.hidden = !shown;
  }
  const url = new URL(location);
  words.length ? url.searchParams.set("q", box.value) : url.searchParams.delete("q");
  try { history.replaceState(null, "", url); } catch { /* a page opened from a file */ }
}
box.value = new URL(location).searchParams.get("q") ?? "";
box.addEventListener("input", filter);
if (box.value) filter();
"""
_BOX = (
    '<p class="filter"><label for="filter">Filter</label> <input id="filter" type="search" '
    'placeholder="a flag, a value, a code" autocomplete="off"></p>'
)


def full_html(full: Mapping[str, Any]) -> str:
    """The page: values and pairs that do not work, each with its reason; no other file."""
    title = f"Every pair of values, SGLang {full['context']['release']}"
    about = "".join(f"<p>{escape(line)}</p>" for line in summary(full))
    reasons: Mapping[str, str] = full["reasons"]
    tables = "\n".join(
        _section(heading, columns, rows, reasons)
        for heading, (columns, rows) in sections(full).items()
    )
    listed = "".join(
        f'<li id="{code}"><code>{code}</code> {escape(text)}</li>' for code, text in reasons.items()
    )
    count = f'<span class="count">{len(reasons)}</span>'
    told = f"<section><h2>Reasons ({count})</h2><ul>{listed}</ul></section>"
    body = (
        f"<h1>{escape(title)}</h1>\n<div>{about}</div>\n{_BOX}\n{tables}\n{told if reasons else ''}"
    )
    return html_page(f"{title} - kvsolve", body, _FILTER)


def _section(
    heading: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    reasons: Mapping[str, str],
) -> str:
    state = _STATES[heading]
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in ("", *columns))
    sign = f'<td class="{state}">{state_html(state)}</td>'
    body = "".join(f"<tr>{sign}{_cells(row, reasons)}</tr>\n" for row in rows)
    return (
        f'<section>\n<h2>{escape(heading)} (<span class="count">{len(rows)}</span>)</h2>\n'
        f'<div class="scroll"><table class="list"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>\n</section>"
    )


def _cells(row: Sequence[str], reasons: Mapping[str, str]) -> str:
    return "".join(f"<td>{_linked(cell, reasons)}</td>" for cell in row)


def _linked(cell: str, reasons: Mapping[str, str]) -> str:
    """A cell with its codes as links that tell the reason when pointed at."""

    def link(found: re.Match[str]) -> str:
        code = found[0]
        if code not in reasons:
            return code
        return f'<a href="#{code}" title="{escape(reasons[code])}">{code}</a>'

    linked = _CODE.sub(link, escape(cell))
    why = f' <span class="why">{escape(reasons[cell])}</span>' if cell in reasons else ""
    return linked + why
