"""The query parameters of lists."""

from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands.actor import Actor, Role
from gridview.commands.users import list_users
from gridview.encoding import keys
from gridview.encoding.cursors import Cursors

ANN = Actor("acme", "ann", Role.VIEWER)


def test_a_result_page_has_100_items_if_the_caller_gives_no_limit() -> None:
    table, cursors = MemoryTable(), Cursors([b"of the tests"], "users")
    names = [f"user {number:03}" for number in range(102)]
    for number, name in enumerate(names):
        key = {keys.PK: keys.user("acme", f"u{number}"), keys.SK: keys.users("acme"), keys.SORT: name}
        table.put({**key, "name": name})
    for parameters, count in (({}, 100), ({"limit": "101"}, 101)):
        answer = list_users(table, ANN, parameters, cursors)
        assert [one["name"] for one in answer["items"]] == names[:count]
