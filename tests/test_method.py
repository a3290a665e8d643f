"""The method is a numbered document, and whatever cites one of its sections cites one that exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
METHOD = (ROOT / "docs/method.md").read_text("utf-8")
BODY, REFERENCES = METHOD.split("## References\n")
SECTIONS = [int(number) for number in re.findall(r"^## §(\d+) ", BODY, re.MULTILINE)]
FOLDERS = ("crubric_core", "pages", "tests", "benchmarks", "docs")
NUMBERS = r"§\d+(?:–\d+)?(?:(?:,| and) §\d+(?:–\d+)?)*"


def cited(text: str) -> set[int]:
    """The sections that "§1, §3–5" and the like name."""
    ranges = re.findall(r"§(\d+)(?:–(\d+))?", text)
    return {number for low, high in ranges for number in range(int(low), int(high or low) + 1)}


def sources() -> list[Path]:
    inside = [
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md"}
    ]
    return [*inside, *ROOT.glob("*.md"), ROOT / "app.py"]


def test_sections_are_numbered_in_order() -> None:
    assert list(range(len(SECTIONS))) == SECTIONS
    assert len(SECTIONS) > 10


def test_every_reference_to_the_method_names_a_section_that_exists() -> None:
    found = 0
    for path in sources():
        for reference in re.findall(rf"docs/method\.md\s+({NUMBERS})", path.read_text("utf-8")):
            found += 1
            assert cited(reference) <= set(SECTIONS), f"{path}: {reference}"
    assert found > 40


def test_no_module_cites_a_method_that_is_not_in_the_repository() -> None:
    for path in sources():
        if path != Path(__file__):
            assert not re.search(r"\bMETHOD(\.md)? §|method\.md, §", path.read_text("utf-8")), path


def test_the_documents_own_cross_references_exist() -> None:
    assert cited(BODY) <= set(SECTIONS)


def test_every_work_listed_is_cited_and_every_work_cited_is_listed() -> None:
    entries = [entry.split("(", 1)[0:2] for entry in REFERENCES.strip().removeprefix("- ").split("\n- ")]
    listed = {(entry[0].split(",")[0], entry[1][:4]) for entry in entries if len(entry) > 1}
    text = " ".join(BODY.split())
    uncited = {work for work in listed if not re.search(rf"{work[0]}( et al\.)?[^.;()]*\(?{work[1]}", text)}
    assert uncited == set()
    cited_years = re.findall(r"[A-Z][\w.]+(?: et al\.)?,? \(?((?:19|20)\d\d)\b", text)
    assert set(cited_years) <= {year for _, year in listed}


def test_every_claim_of_performance_has_its_command() -> None:
    for page, command in (
        ("inference.md", "python -m benchmarks.inference"),
        ("selection.md", "python -m benchmarks.selection"),
        ("benchmarks.md", "python -m benchmarks.irt"),
        ("experiments.md", "python -m docs.experiments"),
        ("judges.md", "tests/judges/test_gate.py"),
    ):
        assert page in BODY
        assert command in BODY
        assert (ROOT / "docs" / page).exists()
