"""`./dev soak`: an hour of mixed load on a local stack whose processes are killed, then a comparison of everything."""

import argparse
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.table import Table

from devtools.arguments import count
from devtools.failure import Failure
from devtools.local.processes import wait_until
from devtools.proof.soak import judging
from devtools.proof.soak.client import Client
from devtools.proof.soak.followers import Listener, Poller, RowFollower, running
from devtools.proof.soak.load import Book, Editor, make_project, run_imports, run_jobs
from devtools.proof.soak.stack import Stack

TENANTS: Final = ("soakone", "soaktwo")
"""Each has a project with two editors, jobs, imports and three followers."""
_EDITORS: Final = 2
_ROWS: Final = {"field": "kind", "op": "eq", "value": "beam"}
_SORT: Final = "total"
_KILL_SECONDS: Final = 60.0
_WHOLE_KILLS: Final = 10
"""Of so many kills, the first is of the whole stack. The others are of one execution environment."""
_WARM_SECONDS: Final = 45.0
_SETTLE_SECONDS: Final = 300.0
_SHOWN: Final = 20
_DESCRIPTION = """\
Start a local stack of its own, and load it for an hour: two tenants edit, undo, delete, restore, import, run jobs and follow
changes. Each minute a process is killed: an execution environment of a function, or the whole stack. Then everything is
compared: what was answered, documents, feeds, histories, sums, groups, and `./dev fsck`. The memory of each process is
shown before and after. The exit status is 1 if there is a difference.
"""


