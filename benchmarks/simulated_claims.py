"""What docs/ says of simulated tables, where the truth is known, as Markdown tables.

    python -m benchmarks.simulated_claims validity     # Pr(valid) and the share that is valid (docs/judges.md)
    python -m benchmarks.simulated_claims prior        # Pr(measurable) and the share that is (docs/judges.md)
    python -m benchmarks.simulated_claims together     # judges who err together (docs/judges.md)
    python -m benchmarks.simulated_claims mixture      # the Beta mixture of the simulated study (docs/judges.md)
    python -m benchmarks.simulated_claims equal        # judges who are alike (docs/judges.md)
    python -m benchmarks.simulated_claims rare         # judges who are alike and err seldom (docs/judges.md)
    python -m benchmarks.simulated_claims independent  # judges who err independently (docs/judges.md)
    python -m benchmarks.simulated_claims rates        # rates of judges some of whom guess (docs/judges.md)
    python -m benchmarks.simulated_claims asked        # judges who differ in what they were asked (docs/judges.md)
    python -m benchmarks.simulated_claims lopsided     # judges, and few queries with most rubrics (docs/judges.md)
    python -m benchmarks.simulated_claims attrition    # the curve where labels are missing (docs/judges.md)
    python -m benchmarks.simulated_claims clear        # rubrics that are equally clear (docs/experiments.md)
    python -m benchmarks.simulated_claims gap          # the gap between best and worst (docs/experiments.md)
    python -m benchmarks.simulated_claims kappa        # agreement of two raters (docs/experiments.md)
    python -m benchmarks.simulated_claims informed     # what a fit says of information (docs/selection.md)
    python -m benchmarks.simulated_claims misfit       # rubrics that misfit by chance (docs/experiments.md)
    python -m benchmarks.simulated_claims signs        # rubrics that go against the others (docs/experiments.md)
    python -m benchmarks.simulated_claims abilities    # what one ability and two show (docs/experiments.md)
    python -m benchmarks.simulated_claims linked       # two groups of systems on one scale (docs/placement.md)
    python -m benchmarks.simulated_claims models       # models that predict equally well (docs/experiments.md)
    python -m benchmarks.simulated_claims placed       # where new systems are said to stand (docs/placement.md)
    python -m benchmarks.simulated_claims drift        # two equal versions of a judge (docs/bank.md)
    python -m benchmarks.simulated_claims worth        # what a bank keeps (docs/selection.md)
    python -m benchmarks.simulated_claims new_systems  # banks on new systems (docs/selection.md)
    python -m benchmarks.simulated_claims crossfits    # the cross-fit and its smallest bank (docs/experiments.md)
    python -m benchmarks.simulated_claims flips        # flipped task types (docs/experiments.md)
    python -m benchmarks.simulated_claims self_preference  # judges who prefer their family (docs/experiments.md)
    python -m benchmarks.simulated_claims probabilities  # who is ahead, who is among the first (docs/inference.md)
    python -m benchmarks.simulated_claims few          # boards of fewer than six systems (docs/inference.md)
    python -m benchmarks.simulated_claims weights      # queries of unequal weight (docs/inference.md)
    python -m benchmarks.simulated_claims uneven       # queries of unequal numbers of rubrics (docs/inference.md)
    python -m benchmarks.simulated_claims copies       # systems that are listed twice (docs/inference.md)
    python -m benchmarks.simulated_claims splits       # systems with different numbers of judges (docs/judges.md)
    python -m benchmarks.simulated_claims graded       # abilities of labels from 1 to 5 (docs/inference.md)
    python -m benchmarks.simulated_claims groups       # one system in a group of queries (docs/inference.md)
    python -m benchmarks.simulated_claims turned       # pairs the other way in a group (docs/inference.md)
    python -m benchmarks.simulated_claims traits       # how abilities by dimension correlate (docs/inference.md)
    python -m benchmarks.simulated_claims human        # judges' means corrected by people (docs/inference.md)
    python -m benchmarks.simulated_claims losses       # expected losses of violations (docs/inference.md)
    python -m benchmarks.simulated_claims loss_banks   # banks that are chosen by losses (docs/selection.md)

``--tables`` is the number of simulated tables of each row, each with its own seed; ``--rows`` ends after so many rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import islice

from benchmarks.claims_asked import asked
from benchmarks.claims_copies import copies
from benchmarks.claims_crossfit import crossfits
from benchmarks.claims_drift import drift
from benchmarks.claims_few import few
from benchmarks.claims_fits import abilities, linked, misfit, signs
from benchmarks.claims_gap import gaps
from benchmarks.claims_graded import graded
from benchmarks.claims_human import human
from benchmarks.claims_information import informed
from benchmarks.claims_kappa import kappas
from benchmarks.claims_lopsided import lopsided
from benchmarks.claims_loss_banks import loss_banks
from benchmarks.claims_losses import losses
from benchmarks.claims_models import models
from benchmarks.claims_new_systems import new_systems
from benchmarks.claims_panels import equal, independent, rare_errors, rates, together
from benchmarks.claims_perturbation import flips
from benchmarks.claims_placed import placed
from benchmarks.claims_self_preference import self_preferences
from benchmarks.claims_splits import splits
from benchmarks.claims_standing import groups, probabilities, turned, uneven, weights
from benchmarks.claims_traits import traits
from benchmarks.claims_unanimity import attrition, clear, mixture
from benchmarks.claims_validity import prior, validity
from benchmarks.claims_worth import worth

Rows = Iterator[tuple[object, ...]]
"""The head of a table, then its rows; an empty row ends the table, and another table may follow."""
CLAIMS: dict[str, tuple[Callable[[int], Rows], int]] = {
    "validity": (validity, 40),
    "prior": (prior, 20),
    "together": (together, 20),
    "equal": (equal, 200),
    "rare": (rare_errors, 600),
    "independent": (independent, 100),
    "rates": (rates, 40),
    "lopsided": (lopsided, 200),
    "asked": (asked, 40),
    "attrition": (attrition, 40),
    "mixture": (mixture, 1),
    "clear": (clear, 40),
    "gap": (gaps, 500),
    "kappa": (kappas, 1000),
    "informed": (informed, 10),
    "misfit": (misfit, 10),
    "signs": (signs, 200),
    "abilities": (abilities, 40),
    "linked": (linked, 20),
    "models": (models, 100),
    "placed": (placed, 30),
    "drift": (drift, 100),
    "worth": (worth, 1000),
    "new_systems": (new_systems, 1000),
    "crossfits": (crossfits, 40),
    "flips": (flips, 300),
    "self_preference": (self_preferences, 1000),
    "probabilities": (probabilities, 200),
    "few": (few, 400),
    "weights": (weights, 400),
    "uneven": (uneven, 200),
    "copies": (copies, 200),
    "splits": (splits, 100),
    "graded": (graded, 200),
    "groups": (groups, 200),
    "turned": (turned, 200),
    "traits": (traits, 100),
    "human": (human, 200),
    "losses": (losses, 200),
    "loss_banks": (loss_banks, 100),
}
"""Claim → the function that measures it, and the number of tables that docs/ reports."""


def main() -> None:
    """Print the tables of one claim as Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("claim", choices=CLAIMS)
    parser.add_argument("--tables", type=int, help="default: as many as docs/ tells of")
    parser.add_argument("--rows", type=int, help="default: all")
    args = parser.parse_args()
    measure, tables = CLAIMS[args.claim]
    head = True
    for row in islice(measure(args.tables or tables), args.rows and 1 + args.rows):
        print("| " + " | ".join(map(str, row)) + " |" if row else "", flush=True)
        if head and row:
            print("|" + " --- |" * len(row))
        head = not row


if __name__ == "__main__":
    main()
