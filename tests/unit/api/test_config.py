"""The functions' configuration from the environment."""

from collections.abc import Callable

import pytest

from gridview.api.config import (
    ConfigurationError,
    long_query_percent,
    projects_per_tenant,
    required,
    use_fold_pace,
    use_forms,
    writes_per_second,
)
from gridview.support import fold_pace, forms


@pytest.mark.parametrize(
    ("variable", "limit"),
    [("WRITES_PER_SECOND", writes_per_second), ("PROJECTS_PER_TENANT", projects_per_tenant)],
)
def test_a_limit_is_a_whole_number_and_none_by_default(
    monkeypatch: pytest.MonkeyPatch, variable: str, limit: Callable[[], int]
) -> None:
    monkeypatch.delenv(variable, raising=False)
    assert limit() == 0
    monkeypatch.setenv(variable, "50")
    assert limit() == 50
    for wrong in ("", "1.5", "-1", "many"):
        monkeypatch.setenv(variable, wrong)
        with pytest.raises(ConfigurationError, match=variable):
            limit()


def test_a_share_of_work_is_a_percentage_and_no_limit_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONG_QUERY_PERCENT", raising=False)
    assert long_query_percent() == 100
    monkeypatch.setenv("LONG_QUERY_PERCENT", "10")
    assert long_query_percent() == 10
    for wrong in ("", "0", "101", "-1", "1.5"):
        monkeypatch.setenv("LONG_QUERY_PERCENT", wrong)
        with pytest.raises(ConfigurationError, match="LONG_QUERY_PERCENT"):
            long_query_percent()


def test_forms_are_written_up_to_the_one_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STORED_FORM", raising=False)
    use_forms()
    assert forms.writes(forms.NEWEST)
    newest = forms.NEWEST + 2
    monkeypatch.setattr(forms, "NEWEST", newest)
    for form in range(forms.OLDEST, newest + 1):
        monkeypatch.setenv("STORED_FORM", str(form))
        use_forms()
        assert [forms.writes(one) for one in (form, form + 1)] == [True, False]
    for wrong in (str(forms.OLDEST - 1), str(newest + 1), "newest", "1.5"):
        monkeypatch.setenv("STORED_FORM", wrong)
        with pytest.raises(
            ConfigurationError, match=f"STORED_FORM must be a number from {forms.OLDEST} to {newest}"
        ):
            use_forms()
    assert forms.writes(newest)


def test_the_pace_of_folds_is_that_of_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FOLD_WEIGHT", "FOLD_SECONDS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fold_pace, "_used", fold_pace.Pace(7, 8))
    use_fold_pace()
    assert fold_pace.pace() == (256, 900)
    monkeypatch.setenv("FOLD_WEIGHT", "1000")
    monkeypatch.setenv("FOLD_SECONDS", "1")
    use_fold_pace()
    assert fold_pace.pace() == (1_000, 1)
    for name, wrong in (("FOLD_WEIGHT", "0"), ("FOLD_WEIGHT", "1001"), ("FOLD_SECONDS", "901")):
        with monkeypatch.context() as context:
            context.setenv(name, wrong)
            with pytest.raises(ConfigurationError, match="a weight of 1 to 1,000, and 1 to 900 seconds"):
                use_fold_pace()
    monkeypatch.setenv("FOLD_SECONDS", "soon")
    with pytest.raises(ConfigurationError, match="FOLD_SECONDS must be a whole number"):
        use_fold_pace()
    assert fold_pace.pace() == (1_000, 1)


def test_a_variable_must_be_there_and_not_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLE_NAME", "gridview")
    assert required("TABLE_NAME") == "gridview"
    monkeypatch.setenv("TABLE_NAME", "")
    with pytest.raises(ConfigurationError, match="TABLE_NAME"):
        required("TABLE_NAME")
    monkeypatch.delenv("TABLE_NAME")
    with pytest.raises(ConfigurationError, match="TABLE_NAME"):
        required("TABLE_NAME")
