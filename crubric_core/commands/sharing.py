"""The commands ``publish``, ``views`` and ``revoke``: read-only views and their links."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..analysis.held_out import with_worth
from ..analysis.pipeline import analyse, result_of
from ..errors import SharingError
from ..sharing import (
    Choices,
    SharedView,
    audit,
    build_view,
    changes,
    expiry_of,
    list_views,
    looked_up,
    publish,
    replace,
    revoke,
    standing_of,
    still_to_come,
    words_of,
)
from .composing import add_composition
from .options import add_settings, add_workspace, existing, settings_of
from .parsers import Commands, add_command, add_views
from .terminal import print_json, progress_bar

if TYPE_CHECKING:
    from ..sharing import ViewState

PARTS = ("leaderboard", "tiers", "separation", "bank", "texts")
USUAL = tuple(name for name in PARTS if getattr(Choices(), name))


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    share = add_command(commands, "publish", run_publish)
    add_workspace(share)
    share.add_argument("--dataset", required=True, help="dataset of the workspace")
    add_views(share)
    add_view_options(share)
    share.add_argument(
        "--expires",
        metavar="ISO",
        help="until when, as 2030-12-31 or 2030-12-31T18:00Z (default: until revoked)",
    )
    share.add_argument(
        "--replace",
        metavar="ID",
        help="show this result under an earlier view's link (its title and note stay unless given)",
    )
    add_settings(share)
    add_composition(share)

    close = add_command(commands, "revoke", run_revoke)
    add_views(close)
    close.add_argument("id", metavar="ID", help="the view, as `views` lists it")

    listing = add_command(commands, "views", run_views)
    add_views(listing)
    listing.add_argument("--audit", action="store_true", help="who did what and when, oldest first, instead")


def add_view_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for what a view shows."""
    parser.add_argument("--title", default="", help='heading of the view (default: "Leaderboard")')
    parser.add_argument("--note", default="", help="a few words to its readers")
    parser.add_argument(
        "--include",
        nargs="+",
        action="extend",
        choices=PARTS,
        metavar="PART",
        help=f"of {', '.join(PARTS)} (default: {' '.join(USUAL)})",
    )
    parser.add_argument("--hide-dataset", action="store_true", help="leave the dataset's name out")
    parser.add_argument("--no-downloads", action="store_true", help="offer readers no files")


def view_of(args: argparse.Namespace) -> SharedView:
    """Analyse the dataset that the options name, and build the view that they define."""
    choices = Choices(
        title=args.title,
        note=args.note,
        dataset=not args.hide_dataset,
        downloads=not args.no_downloads,
        **{name: name in (args.include or USUAL) for name in PARTS},
    )
    settings = settings_of(args)
    with existing(args.workspace) as workspace, progress_bar() as report_progress:
        analysis = analyse(workspace.dataset(args.dataset), settings, report_progress)
        result = result_of(analysis)
        return build_view(with_worth(result, analysis) if choices.bank else result, choices)


def run_publish(args: argparse.Namespace) -> None:
    """Handle ``crubric publish``: print one JSON line with the view's id, its file and its token.

    The token opens the view and is shown only here. With ``--replace`` the link stays as it is: the token is None, and
    the changes are printed, too.
    """
    expires = still_to_come(expiry_of(args.expires), datetime.now(UTC)) if args.expires else None
    if args.replace:
        title, note = words_of(args.views, args.replace)
        args.title, args.note = args.title or title, args.note or note
    view = view_of(args)
    if not args.replace:
        made = publish(view, args.views, expires)
        print_json({"id": made.id, "token": made.token, "path": str(made.path)})
        return
    old = looked_up(args.views, args.replace)
    state = replace(args.views, args.replace, view, expires=expires or ...)
    if state.standing() == "expired":
        print("The link has expired and opens nothing: open it again by --expires.", file=sys.stderr)
    found = None if old is None else changes(old, view)
    for sentence in (
        found.sentences if found else ["What it showed before is damaged and cannot be compared."]
    ):
        print(sentence, file=sys.stderr)
    said = {"id": state.id, "token": None, "path": str(state.content(args.views))}
    print_json(said | {"changes": found.record() if found else None})


def run_revoke(args: argparse.Namespace) -> None:
    """Handle ``crubric revoke``: close the view's link, and print its new state as one JSON line."""
    print_json(_row(args.views, revoke(args.views, args.id)))


def run_views(args: argparse.Namespace) -> None:
    """Handle ``crubric views``: print one JSON line for each view, or for each entry of the audit trail."""
    if not args.views.is_dir():
        raise SharingError(
            f"There is no folder of views {args.views}: name it with --views; `publish` makes it."
        )
    if args.audit:
        for line in audit(args.views).to_dict("records"):
            print_json({str(name): value for name, value in line.items()})
        return
    for state in list_views(args.views):
        print_json(_row(args.views, state))


def _row(views: Path, state: ViewState) -> dict[str, Any]:
    """The state of a view as a row, without the hashes of its token and its content."""
    known = {name: value for name, value in asdict(state).items() if name not in ("token_sha256", "sha256")}
    plain = {name: v.isoformat() if isinstance(v, datetime) else v for name, v in known.items()}
    return {"id": state.id, "state": standing_of(views, state), **plain}
