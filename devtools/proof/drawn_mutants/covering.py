"""Finds which unit tests of the core, and which fault scenarios, execute a block of it.

They run once with probes in the core. The hits of a file's tests are kept in `.build/covered` until that file, the
core or code that tests share changes.
"""

import ast
import hashlib
import multiprocessing
import pickle
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from devtools.failure import Failure
from devtools.paths import CORE, ROOT
from devtools.proof import mutation
from devtools.proof.drawn_mutants import probes
from devtools.proof.drawn_mutants.drawing import Drawn
from devtools.proof.drawn_mutants.probes import Probed, numbered
from devtools.proof.faults import judging

SCENARIOS = "scenarios"
"""The place in the list of files of the fault scenarios, which are looks too. Each is named by its seed."""

_SEEDS = (*range(1_000_000, 1_000_030), *range(5_000_000, 5_000_008))
_KEPT = ROOT / ".build" / "covered"
_NOT_OF_THE_CORE = ("devtools", "test_")
_MOST_SECONDS = 10.0
"""Seconds of the processor that the looks at a mutant take together, when it lives."""

_NEAR_SECONDS = 6.0
"""The part of these seconds for looks near the mutant.

They mostly share a fixture, which each other file has to make.
"""

_MOST = 120
"""Looks at a mutant."""

Hits = Mapping[str, bytes]
"""The probes of the modules of which a test executes something."""


class Look(NamedTuple):
    """A test or a scenario that passes. Without a name: the loading of the file's tests."""

    file: str
    name: str
    seconds: float
    hits: Hits


def sources() -> dict[str, Path]:
    """The modules of the core and of the functions, as `package.module`, with their files."""
    return {
        ".".join(path.relative_to(home).with_suffix("").parts).removeprefix("gridview."): path
        for home, folder in ((CORE, "gridview"), (ROOT, "functions"))
        for path in sorted((home / folder).rglob("*.py"))
        if path.name != "__init__.py"
    }


def looks(jobs: int) -> list[Look]:
    """Return all looks, the ones that execute least first.

    Looks that are not kept are measured by so many processes.
    """
    kept = {file: _KEPT / key for file, key in _keys().items()}
    missing = [file for file, path in kept.items() if not path.exists()]
    _KEPT.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_record, args=(missing[part::jobs], kept)) for part in range(jobs)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    for path in {*_KEPT.iterdir()} - {*kept.values()}:
        path.unlink()
    found = [
        Look(file, *look)
        for file, path in kept.items()
        for look in pickle.loads(zlib.decompress(path.read_bytes()))  # noqa: S301 - our own
    ]
    return sorted(found, key=lambda look: sum(map(sum, look.hits.values())))


def _keys() -> dict[str, str]:
    """The name under which a file's looks are kept: a hash of all that they depend on."""
    tests = ROOT / "tests"
    shared = [
        *(tests / "support").rglob("*.py"),
        *tests.rglob("conftest.py"),
        Path(probes.__file__),
    ]
    depends = hashlib.sha256(b"".join(path.read_bytes() for path in [*sources().values(), *sorted(shared)]))
    faults = b"".join(path.read_bytes() for path in sorted(Path(judging.__file__).parent.glob("*.py")))
    files = {
        str(path.relative_to(ROOT)): path.read_bytes()
        for path in sorted((tests / "unit").rglob("test_*.py"))
        if not path.relative_to(tests / "unit").parts[0].startswith(_NOT_OF_THE_CORE)
    }
    return {
        file: hashlib.sha256(depends.digest() + file.encode() + text).hexdigest()
        for file, text in {SCENARIOS: faults, **files}.items()
    }


def _record(files: Sequence[str], kept: Mapping[str, Path]) -> None:
    if not files:
        return
    judging.forget_modules()
    ours = ("gridview.", "functions.")
    sys.meta_path.insert(0, mutation.Finder(lambda name: name.startswith(ours), Probed))
    recording = _Recording(kept)
    tests = [file for file in files if file != SCENARIOS]
    if tests and (status := judging.run_tests(tests, recording, "-o", "timeout=0", thorough=False)) > 1:
        raise Failure(f"The tests of the core do not run: pytest ends with {status}.")
    if SCENARIOS in files:
        _record_scenarios(recording)
    for file in files:
        recording.keep(file)


