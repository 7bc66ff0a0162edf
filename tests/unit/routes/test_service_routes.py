"""The effects of the routes about the service, the caller, and live changes."""

from gridview.encoding import keys, live_keys
from tests.support.effects import CALLER, TENANT, Example, issue
from tests.support.routes import route_keys
from tests.support.sockets import SocketClient
from tests.support.worked_example import PATH


def test_health(example: Example) -> None:
    assert example.read().body == {"status": "ok"}


def test_openapi(example: Example) -> None:
    document = example.read().body
    assert document["servers"] == [{"url": "https://a1b2c3d4e5.execute-api.eu-west-2.amazonaws.com"}]
    methods = ("get", "post", "patch", "delete")
    calls = [
        f"{method.upper()} {path}"
        for path, one in document["paths"].items()
        for method in one
        if method in methods
    ]
    assert sorted(calls) == sorted(route_keys().values())


def test_me(example: Example) -> None:
    me = example.write(200).body
    assert me == {"id": CALLER, "name": "Ann Arrol", "tenant": TENANT, "role": "viewer"}
    assert example.changed.keys() == {(keys.user(TENANT, CALLER), keys.users(TENANT))}
    assert example.api.get("/v1/users").body["items"] == [{"id": CALLER, "name": "Ann Arrol"}]
    assert example.news.get("/v1/users").body["items"] == []
    commented = example.api.post(f"{PATH}/issues/1/comments", {"text": "Look.", "mentions": [CALLER]})
    assert commented.body["mentions"] == [CALLER]


def test_list_users(example: Example) -> None:
    for user, name in (("bob", "Bob Brunel"), ("amy", "Anabel Amos")):
        assert example.api.acting(user=user).claiming(name=name).get("/v1/me").status == 200
    assert example.news.claiming(name="Anton Abel").get("/v1/me").status == 200
    example.before("me")
    listed = [{"id": "amy", "name": "Anabel Amos"}, {"id": CALLER, "name": "Ann Arrol"}]
    assert example.read().body == {"items": listed, "next": None}


def test_changes(example: Example) -> None:
    answer = example.read().body
    assert answer["items"] == [], "a client follows from now on"
    example.api.patch(f"{PATH}/issues/2", {"state": "open"})
    example.news.patch("/v1/projects/7b7e/issues/2", {"state": "closed"})
    example.follow()
    followed = example.get("/changes", since=answer["next"])
    (event,) = followed["items"]
    assert (event["id"], event["kind"], event["by"]) == ("2.2", "update", "ann")
    assert event["fields"] == {"state": {"old": "closed", "new": "open"}}
    assert example.get("/changes", since=followed["next"])["items"] == []


def test_create_ticket(example: Example) -> None:
    ticket = example.read().body["ticket"]
    client = SocketClient(example.account)
    assert client.connect(ticket) == 200
    assert SocketClient(example.account).connect(ticket) == 401, "a ticket opens one socket"
    owner = example.item((live_keys.socket_owner(client.id), live_keys.SOCKET))
    assert owner["tenant"] == TENANT
    client.subscribe()
    example.api.patch(f"{PATH}/issues/2", {"state": "open"})
    example.follow()
    assert client.ids() == ["2.2"]
    assert example.item(issue(2))["version"] == 2
