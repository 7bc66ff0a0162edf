"""The caller, and the users of the caller's tenant: only these, by name, in pages."""

import pytest

from devtools.proof.faults import memory_table
from gridview.encoding import keys
from tests.support.cloud import Cloud
from tests.support.http import Client


def signed_in(account: Cloud, user: str, name: str | None = None, tenant: str = "0807") -> Client:
    """A viewer who has called `/v1/me`."""
    client = account.api(tenant=tenant, role="viewer", user=user)
    if name is not None:
        client = client.claiming(name=name)
    assert client.get("/v1/me").status == 200
    return client


def names(client: Client, **parameters: str) -> list[str]:
    answer = client.get("/v1/users", query=parameters)
    assert answer.status == 200, answer.text
    return [one["name"] for one in answer.body["items"]]


def test_the_caller_comes_from_the_token(account: Cloud) -> None:
    client = account.api(role="editor", user="ann").claiming(name=" Ann Arrol ", email="ann@example.com")
    assert client.get("/v1/me").body == {"id": "ann", "name": "Ann Arrol", "tenant": "0807", "role": "editor"}


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({}, "ann"),
        ({"email": "ann@example.com"}, "ann@example.com"),
        ({"name": "  ", "email": "ann@example.com"}, "ann@example.com"),
        ({"name": "x" * 300}, "x" * 256),
        ({"name": "Ann \ud800"}, "Ann ?"),
        ({"name": 7}, "ann"),
    ],
)
def test_the_name_of_a_user_comes_from_the_token(
    account: Cloud, claims: dict[str, object], expected: str
) -> None:
    client = account.api(user="ann").claiming(**claims)
    assert client.get("/v1/me").body["name"] == expected
    assert client.get("/v1/users").body["items"] == [{"id": "ann", "name": expected}]


def test_users_are_found_by_how_their_names_begin(account: Cloud) -> None:
    people = {"u1": "Ann Arrol", "u2": "ånders", "u3": "Benjamin Baker", "a.b@c-d": "ANNA"}
    for user, name in people.items():
        client = signed_in(account, user, name)
    assert names(client) == ["ånders", "Ann Arrol", "ANNA", "Benjamin Baker"]
    assert names(client, prefix="AN") == ["ånders", "Ann Arrol", "ANNA"]
    assert names(client, prefix="ann ") == ["Ann Arrol"]
    assert names(client, prefix="annab") == []
    (found,) = client.get("/v1/users", query={"prefix": "anna"}).body["items"]
    assert found == {"id": "a.b@c-d", "name": "ANNA"}


def test_pages_of_users_are_all_users(account: Cloud) -> None:
    for num in range(5):
        client = signed_in(account, f"u{num}", "Ann" if num % 2 else f"Anna {num}")
    signed_in(account, "other", "Bob")
    found: list[list[str]] = []
    cursor: dict[str, str] = {}
    while True:
        page = client.get("/v1/users", query={"prefix": "an", "limit": "2", **cursor}).body
        found.append([one["id"] for one in page["items"]])
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert found == [["u1", "u3"], ["u0", "u2"], ["u4"]]
    assert client.get("/v1/users", query={"limit": "2", **cursor}).kind == (400, "invalid-request")


@pytest.mark.parametrize("prefix", ["", "a"])
def test_a_list_goes_on_after_a_query_that_ended_at_its_megabyte(
    account: Cloud, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    for user in ("a1", "a2", "a3", "b1"):
        client = signed_in(account, user, user)
    monkeypatch.setattr(memory_table, "QUERY_BYTES", 1)  # a Query reads one user
    found, query = [], {"limit": "2", "prefix": prefix}
    while True:
        page = client.get("/v1/users", query=query).body
        found += [one["id"] for one in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert found == [user for user in ("a1", "a2", "a3", "b1") if user.startswith(prefix)]


def test_a_tenant_lists_only_its_own_users(account: Cloud) -> None:
    ours = signed_in(account, "ann", "Ann Arrol")
    theirs = signed_in(account, "ann", "Another Ann", tenant="0808")
    signed_in(account, "7.ann", "Sneaky", tenant="080")
    assert (names(ours), names(theirs)) == (["Ann Arrol"], ["Another Ann"])
    for num in range(2):
        signed_in(account, f"a{num}", "Ann", tenant="0808")
    cursor = theirs.get("/v1/users", query={"limit": "1"}).body["next"]
    assert ours.get("/v1/users", query={"limit": "1", "cursor": cursor}).kind == (400, "invalid-request")


def test_a_new_name_takes_the_place_of_the_old_one_and_the_same_one_is_not_written_again(
    account: Cloud,
) -> None:
    ann = signed_in(account, "ann", "Ann Arrol")
    before = account.items()
    signed_in(account, "ann", "Ann Arrol")
    assert account.items() == before
    signed_in(account, "ann", "Zoe Arrol")
    assert (names(ann, prefix="zoe"), names(ann, prefix="ann")) == (["Zoe Arrol"], [])
    assert len([one for one in account.items() if one["PK"]["S"].startswith(keys.USER_PREFIX)]) == 1


def test_the_longest_names_and_ids_fit_in_a_key(account: Cloud) -> None:
    longest = "\U00020000" * 256
    client = signed_in(account, "u" * 128, longest)
    assert names(client, prefix=longest) == [longest]
    (item,) = account.items()
    assert len(item["sort"]["S"].encode()) <= 1_024
