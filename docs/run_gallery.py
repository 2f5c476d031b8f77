"""Run the scripts of the gallery and keep their pictures: `python docs/run_gallery.py [--out FOLDER] [SCRIPT …]`.

Each script runs by itself, as if it were the only one. All figures that it leaves open are saved; each needs words for
who cannot see it: the label of the figure, or the script's variable ALT.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from unittest.mock import patch
from warnings import catch_warnings

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

GALLERY = Path(__file__).resolve().parent / "gallery"
PIXELS_PER_INCH = 100


class Page(NamedTuple):
    """What a script left behind."""

    name: str
    seconds: float
    pictures: list[Path]
    words: list[str]
    """One text for each picture, "" where there is none."""


def scripts() -> list[Path]:
    """All of them, in the order of the notes."""
    return sorted(GALLERY.glob("*/plot_*.py"))


def name_of(script: Path) -> str:
    """The number of the notes and what is shown: 000_figure_8_1. Folders may share file names, pictures may not."""
    return f"{script.parent.name.split('_')[0]}_{script.stem.removeprefix('plot_')}"


def draw(script: Path, out: Path) -> Page:
    """Run one script in a namespace of its own, save its figures in `out` and close them; what it raises is raised."""
    plt.close("all")
    started = perf_counter()
    try:
        with (
            catch_warnings(),
            mpl.rc_context(),
            patch.object(plt, "show"),
        ):  # show waits for a window, or warns that there is none
            left = runpy.run_path(str(script), run_name="__main__")
            figures = [plt.figure(number) for number in plt.get_fignums()]
            words = [_words(figure, left) for figure in figures]
            pictures = [_save(figure, out, name_of(script), k) for k, figure in enumerate(figures, 1)]
    finally:
        plt.close("all")
    return Page(name_of(script), perf_counter() - started, pictures, words)


def _words(figure: Any, left: dict[str, Any]) -> str:
    return str(figure.get_label() or left.get("ALT", ""))


def _save(figure: Any, out: Path, name: str, k: int) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    picture = out / (f"{name}.png" if k == 1 else f"{name}-{k}.png")
    figure.savefig(picture, dpi=PIXELS_PER_INCH)
    return picture


def main(arguments: list[str] | None = None) -> int:
    """The number of the exit: 0 where every script ran and left a picture, 1 where one did not."""
    parser = argparse.ArgumentParser(description="Run the scripts of the gallery and save their pictures.")
    parser.add_argument("scripts", nargs="*", type=Path, help="some of them; all if none is named")
    parser.add_argument("--out", type=Path, default=Path("out/gallery"), help="folder of the pictures")
    given = parser.parse_args(arguments)
    chosen, failed, total = given.scripts or scripts(), [], 0.0
    for script in chosen:
        try:
            page = draw(script, given.out)
        except Exception:
            traceback.print_exc()
            failed.append(name_of(script))
            continue
        total += page.seconds
        print(
            f"{page.name:50s} {page.seconds:5.1f} s  {', '.join(each.name for each in page.pictures) or 'no picture'}"
        )
        if not page.pictures or not all(page.words):
            failed.append(page.name)
    print(f"{len(chosen)} scripts, {total:.1f} s, pictures in {given.out}.")
    if failed:
        print(f"Failed, or without a picture, or without words for it: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
