"""Change the scale or the pass mark of a criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import DatasetError
from ..ingest.rubric_facts import named_as
from ..readers.values import shortened

if TYPE_CHECKING:
    from ..ingest.report import IngestReport
    from .workspace import Workspace


def set_scale(
    workspace: Workspace,
    dataset: str,
    criterion: str,
    scale: tuple[int, int] | None = None,
    pass_mark: int | None = None,
) -> IngestReport:
    """Set the scale (lowest, highest), the pass mark, or both, of a criterion; it can be undone like an ingest.

    criterion: its name, or ``*`` for all (of a pass mark alone: all graded ones). Raises DatasetError if there is no
    such criterion or the mark is not above the lowest and at most the highest level, IngestError if stored labels are
    outside the scale.
    """
    ds = workspace.dataset(dataset)
    table = ds.criteria
    wanted = table[(table["criterion"].str.lower() == criterion.lower()) | (criterion == "*")]
    if criterion == "*" and scale is None:
        wanted = wanted[wanted["levels"] > 2]
        if wanted.empty and len(table):
            raise DatasetError(
                f"No criterion of the dataset {dataset!r} is graded: labels of two levels have no pass mark to move."
            )
    if wanted.empty:
        some = ", ".join(repr(shortened(str(c))) for c in table["criterion"].head(5))
        raise DatasetError(
            f"The dataset {dataset!r} has no criterion {criterion!r} to change: it has {some or 'none'}."
        )
    low, high = scale or (int(wanted["scale_min"].max()), int(wanted["scale_max"].min()))
    if pass_mark is not None and not low < pass_mark <= high:
        raise DatasetError(
            f"The pass mark {pass_mark} of {criterion!r} is out of range: expected {low + 1} to {high}, so that labels "
            "can pass and fail."
        )
    with workspace.reading() as cursor:
        rubrics = cursor.execute(*named_as(ds.id, wanted["criterion"].tolist())).df()
    given = {"scale_min": scale[0], "scale_max": scale[1]} if scale else {}
    given |= {} if pass_mark is None else {"pass_mark": pass_mark}
    content = rubrics.assign(**given).to_csv(index=False).encode()
    name = f"scale of {shortened(criterion)} (edited)"
    return workspace.ingest(content, dataset, "rubrics", format="csv", on_conflict="last", name=name)
