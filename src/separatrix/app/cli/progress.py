"""How far a command is, and Ctrl-C while it works.

Steps are shown as a bar on a terminal, as a line at steps 1, 2, 4, 8 … elsewhere; nothing is shown of what is soon
done.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple, Protocol, TypeVar

from . import console
from .console import duration, has_cursor, shortened, tell, width_of
from .options import Talking

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds before anything is shown."""
FRAME = 0.1
"""Seconds between two pictures of the bar."""
WAITING_FRAME = 0.2
"""Seconds between two pictures of what has no steps; elsewhere a line at 2, 4, 8 … seconds."""
BAR = 10
"""Signs of a full bar."""
FACTS: dict[str, Callable[[Any], str]] = {
    "passes": lambda passes: f"pass {passes:.4g}",
    "value": lambda value: f"loss {value:.6g}",
    "gradient_norm": lambda norm: f"gradient {norm:.1e}",
    "mistakes": lambda count: f"{count} mistakes",
    "lower": lambda bound: f"at least {bound:.4g}",
    "upper": lambda bound: f"at most {bound:.4g}",
    "rows": lambda count: f"{count} rows",
}
"""What the steps of our learners hold, and how it is said; each step has some of it."""


class Mark(NamedTuple):
    """Where a fit stood at the end of its first step, which takes longer than others: rates are counted from there."""

    steps: int = 0
    share: float = 0.0
    seconds: float = 0.0


class _Shower(Protocol):
    def show(self, count: int, step: Any) -> None:
        """Show a step, if it is time."""

    def close(self) -> None:
        """Leave the screen as it was."""


