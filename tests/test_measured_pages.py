"""Pages that people and a command write together: the command replaces only the text between its marks."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from benchmarks import inference_page, placement_page
from benchmarks.tables import END, START, write_measured

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_what_people_wrote_around_the_marks_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{START}\n\nold\n\n{END}\n\n## Notes\n", "utf-8")
    write_measured(page, "| a |\n")
    assert page.read_text("utf-8") == f"# Title\n\n{START}\n\n| a |\n\n{END}\n\n## Notes\n"
    write_measured(tmp_path / "new.md", "figures")
    assert (tmp_path / "new.md").read_text("utf-8") == f"{START}\n\nfigures\n\n{END}\n"


def test_a_page_without_marks_is_not_touched(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n", "utf-8")
    with pytest.raises(SystemExit, match="lacks the lines"):
        write_measured(page, "figures")
    assert page.read_text("utf-8") == "# Title\n"


@pytest.mark.parametrize("name", ["inference", "placement", "experiments", "performance"])
def test_each_generated_page_has_its_marks_once(name: str) -> None:
    page = (DOCS / f"{name}.md").read_text("utf-8")
    assert page.count(START) == page.count(END) == 1
    assert page.index(START) < page.index(END)


@pytest.mark.parametrize(("module", "name"), [(inference_page, "inference"), (placement_page, "placement")])
def test_the_headings_that_a_command_writes_are_between_the_marks(module: object, name: str) -> None:
    measured = (DOCS / f"{name}.md").read_text("utf-8").partition(START)[2].partition(END)[0]
    source = inspect.getsource(module)
    headings = [line for line in measured.splitlines() if line.startswith("## ")]
    assert len(headings) >= 4
    assert [heading for heading in headings if heading not in source] == []


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (inference_page.thresholds({}), "inference"),
        (inference_page.real({}), "inference"),
        (inference_page.coverage({}), "inference"),
        *((f"**{title}**\n\n| design |", "inference") for _, title in inference_page.MEASURES),
        (placement_page.HEAD.replace("{bank:.0f}", "60"), "placement"),
        (placement_page.NOTES.replace("{random}", str(placement_page.RANDOM)), "placement"),
        (placement_page.STOPS.replace("{draws}", str(placement_page.DRAWS)), "placement"),
    ],
)
def test_the_words_around_the_figures_are_those_that_the_command_writes(said: str, name: str) -> None:
    assert said.strip() in (DOCS / f"{name}.md").read_text("utf-8")


def test_each_measure_has_a_row_a_design_and_a_column_a_kind_of_judging() -> None:
    cells = {
        ("groups", "6", "0", "plain"): {"tables": 60.0, "theta apart": 0.04, "score apart": 0.05},
        ("groups", "6", "0", "shared"): {"tables": 240.0, "theta apart": 0.06, "score apart": 0.07},
    }
    page = inference_page.claims(cells)
    assert "| groups, × 6, s = 0 | .04 / .05 | — | — | — | — | .06 / .07 |" in page
    assert page.count("groups, × 6, s = 0 |") == 1
    assert "but for groups, × 6, s = 0, shared (240)" in page
