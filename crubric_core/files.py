"""Write files whole or not at all, and read them back exactly: JSON, and CSV that spreadsheets cannot execute."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import pandas as pd

from .errors import ExportError

TEXTS = frozenset(
    {"rubric", "query", "text", "system", "id", "basis", "population", "method"}
)  # columns of texts, even if a text looks like a number
_FORMULA = re.compile(
    "'*[=+\\-@\t\r]"
)  # also after apostrophes, so that removing one apostrophe restores the text
_ARMED = re.compile("'+[=+\\-@\t\r]")


def write_files(contents: Mapping[str, bytes], folder: str | Path) -> list[Path]:
    """Write files (name → content) into ``folder``, which is created if needed, and return their paths.

    Raises ExportError if they cannot be written.
    """
    out = Path(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [write_whole(out / name, content) for name, content in contents.items()]
    except OSError as error:
        raise ExportError(
            f"The results could not be written to {out} ({error.strerror}): name a folder that can be written."
        ) from error


def zip_bytes(contents: Mapping[str, bytes], made_at: datetime = datetime(1980, 1, 1)) -> bytes:
    """The files (name → content) as a ZIP archive, all dated ``made_at``: the same files and date give the same bytes.

    The default date is the earliest that ZIP can store.
    """
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(ZipInfo(name, made_at.timetuple()[:6]), content, ZIP_DEFLATED)
    return packed.getvalue()


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file in one step and return its path: readers never see a part of it, or a mixture of two writers.

    It is written under a temporary name first, which is removed if writing fails.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def csv_bytes(table: pd.DataFrame) -> bytes:
    """The table as UTF-8 CSV. Texts that a spreadsheet would run as a formula get a leading apostrophe (OWASP)."""
    safe = table.rename(columns=_disarm)
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]):
            safe[name] = safe[name].map(_disarm)
    return safe.to_csv(index=False, lineterminator="\r\n").encode()  # RFC 4180; "\n" leaves "\r" unquoted


def significant(table: pd.DataFrame) -> pd.DataFrame:
    """The table for readers: fractions with six significant digits, whole numbers with all digits."""
    fractions = table.select_dtypes("float")
    return table.assign(
        **{str(name): fractions[name].map(_in_six_digits, na_action="ignore") for name in fractions}
    )


def _in_six_digits(number: float) -> float:
    return number if number.is_integer() else float(f"{number:.6g}")


def _disarm(value: object) -> object:
    return "'" + value if isinstance(value, str) and _FORMULA.match(value) else value


def json_bytes(content: Mapping[str, Any]) -> bytes:
    """Indented JSON in UTF-8 that every parser accepts: NaN and infinity become null."""
    return (json.dumps(_plain(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def read_csv(path: str | Path) -> pd.DataFrame:
    """Read a table that ``csv_bytes`` wrote, with its texts and numbers unchanged; "NA" is read as a text.

    The columns TEXTS hold texts; all others must hold numbers, flags or empty cells, which become NaN.
    """
    table = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
    return pd.DataFrame(
        {name: [(_text if name in TEXTS else _value)(cell) for cell in table[name]] for name in table.columns}
    )


def _text(cell: str) -> str:
    """The text without the apostrophe that ``csv_bytes`` put before a formula."""
    return cell[1:] if _ARMED.match(cell) else cell


def _value(cell: str) -> bool | float:
    """A flag or a number; NaN for an empty cell."""
    return cell == "True" if cell in ("True", "False") else float(cell or "nan")
