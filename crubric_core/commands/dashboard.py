"""The two servers: app, viewer."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..declarations import Parameter
from ..environment import typed, views_folder, workspace_path
from ..server.launch import serve
from .parsers import Commands, add_command, number

_PORT = Parameter("Port of the server.", low=1, high=65_535, whole=True)


def add(commands: Commands) -> None:
    """The commands of this file."""
    app = add_command(commands, "app", run_app)
    app.add_argument(
        "--workspace", type=Path, help="workspace file (default: $CRUBRIC_WORKSPACE, or crubric.duckdb)"
    )
    _add_server(app, 8501)
    _add_server(add_command(commands, "viewer", run_viewer), 8502)


def _add_server(parser: argparse.ArgumentParser, port: int) -> None:
    parser.add_argument(
        "--views",
        type=Path,
        metavar="DIR",
        help="folder of views (default: $CRUBRIC_VIEWS, or crubric-views)",
    )
    parser.add_argument("--port", type=number(_PORT), default=port, metavar="N", help=f"(default: {port})")
    parser.add_argument(
        "options", nargs="*", metavar="-- OPTION", help="options of `streamlit run`, after two dashes"
    )


def run_app(args: argparse.Namespace) -> None:
    """Serve the dashboard until it is stopped."""
    if args.workspace:
        os.environ["CRUBRIC_WORKSPACE"] = str(args.workspace)
    _set_views(args)
    path = workspace_path().absolute()
    print(f"Opening {path}. Ctrl-C stops the server.", file=sys.stderr)
    if not path.exists():
        demo = typed("demo", "--workspace", path)
        print(f"The workspace is new. For a simulated study, run first: {demo}", file=sys.stderr)
    serve("editor", args.port, args.options)


def run_viewer(args: argparse.Namespace) -> None:
    """Serve shared views until it is stopped."""
    _set_views(args)
    print(f"Serving the views of {views_folder().absolute()}. Ctrl-C stops the server.", file=sys.stderr)
    serve("viewer", args.port, args.options)


def _set_views(args: argparse.Namespace) -> None:
    if args.views:
        os.environ["CRUBRIC_VIEWS"] = str(args.views)
