"""How learners on joint features ended, in verdicts and sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...fitting.scan.perceptron import FOREVER, TIES
from ...fitting.scan.tally import Tally
from ...numerics.arrays import Floats
from ...results.claims import JointClaim
from ...results.proofs import Separation
from ...results.verdict import Rank, Verdict
from ..perceptron.words import rows_read, still_wrong


def perceptron_verdict(
    claim: JointClaim,
    found: Tally,
    mistakes: NDArray[np.int64],
    passes: float,
    ended: str,
    ties: str,
    order: str,
    patience: int,
) -> Verdict:
    """*separated*, with θ as the certificate, if it separates the rows; else *budget* or *interrupted*."""
    rank, total = Rank(None, claim.weights.size, ()), int(mistakes.sum())
    spent = f"{total} mistake{'s' * (total != 1)} in {rows_read(passes, claim.rows, order)}"
    if ended == "interrupted":
        cause, remedy = f"Stopped by hand after {spent}.", "Fit again, with warm_start=True to go on from here."
        return Verdict("interrupted", rank, None, cause, remedy, claim)
    if found.separated:
        cause = (
            f"The weights separate the classes: on all {claim.rows} rows the own class is the strongest, by "
            f"{found.margin:.3g} of the length of θ at the least. It took {spent}."
        )
        return Verdict("separated", rank, Separation(claim.weights, 0.0, found.margin), cause, "", claim)
    cause = (
        f"No separating weights were found: {still_wrong(mistakes, passes, claim.rows, order)} The weights err on "
        f"{found.mistakes} of {claim.rows} rows."
    )
    remedy = "More passes may help; JointClassifier() says whether any weights separate the classes."
    if ended == "clean" and not all(TIES[ties]):
        cause = (
            f"A whole pass made no mistake, because ties={ties!r} lets a class win at equal scores; but predict takes "
            f"the first of the strongest, and errs on {found.mistakes} of {claim.rows} rows."
        )
        remedy = "With ties='mistake' equal scores move the weights."
    elif ended == "clean":
        cause = (
            "A whole pass made no mistake, but the weights that are kept do not part the classes beyond rounding, so "
            "no separation is claimed."
        )
    elif ended == "patience" and patience < FOREVER:
        cause += f" It ended because θ had not changed for {patience} step{'s' * (patience != 1)}."
    return Verdict("budget", rank, None, cause, remedy, claim)


def claim_of(
    model: Any, classes: NDArray[Any], bound: Any, theta: Floats, value: float, rows: Any, **more: Any
) -> JointClaim:
    """What is claimed of θ."""
    return JointClaim(
        tuple(classes.tolist()), bound, theta.copy(), value=value, rows=len(rows), tabular=rows.tabular, **more
    )
