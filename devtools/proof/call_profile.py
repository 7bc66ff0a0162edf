"""How many modules of the core three walks enter: `./dev python -m devtools.proof.call_profile [--list]`.

- write: the second PATCH of an issue, from the command function through the consumer to the fold that writes its blocks
- page: a filtered, sorted page with `explain`, asked for the second time in a container
- delivery: one change of an issue, from the hint at a webhook's outbox to the receiver's answer

Method: the real handlers work on the table in memory. During a walk, the interpreter reports each call of a function in
each thread (`sys.setprofile`). A module counts once for each walk if a function, method or generator of it is entered.
Code that only runs during an import does not count. So the figure is how many files of the core a reader opens to follow
the walk.
"""

import argparse
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from devtools.paths import CORE
from devtools.proof.faults.adversary import record
from devtools.proof.faults.lambdas import Functions
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.virtual import Clock, virtual
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.derive.images import Poison
from gridview.encoding import derived_keys, keys
from gridview.live.outbox import Reply
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs

_TENANT: Final = "acme"
_PROJECT: Final = "bridge"
_PATH: Final = f"/v1/projects/{_PROJECT}"
_ADMIN: Final = (_TENANT, "ada", Role.ADMIN)
_PAGE: Final = {
    "filter": {"field": "state", "op": "eq", "value": "open"},
    "sort": [{"field": "start"}],
    "count": True,
    "explain": True,
}
_ROOT: Final = CORE / "gridview"


@contextmanager
def entered(found: set[str]) -> Iterator[None]:
    """Add to `found` the modules of the core, as `package.module`, that are entered meanwhile by this thread and new ones."""
    known: dict[str, str | None] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        file = frame.f_code.co_filename
        if file not in known:
            path = Path(file)
            known[file] = _named(path) if path.is_relative_to(_ROOT) else None
        if (name := known[file]) is not None:
            found.add(name)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _named(path: Path) -> str:
    return ".".join(path.relative_to(_ROOT).with_suffix("").parts)


class _Receiver:
    """A receiver of webhooks that takes each message."""

    def post(self, url: str, headers: Any, body: bytes) -> Reply:
        """One attempt."""
        del url, headers, body
        return Reply(code=204)


class _Scene:
    """A project with one issue and one webhook, whose stream is consumed and folded."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._table = MemoryTable()
        self._hints: list[Hint] = []
        admin = Actor(*_ADMIN)
        projects.create_project(
            self._table, admin, {"name": "Bridge", "id": _PROJECT, "states": ["open", "done"]}
        )
        attributes.create_attribute(
            self._table, Catalogs(), admin, _PROJECT, {"name": "Start", "id": "start", "type": "date"}
        )
        self._functions = Functions(self._table, Catalogs(), hint=self._hints.append)
        self._known: dict[str, Any] | None = None
        body = {"name": "Paint", "state": "open", "fields": {"start": "2026-11-24"}}
        self._ask("POST", f"{_PATH}/issues", body)
        self._taken_in()
        self._ask("POST", f"{_PATH}/webhooks", {"url": "https://hooks.example.org"})
        self.write("2026-11-25")
        self._delivered()

    def _ask(self, method: str, path: str, body: Any) -> Any:
        answer = self._functions.request(_ADMIN, method, path, body)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer}")
        return answer.body

    def write(self, start: str) -> None:
        """An edit, until its blocks are right."""
        self._ask("PATCH", f"{_PATH}/issues/1", {"fields": {"start": start}})
        self._taken_in()
        self._clock.seconds += 3_600  # whatever folds wait for, it has come
        self._functions.upkeep(_unexpected)
        if self._table.items[derived_keys.journal(_TENANT, _PROJECT), derived_keys.FOLD].get("folded", 0) < 1:
            raise RuntimeError("nothing was folded")

    def page(self) -> None:
        """A page."""
        self._ask("POST", f"{_PATH}/grid", _PAGE)

    def deliver(self, start: str) -> Callable[[], None]:
        """A change that waits for its delivery; returns the function that delivers it."""
        self.write(start)
        return self._delivered

    def _taken_in(self) -> None:
        place = keys.issue(_TENANT, _PROJECT, 1), keys.project(_TENANT, _PROJECT)
        before, self._known = self._known, dict(self._table.items[place])
        self._functions.maintain([record(1, before, self._known)], _unexpected)

    def _delivered(self) -> None:
        hints, self._hints[:] = list(self._hints), []
        done = self._functions.deliver(hints, _Receiver())
        if not done["attempts"]:
            raise RuntimeError("nothing was delivered")


def _unexpected(poison: Poison) -> None:
    raise RuntimeError(f"poison: {poison}")


def measured() -> dict[str, frozenset[str]]:
    """The modules that each walk enters."""
    clock = Clock()
    found: dict[str, set[str]] = {"write": set(), "page": set(), "delivery": set()}
    with virtual(clock, 0, {}):
        clock.seconds += 60
        scene = _Scene(clock)
        with entered(found["write"]):
            scene.write("2026-11-26")
        scene.page()
        with entered(found["page"]):
            scene.page()
        deliver = scene.deliver("2026-11-27")
        with entered(found["delivery"]):
            deliver()
    return {walk: frozenset(modules) for walk, modules in found.items()}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="name the modules too")
    listed = parser.parse_args().list
    for walk, modules in measured().items():
        print(f"{walk}: {len(modules)} modules")
        for name in sorted(modules) if listed else ():
            print(f"  {name}")


if __name__ == "__main__":
    main()
