"""Which questions may be refused with 422. Told from the project and the question; a refusal of any other is a difference."""

from collections.abc import Mapping

from devtools.oracle.sql import Oracle, folded
from devtools.oracle.world import Json, Project, Question

_TEXT_CHARACTERS = 240
"""Of a folded text that its order compares."""


def must_be_refused(project: Project, question: Question) -> bool:
    """Whether nothing answers it: it sorts by a field without an index."""
    return any(key["field"] in project.unindexed for key in question.body.get("sort", ()))


def why(project: Project, oracle: Oracle, question: Question, budgets: Mapping[str, int]) -> str | None:
    """The reason for which a question may be refused within these budgets; None: it has to be answered."""
    if must_be_refused(project, question):
        return "sorts by a field without an index"
    if max(project.issues, default=0) <= budgets["WHOLE"]:
        return None

    def unknown(condition: Json) -> bool:
        return not decidable(project, condition)

    if oracle.undecided(question.body, unknown) > budgets["CANDIDATES"]:
        return "more is left undecided than may be read"
    return None


def decidable(project: Project, condition: Json) -> bool:
    """Whether the blocks alone tell which issues pass a condition."""
    name, operator, value = condition["field"], condition["op"], condition.get("value")
    if name in project.unindexed:
        return False
    if project.types[name] != "text":
        return True
    if operator == "contains":
        return False
    if operator == "has_words":
        return name in project.searched
    texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return all(len(folded(text)) < _TEXT_CHARACTERS for text in texts)
