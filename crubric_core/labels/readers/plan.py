"""The plan of an ingest: how each file will be read. It can be shown, changed, kept as JSON and carried out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args

from ...environment import typed
from ...errors import IngestError
from ...text import aligned, some
from .columns.specs import Kind

# canonical column → the file's column; "=value": one value for the whole file; a tuple: several columns (wide tables)
Columns = Mapping[str, str | tuple[str, ...]]
Words = Mapping[str, float | None]
DESCRIBED: tuple[Kind, ...] = ("queries", "rubrics", "answers")  # kinds that rows of labels may describe, too


@dataclass(frozen=True)
class Guess:
    """The column (or "=value") that was guessed for a canonical column, with the confidence (0 to 1) and the reason."""

    canonical: str
    column: str
    confidence: float
    reason: str


@dataclass(frozen=True)
class Options:
    """Choices that hold for all files.

    severity_points: severity → the points of a rubric from which it applies, such as {"critical": -8, "moderate": -4};
    empty: off. A negative threshold applies to points at or below it, a positive one to points at or above it.
    """

    severity_points: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Overrides:
    """The choices of the user before the files are inspected; parameters as in ``plan_ingest``.

    strict: whether columns are recognised by their names only, never by their contents alone. gold: columns of ground
    truth in a table of labels; None: recognised by their names.
    """

    kind: Kind | None = None
    mapping: Columns = field(default_factory=dict)
    format: str = "auto"
    strict: bool = False
    gold: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mapping, Mapping):
            raise IngestError(
                f"mapping = {self.mapping!r} is no mapping: give canonical columns with those of the file, such as "
                '{"system": "model"}.'
            )
        tuples = {c: v if isinstance(v, str) else tuple(v) for c, v in self.mapping.items()}
        object.__setattr__(self, "mapping", tuples)


@dataclass(frozen=True)
class FilePlan:
    """The plan of one file: its format and kind, and which of its columns are the canonical ones.

    kind: for layouts that hold several tables, "labels" reads all of them, another kind only that one ("gold": their
    labels as gold, the judge as annotator).
    gold: columns of a table of labels that are ground truth: read as gold labels, each column an annotator.
    described: descriptions in a table of labels: kind ("queries", "rubrics", "answers") → canonical column → column.
    remarks: sentences on further decisions. reason: how the layout was recognised, or why the file is skipped.
    unused: columns or fields that are not read. suspects: those of them that look like labels.
    apart: an unused column that differs between rows of the same system, query, rubric and judge; "" if there is none.
    tables: the kinds of rows that it will give. problem: a sentence on why it cannot be read as planned, or None.
    """

    name: str
    format: str
    title: str = ""
    kind: Kind = "labels"
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    mapping: Columns = field(default_factory=dict)
    guesses: tuple[Guess, ...] = ()
    words: Words = field(default_factory=dict)
    reason: str = ""
    gold: tuple[str, ...] = ()
    described: Mapping[str, Columns] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    apart: str = ""
    skip: bool = False
    problem: str | None = None

    @property
    def wide(self) -> tuple[str, ...]:
        """The label columns of a wide table; () where one column has all labels."""
        return wide_columns(self.mapping)

    @property
    def used(self) -> list[str]:
        """The columns, constants ("=value") and rules that labels and ground truth are read from."""
        return [*named_columns(self.mapping), *self.gold]

    def with_remarks(self, *remarks: str) -> FilePlan:
        """A copy of the plan with further remarks."""
        return replace(self, remarks=(*self.remarks, *remarks))


def wide_columns(mapping: Columns) -> tuple[str, ...]:
    """The label columns of a wide table in a mapping; () where one column has all labels."""
    return next((v for v in mapping.values() if isinstance(v, tuple)), ())


def named_columns(mapping: Columns) -> list[str]:
    """All values of a mapping as one list: columns, constants ("=value") and rules."""
    return [c for v in mapping.values() for c in (v if isinstance(v, tuple) else (v,))]


@dataclass(frozen=True)
class Plan:
    """The plans of all files of one ingest, the pattern of their names (None if there is none), and the options."""

    files: tuple[FilePlan, ...]
    pattern: str | None = None
    options: Options = field(default_factory=Options)

    def __str__(self) -> str:
        """A text for people: kind and column mapping of each file with the reasons, problems, and unused columns."""
        alike: dict[tuple[object, ...], list[FilePlan]] = {}
        for file in self.files:
            if not file.skip:
                columns = tuple((c, v[:1] if _is_fixed(v) else v) for c, v in file.mapping.items())
                alike.setdefault((file.tables or (file.kind,), columns, bool(file.problem)), []).append(file)
        return "\n".join([*(line for files in alike.values() for line in _shown(files)), *notes_of(self)])

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each file that is not skipped and cannot be read as planned."""
        return tuple(f.problem for f in self.files if f.problem and not f.skip)

    def file(self, name: str) -> FilePlan:
        """The plan of one file; IngestError where there is none of that name."""
        for found in self.files:
            if found.name == name:
                return found
        raise IngestError(
            f"The plan has no file {name!r}: it has {', '.join(repr(f.name) for f in self.files[:10])}."
        )

    def changed(self, name: str, **fields: Any) -> Plan:
        """A copy with new fields of one file; a new mapping, kind, words or format also clears its problem."""
        if {"mapping", "kind", "words", "format"} & set(fields):
            fields.setdefault("problem", None)
        new = replace(self.file(name), **fields)
        return replace(self, files=tuple(new if f.name == name else f for f in self.files))

    def to_json(self) -> str:
        """The plan as JSON text, which ``from_json`` reads back."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """A plan from its JSON text, where each file needs only a name and a format. Raises IngestError if invalid."""
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise IngestError(
                f"The plan cannot be read as JSON ({str(error)[:120]}): write it again."
            ) from error

    @classmethod
    def from_dict(cls, found: Any) -> Plan:
        """A plan from the parsed JSON object. Raises IngestError if it is not valid."""
        try:
            return cls(
                files=tuple(_file(f) for f in found["files"]),
                pattern=found.get("pattern"),
                options=Options(dict(found.get("options", {}).get("severity_points", {}))),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            printed = typed("ingest", "--dataset", "NAME", "--plan", "FILE")
            raise IngestError(
                f"The plan is not as `{printed}` prints it ({type(error).__name__}: {str(error)[:80]}): "
                'expected {"files": [{"name": …, "format": …}, …]}.'
            ) from error


def _file(found: Mapping[str, Any]) -> FilePlan:
    fields: dict[str, Any] = dict(found)
    fields["mapping"] = read_columns(fields.get("mapping", {}))
    fields["described"] = {k: read_columns(v) for k, v in fields.get("described", {}).items()}
    fields["guesses"] = tuple(Guess(**guess) for guess in fields.get("guesses", ()))
    for name in ("tables", "columns", "gold", "remarks", "unused", "suspects"):
        fields[name] = tuple(fields.get(name, ()))
    fields["words"] = {str(k): None if v is None else _level(v) for k, v in fields.get("words", {}).items()}
    if fields.get("kind", "labels") not in get_args(Kind):
        raise ValueError(f"kind {fields['kind']!r}")
    return FilePlan(**fields)


def _level(found: Any) -> float:
    """A level of a plan's JSON as an int if it is whole, else as a float."""
    level = float(found)
    return int(level) if level.is_integer() else level