class Silence:
    """Shows nothing."""

    def show(self, count: int, step: Any) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Do nothing."""


class Lines:
    """A line at steps 1, 2, 4, 8 …, from the first second on."""

    def __init__(self, total: float | None, clock: Callable[[], float]) -> None:
        self._total, self._clock, self._start = total, clock, clock()
        self._first: Mark | None = None

    def show(self, count: int, step: Any) -> None:
        """Print the line of a step whose number is a power of two."""
        if count & (count - 1):
            return
        seconds = self._clock() - self._start
        self._first = self._first or Mark(count, share_of(count, step, self._total) or 0.0, seconds)
        if seconds >= PATIENCE:
            tell(", ".join(facts(count, step, seconds, self._total, self._first)) + "\n")

    def close(self) -> None:
        """Do nothing: lines stay."""


class Bar:
    """A line that is written over, at most ten times a second, and wiped away at the end."""

    def __init__(self, total: float | None, clock: Callable[[], float], patience: float = PATIENCE) -> None:
        self._total, self._clock, self._start = total, clock, clock()
        self._next, self._drawn = self._start + patience, False
        self._first: Mark | None = None

    def show(self, count: int, step: Any) -> None:
        """Draw the bar, if its time has come."""
        now = self._clock()
        if self._first is None:
            self._first = Mark(count, share_of(count, step, self._total) or 0.0, now - self._start)
        if now < self._next:
            return
        self._next, self._drawn = now + FRAME, True
        *known, left = facts(count, step, now - self._start, self._total, self._first)
        line = ", ".join([left, *known])  # what is cut off on a narrow terminal is wanted least
        share = share_of(count, step, self._total)
        if share is not None:
            full = round(BAR * share)
            line = f"{'█' * full}{'░' * (BAR - full)} {line}"
        if not console.writable(line, sys.stderr):
            line = "".join(console.PLAIN.get(sign, sign) for sign in line)
        tell(f"\r\x1b[2K{shortened(line, width_of(sys.stderr) - 1)}")

    def close(self) -> None:
        """Wipe the bar away."""
        if self._drawn:
            tell("\r\x1b[2K")


def share_of(count: int, step: Any, total: float | None) -> float | None:
    """passes/total, or steps/total of steps that know no passes; None without a total."""
    if not total or not math.isfinite(total):
        return None
    return float(min(1.0, getattr(step, "passes", count) / total))


def facts(count: int, step: Any, seconds: float, total: float | None, first: Mark = Mark()) -> list[str]:
    """What a step says: its number, what it holds, steps per second, and how long the rest will take at most."""
    held = [say(getattr(step, name)) for name, say in FACTS.items() if getattr(step, name, None) is not None]
    since = seconds - first.seconds
    rate = [f"{(count - first.steps) / since:.3g} steps/s"] if since > 0 and count > first.steps else []
    share = share_of(count, step, total)
    known = share is not None and share > first.share
    left = f"at most {duration(since * (1 - share) / (share - first.share))} left" if share and known else ""
    return [f"step {count}", *held, *rate, left or f"{duration(seconds)} so far"]


def shower_of(talking: Talking, total: float | None, clock: Callable[[], float]) -> _Shower:
    """How progress is shown: nothing when quiet or asked for nothing; a bar on a terminal; lines elsewhere."""
    if talking.quiet or talking.progress == "never":
        return Silence()
    if talking.progress == "always":
        return Bar(total, clock, patience=0.0)
    return Bar(total, clock) if has_cursor(sys.stderr) else Lines(total, clock)


def watch(
    steps: Iterable[T], talking: Talking, total: float | None = None, *, clock: Callable[[], float] = time.monotonic
) -> Iterator[T]:
    """Steps of a fit, shown as they come; after Ctrl-C the step is finished, and the steps are closed.

    Closed before their end, our learners keep what they have, and their verdict is *interrupted*.

    Parameters
    ----------
    steps : the steps of a learner
        What `learner.steps(X, y)` returns.
    talking : Talking
        --quiet and --progress.
    total : number or None
        The most passes there will be, or steps where these count no passes: for an estimate of the time.
    clock : callable
        Seconds, never running back.
    """
    shower, waiting = shower_of(talking, total, clock), Waiting(talking, "the first step")
    try:
        with interruptible(talking.quiet) as interruption:
            waiting.begin()
            for count, step in enumerate(steps, 1):
                shower.show(count, step)
                waiting.begin(f"step {count + 1}, or the proof after the last one")
                yield step
                if interruption.pressed:
                    return
    finally:
        waiting.close()
        shower.close()
        close = getattr(steps, "close", None)
        if close is not None:
            close()


@contextmanager
def folds_shown(talking: Talking, total: int) -> Iterator[Callable[[int], None]]:
    """What is to be called after each fold of a cross-validation: it counts them, whatever their numbers."""
    shower, done = shower_of(talking, total, time.monotonic), 0

    def after(fold: int) -> None:
        nonlocal done
        done += 1
        shower.show(done, None)

    try:
        yield after
    finally:
        shower.close()


# --------------------------------------------------------------------------------------------- what has no steps


class Waiting:
    """Says what is being done, for how long, and how much is left where that is known; in a thread of its own.

    `share` is the part that is done, from 0 to 1, or less than 0 where nobody knows. Use it in a `with` block.
    """

    def __init__(
        self, talking: Talking, what: str, share: Callable[[], float] = lambda: -1.0, patience: float = PATIENCE
    ) -> None:
        self._what, self._share, self._patience = what, share, patience
        self._over = has_cursor(sys.stderr) or talking.progress == "always"
        self._shown, self._ended, self._since = False, threading.Event(), time.monotonic()
        self._next = patience if self._over else 2 * patience
        silent = talking.quiet or talking.progress == "never"
        self._thread = None if silent else threading.Thread(target=self._work, name="separatrix-waiting", daemon=True)

    def begin(self, what: str | None = None, share: Callable[[], float] | None = None) -> None:
        """Begin to wait; or begin anew, for something else."""
        self._what, self._share = what or self._what, share or self._share
        self._since = time.monotonic()
        self._next = self._patience if self._over else 2 * self._patience
        if self._thread is not None and not self._thread.is_alive() and not self._ended.is_set():
            self._thread.start()

    def _work(self) -> None:
        while not self._ended.wait(min(WAITING_FRAME, self._patience)):
            seconds = time.monotonic() - self._since
            if seconds < self._next:
                continue
            line = waiting_line(self._what, seconds, self._share())
            if self._over:
                self._next, self._shown = seconds, True
                tell(f"\r\x1b[2K{shortened(line, width_of(sys.stderr) - 1)}")
            else:
                self._next = 2 * seconds
                tell(line + "\n")

    def close(self) -> None:
        """Wipe the line away."""
        self._ended.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()
        if self._shown:
            tell("\r\x1b[2K")

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def waiting_line(what: str, seconds: float, share: float) -> str:
    """What is done, how far it is, and how long the rest will take.

    >>> waiting_line("reading data.csv", 3.0, 0.25)
    'reading data.csv: 25 %, about 9 s left'
    >>> waiting_line("reading data.csv", 3.0, -1.0)
    'reading data.csv: 3 s so far'
    """
    if not 0.01 <= share <= 1:
        return f"{what}: {duration(seconds)} so far"
    return f"{what}: {100 * share:.0f} %, about {duration(seconds * (1 - share) / share)} left"


# ------------------------------------------------------------------------------------------------------- Ctrl-C


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed."""

    pressed: bool = False


@contextmanager
def interruptible(quiet: bool = False) -> Iterator[Interruption]:
    """Note the first Ctrl-C instead of stopping; the second stops at once with a KeyboardInterrupt.

    On Windows, where signals come in another thread, and outside the main thread every Ctrl-C stops at once.
    """
    interruption = Interruption()
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield interruption
        return

    def note(number: int, frame: FrameType | None) -> None:
        if interruption.pressed:
            raise KeyboardInterrupt
        interruption.pressed = True
        if not quiet:
            _tell(b"\nfinishing this step; Ctrl-C again stops at once.\n")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def _tell(words: bytes) -> None:
    """Write past the buffer of stderr: the signal may have come while that was being written."""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), words)
