"""A webhook as data."""

from dataclasses import replace

from gridview.live.frozen_views import FrozenView
from gridview.live.webhook import SealedSecret, Webhook, WebhookWarning
from gridview.schema.catalog import Catalog
from tests.support.webhooks import NOW, stored

LATER = "2026-11-22T08:00:00.000000Z"
CATALOG = Catalog("0807", "35e9", 1, (), (), 3)
VIEW = FrozenView(3, "Open", [["a1", True, False]], ["state", "eq", "o1"], {"a1": "start"}, NOW, "ann")


def test_a_webhook_is_stored_and_read_again() -> None:
    made = Webhook.from_item(stored("w3k9q2m7x1c0z"))
    assert (made.tenant, made.project, made.id) == ("0807", "35e9", "w3k9q2m7x1c0z")
    other = replace(
        made,
        secrets=(SealedSecret("a"), SealedSecret("b", LATER)),
        warning=WebhookWarning(NOW, "why"),
        enabled=False,
        events=("enter",),
        view=VIEW,
        columns=("name", "a1"),
        named={"a1": "start"},
        choice=2,
    )
    for one in (made, other):
        assert Webhook.from_item(one.to_item()) == one


def test_a_secret_that_was_replaced_signs_until_its_time_has_come() -> None:
    made = Webhook.from_item(stored("w3k9q2m7x1c0z"))
    assert made.signing(NOW) == ("sealed",)
    rotated = made.rotated("new", NOW, LATER)
    assert rotated.signing(NOW) == ("new", "sealed")
    assert rotated.signing("2026-11-22T07:59:59.999999Z") == ("new", "sealed")
    assert rotated.signing(LATER) == ("new",)
    assert rotated.to_json(CATALOG, NOW)["previous_secret_expires"] == "2026-11-22T08:00:00Z"
    assert rotated.to_json(CATALOG, LATER)["previous_secret_expires"] is None


def test_no_form_of_a_webhook_that_is_answered_has_a_secret() -> None:
    answered = Webhook.from_item(stored("w3k9q2m7x1c0z")).to_json(CATALOG, NOW)
    assert answered.pop("previous_secret_expires") is None
    assert "secret" not in str(answered)


def test_keys_are_sent_only_with_the_fields_that_they_are_made_of() -> None:
    made = Webhook.from_item(stored("w3k9q2m7x1c0z"))
    for columns, view, sent in (
        (None, None, True),
        (("name",), None, True),
        (None, VIEW, True),
        (("a1", "name"), VIEW, True),
        (("name",), VIEW, False),
        ((), VIEW, False),
        ((), VIEW._replace(sort=[["num", True, False]]), True),
    ):
        assert replace(made, columns=columns, view=view).sends_keys is sent
