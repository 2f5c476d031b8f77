"""The checks of a model and a table: each passed, failed or not known, in a sentence, with what to do."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...inference.summary.numerals import brief, percent
from ...numerics.arrays import Floats
from ...results.verdict import listed
from ...wording import call, setting
from ..evaluation.ranking import area
from .inputs import Inputs
from .markup import class_name, power
from .weights import INTERCEPTS

PASSED = "passed"
FAILED = "failed"
UNKNOWN = "not known"
EVENTS = 10
"""Rows of the rarest class for each weight, below which the check fails."""
RARE = 0.05
"""The share of the rarest class, below which the check fails."""
ILL = 1e6
"""The condition of the standardised columns, from which on the check fails."""
GIVEN_AWAY = 0.99
"""The AUC of a single column, above which the check fails."""
SAME = 1e-6
"""How far the scores of a refit may be from those of the model, relative to their size."""
PLAIN = re.compile(r"\w[\w.=/%()+-]*")
"""Names that need no quotation marks in a sentence."""
SIZE = 4_000_000
"""Numbers of X up to which separation is looked for where the fit itself has not."""


@dataclass(frozen=True)
class Check:
    """One line of the list that a report begins with."""

    name: str
    state: str
    sentence: str
    remedy: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def quoted(name: str) -> str:
    """A name that is more than a word in quotation marks, so that sentences can be read."""
    if name in INTERCEPTS:
        return "the intercept"
    return name if PLAIN.fullmatch(name) else f"“{name}”"


def signed_share(value: float) -> str:
    """−0.558"""
    return f"{value:.3f}".replace("-", "−")


def all_checks(inputs: Inputs, held: dict[str, Any]) -> tuple[Check, ...]:
    """Every check, in the order of a fit: the end it came to, the columns, the rows, the predictions."""
    return (
        separation(inputs),
        certificate(inputs),
        repeatable(inputs),
        rank(inputs),
        condition(inputs),
        events(inputs),
        balance(inputs),
        *given_away(inputs),
        missing(inputs),
        unseen(inputs),
        calibration(inputs, held),
    )


# ------------------------------------------------------------------------------------------------------------- the fit


def separation(inputs: Inputs) -> Check:
    """Whether the classes overlap, so that maximum likelihood has a finite answer."""
    name, verdict = "Separation", dict(inputs.model.verdict or {})
    status, claim = verdict.get("status"), dict(verdict.get("claim") or {})
    if status in ("separated", "quasi-separated"):
        return _separated(name, str(status), verdict, claim)
    plain = claim.get("objective") == "likelihood" and not claim.get("l2")
    if status == "optimal" and plain:
        return Check(name, PASSED, "The classes overlap: the fit proved that the likelihood has a maximum, so that "
                     "every weight has a finite value.")  # fmt: skip
    if inputs.X.size > SIZE:
        return Check(
            name, UNKNOWN, f"The table is large, so it was not looked for; {call('separability(X, y)')} does that."
        )
    from ...learners.geometry.separability import separability

    kind = separability(inputs.X, inputs.truth, inputs.weights).kind
    if kind == "overlap":
        return Check(name, PASSED, "The classes overlap: no rule is right on some rows without erring on others.")
    return Check(
        name, FAILED, f"The classes are {kind} in these rows: maximum likelihood would send weights to infinity, and "
        "only what this learner does otherwise keeps them finite.",
        f"Look for columns that give the class away: {call('separability(X, y)')} names them.",
    )  # fmt: skip


def _separated(name: str, status: str, verdict: dict[str, Any], claim: dict[str, Any]) -> Check:
    if claim.get("objective") == "mistakes" or verdict.get("ok"):
        return Check(name, PASSED, "The classes are separated, which is what this learner sets out for: no training "
                     "row is on the wrong side.")  # fmt: skip
    found = (verdict.get("separability") or {}).get("coefficients") or {}
    blocks = found.values() if found and all(isinstance(each, dict) for each in found.values()) else [found]
    gone = [column for block in blocks for column, end in block.items() if end in ("+inf", "-inf")]
    gone = list(dict.fromkeys(gone))
    names = f" The weights of {listed(list(map(quoted, gone)))} go to infinity." if gone else ""
    how = "separates all rows" if status == "separated" else "separates some rows and errs on none"
    return Check(
        name, FAILED, f"The classes are {status}: a rule {how}, so that the likelihood has no maximum.{names}",
        f"Penalise ({setting('l2', 0.01)}, of two classes also {setting('objective', 'firth')}), or leave out or merge "
        "the columns that give the class away.",
    )  # fmt: skip


def certificate(inputs: Inputs) -> Check:
    """Whether what the fit claims was computed again from the rows by code that shares nothing with the solver."""
    name, verdict, refit = "Certificate", dict(inputs.model.verdict or {}), inputs.refit
    if not verdict:
        return Check(name, UNKNOWN, "The model file holds no verdict.")
    status = str(verdict.get("status"))
    if inputs.model.interrupted or status in ("budget", "interrupted", "not-separable"):
        return Check(name, FAILED, f"The fit ended {status}, before it reached what it set out for.",
                     str(verdict.get("remedy") or "Fit again, and let it end."))  # fmt: skip
    if refit.checked is None:
        why = f": {refit.why}" if refit.why else "."
        return Check(name, UNKNOWN, f"The file says {status}; that was not computed again{why}")
    if not refit.checked:
        return Check(name, FAILED, "The certificate of the refitted learner does not pass its check.",
                     "Please report this: it is a bug.")  # fmt: skip
    gap = (verdict.get("certificate") or {}).get("relative_gap")
    bound = f" The loss is at most {power(gap)} of its size above the best there is." if isinstance(gap, float) else ""
    return Check(name, PASSED, f"The fit ended {status}, and its certificate was computed again from the rows by "
                 f"separate code.{bound}")  # fmt: skip


def repeatable(inputs: Inputs) -> Check:
    """Whether the learner, fitted to these rows again, gives the model of the file."""
    name, refit = "Repeatable", inputs.refit
    if not inputs.seen and not (inputs.model.training or {}).get("fingerprint"):
        return Check(name, UNKNOWN, "The model file does not say which rows it was learnt from, and its learner gives "
                     "another model on these rows.")  # fmt: skip
    if not inputs.seen:
        return Check(name, UNKNOWN, "These are not the rows that the model was learnt from, so that it cannot be "
                     "learnt again here.")  # fmt: skip
    if refit.difference is None:
        return Check(
            name, UNKNOWN, f"It was not learnt again: {refit.why}" if refit.why else "It was not learnt again."
        )
    if refit.difference <= SAME:
        return Check(name, PASSED, "The learner was fitted to the same rows again, and its scores are those of the "
                     f"model file to {power(refit.difference)} of their size." if refit.difference else
                     "The learner was fitted to the same rows again, and its scores are those of the model file to "
                     "the last digit.")  # fmt: skip
    return Check(name, FAILED, "The learner was fitted to the same rows again, and its scores differ from those of the "
                 f"model file by {refit.difference:.1e} of their size.",
                 "Compare the versions below with yours; or the file was changed.")  # fmt: skip


# --------------------------------------------------------------------------------------------------------- the columns


def rank(inputs: Inputs) -> Check:
    """Whether some columns are combinations of others."""
    found = (inputs.model.verdict or {}).get("rank") or {}
    aliased = list(found.get("aliased") or ())
    if aliased:
        one = len(aliased) == 1
        said = "is a combination of other columns: its weight is" if one else (
            "are combinations of other columns: their weights are")  # fmt: skip
        return Check("Rank", FAILED, f"{listed(list(map(quoted, aliased)))} {said} one choice among many that predict "
                     "alike.",
                     f"Leave {'it' if one else 'them'} out ({setting('drop')}), or merge levels.")  # fmt: skip
    if found.get("rank") is None:
        return Check("Rank", UNKNOWN, "The fit did not settle the rank of the columns.")
    return Check("Rank", PASSED, f"No column is a combination of others: the rank is {found['rank']} of {found['of']}.")


def condition(inputs: Inputs) -> Check:
    """κ of the standardised columns: how far weights move if the numbers do."""
    kappa, pair = condition_of(inputs.X, inputs.model.columns)
    if kappa is None:
        return Check("Condition", UNKNOWN, "There are too many columns to compute it.")
    pairs = (
        f" The closest pair is {quoted(pair[0])} and {quoted(pair[1])}, with a correlation of {signed_share(pair[2])}."
        if pair
        else ""
    )
    if kappa >= ILL:
        return Check("Condition", FAILED, "Standardised, the columns are (almost) dependent: the condition is "
                     f"{'infinite' if kappa == np.inf else f'{kappa:.1e}'}.{pairs}",
                     f"Leave one column of such a set out, or penalise with {setting('l2')}.")  # fmt: skip
    return Check("Condition", PASSED, f"The condition of the standardised columns is {brief(kappa)}; a million would "
                 f"be a concern.{pairs}")  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ the rows


def events(inputs: Inputs) -> Check:
    """Rows of the rarest class for every weight."""
    counts = np.bincount(inputs.truth, minlength=len(inputs.classes))
    least, width = int(counts[counts > 0].min()), inputs.X.shape[1]
    each = least / width
    said = f"The rarest class has {least} rows, {brief(each)} for each of {width} weights"
    if each < EVENTS:
        return Check("Events per weight", FAILED, f"{said}; fewer than {EVENTS} make weights too large and intervals "
                     "too hopeful.", f"Use fewer columns or levels, or penalise: {setting('l2', 0.01)}.")  # fmt: skip
    return Check("Events per weight", PASSED, f"{said}; {EVENTS} or more are a usual demand.")


def balance(inputs: Inputs) -> Check:
    """The share of the rarest class."""
    counts = np.bincount(inputs.truth, minlength=len(inputs.classes))
    shares = counts / counts.sum()
    k = int(shares.argmin())
    said = f"The rarest class, {class_name(inputs.classes[k])}, has {percent(float(shares[k]))} of the rows"
    if shares[k] < RARE:
        return Check("Balance", FAILED, f"{said}: accuracy says little here, as always predicting the most frequent "
                     f"class is right in {percent(float(shares.max()))}.",
                     "Look at precision and sensitivity, and choose the threshold by costs.")  # fmt: skip
    return Check("Balance", PASSED, f"{said}.")


def given_away(inputs: Inputs) -> tuple[Check, Check]:
    """Columns that are the target under another name, and columns that tell it alone."""
    found = single_columns(inputs)
    same = [quoted(each.name) for each in found if each.same]
    strong = [f"{quoted(each.name)} (AUC {each.auc:.3f})" for each in found if not each.same and each.auc > GIVEN_AWAY]
    remedy = f"Ask whether the value is known before the class is; if not, leave it out ({setting('drop')})."
    first = (
        Check("Copies of the target", FAILED, f"{listed(same)} {'tells' if len(same) == 1 else 'tell'} the class in "
              "every row: a level or a value never stands with two classes.", remedy)
        if same else
        Check("Copies of the target", PASSED, "No column tells the class in every row.")
    )  # fmt: skip
    best = max(found, key=lambda each: each.auc, default=None)
    said = "" if best is None else f" The strongest is {quoted(best.name)}, with an AUC of {best.auc:.3f}."
    tell = "tells" if len(strong) == 1 else "tell"
    second = (
        Check("Leakage suspects", FAILED, f"{listed(strong)} alone all but {tell} the class.", remedy)
        if strong else
        Check("Leakage suspects", PASSED, f"No {'other ' if same else ''}column alone has an AUC above {GIVEN_AWAY}."
              f"{'' if same else said}")
    )  # fmt: skip
    return first, second


def missing(inputs: Inputs) -> Check:
    """Values that are not there."""
    used = {column.name for column in inputs.encoding.columns}
    found = {each.name: each.missing for each in inputs.decisions if each.name in used and each.missing}
    if not found:
        return Check("Missing values", PASSED, "No value is missing in the columns that the model uses.")
    worst = max(found, key=lambda name: found[name])
    share = percent(found[worst] / inputs.table.rows)
    more = (
        f"{len(found)} columns have missing values, most of them {quoted(worst)}"
        if len(found) > 1
        else f"{quoted(worst)} has them"
    )
    return Check("Missing values", FAILED, f"{more}: {found[worst]} of {inputs.table.rows} rows ({share}). They were "
                 "filled with the mean or the reference, and indicators tell of it.",
                 "Ask why they are missing: filled values make intervals look surer than they are.")  # fmt: skip


def unseen(inputs: Inputs) -> Check:
    """Levels that the model has never seen."""
    if not inputs.unseen:
        return Check("Unseen levels", PASSED, "Every level of these rows was seen when the model was learnt.")
    parts = [f"{quoted(name)} has {listed(list(levels), 3)}" for name, levels in inputs.unseen.items()]
    rows = sum(sum(levels.values()) for levels in inputs.unseen.values())
    return Check("Unseen levels", FAILED, f"{rows} values are levels that the model does not know and takes as the "
                 f"reference: {'; '.join(parts[:5])}.", "Fit again with such rows, or leave them out.")  # fmt: skip


# ----------------------------------------------------------------------------------------------------- the predictions


def calibration(inputs: Inputs, held: dict[str, Any]) -> Check:
    """Whether a held-out probability of 0.8 means eight in ten."""
    name = "Calibration"
    if not held["there"]:
        return Check(name, UNKNOWN, f"Nothing was held out: {held['why']}")
    if not held["probabilities"]:
        return Check(name, UNKNOWN, "This learner gives no probabilities.")
    slopes = {each["class"]: each["calibration_slope"] for each in held["curves"]}
    known = {label: each for label, each in slopes.items() if each["low"] is not None}
    if not known:
        why = next(iter(slopes.values()))["why"] or "they have no slope"
        return Check(name, UNKNOWN, f"The held-out probabilities cannot be judged: {why}.")
    off = {label: each for label, each in known.items() if not each["low"] <= 1 <= each["high"]}
    if off:
        label, each = next(iter(off.items()))
        way = "too extreme" if each["value"] < 1 else "too timid"
        said = (f"The held-out probabilities of {class_name(label)} are {way}: their slope is {each['value']:.2f} "
                f"({each['low']:.2f} to {each['high']:.2f}), and 1 would be right.")  # fmt: skip
        cure = (
            f"Penalise ({setting('l2')}), use fewer columns, or gather more rows."
            if each["value"] < 1
            else "Penalise less."
        )
        return Check(name, FAILED, said, cure)
    one = len(held["classes"]) == 2
    shown = "; ".join(
        f"{'' if one else f'of {class_name(label)} '}{each['value']:.2f} ({each['low']:.2f} to {each['high']:.2f})"
        for label, each in list(known.items())[:4]
    )
    return Check(name, PASSED, f"The held-out probabilities mean what they say: the slope is {shown}, and 1 is right.")


WIDEST = 1500
"""The most columns for which the condition is computed."""
ROWS = 200_000
"""The most rows that it is computed from; of more, evenly spaced ones are taken."""


class Single(NamedTuple):
    """How well a single column tells the classes apart."""

    name: str
    auc: float
    """The largest over classes of its area under the ROC curve, either way round."""
    same: bool
    """Whether no value of it stands with two classes, and values repeat."""


def single_columns(inputs: Inputs) -> list[Single]:
    """Each column that the model uses, by itself."""
    return [_single(inputs, column.name, column.kind) for column in inputs.encoding.columns]


def _single(inputs: Inputs, name: str, kind: str) -> Single:
    truth, K = inputs.truth, len(inputs.classes)
    if kind == "category":
        codes, levels = inputs.table.coded(name)
        place = codes.astype(np.intp) + 1
        counts = np.bincount(place * K + truth, minlength=(len(levels) + 1) * K).reshape(-1, K)
        return Single(name, _of_levels(place, truth, len(levels) + 1, K), _same(counts))
    x = inputs.table.numbers(name)
    there = ~np.isnan(x)
    if not there.any():
        return Single(name, 0.5, False)
    values, place = np.unique(x[there], return_inverse=True)
    counts = np.bincount(place * K + truth[there], minlength=len(values) * K).reshape(-1, K)
    best = max((_area(x[there], truth[there] == k) for k in range(K)), default=0.5)
    return Single(name, best, _same(counts) and bool(there.all()))


def _area(x: Floats, yes: NDArray[np.bool_]) -> float:
    if yes.all() or not yes.any():
        return 0.5
    found = area(x, yes, np.ones(len(x))).value
    return max(found, 1 - found)


def _of_levels(place: NDArray[np.intp], truth: NDArray[np.intp], levels: int, K: int) -> float:
    """Each half of the rows by the shares of the classes in the other half, so that rare levels tell nothing."""
    halves = np.arange(len(truth)) % 2 == 0
    found = np.full((2, K), 0.5)
    for i, own in enumerate((halves, ~halves)):
        counts = np.bincount(place[~own] * K + truth[~own], minlength=levels * K).reshape(-1, K)
        base = counts.sum(axis=0) / max(counts.sum(), 1)
        shares = (counts + base) / (counts.sum(axis=1, keepdims=True) + 1)
        for k in range(K):
            yes = truth[own] == k
            if yes.any() and not yes.all():
                found[i, k] = area(shares[place[own], k], yes, np.ones(int(own.sum()))).value
    return float(found.mean(axis=0).max())


def _same(counts: NDArray[np.int64]) -> bool:
    """Every value has one class, values repeat, and they are few enough to be another name of the class."""
    used = counts[counts.sum(axis=1) > 0]
    pure = bool((np.count_nonzero(used, axis=1) == 1).all())
    return pure and 2 <= len(used) <= max(20, counts.shape[1]) and counts.sum() >= 5 * len(used)


def condition_of(X: Any, names: tuple[str, ...]) -> tuple[float | None, tuple[str, str, float] | None]:
    """κ = √(λmax/λmin) of the correlations of the columns that vary, and the pair that is closest."""
    if X.shape[1] > WIDEST:
        return None, None
    rows = np.asarray(X[:: max(1, -(-len(X) // ROWS))], dtype=np.float64)
    centred = rows - rows.mean(axis=0)
    length = np.sqrt((centred * centred).sum(axis=0))
    vary = length > 1e-12 * (1 + np.abs(rows).max(axis=0))
    if vary.sum() < 2:
        return 1.0, None
    Z = centred[:, vary] / length[vary]
    R = Z.T @ Z
    values = np.linalg.eigvalsh(R)
    kappa = float(np.sqrt(values[-1] / values[0])) if values[0] > 1e-14 * values[-1] else float(np.inf)
    off = np.abs(np.triu(R, 1))
    i, j = (int(each) for each in np.unravel_index(int(off.argmax()), off.shape))
    left = np.flatnonzero(vary)
    return kappa, (names[left[i]], names[left[j]], float(R[i, j]))