class _Project(NamedTuple):
    tenant: str
    name: str
    book: Book
    followers: tuple[Poller, Listener, RowFollower]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev soak`."""
    parser.description = _DESCRIPTION
    parser.add_argument("--minutes", metavar="N", type=count, default=60, help="of load (default: 60)")
    parser.add_argument("--seed", metavar="N", type=count, default=1, help="what happens by chance")


def run(args: argparse.Namespace) -> int:
    """Load, kill, compare and print; 1 if there is a difference."""
    console = Console(highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="gridview-soak-") as made:
        stack = Stack(Path(made) / "data")
        stack.start()
        try:
            return _Soak(stack, args.seed, console).run(60.0 * args.minutes)
        finally:
            stack.dev("reset")


class _Soak:
    def __init__(self, stack: Stack, seed: int, console: Console) -> None:
        self._stack = stack
        self._seed = seed
        self._console = console
        self._kills: Counter[str] = Counter()
        self._faults: list[str] = []

    def run(self, seconds: float) -> int:
        projects = [self._project(tenant) for tenant in TENANTS]
        following, loading = threading.Event(), threading.Event()
        followers = [
            self._thread(partial(running, one, following))
            for project in projects
            for one in project.followers
        ]
        load = [self._thread(work) for project in projects for work in self._work(project, loading)]
        time.sleep(min(_WARM_SECONDS, seconds / 2))
        before = self._stack.memory()
        self._kill_until(time.monotonic() + seconds - _WARM_SECONDS)
        loading.set()
        for thread in load:
            thread.join()
        self._settle(projects)
        after = self._stack.memory()
        following.set()
        for thread in followers:
            thread.join()
        differences = [*self._faults, *self._differences(projects)]
        self._print(projects, before, after, differences)
        return 1 if differences else 0

    def _project(self, tenant: str) -> _Project:
        client, name = self._client(tenant, "ann"), f"{tenant}main"
        make_project(client, name)
        followers: tuple[Poller, Listener, RowFollower] = (
            Poller(self._client(tenant, "poll"), name),
            Listener(self._client(tenant, "listen"), name),
            RowFollower(self._client(tenant, "rows"), name, _ROWS, _SORT),
        )
        return _Project(tenant, name, Book(), followers)

    def _work(self, project: _Project, stop: threading.Event) -> Iterator[Callable[[], None]]:
        tenant, name, book, _ = project
        seed = self._seed * 1_000 + TENANTS.index(tenant) * 100
        for at in range(_EDITORS):
            editor = Editor(self._client(tenant, f"editor{at}"), name, book, seed + at)
            yield partial(editor.run, stop)
        jobs, imports = self._client(tenant, "jobs"), seed + 99
        yield partial(run_jobs, jobs, name, book, seed + 98, stop)
        yield partial(run_imports, self._stack, tenant, book, imports, stop)

    def _kill_until(self, end: float) -> None:
        chance = random.Random(self._seed)  # noqa: S311
        for at in range(1, 10**6):
            if time.monotonic() + _KILL_SECONDS > end:
                time.sleep(max(0.0, end - time.monotonic()))
                return
            time.sleep(_KILL_SECONDS)
            if at % _WHOLE_KILLS == 1:
                self._stack.kill()
                self._stack.start()
                self._kills["whole stack"] += 1
            else:
                self._kills[self._stack.kill_function(chance)] += 1

    def _settle(self, projects: list[_Project]) -> None:
        """Wait until the index and the followers have everything."""
        for project in projects:
            client = self._client(project.tenant, "ann")

            def is_followed(client: Client = client, project: _Project = project) -> bool:
                if not judging.is_settled(client, project.name):
                    return False
                versions = {
                    num: one.version for num, one in judging.documents_of(client, project.name).items()
                }
                poller, listener, _ = project.followers
                return all(
                    {num: one.version for num, one in copy.issues.items()} == versions
                    for copy in (poller.copy, listener.copy)
                )

            if not wait_until(is_followed, _SETTLE_SECONDS):
                self._faults.append(f"{project.name} did not settle within {_SETTLE_SECONDS:.0f} seconds")

    def _differences(self, projects: list[_Project]) -> Iterator[str]:
        chance = random.Random(self._seed)  # noqa: S311
        for project in projects:
            client, name, book = self._client(project.tenant, "ann"), project.name, project.book
            poller, listener, rows = project.followers
            documents = judging.documents_of(client, name)
            found = (
                *book.faults,
                *judging.differences_of_answers(book, documents),
                *judging.differences_of_copy(poller.name, poller.copy, documents),
                *judging.differences_of_copy(listener.name, listener.copy, documents),
                *judging.differences_of_rows(rows, client, name, _ROWS, _SORT),
                *judging.differences_of_histories(client, name, documents, chance),
                *judging.differences_of_sums(client, name, documents),
                *judging.differences_of_imports(client, book),
            )
            yield from (f"{name}: {one}" for one in found)
        yield from (f"given up: {file}" for file in self._stack.given_up())
        try:
            self._stack.dev("fsck", "--patience", "10")
        except Failure as failure:
            yield str(failure)

    def _print(
        self,
        projects: list[_Project],
        before: dict[str, float],
        after: dict[str, float],
        differences: list[str],
    ) -> None:
        done: Counter[str] = Counter()
        for project in projects:
            done.update(project.book.done)
            poller, listener, _ = project.followers
            done["changes by polls"] += poller.copy.events
            done["changes by sockets"] += listener.copy.events
            done["sockets opened"] += listener.sockets
        for title, tally in (("done", done), ("killed", self._kills)):
            text = ", ".join(f"{count:,} {name}" for name, count in sorted(tally.items()))
            self._console.print(f"{title}: {text}", markup=False)
        table = Table(title="Memory of a process, MB", box=None)
        for name, justify in (("", "left"), ("before", "right"), ("after", "right")):
            table.add_column(name, justify=justify)  # type: ignore[arg-type]
        for name in sorted({*before, *after}):
            table.add_row(name, *(f"{part[name]:.0f}" if name in part else "" for part in (before, after)))
        self._console.print(table)
        self._console.print(f"{len(differences)} differences", markup=False)
        for one in differences[:_SHOWN]:
            self._console.print(one, markup=False)

    def _client(self, tenant: str, user: str) -> Client:
        return Client(self._stack.api, self._stack.token(tenant, user))

    def _thread(self, work: Callable[[], Any]) -> threading.Thread:
        def noting() -> None:
            try:
                work()
            except Exception as error:  # what ends a part of the load is a difference
                self._faults.append(f"{type(error).__name__}: {error}")

        thread = threading.Thread(target=noting, daemon=True)
        thread.start()
        return thread
