"""The change of a stored form in a later release, with a made-up one: it reads both, and writes the old one for one
deployment.
"""

from typing import Any

import pytest

from gridview.support import forms

MADE_UP = forms.NEWEST + 1


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a release that knows one more form, and writes it."""
    monkeypatch.setattr(forms, "NEWEST", MADE_UP)
    monkeypatch.setattr(forms, "_written", MADE_UP)


def encoded(color: str) -> dict[str, Any]:
    return {"colors": [color]} if forms.writes(MADE_UP) else {"color": color}


def decoded(item: dict[str, Any]) -> str:
    return str(item["colors"][0] if "colors" in item else item["color"])


@pytest.mark.usefixtures("release")
def test_a_new_form_is_read_at_once_and_written_a_deployment_later() -> None:
    forms.write_up_to(forms.OLDEST)
    held_back = encoded("red")
    forms.write_up_to(MADE_UP)
    written = encoded("red")
    assert (held_back, written) == ({"color": "red"}, {"colors": ["red"]})
    forms.write_up_to(forms.OLDEST)
    assert decoded(held_back) == decoded(written) == "red"


def test_a_form_that_this_version_does_not_know_is_refused() -> None:
    for unknown in (forms.OLDEST - 1, MADE_UP):
        with pytest.raises(ValueError, match=f"from {forms.OLDEST} to {forms.NEWEST}"):
            forms.write_up_to(unknown)
    assert forms.writes(forms.NEWEST)
    assert not forms.writes(MADE_UP)
