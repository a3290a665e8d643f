"""Files of other encodings than UTF-8: read as what their bytes look like, as Windows-1252 in doubt; always told."""

from __future__ import annotations

import subprocess
import sys

import pytest

from crubric_core.labels.readers.formats.encoding import as_utf8, decoded, is_utf8, likely_encoding
from tests.tiers import at_most

EUROPEAN = {
    "French": "précis\nQualité\noù\ncœur\nélève modèle\nHélène\nnaïve",
    "German": "Größe\nMüller\nerfüllt\nÜbersetzung\nÄnderung",
    "Spanish": "España\nniño\nsí\n¿Qué?\nNúñez\nMuñoz",
    "Portuguese": "não\navaliação\nSão Paulo\nvocê\nà",
    "Nordic": "Åsa\nSøren\nfråga\nhyvä\nläsbarhet\nÅrhus",
    "Icelandic": "Þór\nBjörk\nætti\nGuðrún\nþetta",
    "Italian": "perché\nqualità\ncosì\npiù",
    "marks": "€5\n“quoted”\nit’s\npre–post\n£20 ±2\n25°C\n100µg\nnote¹\nn° ½ ®\nclear•short\nCo™",
}
OTHERS = {
    "gb18030": ("gb18030", "准确性\n回答清晰\n张伟\n李娜\n完整性\n事实正确"),
    "Big5": ("big5", "準確性\n回答清晰\n張偉\n完整性\n問題一"),
    "Shift_JIS": ("cp932", "正確さ\nわかりやすさ\n田中\n質問一\nカテゴリ"),
    "EUC-JP": ("euc_jp", "正確さ\nわかりやすさ\n田中\n質問一\n明確ですか"),
    "EUC-KR": ("cp949", "정확성\n명확성\n김철수\n질문 하나\n답변이 명확한가"),
    "MacRoman": ("mac_roman", "Müller\nQualité\névaluateur\nit’s"),
    "windows-1251": ("cp1251", "Ясность\nВопрос один\nИван Петров\nмодель отвечает верно"),
    "windows-1253": ("cp1253", "σαφήνεια\nΕρώτηση\nΓιάννης"),
}


def content(names: list[str], codec: str) -> bytes:
    rows = [f"gpt-4o,q{i},{name},Ann,{i % 2}" for i, name in enumerate(names)]
    return ("\n".join(["system,query,rubric,judge,label", *rows]) + "\n").encode(codec)


@pytest.mark.parametrize("language", EUROPEAN)
def test_each_western_name_alone_and_all_together_are_read_as_windows_1252(tmp_path, language):
    names = EUROPEAN[language].split("\n")
    file = tmp_path / "x.csv"
    for some in (names, *([name] for name in names)):
        file.write_bytes(content(some, "cp1252"))
        assert decoded(file, tmp_path / "out")[1].read_bytes() == content(some, "utf-8"), some


@pytest.mark.parametrize("encoding", at_most(list(OTHERS)[::2], list(OTHERS)))
def test_names_of_other_scripts_are_read_and_the_encoding_is_told_with_the_remedy(ws, encoding):
    codec, text = OTHERS[encoding]
    names = text.split("\n")
    report = ws.ingest(content(names, codec), "d", name="x.csv")
    assert sorted(r.split("#")[-1] for r in ws.dataset("d").rubrics["rubric"]) == sorted(names)
    note = f"x.csv: it is not UTF-8, and was read as {encoding}; if names look wrong, save the file as CSV UTF-8."
    assert note in report.notes


def test_what_an_encoding_lacks_makes_a_file_windows_1252(tmp_path):
    file = tmp_path / "x.csv"
    file.write_bytes(content(OTHERS["Shift_JIS"][1].split("\n") * 20, "cp932") + b"a,q,\x81\xff,Ann,1\n")
    said, _ = decoded(file, tmp_path / "out")
    assert said == "it is not UTF-8, and was read as Windows-1252"


def test_a_byte_that_windows_1252_lacks_leaves_the_other_letters_as_they_are(tmp_path):
    file, target = tmp_path / "x.csv", tmp_path / "out"
    file.write_bytes("“café” – ".encode("cp1252") * 9 + b"\x81")
    assert as_utf8(file, "Windows-1252", target).read_text("utf-8") == "“café” – " * 9 + "\x81"


def test_a_text_in_utf8_but_for_a_few_bytes_keeps_its_letters_and_the_first_stray_is_named(ws):
    names = ["clarté", "qualité", "Größe"]
    strayed = content(names, "utf-8") + "gpt-4o,q3,café,Ann,1\n".encode("cp1252")
    note = ws.ingest(strayed, "one", name="x.csv").notes
    assert {"clarté", "Größe", "café"} <= {r.split("#")[-1] for r in ws.dataset("one").rubrics["rubric"]}
    remedy = "read as Windows-1252; if names look wrong, save the file as CSV UTF-8."
    assert f"x.csv: it is not UTF-8 throughout: 1 byte, in line 5, was {remedy}" in note
    note = ws.ingest(strayed + "gpt-4o,q4,café,Ann,1\n".encode("cp1252"), "two", name="x.csv").notes
    assert f"x.csv: it is not UTF-8 throughout: 2 bytes, the first in line 5, were {remedy}" in note


@pytest.mark.parametrize("encoding", OTHERS)
def test_no_other_encoding_passes_for_utf8_with_strays(tmp_path, encoding):
    codec, text = OTHERS[encoding]
    file = tmp_path / "x.csv"
    for some in (text.split("\n"), *([name] for name in text.split("\n"))):
        file.write_bytes(content(some, codec))
        if not is_utf8(file):
            assert "throughout" not in decoded(file, tmp_path / "out")[0], some


def test_the_first_foreign_lines_decide_however_far_down_they_stand(tmp_path):
    file = tmp_path / "x.csv"
    plain = b"gpt-4o,q0,clarity,Ann,1\n" * 100_000
    file.write_bytes(plain + content(OTHERS["EUC-KR"][1].split("\n"), "cp949"))
    assert likely_encoding(file) == "EUC-KR"


def test_the_detector_is_loaded_for_such_files_alone():
    code = (
        "import sys; from crubric_core.labels import Workspace; "
        "Workspace().ingest('system,rubric,label\\né,r,1\\nb,r,0\\n'.encode(), 'd'); "
        "print('chardetng_py' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
