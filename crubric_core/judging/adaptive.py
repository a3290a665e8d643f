"""Judge systems, best rubrics first, until abilities are precise enough or tiers settled (docs/method.md §13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..endpoints.asking import Patience
from ..endpoints.watch import UNWATCHED, Watch
from ..errors import SettingsError
from ..placement.abilities import expected_information, next_best
from ..placement.bank_scale import BankScale
from ..placement.new_labels import read_new_labels
from ..placement.outlook import Forecast, Outlook
from ..placement.place import place_systems
from ..types import FloatArray, IntArray
from .calls import Call
from .labels_file import LabelsFile
from .run import JudgeRun, Judging, judges_of

BATCH = 5
REACHED, SETTLED = "the standard error is reached", "the tier is settled"
EXHAUSTED = "every rubric of the bank with an answer was asked, unless it is constant"
CANCELLED, FAILED = "it was cancelled", "a judge did not answer"


@dataclass(frozen=True)
class Stop:
    """Why judging of one system ended, with its state then.

    rubrics: number of the bank's rubrics that a judge answered. judgements: number of verdicts in the file, of all
    judges and runs. theta, se: ability and its standard error, as by ``place_systems``; NaN without a label. outlook:
    of the tier, if requested.
    """

    system: str
    rubrics: int
    judgements: int
    theta: float
    se: float
    reason: str
    outlook: Outlook | None = None


def judge_until(
    bank_scale: BankScale,
    calls: Sequence[Call],
    file: LabelsFile,
    target: float | None,
    *,
    tier: float | None = None,
    batch: int = BATCH,
    patience: Patience | None = None,
    watch: Watch = UNWATCHED,
) -> tuple[JudgeRun, list[Stop]]:
    """Ask ``batch`` rubrics of each system at a time, best first, until a stopping rule is met.

    target: stop when the standard error is at most this. tier: stop when the current tier is final with this
    probability, given the rest of these calls. If both are given, the first that is met applies. calls: one rubric
    each. Verdicts already in the file count. Returns what came of the calls, and one Stop for each system. Raises
    SettingsError.
    """
    _check(target, tier, batch, calls)
    forecast = None if tier is None else Forecast(bank_scale)
    judging = Judging(judges_of(calls), file, patience, watch)
    plan = _Plan(bank_scale, calls, file, judging)
    stops: dict[str, Stop] = {}
    while len(stops) < len(plan.systems):
        y, theta, se = plan.state()
        wanted: list[Call] = []
        for n, system in enumerate(plan.systems):
            if system in stops:
                continue
            batch_calls = plan.batch(n, y, batch)
            outlook = None if forecast is None else forecast.outlook(y[n], plan.open(n))
            reached = REACHED if target is not None and se[n] <= target else ""
            if not reached and outlook is not None and batch_calls and outlook.settled(tier or 0.0):
                reached = SETTLED
            reason = reached or (CANCELLED if watch.stopped else "" if batch_calls else plan.end(n))
            if reason:
                stops[system] = replace(plan.stop(n, float(theta[n]), float(se[n]), reason), outlook=outlook)
            wanted += [] if reason else batch_calls
        judging.ask(wanted)
    return judging.run, [stops[system] for system in plan.systems]


def _check(target: float | None, tier: float | None, batch: int, calls: Sequence[Call]) -> None:
    if target is None and tier is None:
        raise SettingsError(
            "Say when to stop: give a standard error, or the probability with which a tier stays."
        )
    if (target is not None and not target > 0) or batch < 1:
        raise SettingsError(f"until-se = {target} with batches of {batch}: both have to be above 0.")
    if tier is not None and not 0.5 <= tier < 1:
        raise SettingsError(
            f"until-tier = {tier:g} is not a probability to settle at: give 0.5 or more, below 1."
        )
    if any(len(call.rubrics) > 1 for call in calls):
        raise SettingsError("until-se and until-tier ask one criterion a call: leave --per query out.")


class _Plan:
    """The calls by system and rubric, with their answers in the file, and which calls no judge answers any more."""

    def __init__(
        self, bank_scale: BankScale, calls: Sequence[Call], file: LabelsFile, judging: Judging
    ) -> None:
        self._bank_scale, self._file, self._judging = bank_scale, file, judging
        self.systems = sorted({call.system for call in calls})
        tokens = [f"{key}@{bank_scale.bank_id}" for key in bank_scale.rubrics["id"]]
        row = {token: n for n, token in enumerate(tokens)}
        self._calls: dict[tuple[int, int], list[Call]] = {}
        for call in calls:
            place = self.systems.index(call.system), row[call.rubrics[0].token]
            self._calls.setdefault(place, []).append(call)

    def _missing(self, place: tuple[int, int]) -> list[Call]:
        return [call for call in self._calls[place] if self._file.missing(call)]

    def _open(self, place: tuple[int, int]) -> list[Call]:
        return [call for call in self._missing(place) if not self._judging.gone(call)]

    def state(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(y, theta, se): levels (N, B) as the bank reads them, abilities and standard errors (N,)."""
        y = np.full((len(self.systems), len(self._bank_scale.rubrics)), np.nan)
        theta, se = np.full((2, len(self.systems)), np.nan)
        if not self._file.n_verdicts:
            return y, theta, se
        new = read_new_labels(self._bank_scale, self._file.path, allow_unused=True)
        placed = place_systems(self._bank_scale, new, 0)
        for n, system in enumerate(self.systems):
            if system in new.systems:
                at = new.systems.index(system)
                y[n] = new.y[at]
                theta[n], se[n] = placed.placements[at].theta, placed.placements[at].theta_se
        return y, theta, se

    def _rows(self, n: int) -> list[int]:
        """Rubrics of system ``n`` that are informative: those that are not constant."""
        constant = self._bank_scale.fit.constant
        return sorted(row for system, row in self._calls if system == n and not constant[row])

    def open(self, n: int) -> IntArray:
        """Rubrics of system ``n`` that still have to be asked."""
        return np.array([row for row in self._rows(n) if self._open((n, row))], dtype=np.int64)

    def batch(self, n: int, y: FloatArray, size: int) -> list[Call]:
        """The open calls of the ``size`` open rubrics of system ``n`` with most expected information."""
        bank = self._bank_scale
        expected = expected_information(bank.fit, y[n : n + 1], bank.bank)[0]
        best = next_best(expected, self.open(n), size)
        return [call for row in best.tolist() for call in self._open((n, row))]

    def end(self, n: int) -> str:
        """Why system ``n`` has no open rubric."""
        return FAILED if any(self._missing((n, row)) for row in self._rows(n)) else EXHAUSTED

    def stop(self, n: int, theta: float, se: float, reason: str) -> Stop:
        """The Stop of system ``n``, with its numbers of rubrics and verdicts."""
        places = [place for place in self._calls if place[0] == n]
        done = [len(self._calls[place]) - len(self._missing(place)) for place in places]
        return Stop(self.systems[n], sum(made > 0 for made in done), sum(done), theta, se, reason)
