"""A published view as a web page that needs no server: one file, or a folder for any file host.

The page fetches nothing from other hosts. Text from files and users is escaped. The page's content security policy
allows only scripts that it names by their hashes, or that lie beside the page, so that even a mistake in the escaping
could not run a script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import plotly.graph_objects as go
import plotly.io
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..errors import ExportError
from ..figures.shared_view import shared_figures
from ..files import write_whole, zip_bytes
from ..sharing.files import FILES, view_files
from ..sharing.view import SharedView
from .standalone_parts import body
from .templating import render, trusted

LIBRARY = "plotly.min.js"
_HERE = Path(__file__).parent
_BUTTONS = ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"]


def standalone_html(view: SharedView) -> str:
    """The view as one HTML file that opens from disk; nearly all of its 5 MB are the plotting library."""
    return _page(view, "inside")


def bundle(view: SharedView) -> dict[str, bytes]:
    """Name → content of index.html, the plotting library, and the files for readers if the view allows downloads."""
    page = {"index.html": _page(view, "separate").encode(), LIBRARY: _library().encode()}
    return page | view_files(view)


def bundle_zip(view: SharedView) -> bytes:
    """The bundle as a ZIP archive."""
    return zip_bytes({f"leaderboard/{name}": content for name, content in bundle(view).items()}, view.made_at)


def write_bundle(view: SharedView, folder: str | Path) -> list[Path]:
    """Write the bundle into a folder, index.html last and each file whole or not at all; raises ExportError.

    Files of an earlier bundle that this one lacks are deleted: the new view is not meant to show them.
    """
    files, out = bundle(view), Path(folder)
    earlier = [out / name for name in FILES if name not in files] if (out / LIBRARY).is_file() else []
    written = _written(out, {name: files[name] for name in sorted(files, key="index.html".__eq__)})
    for path in earlier:
        path.unlink(missing_ok=True)
    return written


def write_standalone(view: SharedView, path: str | Path) -> Path:
    """Write the one HTML file, whole or not at all; raises ExportError."""
    target = Path(path)
    if not target.name:
        raise ExportError(f"{path} is a folder: name a file, such as leaderboard.html.")
    return _written(target.parent, {target.name: standalone_html(view).encode()})[0]


def _written(folder: Path, files: dict[str, bytes]) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [write_whole(folder / name, content) for name, content in files.items()]
    except OSError as error:
        raise ExportError(
            f"The page could not be written to {folder} ({error.strerror}): name a folder that can be written."
        ) from error


def _page(view: SharedView, library: Literal["inside", "separate"]) -> str:
    figures = shared_figures(view)
    return document(
        view.title,
        body(view, figures, inside=library == "inside"),
        [shared.figure for shared in figures],
        narrow=[shared.narrow for shared in figures],
        save=view.downloads,
        library=library,
    )


def document(
    title: str,
    html: Markup,
    figures: Sequence[go.Figure],
    *,
    narrow: Sequence[Mapping[str, Any]] | None = None,
    save: bool = True,
    library: Literal["inside", "separate"] = "inside",
) -> str:
    """A page of ``html``, which must be this program's own, with figures drawn in the elements that name their numbers.

    narrow: changes to each figure on a narrow screen (``SharedFigure.narrow``). save: whether readers can save a figure
    as a picture. library: whether the plotting library is inside the page or a separate file.
    """
    style, script = ((_HERE / f"standalone.{kind}").read_text("utf-8") for kind in ("css", "js"))
    scripts = [script] if library == "separate" else [_library(), script]
    allowed = [*map(_hash, scripts), *(["'self'"] if library == "separate" else [])]
    specs = [_spec(figure, less) for figure, less in zip(figures, narrow or [{}] * len(figures), strict=True)]
    made = {
        "policy": _policy(allowed),
        "style": style,
        "figures": _json(specs),
        "options": _json(_options(save=save)),
        "library": "" if library == "separate" else _library(),
        "script": script,
    }
    return render(
        "document.html",
        title=title,
        body=html,
        library_file=LIBRARY if library == "separate" else "",
        **{name: trusted(text) for name, text in made.items()},
    )


def _policy(scripts: list[str]) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(scripts)}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


@cache
def _library() -> str:
    return str(get_plotlyjs())


@cache
def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _spec(figure: go.Figure, narrow: Mapping[str, Any]) -> dict[str, object]:
    drawn = json.loads(plotly.io.to_json(figure, validate=False))
    return {"data": drawn["data"], "layout": drawn["layout"], "narrow": narrow}


def _options(*, save: bool) -> dict[str, object]:
    removed = _BUTTONS if save else [*_BUTTONS, "toImage"]
    return {"displaylogo": False, "modeBarButtonsToRemove": removed}


def _json(content: object) -> str:
    """JSON without characters that could end the script element that contains it."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
