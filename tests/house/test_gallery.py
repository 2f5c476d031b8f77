"""Every script of the gallery runs, holds what it asserts, and leaves pictures with words for who cannot see them."""

import importlib.util
import re
import warnings

import pytest
from places import ROOT

GALLERY = ROOT / "docs" / "gallery"
LONGEST = 90


def _runner():
    spec = importlib.util.spec_from_file_location("gallery_run", GALLERY.parent / "run_gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = _runner()
SCRIPTS = RUNNER.scripts()


def test_there_are_scripts_and_each_gives_pictures_of_its_own_name():
    names = [RUNNER.name_of(script) for script in SCRIPTS]
    assert names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("script", SCRIPTS, ids=RUNNER.name_of)
def test_a_script_runs_and_leaves_a_picture_with_words(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = RUNNER.draw(script, tmp_path / "pictures")
    assert page.pictures, "a script leaves its figures open in pyplot"
    assert all(picture.stat().st_size > 5000 for picture in page.pictures), "an empty figure"
    for words in page.words:
        assert len(words.split()) >= 8, "figure.set_label(display.alt_text): what is to be seen"
        assert len(re.findall(r"\d", words)) >= 3, "the words say the numbers"
        assert "\n" not in words, "words are read aloud, in one breath"
    assert [each.name for each in tmp_path.iterdir()] == ["pictures"], "a script writes nothing itself"


def test_a_script_is_short_and_asserts_its_numbers():
    for script in SCRIPTS:
        text = script.read_text()
        assert len(text.splitlines()) <= LONGEST, script
        assert "\nassert " in text or "\n    assert " in text, script


def test_a_figure_is_finished_and_named_in_the_cell_that_makes_it():
    """The site takes the picture at the end of each cell, and the words from the figure itself."""
    for script in SCRIPTS:
        text = script.read_text()
        assert "\nALT = " not in text, script
        for cell in re.split(r"^# %%.*$", text, flags=re.MULTILINE):
            made = len(re.findall(r"plt\.(?:subplots|figure|subplot_mosaic)\(", cell))
            assert cell.count(".set_label(") >= made, script


def _script(folder, text):
    script = folder / "009_made_up" / "plot_example.py"
    script.parent.mkdir()
    script.write_text(text)
    return script


def test_the_runner_saves_all_figures_with_their_words_and_closes_them(tmp_path):
    script = _script(
        tmp_path,
        "import matplotlib.pyplot as plt\nALT = 'both'\nplt.figure().set_label('the first')\nplt.figure()\n"
        "plt.rcParams['font.size'] = 30\nplt.show()\nimport warnings\nwarnings.simplefilter('ignore')\n",
    )
    size, filters = RUNNER.plt.rcParams["font.size"], list(warnings.filters)
    page = RUNNER.draw(script, tmp_path / "out")
    assert page.name == "009_example"
    assert [picture.name for picture in page.pictures] == ["009_example.png", "009_example-2.png"]
    assert page.words == ["the first", "both"]
    assert not RUNNER.plt.get_fignums()
    assert warnings.filters == filters
    assert RUNNER.plt.rcParams["font.size"] == size, "settings of one script do not reach the next"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import matplotlib.pyplot as plt\nALT = 'words'\nplt.figure()\n", 0),
        ("import matplotlib.pyplot as plt\nplt.figure()\n", 1),
        ("ALT = 'words'\n", 1),
        ("import matplotlib.pyplot as plt\nplt.figure()\nassert 1 == 2\n", 1),
    ],
    ids=["right", "no words", "no picture", "an assertion that fails"],
)
def test_the_status_says_whether_all_is_right(tmp_path, capsys, text, status):
    assert RUNNER.main(["--out", str(tmp_path / "out"), str(_script(tmp_path, text))]) == status
    assert not RUNNER.plt.get_fignums()
    assert ("Failed" in capsys.readouterr().err) == bool(status)
