"""Which questions may be refused with 422, by the project and the question; a refusal of any other is a difference."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from devtools.proof.oracle.sql import Oracle, folded, words
from devtools.proof.oracle.world import Json, Project, Question, reversed_sort

_TEXT_CHARACTERS = 240
"""Characters of a case-folded text that its order compares."""
_WORD_CHARACTERS = 100
"""Characters of a word that are kept."""
_UNDECIDED = "more is left undecided than may be read"


def must_be_refused(project: Project, question: Question) -> bool:
    """Whether nothing answers it: it sorts by a field without an index, and not as a composite index does."""
    sort = question.body.get("sort", ())
    return not has_composite(project, sort) and any(key.get("field") in project.unindexed for key in sort)


def has_composite(project: Project, sort: Sequence[Json]) -> bool:
    """Whether a composite index is in this order, read forwards or backwards."""
    return any(list(sort) in (one, reversed_sort(one)) for one in project.composites)


def why(project: Project, oracle: Oracle, question: Question, budgets: Mapping[str, int]) -> str | None:
    """The reason for which a question may be refused within these budgets; None: it has to be answered."""
    if must_be_refused(project, question):
        return "sorts by a field without an index"
    if len(project.issues) <= budgets["query.planner.WHOLE"]:
        return None
    return next(_REASONS.get(question.kind, _of_rows)(project, oracle, question.body, budgets), None)


def _of_rows(project: Project, oracle: Oracle, body: Json, budgets: Mapping[str, int]) -> Iterator[str]:
    most = budgets["query.planner.CANDIDATES"]
    if oracle.undecided(body, partial(undecidable, project)) > most:
        yield _UNDECIDED
    sort = body["sort"]
    several = len(sort) > 1 and not has_composite(project, sort)
    if several and oracle.ties(body, sort[0]["field"], partial(undecidable, project)) > most:
        yield "more ties than may be read"


def _of_groups(project: Project, oracle: Oracle, body: Json, budgets: Mapping[str, int]) -> Iterator[str]:
    unknown = partial(undecidable, project)
    if oracle.possible(body, unknown) <= budgets["query.aggregate_planner.MAX_DOCUMENTS"]:
        return
    if {one["field"] for one in body["aggregates"]} & project.unindexed:
        yield "aggregates of a field without an index"
    if {one if isinstance(one, str) else one["field"] for one in body["by"]} & project.unindexed:
        yield "groups by a field without an index"
    if oracle.undecided(body, unknown) > budgets["query.planner.CANDIDATES"]:
        yield _UNDECIDED


def _of_summary(project: Project, oracle: Oracle, body: Json, budgets: Mapping[str, int]) -> Iterator[str]:
    unknown = partial(undecidable, project)
    if oracle.possible(body, unknown) <= budgets["query.aggregate_planner.MAX_DOCUMENTS"]:
        return
    if {one["field"] for one in body["fields"]} & project.unindexed:
        yield "summarizes a field without an index"
    if oracle.undecided(body, unknown) > budgets["query.planner.CANDIDATES"]:
        yield _UNDECIDED
    for one in body["fields"]:
        kind, functions = project.types[one["field"]], {*one["functions"]}
        if "distinct" in functions and kind not in ("bool", "enum", "multi_enum", "number"):
            yield "distinct values of more issues than may be read"
        if functions & {"min", "max"} and kind == "text":
            yield "texts that begin alike of more issues than may be read"


_REASONS = {"groups": _of_groups, "summary": _of_summary}


def undecidable(project: Project, condition: Json) -> bool:
    """Whether documents may be needed to decide which issues pass a condition, since blocks do not suffice."""
    name, operator, value = condition["field"], condition["op"], condition.get("value")
    if name in project.unindexed:
        return True
    if project.types[name] != "text":
        return False
    if operator == "contains":
        return True
    texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    if operator == "has_words":
        return name not in project.searched or any(len(word) >= _WORD_CHARACTERS for word in words(texts[0]))
    return any(len(folded(text)) >= _TEXT_CHARACTERS for text in texts)
