"""Headers in other languages: the same columns, and no remark taken for a label."""

from __future__ import annotations

import unicodedata

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.columns.specs import plain_name

WHOLE = {
    "German": ("Modell;Frage Nr.;Kriterium;Bewerter;Bewertung;Begründung", "ja", "nein"),
    "French": ("Modèle;Question;Critère;Évaluateur;Note;Commentaire", "oui", "non"),
    "Spanish": ("Modelo;Pregunta;Criterio;Evaluador;Puntuación;Justificación", "sí", "no"),
    "Italian": ("Modello;Domanda;Criterio;Valutatore;Giudizio;Motivazione", "sì", "no"),
    "Portuguese": ("Modelo;Pergunta;Critério;Avaliador;Nota;Justificativa", "sim", "não"),
    "Chinese": ("模型;问题;评分标准;评委;得分;理由", "是", "否"),
    "Japanese": ("モデル;質問;評価基準;評価者;評価;理由", "はい", "いいえ"),
    "Korean": ("모델;질문;평가 기준;평가자;점수;이유", "예", "아니요"),
    "Arabic": ("النموذج;السؤال;المعيار;المقيم;التقييم;السبب", "نعم", "لا"),
    "Russian": ("Модель;Вопрос;Критерий;Эксперт;Оценка;Комментарий", "да", "нет"),
}


@pytest.mark.parametrize("language", WHOLE)
def test_a_table_with_headers_and_verdicts_of_a_language_is_read_whole(ws, language):
    header, yes, no = WHOLE[language]
    rows = [
        f"m{s};q{q};k;j{j};{(no, yes)[(s + q + j) % 2]};so" for s in (0, 1) for q in (0, 1) for j in (0, 1)
    ]
    ws.ingest("\n".join((header, *rows)).encode(), "d", name="t.csv")
    found = ws.dataset("d").labels()
    assert {tuple(row) for row in found[["system", "query", "judge", "label"]].itertuples(index=False)} == {
        (f"m{s}", f"q{q}", f"j{j}", (s + q + j) % 2) for s in (0, 1) for q in (0, 1) for j in (0, 1)
    }
    assert (plan_ingest("\n".join((header, *rows)).encode(), name="t.csv").files[0].unused) == ()


def test_a_note_in_an_english_table_is_a_remark_and_no_label(ws):
    with pytest.raises(IngestError, match="no column for label"):
        ws.ingest(b"system,query,rubric,judge,note\nm,q,r,j,1\nn,q,r,j,0\n", "d")


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Rating (1-5)", "rating"),
        ("Score [0 = no, 1 = yes]", "score"),
        ("Bewertung (1 bis 5)", "bewertung"),
        ("Rating (out of 10)", "rating"),
        ("Note (/20)", "note"),
        ("Score (ann)", "score_(ann)"),
        ("Score (out of sight)", "score_(out_of_sight)"),
        ("(1-5)", "(1_5)"),
    ],
)
def test_a_scale_behind_a_header_is_no_part_of_its_name(header, name):
    assert plain_name(header) == name


def test_a_header_in_decomposed_letters_is_the_same_header(ws):
    rows = "Modèle;Question;Critère;Note\nm;q;k;oui\nn;q;k;non\n"
    ws.ingest(unicodedata.normalize("NFD", rows).encode(), "d")
    assert len(ws.dataset("d").labels()) == 2
