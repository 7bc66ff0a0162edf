"""The `./dev` commands in a text, checked by the real parsers."""

import argparse
import contextlib
import io
import re
import shlex
from collections.abc import Iterator

from devtools.cli import COMMANDS, parser_of
from devtools.deployed import arguments
from devtools.failure import Failure

_BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`(\./dev [^`]+)`")
_SHOWN = re.compile(r"^\s*(?:- run: )?(\./dev .*)$", re.MULTILINE)
_NESTED = re.compile(r"\$\((\./dev [^)]+)\)")
_NOT_WHOLE = re.compile("arguments are required|expected one argument|expected at least one argument")
_DEPLOYING = {"synth", "deploy", "destroy"}
"""Commands whose settings the CDK app reads."""


def commands_in(text: str) -> Iterator[str]:
    """All commands in a text."""
    yield from typed_in(text)
    yield from named_in(text)


def typed_in(text: str) -> Iterator[str]:
    """The commands of a text's blocks of code, to be typed as they are: whole lines, and `$(./dev
    ...)` within others.
    """
    for block in _BLOCK.findall(text):
        whole = block.replace("\\\n", " ")
        yield from (_before_pipe(command) for command in _NESTED.findall(whole))
        for line in _SHOWN.findall(whole):
            yield _before_pipe(line.partition(" #")[0].partition(" > ")[0])


def _before_pipe(command: str) -> str:
    return command.partition(" | ")[0].strip()


def named_in(text: str) -> Iterator[str]:
    """The commands within a text's sentences. Some only name a command or an option of it."""
    outside = _BLOCK.sub("", text)
    yield from (command.replace("\n", " ") for command in _INLINE.findall(outside))


def why_wrong(command: str, *, only_named: bool = False) -> str | None:
    """The reason why `./dev` refuses a command; None if it accepts it. `[...]` is optional, and `...` ends the shown
    part.

    `only_named`: a command named in a sentence may be incomplete, but must exist.
    """
    _, name, *rest = shlex.split(re.sub(r"[\[\]]|\.\.\.", " ", command))
    if name in {"--help", "--version", "python"}:
        return None
    if name not in COMMANDS:
        return f"there is no {name}"
    if name in _DEPLOYING:
        try:
            arguments.settings([one.replace("$STAGE", "dev") for one in rest])
        except Failure as failure:
            return str(failure)
    parser = parser_of(name)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            parsed, unknown = parser.parse_known_args(rest)
    except SystemExit:
        if not only_named or not _NOT_WHOLE.search(said.getvalue()):
            return said.getvalue()
        parsed, unknown = argparse.Namespace(), []
    if getattr(parsed, "takes_more", False):
        return None
    # argparse also accepts abbreviated options; pages use full names.
    known = _options(parser)
    strange = [one for one in rest if one.startswith("--") and one.partition("=")[0] not in known]
    return f"unknown: {unknown or strange}" if unknown or strange else None


def lacks_its_stack(command: str) -> bool:
    """Whether a command for a deployed stack does not name the stack."""
    _, name, *rest = shlex.split(command)
    if name not in COMMANDS:
        return False
    return "--deployed" in _options(parser_of(name)) and not {"--deployed", "--stack-name"} <= {*rest}


def _options(parser: argparse.ArgumentParser) -> set[str]:
    """The options of a subcommand, and of its own subcommands."""
    return {option for one in _with_its_own(parser) for option in one._option_string_actions}


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: one
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, one in action.choices.items()
    }


def _with_its_own(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for one in _choices(parser).values():
        yield from _with_its_own(one)
