"""The page of the kernel perceptron's table."""

from __future__ import annotations

from typing import Any

from kernel_mnist import BANDS, BETTER_UNTIL, NEARLY, PASSES, READINGS, SLOWEST, SPARED, WAYS, at_passes
from problems import spaced
from report import seconds, table, where

WORDS = {
    "one-vs-rest": "One machine for each digit against the rest; the highest score wins",
    "joint": "All digits at once: the digit's own weights rise, those of the strongest other fall",
}
HOW = """\
{rows} × 784 pixels divided by 255 in one random order (seed 0), the same in every pass; k(x, z) = (1 + xᵀz)^degree, no
intercept, no scaling; a tie is a mistake. Errors are those on {tests} test rows. *Last*: the weights in hand.
*Averaged*: the mean of the weights after every row. *Voted*: each of them has a vote; one against the rest, a
machine's score is its mean vote. *Support vectors*: rows that were ever mistaken. *Mistakes*: so far; of one against
the rest, those of all ten machines. One fit of ten passes, then one run down its log gives all columns and readings.

Prediction: `decision_function` of {support} support vectors for {tests} rows, from plain arrays. The one kernel product
is the matrix of {support} rows and these {tests} by NumPy and BLAS on its own threads: the faster of one `matmul` into
memory that is there already and of blocks of rows, the power in place. Medians; everyone takes one turn in a round,
rounds: {repeats}; scikit-learn's takes part in one. The models are those of degree {degree}, made to have just so many:

{sizes}"""
CUT = "- {way}, {fitted} after ten passes: its log up to the {support}th, {mistakes} mistakes."
EXTENDED = """\
- {way}, {fitted} after ten passes: copies of some of its mistakes as if on rows never mistaken, {mistakes} in all."""


REQUIRED = """\
Of all of MNIST it is required that

- averaged and voted errors are below those of the last weights after 1 to {until:g} passes. After ten they may be up to
  {nearly:g} percentage points above: of the higher degrees the last weights make hardly any mistakes by then;
- voted errors after ten passes are {bands};
- they are below those of degree 1, after any number of passes, for each other degree;
- at every budget projection is better than removal, and at the largest its averaged error is at most {spared:g} points
  above that without a budget;
- `decision_function` takes at most {slowest:g} times the time of the kernel product.

The ranges are drawn around what this order of the rows gives, to find out when something breaks. With {tests} test rows
an error of 1.7 % has a standard error of {noise:.2f} points: differences of that size say little."""


def required(found: dict[str, Any]) -> str:
    """What `missed` looks at, in words."""
    bands = ", ".join(
        f"{100 * low:g}–{100 * high:g} % ({way}, degree {degree})" for (way, degree), (low, high) in BANDS.items()
    )
    return REQUIRED.format(
        until=BETTER_UNTIL, nearly=100 * NEARLY, bands=bands, spared=100 * SPARED, slowest=SLOWEST,
        tests=spaced(found["tests"]), noise=100 * (0.017 * 0.983 / found["tests"]) ** 0.5,
    )  # fmt: skip


def errors_table(found: dict[str, Any], way: str) -> str:
    lines = []
    for entry in (each for each in found["table"] if each["way"] == way):
        for name in READINGS:
            cells = [f"{100 * error:.2f}" for error in at_passes(found, entry, name)]
            strong = "**" if name == "voted" else ""
            lines.append([f"{entry['degree']}, {strong}{name}{strong}", *(f"{strong}{cell}{strong}" for cell in cells)])
        for name, words in (("support", "support vectors"), ("mistakes", "mistakes")):
            lines.append([f"{entry['degree']}, {words}", *map(spaced, at_passes(found, entry, name).tolist())])
    return table(["degree, test error in % after passes:", *(f"{passes:g}" for passes in PASSES)], lines)


def times_table(found: dict[str, Any]) -> str:
    lines = [
        [f"{entry['way']}, degree {entry['degree']}", seconds(entry["fit_s"]), seconds(entry["curve_s"])]
        for entry in found["table"]
    ]
    return table(["", "fit of ten passes", f"errors of all readings, {len(found['passes'])} times"], lines)


def prediction_table(found: dict[str, Any]) -> str:
    timed = found["prediction"]
    lines = [
        [name, seconds(each["median"]), f"{seconds(each['min'])}…{seconds(each['max'])}",
         f"**{timed['ratio'][name]:.2f}**" if name in timed["ratio"] else f"{each['median'] / timed['product_s']:.2f}"]
        for name, each in timed["seconds"].items()
    ]  # fmt: skip
    return table([f"degree {timed['degree']}", "time", "from…to", f"ratio (at most {SLOWEST:g})"], lines)


def budgets_table(found: dict[str, Any]) -> str:
    lines = [
        [
            f"{each['budget']}, {each['overflow']}" if each["budget"] else "none",
            f"{100 * each['last']:.2f}", "–" if each["averaged"] is None else f"{100 * each['averaged']:.2f}",
            spaced(each["support"]), spaced(each["mistakes"]), spaced(each["times"]), f"{each['lost']:.2f}",
            seconds(each["fit_s"]),
        ]
        for each in found["budgets"]["table"]
    ]  # fmt: skip
    head = ["budget", "last, %", "averaged, %", "support vectors", "mistakes", "removed or projected", "lost", "fit"]
    return table(head, lines)


def _budget_words(found: dict[str, Any]) -> str:
    plan = found["budgets"]
    passes = "one pass" if plan["passes"] == 1 else f"{plan['passes']} passes"
    return (
        f"{plan['way']}, degree {plan['degree']}, {passes} over the first {spaced(plan['rows'])} rows. "
        "Removal leaves only the last weights to be read; projection also their mean. *Lost*: √Σ‖δ‖² of all that was "
        "left out of the weights, as a part of the same for all that was to be added."
    )


def _how(results: dict[str, Any]) -> str:
    found, timed = results["found"], results["found"]["prediction"]
    sizes = [
        (CUT if each["fitted"] >= each["support"] else EXTENDED).format(
            way=way, **{name: spaced(each[name]) for name in ("fitted", "support", "mistakes")}
        )
        for way, each in timed["models"].items()
    ]
    support = spaced(next(iter(timed["models"].values()))["support"])
    return HOW.format(rows=spaced(found["rows"]), tests=spaced(found["tests"]), support=support,
                      repeats=results["repeats"], degree=timed["degree"], sizes="\n".join(sizes))  # fmt: skip


def markdown(results: dict[str, Any]) -> str:
    found = results["found"]
    short = "\n".join(f"- {text}" for text in results["missed"]) or "Nothing that is required was missed."
    tables = [part for way in WAYS for part in (f"## {WORDS[way]}", errors_table(found, way))]
    took = (
        f"The tables, the prediction and the budgets took {seconds(found['seconds'])}; the whole script, with digit 9 "
        f"against the rest ([voted_mnist.md](voted_mnist.md)), {seconds(results['seconds'])}."
    )
    return "\n\n".join([
        "# The kernel perceptron on MNIST: ten digits" + ("" if results["mnist"] else " (made-up digits)"),
        "![errors by passes](kernel_mnist.png)", *tables, "## Time", took, times_table(found),
        "## Prediction", prediction_table(found), "## Budgets", _budget_words(found), budgets_table(found),
        "## Required", required(found), short, "## How it was measured", _how(results), where(results),
    ]) + "\n"  # fmt: skip
