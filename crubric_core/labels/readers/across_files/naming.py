"""Take system and judge from the files' paths, for files whose rows do not name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..columns.specs import MISSING, SPECS
from ..describing import Found
from ..file_names import fields_of, guess_pattern
from ..formats.native import NATIVE
from ..guess import MODEL
from ..plan import FilePlan, Guess, wide_columns
from ..sources import Piece
from ..tables.plan_cells import repeats, rows_of_keys
from ..tables.raters import settled
from ..tables.whose_answers import BY_PATH
from .repeated_values import without_repeated_values

_ANNOTATED = ("label-studio", "argilla")  # layouts of tools that often export one file for each person


def name_files(
    found: list[Found], pieces: Sequence[Piece], pattern: str | None, done_with: set[str], *, strict: bool
) -> tuple[list[Found], str | None]:
    """(the files with system and judge from their paths, if they lack these, the pattern of the paths or None).

    pattern: given by the user; None: guessed. done_with: names of files with a complete earlier plan. If the roles in
    the names are open and ``strict`` is set, the first file's problem asks for them.
    """
    if pattern is None:
        incomplete = [
            i for i, f in enumerate(found) if not f.plan.skip and f.plan.name not in done_with and _lacks(f)
        ]
        asked = [i for i in incomplete if "system" in _lacks(found[i])]
        wanted = "{system}" if asked else "{judge}"
        asked = asked or incomplete
        bare = all(_has_no_rubric(found[i].plan) for i in asked)
        guess = guess_pattern([_path_of(pieces[i]) for i in asked], criteria=bare) if asked else None
        proposed = guess
        if guess is not None:
            guess = without_repeated_values(
                guess, [found[i] for i in asked], [pieces[i].seen_path for i in asked]
            )
        if (
            guess is None
            or wanted not in guess.pattern
            or (strict and pieces[0].alone and _is_bare(found, asked))
            or _may_be_people([found[i].plan for i in asked], [pieces[i] for i in asked], guess.pattern)
        ):
            return [_unnamed(f) for f in found], None
        if strict and guess.asked and guess == proposed:
            refused = found[asked[0]].changed(problem=guess.asked)
            return [refused if i == asked[0] else _unnamed(f) for i, f in enumerate(found)], None
        pattern, confidence, why = guess.pattern, guess.confidence, guess.reason
    else:
        confidence, why = 1.0, "the pattern"
        incomplete = [i for i, f in enumerate(found) if not f.plan.skip and f.plan.name not in done_with]
    named = list(found)
    for i in incomplete:
        fields = fields_of(pattern, pieces[i].seen_path)
        named[i] = _asked_again(_with_fields(found[i], fields, confidence, why), strict=strict)
    return [_unnamed(f) for f in named], pattern


def _has_no_rubric(plan: FilePlan) -> bool:
    """Whether a table has no column or columns for the rubric."""
    rubric = plan.mapping.get("rubric", "=")
    return plan.format not in NATIVE and isinstance(rubric, str) and rubric.startswith("=")


def _may_be_people(plans: Sequence[FilePlan], pieces: Sequence[Piece], pattern: str) -> bool:
    """Whether files are exports of an annotation tool whose names are not all models, so that they may be persons."""
    systems = [fields_of(pattern, piece.seen_path).get("system", "") for piece in pieces]
    annotated = any(plan.format in _ANNOTATED for plan in plans)
    return annotated and "{judge}" not in pattern and not all(map(MODEL.search, systems))


def _asked_again(found: Found, *, strict: bool) -> Found:
    """The table with its query and judge settled, which was not possible while its system was unknown."""
    if found.plan.format in NATIVE:
        return found
    return replace(found, plan=settled(found.plan, found.rows, strict=strict))


def _path_of(piece: Piece) -> str:
    """The path that is used for guesses: only folder and name if it is the only file."""
    return "/".join(piece.seen_path.split("/")[-2:]) if piece.alone else piece.seen_path


def _lacks(found: Found) -> tuple[str, ...]:
    """The columns among system and judge that a file lacks; for a native layout, all that its path has to give."""
    if found.plan.format in NATIVE:
        return tuple(n for n in found.needs if n not in found.plan.mapping)
    if found.plan.kind != "labels" or found.plan.format == "unknown":
        return ()
    spread = {c for c, v in found.plan.mapping.items() if isinstance(v, tuple)}
    return tuple(c for c in ("system", "judge") if c not in found.plan.mapping and c not in spread)


def _is_bare(found: list[Found], asked: Sequence[int]) -> bool:
    """Whether any of the files that lack a system is a table, not a native layout."""
    return any(found[i].plan.format not in NATIVE for i in asked)


def _with_fields(found: Found, fields: Mapping[str, str], confidence: float, why: str) -> Found:
    file = found.plan
    wanted = dict(fields)
    if file.format in NATIVE:
        wanted = {c: v for c, v in fields.items() if c in _lacks(found) or confidence == 1.0}
    else:
        guessed = {c for c, v in file.mapping.items() if isinstance(v, str) and v.startswith("=")}
        free = guessed if confidence == 1.0 else guessed & {"rubric"}  # the default rubric may be replaced
        open_ = set(SPECS[file.kind].columns) - file.mapping.keys() | free
        if confidence < 1.0 and repeats(rows_of_keys(file, found.rows)):
            open_ -= {"query"}  # the file has several queries
        wanted = {c: v for c, v in wanted.items() if c in open_}
    if not wanted:
        return found
    guesses = tuple(Guess(c, f"={v}", confidence, f"{BY_PATH}{why}") for c, v in wanted.items())
    mapping = {**file.mapping, **{c: f"={v}" for c, v in wanted.items()}}
    spread = {"label"} if wide_columns(mapping) else set()
    missing = set(SPECS[file.kind].needed) - set(mapping) - spread
    lacked = file.format in NATIVE or (MISSING in (file.problem or "") and not missing)
    return replace(
        found,
        plan=replace(
            file,
            mapping=mapping,
            guesses=(*file.guesses, *guesses),
            problem=None if lacked else file.problem,
        ),
        needs=tuple(n for n in found.needs if n not in wanted),
    )


def _unnamed(found: Found) -> Found:
    """The file with a problem if its system is not known; a judge has a default name."""
    if "system" not in found.needs or found.plan.problem or "system" in found.plan.mapping:
        return found
    problem = (
        f"{found.plan.name} does not say which system it is about: give its name "
        '({"system": "=…"} in the mapping), or a pattern of the file names such as {system}__{judge}.jsonl.'
    )
    return found.changed(problem=problem)
