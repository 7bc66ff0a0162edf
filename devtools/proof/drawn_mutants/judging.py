"""Looks at drawn mutants, each in a fork of a process that has loaded the tests, until a test or a scenario fails.

A mutant outside of functions, or in code that runs while modules are loaded, has all loaded again in its fork.
"""

import contextlib
import multiprocessing
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from math import ceil
from typing import Any, NamedTuple, NoReturn

from devtools.failure import Failure
from devtools.proof import mutation
from devtools.proof.drawn_mutants.covering import SCENARIOS, Look
from devtools.proof.drawn_mutants.drawing import Drawn
from devtools.proof.faults.judging import ENDLESS, Failures, forget_modules, run_tests

_PATIENCE_CPU = 5
"""Seconds of the processor, in addition to ten times a look's usual ones.

After them a mutant counts as an endless loop.
"""

_PATIENCE = 600
"""Seconds after which a mutant waits in vain."""

_MEMORY = 4 << 30
"""Bytes that a mutant may take."""

_LOADING_CPU = 60
"""Seconds of the processor for what comes before the first look."""

_AFRESH = "has to be loaded again"


class Case(NamedTuple):
    """A mutant, or the core as it is, and the looks at it. `afresh`: all is to be loaded again."""

    name: str
    mutant: Drawn | None
    looks: Sequence[Look]
    afresh: bool


class Verdict(NamedTuple):
    """The look that found a mutant out, and its failure; nothing when the mutant lives.

    `seconds` are of the processor.
    """

    name: str
    by: str
    failure: str
    looks: int
    seconds: float


def judged(cases: Sequence[Case], jobs: int, most_seconds: float) -> Iterator[Verdict]:
    """Yield the verdicts on mutants, in any order, by so many forks at a time.

    Mutants left after these seconds are not judged.
    """
    yield from (Verdict(case.name, "", "", 0, 0.0) for case in cases if not case.looks)
    loaded = {case.name: case for case in cases if case.looks and not case.afresh}
    afresh = [case for case in cases if case.looks and case.afresh]
    spent = 0.0
    if loaded:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        given = [*loaded.values()], jobs, most_seconds, theirs
        process = context.Process(target=_judge_loaded, args=given)
        process.start()
        theirs.close()
        with contextlib.suppress(EOFError):
            while True:
                verdict = Verdict(*ours.recv())
                if verdict.failure == _AFRESH:  # it is no function whose code can be swapped
                    afresh.append(loaded[verdict.name])
                    continue
                spent += verdict.seconds
                yield verdict
        process.join()
        if process.exitcode:
            raise Failure("The process that has loaded the tests has died.")
    yield from _in_forks(afresh, jobs, most_seconds - spent, _judge_afresh)


_Found = tuple[str, str, int]
"""By what, how it failed, and after how many looks."""


def _in_forks(
    cases: Sequence[Case], jobs: int, most_seconds: float, judge: Callable[[Case], _Found]
) -> Iterator[Verdict]:
    waiting = list(reversed(cases))
    running: dict[int, tuple[Case, int]] = {}
    spent = 0.0
    while running or (waiting and spent < most_seconds):
        while waiting and len(running) < jobs and spent < most_seconds:
            case = waiting.pop()
            reader, writer = os.pipe()
            pid = os.fork()
            if not pid:
                _in_a_fork(case, judge, writer)
            os.close(writer)
            running[pid] = case, reader
        pid, status, used = os.wait3(0)
        if pid not in running:
            continue
        case, reader = running.pop(pid)
        seconds = used.ru_utime + used.ru_stime
        spent += seconds
        with open(reader, "rb") as pipe:  # noqa: PTH123 - no path
            answer = pipe.read()
        if os.WIFSIGNALED(status):
            answer = pickle.dumps(("a limit", f"{ENDLESS}: {signal.Signals(os.WTERMSIG(status)).name}", 0))
        by, failure, looks = pickle.loads(answer)  # noqa: S301 - our own
        yield Verdict(case.name, by, failure, looks, seconds)


def _in_a_fork(case: Case, judge: Callable[[Case], _Found], writer: int) -> NoReturn:
    found: _Found
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
        _limit(_LOADING_CPU)
        found = judge(case)
    except BaseException as error:  # nothing may get back into the loop of the process that was forked
        found = "an error", repr(error), 0
    os.write(writer, pickle.dumps(found))
    os._exit(0)


def _limit(seconds: float) -> None:
    """End this process when it takes so many seconds more of the processor, or very long."""
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time() + seconds), most))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_PATIENCE)


class _Looking(Failures):
    """Looks at a mutant in a session of pytest that has collected the tests."""

    def look_at(self, case: Case, session: Any) -> _Found:
        """Run one after another until one fails."""
        items = {item.nodeid: item for item in session.items}
        run = 0
        for look, following in zip_longest(case.looks, case.looks[1:]):
            run += 1
            _limit(_PATIENCE_CPU + 10 * look.seconds)
            if look.file == SCENARIOS:
                if (difference := _difference(int(look.name))) is not None:
                    return f"scenario {look.name}", difference, run
                continue
            item = items.get(look.name)
            if item is None:  # a mutant may change the cases of a test
                continue
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=items.get(following and following.name)
            )
            if self.found or self.stumbled:
                return look.name, self.found[1][:300] if self.found else "it breaks", run
        return "", "", run


def _difference(seed: int) -> str | None:
    from devtools.proof.faults import scenarios

    return scenarios.play(seed).difference


class _Loaded(_Looking):
    """Has mutants judged in forks of this process."""

    def __init__(self, cases: Sequence[Case], jobs: int, most_seconds: float, pipe: Any) -> None:
        super().__init__()
        self._given = cases, jobs, most_seconds
        self._pipe = pipe

    def pytest_runtestloop(self, session: Any) -> bool:
        def judge(case: Case) -> _Found:
            try:
                if case.mutant is not None:
                    mutation.swap_in(case.mutant)
            except Failure:
                return "", _AFRESH, 0
            return self.look_at(case, session)

        for verdict in _in_forks(*self._given, judge):
            self._pipe.send(tuple(verdict))
        return True


def _judge_loaded(cases: Sequence[Case], jobs: int, most_seconds: float, pipe: Any) -> None:
    forget_modules()
    if any(look.file == SCENARIOS for case in cases for look in case.looks):
        from devtools.proof.faults import scenarios  # noqa: F401 - so that the forks have it
    status = _run(cases, _Loaded(cases, jobs, most_seconds, pipe))
    pipe.close()
    sys.exit(status)


class _Afresh(_Looking):
    """Judges one mutant."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self._case = case
        self.end: _Found = ("loading", "the tests do not load", 0)

    def pytest_runtestloop(self, session: Any) -> bool:
        if not session.testsfailed:
            self.end = self.look_at(self._case, session)
        return True


def _judge_afresh(case: Case) -> _Found:
    forget_modules()
    if case.mutant is not None:
        mutation.install(case.mutant)
    looking = _Afresh(case)
    _run([case], looking)
    return looking.end


def _run(cases: Sequence[Case], plugin: object) -> int:
    files = sorted({look.file for case in cases for look in case.looks} - {SCENARIOS})
    return run_tests(files, plugin, "-o", "timeout=0", thorough=False)
