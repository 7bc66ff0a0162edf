"""Draws the mutants of a module: every change of a few kinds that its text has a place for. Pure and deterministic.

The kinds: another comparison, another constant, a condition that always or never holds, a part of a condition less, a call less,
swapped arguments. Annotations, decorators, docstrings and the words of sentences stay, since tests hold nothing to them.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, cast

from devtools.proof.drawn_mutants import probes
from devtools.proof.mutation import module_of, replace

_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}

_SAME_KIND = {
    "max",
    "min",
    "sorted",
    "reversed",
    "replace",
    "abs",
    "set",
    "list",
    "tuple",
    "frozenset",
    "dict",
}
"""Functions whose result is as good as their argument for the code around them."""

_SYMMETRIC = {"max", "min", "isinstance", "issubclass"}
"""Functions for which swapped arguments mean the same, or nothing."""

_SHOWN = 90
"""Characters of a changed part that are in the name of a mutant."""


class Drawn(NamedTuple):
    """One mutant. Its name is its place and change, so it stays the same while other code changes around it.

    `place` is the function whose code is changed, without a colon when the module has to be loaded again. `probe` is that of the
    changed statement; outside of functions it is None, and `about` is the name that the statement defines, if any. `at` counts the
    nodes of `ast.walk` before the changed one, which `instead` replaces.
    """

    name: str
    kind: str
    place: str
    probe: int | None
    about: str
    at: int
    instead: str

    @property
    def module(self) -> str:
        """The module's full name."""
        return module_of(self.place)

    def spoilt(self, text: str) -> ast.Module:
        """The module of this text, which is the one that it was drawn from, with the change in it."""
        tree = ast.parse(text)
        node = next(one for at, one in enumerate(ast.walk(tree)) if at == self.at)
        if isinstance(node, ast.expr):
            replace(tree, [node], [ast.parse(self.instead, mode="eval").body])
        else:
            replace(tree, [node], [*ast.parse(self.instead).body])
        return tree


class _Scope(NamedTuple):
    """The place of a node: the names around it, whether it is in a function, its probe, and the name that is defined
    there.
    """

    names: tuple[str, ...] = ()
    in_function: bool = False
    probe: int | None = None
    about: str = ""


def draw(module: str, text: str) -> list[Drawn]:
    """All mutants of a module, in the order of its text. `module` is as in `Drawn.place`."""
    tree = ast.parse(text)
    at = {node: number for number, node in enumerate(ast.walk(tree))}
    numbers = probes.numbered(tree)
    functions = Counter(_functions(tree, ()))
    found: list[Drawn] = []
    seen: Counter[str] = Counter()
    for node, scope in _nodes(tree, _Scope(), numbers):
        names = ".".join(scope.names)
        is_one = scope.in_function and all(
            functions[scope.names[: end + 1]] < 2 for end in range(len(scope.names))
        )
        for kind, changed, instead in _changes(node):
            label = f"{module}:{names} {_short(ast.unparse(changed))} => {_short(instead) or 'nothing'}"
            seen[label] += 1
            name = label if seen[label] == 1 else f"{label} #{seen[label]}"
            place = f"{module}:{names}" if is_one else module
            found.append(Drawn(name, kind, place, scope.probe, scope.about, at[changed], instead))
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 30]} ... {line[-25:]}"


