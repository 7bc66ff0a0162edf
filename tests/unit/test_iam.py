"""The evaluator of policies decides as IAM documents."""

from typing import Any

import pytest

from tests.support.iam import Asked, allows

KEYS = "dynamodb:LeadingKeys"


def asked(*partitions: str, tag: str | None = None, action: str = "dynamodb:PutItem") -> Asked:
    context = {KEYS: partitions, "aws:PrincipalTag/tenant": () if tag is None else (tag,)}
    return Asked(action, "table", tuple((key, of) for key, of in context.items() if of))


def statement(effect: str = "Allow", **condition: Any) -> dict[str, Any]:
    named = {name.replace("_", ":"): test for name, test in condition.items()}
    return {"Effect": effect, "Action": "dynamodb:PutItem", "Resource": "table", "Condition": named}


def test_nothing_is_allowed_but_what_a_statement_allows() -> None:
    assert not allows([], asked("a"))
    assert allows([statement()], asked("a"))
    assert not allows([statement()], asked("a", action="dynamodb:GetItem"))
    assert not allows([statement()], asked("a")._replace(resource="table/index/GSI1"))
    assert allows([{**statement(), "Resource": ["other", "table*"]}], asked("a"))


def test_a_refusal_wins() -> None:
    refusal = statement("Deny", ForAnyValue_StringEquals={KEYS: "b"})
    assert allows([statement(), refusal], asked("a"))
    assert not allows([refusal, statement()], asked("a", "b"))


@pytest.mark.parametrize(
    ("partitions", "all_match", "any_matches"),
    [
        (("issue-1",), True, True),
        (("issue-1", "issue-2"), True, True),
        (("issue-1", "block-1"), False, True),
        (("block-1",), False, False),
        (("an issue-1",), False, False),
        ((), True, False),
    ],
)
def test_conditions_over_all_keys_and_over_any(
    partitions: tuple[str, ...], all_match: bool, any_matches: bool
) -> None:
    pattern = {KEYS: ["issue-*", "project-?"]}
    assert allows([statement(ForAllValues_StringLike=pattern)], asked(*partitions)) is all_match
    assert allows([statement(ForAnyValue_StringLike=pattern)], asked(*partitions)) is any_matches


def test_a_key_can_be_required() -> None:
    guarded = statement(ForAllValues_StringLike={KEYS: "a"}, Null={KEYS: "false"})
    assert allows([guarded], asked("a"))
    assert not allows([guarded], asked())
    assert allows([statement(Null={KEYS: "true"})], asked())


def test_only_asterisk_and_question_mark_are_wild() -> None:
    assert allows([statement(ForAllValues_StringLike={KEYS: "a.?[b]*"})], asked("a.c[b]"))
    assert not allows([statement(ForAllValues_StringLike={KEYS: "a.?[b]*"})], asked("aXcb"))


def test_a_policy_variable_is_the_value_of_the_session_and_matches_nothing_without_one() -> None:
    own = statement(ForAllValues_StringLike={KEYS: "issue-${aws:PrincipalTag/tenant}.*"})
    assert allows([own], asked("issue-0807.35e9.1", tag="0807"))
    assert not allows([own], asked("issue-0807.35e9.1", tag="080"))
    assert not allows([own], asked("issue-0807.35e9.1"))
    assert not allows([own], asked("issue-.35e9.1"))


def test_an_operator_that_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError):
        allows([statement(StringNotLike={KEYS: "a"})], asked("a"))
