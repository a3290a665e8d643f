"""The commands ``app`` and ``viewer``: the two servers."""

from __future__ import annotations

import argparse
import os
import sys

from ..declarations import Parameter
from ..environment import typed
from ..server.launch import serve
from .parsers import Commands, add_command, add_views, add_workspace, number

_PORT = Parameter("Port of the server.", low=1, high=65_535, whole=True)


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    app = add_command(commands, "app", run_app)
    add_workspace(app)
    _add_server(app, 8501)
    _add_server(add_command(commands, "viewer", run_viewer), 8502)


def _add_server(parser: argparse.ArgumentParser, port: int) -> None:
    add_views(parser)
    parser.add_argument("--port", type=number(_PORT), default=port, metavar="N", help=f"(default: {port})")
    parser.add_argument(
        "options", nargs="*", metavar="-- OPTION", help="options of `streamlit run`, after two dashes"
    )


def run_app(args: argparse.Namespace) -> None:
    """Handle ``crubric app``: serve the dashboard until it is stopped."""
    os.environ["CRUBRIC_WORKSPACE"] = str(args.workspace)
    os.environ["CRUBRIC_VIEWS"] = str(args.views)
    path = args.workspace.absolute()
    print(f"Opening {path}. Ctrl-C stops the server.", file=sys.stderr)
    if not path.exists():
        demo = typed("demo", "--workspace", path)
        print(f"The workspace is new. For a simulated study, run first: {demo}", file=sys.stderr)
    serve("editor", args.port, args.options)


def run_viewer(args: argparse.Namespace) -> None:
    """Handle ``crubric viewer``: serve shared views until it is stopped."""
    os.environ["CRUBRIC_VIEWS"] = str(args.views)
    print(f"Serving the views of {args.views.absolute()}. Ctrl-C stops the server.", file=sys.stderr)
    serve("viewer", args.port, args.options)