def _functions(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for child in ast.iter_child_nodes(node):
        inner = names
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = (*names, child.name)
            yield inner
        yield from _functions(child, inner)


def _nodes(node: ast.AST, scope: _Scope, numbers: dict[ast.AST, int]) -> Iterator[tuple[ast.AST, _Scope]]:
    """The nodes that may change.

    The parts of a function's definition, such as its defaults, belong to the scope around it.
    """
    if _is_fixed(node):
        return
    scope = scope._replace(probe=numbers.get(node, scope.probe), about=_defined(node) or scope.about)
    yield node, scope
    inner = scope
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        is_function = scope.in_function or isinstance(node, ast.FunctionDef)
        inner = scope._replace(names=(*scope.names, node.name), in_function=is_function)
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from _nodes(child, inner if name == "body" else scope, numbers)


def _defined(node: ast.AST) -> str:
    match node:
        case ast.FunctionDef(name) | ast.ClassDef(name):
            return name
        case ast.Assign([ast.Name(name), *_]) | ast.AnnAssign(ast.Name(name)):
            return name
    return ""


def _is_fixed(node: ast.AST) -> bool:
    match node:
        case (
            ast.Expr(ast.Constant()) | ast.If(ast.Name("TYPE_CHECKING")) | ast.Subscript(ast.Name("Literal"))
        ):
            return True
        case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
            return name.startswith("__")
        case ast.Call(ast.Name("cast" | "TypeVar")):
            return True
    return False


_Change = tuple[str, ast.AST, str]
"""A kind, the node that goes, and the text that comes."""


def _changes(node: ast.AST) -> Iterator[_Change]:
    match node:
        case ast.Compare(left, ops, comparators):
            others = [*ops[:-1], _OTHER[type(ops[-1])]()]
            yield "comparison", node, ast.unparse(ast.Compare(left, others, comparators))
        case ast.Constant():
            yield from _of_a_constant(node)
        case ast.Call():
            yield from _of_a_call(node)
        case ast.Expr(ast.Call()):
            yield "dropped call", node, ""
        case ast.BinOp():
            yield from _of_an_operation(node)
        case _:
            yield from _of_a_branch(node)
    for test in _conditions(node):
        yield from (("branch", test, str(value)) for value in (True, False))


def _of_a_branch(node: ast.AST) -> Iterator[_Change]:
    match node:
        case ast.BoolOp(op, values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "branch", node, ast.unparse(ast.BoolOp(other, values))
            for left_out in values:
                left = [one for one in values if one is not left_out]
                yield "branch", node, ast.unparse(left[0] if len(left) == 1 else ast.BoolOp(op, left))
        case ast.UnaryOp(ast.Not(), operand):
            yield "branch", node, ast.unparse(operand)
        case ast.Return(ast.expr() as value) if not _is_false(value) and not _is_condition(value):
            yield "branch", node, "return None"


def _of_an_operation(node: ast.BinOp) -> Iterator[_Change]:
    if not isinstance(node.op, ast.Mod):
        yield "dropped operand", node, ast.unparse(node.left)
    if isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Add):
        yield "dropped operand", node, ast.unparse(node.right)


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    """The conditions among a node's parts, but for those of which a part is left out instead."""
    match node:
        case ast.If(test) | ast.IfExp(test):
            yield test
        case ast.While(test) if not isinstance(test, ast.Constant):
            yield test
    if not isinstance(node, ast.BoolOp | ast.UnaryOp | ast.If | ast.While | ast.Assert):
        ifs = node.ifs if isinstance(node, ast.comprehension) else []
        for part in ast.iter_child_nodes(node):
            if part in ifs or (_is_condition(part) and part is not getattr(node, "test", None)):
                yield cast("ast.expr", part)


def _is_false(node: ast.expr) -> bool:
    """Whether it is None, or False, which callers do not distinguish from None."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def _is_condition(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _of_a_constant(node: ast.Constant) -> Iterator[_Change]:
    match node.value:
        case bool(value):
            yield "constant", node, repr(not value)
        case int(value) | float(value):
            yield from (("constant", node, repr(one)) for one in (value + 1, value - 1))
        case str(value) if " " not in value:
            yield "constant", node, repr(f"{value}~")


def _of_a_call(node: ast.Call) -> Iterator[_Change]:
    called = ast.unparse(node.func)
    arguments = node.args
    if called in _SAME_KIND and arguments:
        for one in arguments if called in ("max", "min") else arguments[:1]:
            yield "dropped call", node, ast.unparse(one)
    if called in _SYMMETRIC:
        return
    for argument in [*arguments[1:][-1:], *node.keywords]:
        value = argument.value if isinstance(argument, ast.keyword) else argument
        if not isinstance(value, ast.Constant | ast.Starred | ast.Compare | ast.BoolOp):
            yield "dropped argument", value, "None"
    for place in range(len(arguments) - 1):
        one, other = arguments[place : place + 2]
        if ast.unparse(one) != ast.unparse(other) and not isinstance(one, ast.Starred):
            swapped = [*arguments[:place], other, one, *arguments[place + 2 :]]
            yield "swapped argument", node, ast.unparse(ast.Call(node.func, swapped, node.keywords))
