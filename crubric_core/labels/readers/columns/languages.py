"""Column names in other languages: the words for each canonical column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

# language → canonical column → words, as ``plain_name`` writes them
WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "German": {
        "system": ("modell", "modellname", "sprachmodell"),
        "query": ("frage", "aufgabe", "anfrage", "fragennummer"),
        "rubric": ("kriterium", "bewertungskriterium", "merkmal"),
        "judge": ("bewerter", "bewerterin", "prüfer", "prüferin", "gutachter", "gutachterin", "richter"),
        "label": ("bewertung", "urteil", "punktzahl", "erfüllt", "wert"),
        "run": ("durchlauf", "durchgang", "wiederholung"),
        "reason": ("begründung", "kommentar", "erläuterung"),
    },
    "French": {
        "system": ("modèle", "système", "nom_du_modèle"),
        "query": ("requête", "tâche", "consigne"),
        "rubric": ("critère", "critère_d'évaluation"),
        "judge": ("évaluateur", "évaluatrice", "juge", "annotateur", "annotatrice", "correcteur"),
        "label": ("évaluation", "jugement", "satisfait"),
        "run": ("essai", "répétition"),
        "reason": ("commentaire", "explication", "raison"),
    },
    "Spanish": {
        "system": ("modelo", "sistema"),
        "query": ("pregunta", "consulta", "tarea"),
        "rubric": ("criterio", "rúbrica"),
        "judge": ("evaluador", "evaluadora", "juez", "jueza", "anotador", "anotadora"),
        "label": ("puntuación", "calificación", "evaluación", "cumple"),
        "run": ("intento", "repetición"),
        "reason": ("comentario", "justificación", "explicación", "razón"),
    },
    "Italian": {
        "system": ("modello",),
        "query": ("domanda", "compito"),
        "rubric": ("criterio",),
        "judge": ("valutatore", "valutatrice", "giudice", "annotatore"),
        "label": ("valutazione", "punteggio", "voto", "giudizio"),
        "run": ("prova", "ripetizione"),
        "reason": ("commento", "motivazione", "spiegazione"),
    },
    "Portuguese": {
        "system": ("modelo", "sistema"),
        "query": ("pergunta", "questão", "tarefa"),
        "rubric": ("critério",),
        "judge": ("avaliador", "avaliadora", "juiz", "juíza", "anotador"),
        "label": ("avaliação", "pontuação", "nota"),
        "run": ("tentativa", "repetição"),
        "reason": ("comentário", "justificativa", "explicação"),
    },
    "Dutch": {
        "system": ("systeem",),
        "query": ("vraag", "opdracht"),
        "rubric": ("criterium",),
        "judge": ("beoordelaar",),
        "label": ("beoordeling", "oordeel"),
        "run": ("poging",),
        "reason": ("toelichting", "opmerking"),
    },
    "Chinese": {
        "system": ("模型", "模型名称", "系统"),
        "query": ("问题", "题目", "题号", "问题编号", "提示", "提示词", "任务"),
        "rubric": ("标准", "评分标准", "评价标准", "评判标准", "准则", "指标"),
        "judge": ("评委", "评审", "评估者", "评分者", "评分员", "标注者", "标注员", "裁判"),
        "label": ("得分", "评分", "分数", "打分", "判定", "结果"),
        "run": ("轮次", "次数"),
        "reason": ("理由", "原因", "评语", "说明", "备注"),
    },
    "Japanese": {
        "system": ("モデル", "システム"),
        "query": ("質問", "問題", "課題"),
        "rubric": ("基準", "評価基準", "項目", "評価項目"),
        "judge": ("評価者", "審査員", "採点者"),
        "label": ("評価", "判定", "点数", "スコア"),
        "run": ("試行",),
        "reason": ("理由", "コメント"),
    },
    "Korean": {
        "system": ("모델", "시스템"),
        "query": ("질문", "문제", "과제"),
        "rubric": ("기준", "평가기준", "평가_기준", "항목"),
        "judge": ("평가자", "심사위원", "채점자"),
        "label": ("점수", "평가", "판정"),
        "run": ("회차",),
        "reason": ("이유", "코멘트", "설명"),
    },
    "Arabic": {
        "system": ("النموذج", "نموذج", "النظام", "نظام"),
        "query": ("السؤال", "سؤال", "المهمة", "مهمة"),
        "rubric": ("المعيار", "معيار"),
        "judge": ("المقيم", "المقيّم", "مقيم", "المحكم", "الحكم"),
        "label": ("التقييم", "تقييم", "الدرجة", "درجة", "النتيجة"),
        "run": ("المحاولة", "محاولة"),
        "reason": ("السبب", "التعليق", "التعليل", "التبرير"),
    },
    "Russian": {
        "system": ("модель", "система"),
        "query": ("вопрос", "запрос", "задание", "задача"),
        "rubric": ("критерий",),
        "judge": ("эксперт", "оценщик", "судья", "асессор"),
        "label": ("оценка", "балл", "баллы"),
        "run": ("попытка", "прогон"),
        "reason": ("комментарий", "обоснование", "причина"),
    },
}
# a label only in a table with other names in these languages: in English, a note is a remark
MARKS = ("note", "schulnote")
_ENDS = ("", "_id")


@cache
def words_for(canonical: str) -> tuple[str, ...]:
    """The words of all languages for a canonical column, each also with the ending ``_id`` (``Frage Nr.``)."""
    of = "judge" if canonical == "annotator" else canonical
    found = (w for words in WORDS.values() for w in words.get(of, ()))
    return tuple(dict.fromkeys(f"{w}{end}" for w in found for end in _ENDS))


def is_foreign(names: Sequence[str]) -> bool:
    """Whether any of these names, as ``plain_name`` writes them, is a word of another language in WORDS."""
    known = {w for words in WORDS.values() for column in words.values() for w in column}
    return any(name.removesuffix("_id") in known for name in names)
