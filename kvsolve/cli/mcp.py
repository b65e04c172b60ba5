"""``kvsolve mcp``."""

from __future__ import annotations

import typer

from kvsolve.errors import KvsolveError

app = typer.Typer()


@app.command("mcp")
def mcp() -> int:
    """Serve check, fix, options, explain and matrix to an agent, over stdin and stdout (MCP)."""
    try:
        from kvsolve.mcp.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("mcp", "mcp_types", "pydantic"):
            raise KvsolveError("this needs an extra: pip install 'kvsolve[mcp]'") from None
        raise
    server().run("stdio")
    return 0