def read_columns(found: Any) -> dict[str, str | tuple[str, ...]]:
    """A mapping from parsed JSON, with lists as tuples. Raises ValueError if it is not valid."""
    if not isinstance(found, dict):
        raise ValueError("a mapping is one object")  # noqa: TRY004 - all faults of a plan are one kind
    read: dict[str, str | tuple[str, ...]] = {}
    for canonical, column in found.items():
        if isinstance(column, (list, tuple)) and column and all(isinstance(c, str) for c in column):
            read[canonical] = tuple(column)
        elif isinstance(column, str):
            read[canonical] = column
        else:
            raise ValueError(f"{canonical} is mapped to {column!r}")
    return read


def notes_of(plan: Plan) -> tuple[str, ...]:
    """Sentences on skipped files, layouts, remarks, names from paths and unused columns, one for all equal files."""
    layouts: dict[str, list[str]] = {}
    unused: dict[str, list[str]] = {}
    remarks: dict[str, list[str]] = {}
    named = []
    for file in plan.files:
        if file.skip:
            continue
        if file.title and file.title != "a table":
            layouts.setdefault(f"{file.title} ({file.reason})", []).append(file.name)
        fixed = [f"{c} {v[1:]}" for c, v in file.mapping.items() if isinstance(v, str) and v.startswith("=")]
        if fixed:
            named.append(f"{file.name} was taken for {' and '.join(fixed)}.")
        for remark in (*file.remarks, *remarks_on_descriptions(file)):
            remarks.setdefault(remark, []).append(file.name)
        if file.unused:
            unused.setdefault(_some(file.unused, 12), []).append(file.name)
    return (
        *skipped_of(plan),
        *(f"{_some(names)} {_was(names)} read as {layout}." for layout, names in layouts.items()),
        *(f"{_some(names)}: {remark}." for remark, names in remarks.items()),
        *named[:_NAMED],
        *([f"{len(named) - _NAMED:,} more files were named by their paths."] if len(named) > _NAMED else []),
        *(f"Not used of {_some(names)}: {columns}." for columns, names in unused.items()),
    )


