"""Try a rule of a mapping on the first rows of a file: which texts it matches, and which it does not."""

from __future__ import annotations

from dataclasses import dataclass

from .formats import open_reader
from .plan import FilePlan
from .rules import sources_of, with_derived
from .sources import Sources, gathered
from .tables.plan import SAMPLE
from .wide.column_names import is_crossing, names_within
from .wide.reasons import is_reason_rule, reasons_by


@dataclass(frozen=True)
class RuleTrial:
    """The results of a rule on the first rows of a file.

    hits: (text, value) of each row that it matches; the text is "" for a path into JSON. misses: the texts that it does
    not match. of: the unit that was tried: "row", or "column" for a rule on the names of wide columns.
    """

    hits: tuple[tuple[str, str], ...]
    misses: tuple[str, ...]
    of: str = "row"

    @property
    def rows(self) -> int:
        """The number of rows, or columns, that were tried."""
        return len(self.hits) + len(self.misses)


def try_rule(source: Sources, file: FilePlan, canonical: str, rule: str) -> RuleTrial:
    """Apply ``rule`` for the canonical column to the first rows of one file of the sources.

    Raises IngestError where the rule is invalid, or names a column or path that the file does not have.
    """
    if (of_columns := _on_columns(file, canonical, rule)) is not None:
        return of_columns
    with gathered(source) as pieces:
        piece = next((p for p in pieces if p.name == file.name), pieces[0])
        basic = file.format if file.format != "unknown" else "auto"
        reader, mapping = with_derived(
            open_reader(piece.path, piece.name, basic, piece.scratch), {canonical: rule}, piece
        )
        rows = reader.head(SAMPLE)
    column = str(mapping[canonical])
    if column not in reader.columns:
        return RuleTrial((), ())
    at, header = reader.columns.index(column), reader.columns
    by = next((header.index(source) for source in sources_of(rule) if source in header), None)
    hits, misses = [], []
    for row in rows:
        value = row[at] if at < len(row) else None
        text = "" if by is None or by >= len(row) else row[by] or ""
        if value is None:
            misses.append(text)
        else:
            hits.append((text, value))
    return RuleTrial(tuple(hits), tuple(misses))


def _on_columns(file: FilePlan, canonical: str, rule: str) -> RuleTrial | None:
    """The results of a rule on the names of wide columns, one per column; None for other rules and tables."""
    what, wide = next(((c, v) for c, v in file.mapping.items() if isinstance(v, tuple)), ("", ()))
    if wide and is_crossing(rule):
        names = names_within(what, wide, {**file.mapping, canonical: rule}, file.name)
        given = dict(zip(wide, names[canonical], strict=True))
    elif wide and is_reason_rule(rule):
        given = reasons_by(rule, file.columns, wide)
    else:
        return None
    hits = tuple((c, given[c]) for c in wide if c in given)
    return RuleTrial(hits, tuple(c for c in wide if c not in given), "column")
