"""What was understood of some files, before anything is read in: shown, changed, kept as JSON, carried out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args

from ...environment import typed
from ...errors import IngestError
from ...text import aligned, some
from .columns.specs import Kind

# canonical column → the file's column; "=value": the same for the whole file; a list: one column each (wide tables)
Columns = Mapping[str, str | tuple[str, ...]]
Words = Mapping[str, float | None]
DESCRIBED: tuple[Kind, ...] = ("queries", "rubrics", "answers")  # what rows of labels may describe


@dataclass(frozen=True)
class Guess:
    """Which column (or "=value") was taken for a canonical one, how sure that is (0 to 1), and why."""

    canonical: str
    column: str
    confidence: float
    reason: str


@dataclass(frozen=True)
class Options:
    """Choices that hold for all files.

    severity_points: severity → points at which it begins, such as {"critical": -8, "moderate": -4}; empty: off.
    A negative threshold holds for points at or below it, a positive one for points at or above it.
    """

    severity_points: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Overrides:
    """What the user decided beforehand. strict: no column is taken for another by its contents alone.

    gold: columns of ground truth in a table of labels; None: by their names.
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
    """One file: what it is taken for, and how its columns become the canonical ones.

    kind: for layouts that hold several tables, "labels" takes all of them, another kind that one alone ("gold":
    their labels as gold, the judge as annotator).
    gold: columns whose labels are ground truth, in a table of labels: read as gold, each an annotator.
    described: columns of a table of labels that describe what it names: kind of table → canonical column → column.
    remarks: what else was done to read it, a sentence each.
    unused: its columns, or fields, that nothing is taken from; suspects: those of them that look like labels.
    apart: an unused column in which rows differ that are about the same system, query, rubric and judge; "" where none.
    tables: the kinds of rows that it will give. problem: one sentence on why it cannot be read as planned.
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
        """The columns of a wide table's labels; none where one column has all labels."""
        return wide_columns(self.mapping)

    @property
    def used(self) -> list[str]:
        """The columns, constants and rules that labels and ground truth are taken from."""
        return [*named_columns(self.mapping), *self.gold]

    def with_remarks(self, *remarks: str) -> FilePlan:
        """The plan of the file with further remarks."""
        return replace(self, remarks=(*self.remarks, *remarks))


def wide_columns(mapping: Columns) -> tuple[str, ...]:
    """The columns that a mapping takes the labels of a wide table from; none where it names one for all labels."""
    return next((v for v in mapping.values() if isinstance(v, tuple)), ())


def named_columns(mapping: Columns) -> list[str]:
    """All columns that a mapping names, constants and rules as they are."""
    return [c for v in mapping.values() for c in (v if isinstance(v, tuple) else (v,))]


@dataclass(frozen=True)
class Plan:
    """All files of one ingest, the pattern that their names follow, and the options."""

    files: tuple[FilePlan, ...]
    pattern: str | None = None
    options: Options = field(default_factory=Options)

    def __str__(self) -> str:
        """What each file is taken for, which column is what and why, what is unclear, and what is not used."""
        alike: dict[tuple[object, ...], list[FilePlan]] = {}
        for file in self.files:
            if not file.skip:
                columns = tuple((c, v[:1] if _is_fixed(v) else v) for c, v in file.mapping.items())
                alike.setdefault((file.tables or (file.kind,), columns, bool(file.problem)), []).append(file)
        return "\n".join([*(line for files in alike.values() for line in _shown(files)), *notes_of(self)])

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each file that is wanted and cannot be read as planned."""
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
        """A plan with some fields of one file changed; a change of mapping, kind or words mends its problem."""
        if {"mapping", "kind", "words", "format"} & set(fields):
            fields.setdefault("problem", None)
        new = replace(self.file(name), **fields)
        return replace(self, files=tuple(new if f.name == name else f for f in self.files))

    def to_json(self) -> str:
        """The plan as JSON text, which ``from_json`` reads back."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """A plan from its JSON; of each file only name and format must be there. Raises IngestError."""
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise IngestError(
                f"The plan cannot be read as JSON ({str(error)[:120]}): write it again."
            ) from error

    @classmethod
    def from_dict(cls, found: Any) -> Plan:
        """A plan from the object that its JSON holds; raises IngestError where it is none."""
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
    """A level as a plan's JSON has it: whole, but where it is a part of a percentage or a ratio."""
    level = float(found)
    return int(level) if level.is_integer() else level


def read_columns(found: Any) -> dict[str, str | tuple[str, ...]]:
    """A mapping as JSON has it, lists as tuples; ValueError where it is none."""
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
    """What was understood beyond the columns' names, and what was not used: a sentence for all files alike."""
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
        for remark in (*file.remarks, *told_of_descriptions(file)):
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
    """Which files are not read and why: a sentence for all files alike."""
    skipped: dict[str, list[str]] = {}
    for file in plan.files:
        if file.skip:
            skipped.setdefault(file.problem or file.reason or "not wanted", []).append(file.name)
    return tuple(
        f"{_some(names)} {_was(names)} skipped: {why.rstrip('.')}." for why, names in skipped.items()
    )


def descriptions_of(file: FilePlan) -> dict[Kind, dict[str, str]]:
    """Kind → canonical column → column of the descriptions in a table of labels; none of a column that is mapped.

    Raises IngestError where a plan describes what no row of labels does.
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


def told_of_descriptions(file: FilePlan) -> tuple[str, ...]:
    """Which columns of a table of labels describe its queries, rubrics and answers: one sentence, or none."""
    said = [
        f"{', '.join(_from(c, v) for c, v in columns.items() if c != 'rubric')} of the {kind}"
        + (f", which {columns['rubric']!r} names" if "rubric" in columns else "")
        for kind, columns in descriptions_of(file).items()
    ]
    return (f"each row's descriptions are read, too: {'; '.join(said)}",) if said else ()


def _is_fixed(column: str | tuple[str, ...]) -> bool:
    return isinstance(column, str) and column.startswith("=")


def _shown(files: Sequence[FilePlan]) -> list[str]:
    """Files that are read alike: their names and kinds, a line a canonical column of the first, and its problem."""
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


_NAMED = 20  # files whose names are told one by one


def _some(names: Sequence[str], most: int = 3) -> str:
    return some((n if len(n) <= 80 else f"{n[:79]}…" for n in names), most)


def _was(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def told_of_one_rubric(name: str) -> str:
    """What is said of a table that names no rubric."""
    return f"no column names a rubric, so {name!r} is taken as the only rubric of each query"
