"""The record of a request under an Idempotency-Key."""

from random import Random

from gridview.encoding import keys
from gridview.schema.remembered import Answer, Use, answered, is_unfinished, new_state


def test_a_record_is_unfinished_until_it_has_its_answer() -> None:
    state = new_state(Use("acme", "bridge", "9f86d081", "body"))
    assert is_unfinished(state)
    assert not is_unfinished({**state, keys.PK: keys.project("acme", "bridge")}), "no record of a request"
    items = answered(state, Answer(200, {}, Random(0).randbytes(400_000)))  # noqa: S311 - not a secret
    assert [is_unfinished(item) for item in items] == [False, False]