def skipped_of(plan: Plan) -> tuple[str, ...]:
    """Sentences on skipped files and the reasons, one for all files with the same reason."""
    skipped: dict[str, list[str]] = {}
    for file in plan.files:
        if file.skip:
            skipped.setdefault(file.problem or file.reason or "not wanted", []).append(file.name)
    return tuple(
        f"{_some(names)} {_was(names)} skipped: {why.rstrip('.')}." for why, names in skipped.items()
    )


def descriptions_of(file: FilePlan) -> dict[Kind, dict[str, str]]:
    """Kind → canonical column → column, of the descriptions in a table of labels, without columns that are mapped.

    Raises IngestError for a kind other than queries, rubrics and answers, and for several columns in place of one.
    """
    used = set(file.used)
    if foreign := set(file.described) - set(DESCRIBED):
        raise IngestError(
            f"The plan of {file.name} describes {min(foreign)!r}: rows of labels describe {', '.join(DESCRIBED)}."
        )
    found: dict[Kind, dict[str, str]] = {}
    for kind in DESCRIBED:
        for canonical, column in file.described.get(kind, {}).items():
            if not isinstance(column, str):
                raise IngestError(
                    f"The plan of {file.name} takes {canonical} of the {kind} from several columns: name one."
                )
            if column not in used:
                found.setdefault(kind, {})[canonical] = column
    return found


def _from(canonical: str, column: str) -> str:
    return f"{canonical} {column[1:]}" if column.startswith("=") else f"{canonical} from {column!r}"


def remarks_on_descriptions(file: FilePlan) -> tuple[str, ...]:
    """A remark on the columns of a table of labels that describe its queries, rubrics and answers; () if none do."""
    said = [
        f"{', '.join(_from(c, v) for c, v in columns.items() if c != 'rubric')} of the {kind}"
        + (f", which {columns['rubric']!r} names" if "rubric" in columns else "")
        for kind, columns in descriptions_of(file).items()
    ]
    return (f"each row's descriptions are read, too: {'; '.join(said)}",) if said else ()


def _is_fixed(column: str | tuple[str, ...]) -> bool:
    return isinstance(column, str) and column.startswith("=")


def _shown(files: Sequence[FilePlan]) -> list[str]:
    """Lines on files with the same plan: names and kinds, one line per canonical column, the first file's problem."""
    file = files[0]
    guesses = {guess.canonical: guess for guess in file.guesses}
    rows = []
    for canonical, column in file.mapping.items():
        if _is_fixed(column):
            source = f"is {_some(list(dict.fromkeys(str(f.mapping[canonical])[1:] for f in files)))}"
        else:
            source = f"from {_some((column,) if isinstance(column, str) else column)}"
        guess = guesses.get(canonical)
        rows.append((canonical, source, *((f"{guess.confidence:.0%}", guess.reason) if guess else ("", ""))))
    problem = [f"Cannot be read: {file.problem}"] if file.problem else []
    first = f"{_some([f.name for f in files])}: {', '.join(file.tables or (file.kind,))}"
    return [first, *(f"  {line}" for line in (*aligned(rows), *problem))]


_NAMED = 20  # most files that are listed one by one


def _some(names: Sequence[str], most: int = 3) -> str:
    return some((n if len(n) <= 80 else f"{n[:79]}…" for n in names), most)


def _was(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def remark_on_one_rubric(name: str) -> str:
    """The remark on a table without a rubric column; ``name`` becomes its only rubric."""
    return f"no column names a rubric, so {name!r} is taken as the only rubric of each query"
