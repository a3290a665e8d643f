"""A rule of a mapping tried on the first rows of a file: what it understands, and what it does not."""

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
    """What a rule gives on the first rows.

    hits: (text, value) of each row that it understands; the text of a path into JSON is "". misses: the texts that
    it does not understand. of: what stands for a row; for a rule about wide columns each ``column``, its name the text.
    """

    hits: tuple[tuple[str, str], ...]
    misses: tuple[str, ...]
    of: str = "row"

    @property
    def rows(self) -> int:
        """How many rows, or columns, were tried."""
        return len(self.hits) + len(self.misses)


def try_rule(source: Sources, file: FilePlan, canonical: str, rule: str) -> RuleTrial:
    """What ``rule`` gives for the canonical column, on the first rows of one file of the sources.

    Raises IngestError where the rule cannot be read, or names what is not there.
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
    """What a rule about the names of wide columns gives for each of them; None of other rules and tables."""
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
