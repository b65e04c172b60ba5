"""HTML pages that stand by themselves: no other file, nothing from the network."""

from __future__ import annotations

__all__ = ["STYLE", "escape", "html_page"]


def html_page(title: str, body: str, script: str = "") -> str:
    """A page that stands by itself.

    Args:
        title: Plain text.
        body: HTML.
        script: JavaScript to run once the page is read, if any.
    """
    end = f"<script>\n{script}</script>\n" if script else ""
    head = f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style>"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{head}\n</head>\n<body>\n{body}\n{end}</body>\n</html>\n"
    )


def escape(text: str) -> str:
    """Text as HTML."""
    from html import escape as html_escape

    return html_escape(text)


# The colours are those of Okabe and Ito, told apart by all; every state has a sign as well.
STYLE = """\
:root { color-scheme: light dark; --line: #8885; --back: #fff; --soft: #f3f4f6;
  --yes: #0072b2; --with: #e69f00; --no: #d55e00; --reported: #cc79a7; --unknown: #888; }
@media (prefers-color-scheme: dark) { :root { --back: #16181b; --soft: #24272c; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 88rem;
  padding: 0 1rem; background: var(--back); }
h1 { font-size: 1.35rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
code { font-size: .92em; overflow-wrap: anywhere; }
.scroll { overflow: auto; max-height: 80vh; border: 1px solid var(--line); width: fit-content;
  max-width: 100%; }
table { border-collapse: separate; border-spacing: 0; }
th, td { border: 0 solid var(--line); border-width: 0 1px 1px 0; padding: .25rem .6rem;
  text-align: center; }
th { font-weight: 600; background: var(--soft); }
thead th { position: sticky; top: 0; z-index: 2; vertical-align: bottom; }
tbody th { position: sticky; left: 0; z-index: 1; text-align: left; white-space: nowrap; }
thead th:first-child { left: 0; z-index: 3; text-align: left; }
td.yes, .key.yes { background: color-mix(in srgb, var(--yes) 18%, var(--back)); }
td.with, .key.with { background: color-mix(in srgb, var(--with) 30%, var(--back)); }
td.no, .key.no { background: color-mix(in srgb, var(--no) 38%, var(--back)); }
td.reported, .key.reported { background: color-mix(in srgb, var(--reported) 38%, var(--back)); }
td.unknown, .key.unknown { background: color-mix(in srgb, var(--unknown) 20%, var(--back)); }
td:is(.yes, .with, .no, .reported, .unknown) { white-space: nowrap; }
.sign { display: inline-block; min-width: 1em; font-weight: 700; }
.key { padding: .05rem .45rem; border-radius: .25rem; white-space: nowrap; }
ul.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; }
ol.notes { font-size: .92em; max-width: 70rem; }
ol.notes li:target { outline: 2px solid var(--yes); }
sup { font-size: .7em; } sup a { text-decoration: none; }
p.about { max-width: 70rem; }
table.list td { text-align: left; vertical-align: top; max-width: 34rem; }
table.list td:first-child { white-space: nowrap; }
table.list thead th:first-child { left: auto; }
.why { opacity: .75; }
.filter { position: sticky; top: 0; z-index: 5; background: var(--back); padding: .5rem 0; }
.filter input { font: inherit; padding: .3rem .6rem; width: min(30rem, 70vw); }
"""