class _Recording:
    """The hits of each test, by its file."""

    def __init__(self, kept: Mapping[str, Path]) -> None:
        self._kept = kept
        self._found: dict[str, list[tuple[str, float, Hits]]] = {}
        self._failed: set[str] = set()

    def keep(self, file: str) -> None:
        """Write what the file's tests execute, unless that has been done: a run that is ended goes on where it was."""
        if not self._kept[file].exists():
            self._kept[file].write_bytes(zlib.compress(pickle.dumps(self._found.pop(file, [])), 1))

    def take(self, file: str, name: str, seconds: float, *, passed: bool = True) -> None:
        """Keep the hits since the last time, unless the test failed."""
        some = {module: bytes(hits) for module, hits in Probed.hits.items() if any(hits)}
        for module in some:
            Probed.hits[module][:] = bytes(len(some[module]))
        if passed:
            self._found.setdefault(file, []).append((name, seconds, some))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """All is loaded."""
        self.take(session.items[0].nodeid.partition("::")[0], "", 0.0) if session.items else None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """A test that passes is a look."""
        began = time.process_time()
        yield
        seconds, passed = time.process_time() - began, item.nodeid not in self._failed
        file = item.nodeid.partition("::")[0]
        self.take(file, item.nodeid, seconds, passed=passed)
        if nextitem is None or not nextitem.nodeid.startswith(f"{file}::"):
            self.keep(file)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test that fails or is skipped shows nothing."""
        if not report.passed:
            self._failed.add(report.nodeid)


def _record_scenarios(recording: _Recording) -> None:
    from devtools.proof.faults import scenarios

    recording.take(SCENARIOS, "", 0.0)
    for seed in _SEEDS:
        began = time.process_time()
        passed = scenarios.play(seed).difference is None
        recording.take(SCENARIOS, str(seed), time.process_time() - began, passed=passed)


class Chooser:
    """Chooses the looks at mutants."""

    def __init__(self, found: Sequence[Look]) -> None:
        self._looks = [look for look in found if look.name]
        self._loading = [look for look in found if not look.name]

    def runs_while_loading(self, mutant: Drawn) -> bool:
        """Whether the code has run before any test, so that swapping it would come too late."""
        return mutant.probe is not None and any(
            _covers(look, mutant.module, mutant.probe) for look in self._loading
        )

    def looks(self, mutant: Drawn) -> list[Look]:
        """Return looks that execute it: tests that are near it, then in turn one of each file, until there are
        enough.

        Near are the tests of the module's package and the tests whose file is named like the module, the likest
        first.

        - Code outside of functions counts as executed by looks that execute a mention of its name.
        - Code that only runs while modules are loaded is executed by tests of files that import the module, or else
          of its package.

        Looks that execute the same of the module come one after another only when there are no others: they mostly
        find the same.
        """
        if mutant.probe is None:
            places = _mentions().get(mutant.about) or {(mutant.module, None)}
        else:
            places = {(mutant.module, mutant.probe)}
        fitting = [look for look in self._looks if any(_covers(look, *place) for place in places)]
        package, _, name = mutant.place.partition(":")[0].rpartition(".")
        of_package = f"tests/unit/{package.partition('.')[0]}/"
        if not fitting and (mutant.probe is None or self.runs_while_loading(mutant)):
            importing = re.compile(rf"\b{re.escape(package)}(\.| import (.*, )?){name}\b")
            fitting = [look for look in self._looks if importing.search(_text(look.file))] or [
                look for look in self._looks if look.file.startswith(of_package)
            ]
        likeness = {file: _likeness(f"{package}_{name}", file) for file in {look.file for look in fitting}}
        near = [look for look in fitting if likeness[look.file] or look.file.startswith(of_package)]
        near.sort(key=lambda look: -likeness[look.file])
        near = _in_turn(near, lambda look: look.hits.get(mutant.module))
        far = _in_turn(fitting, lambda look: look.file)
        first = _within(near, _NEAR_SECONDS, _MOST // 2)
        rest = _within(far, _MOST_SECONDS - _NEAR_SECONDS, _MOST - len(first))
        return [*{look.name: look for look in [*first, *rest]}.values()]


def _covers(look: Look, module: str, probe: int | None) -> bool:
    hits = look.hits.get(module)
    return hits is not None and (probe is None or bool(hits[probe]))


def _within(looks: Sequence[Look], seconds: float, count: int) -> list[Look]:
    """The first looks, at most so many, that take no more seconds together; one at least."""
    before = accumulate((look.seconds for look in looks), initial=0.0)
    return [look for look, spent in zip(looks, before, strict=False) if spent < seconds][:count]


def _in_turn(looks: Sequence[Look], kind: Callable[[Look], Any]) -> list[Look]:
    """One of each kind, then another of each."""
    of_kind: dict[Any, list[Look]] = {}
    for look in looks:
        of_kind.setdefault(kind(look), []).append(look)
    return [look for some in zip_longest(*of_kind.values()) for look in some if look is not None]


def _likeness(module: str, file: str) -> int:
    """How many words a module's name and the name of a file of tests share."""
    one, other = (
        {word.removesuffix("s") for word in re.split(r"[._]", name)} for name in (module, Path(file).stem)
    )
    return len(one & other)


@cache
def _text(file: str) -> str:
    return "" if file == SCENARIOS else (ROOT / file).read_text("utf-8")


@cache
def _mentions() -> dict[str, set[tuple[str, int | None]]]:
    """The probes of the statements that mention a name."""
    found: dict[str, set[tuple[str, int | None]]] = {}
    for short, path in sources().items():
        for node, probe in numbered(ast.parse(path.read_text("utf-8"))).items():
            parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            for part in chain.from_iterable(map(ast.walk, parts)):
                if isinstance(part, ast.Name | ast.Attribute):
                    name = part.id if isinstance(part, ast.Name) else part.attr
                    found.setdefault(name, set()).add((mutation.module_of(short), probe))
    return found
