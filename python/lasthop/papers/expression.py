"""The language of claim files: arithmetic over numbers, text and lists, and calls of given functions.

Claim files may come from strangers, so an expression can compute and do nothing else. Nodes that are not listed below
are refused before the evaluation: no attribute, no method, no other function, no formatted text. Each value is checked
as it is computed, and their total cost is bounded: any expression ends within a second or two and some ten megabytes.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

# The longest expression of the papers here has 428 characters.
MAX_LENGTH = 10_000
MAX_DEPTH = 100
# Numbers and characters in one value, including the lists in it.
MAX_SIZE = 100_000
# Limit on the cost of an expression: a step for each node, ten for each call, and one for each ten input or output
# values. So at most a million values are held at a time. The costliest expression of the papers here takes 2,111.
MAX_STEPS = 100_000
CALL_STEPS = 10
VALUES_A_STEP = 10
MAX_EXPONENT = 100
ARGUMENTS_OF = r"^\S*\(\) "
# A whole number of more bits is not a finite number after a division.
MAX_BITS = 1023

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_OPERATORS: list[type[ast.AST]] = [*_BINARY, *_UNARY, *_COMPARISONS]
_NODES: tuple[type[ast.AST], ...] = (
    *(ast.Expression, ast.Constant, ast.Name, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call),
    *(ast.keyword, ast.Subscript, ast.Slice, ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.comprehension),
    *(ast.expr_context, ast.boolop, ast.Not),
    *_OPERATORS,
)
_REFUSED = {
    ast.Attribute: "an attribute (.{attr}); write a function of docs/papers/format.md instead",
    ast.JoinedStr: 'formatted text (f"…"); write it out',
    ast.Dict: "a dictionary; write a list",
    ast.DictComp: "a dictionary; write a list",
    ast.Set: "a set; write a list",
    ast.SetComp: "a set; write a list",
    ast.Lambda: "a function of its own (lambda); write a comprehension",
    ast.NamedExpr: "an assignment (:=); give the value a name with `for name in [value]`",
    ast.Starred: "an asterisk; write the values one by one",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
}
_SCALARS = (bool, int, float, numpy.bool_, numpy.integer, numpy.floating)


class ExpressionError(ValueError):
    """A wrong expression; the message is a sentence without place."""


class UnknownName(ExpressionError):
    """A name without a value."""

    def __init__(self, name: str, *, function: bool) -> None:
        super().__init__(f"unknown {'function' if function else 'name'} {name!r}")
        self.name, self.function = name, function


def value_of(text: str, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    """The value of an expression; raises `ExpressionError`, `ZeroDivisionError`, and errors of the functions."""
    tree = _parsed(text)
    try:
        with numpy.errstate(all="ignore"):
            return _Evaluation(names, functions).value(tree)
    except OverflowError:
        raise ExpressionError("makes a number beyond 1.8e308") from None
    except RecursionError:
        raise ExpressionError("is nested too deeply; make it several expressions") from None


def is_number(value: Any) -> bool:
    """Whether `value` is one number; a comparison counts as 1 or 0."""
    return isinstance(value, _SCALARS)


def is_list_of_numbers(value: Any) -> bool:
    """Whether `value` is a list of numbers."""
    if isinstance(value, numpy.ndarray):
        return value.ndim == 1
    return isinstance(value, list | tuple) and all(map(is_number, value))


def kind_of(value: Any) -> str:
    """Returns the kind of a value in words."""
    if is_number(value):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple | numpy.ndarray):
        return "a list" if is_list_of_numbers(value) else "a list of more than numbers"
    return "a complex number" if isinstance(value, complex) else "nothing" if value is None else "a case"


def _parsed(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"has {len(text)} characters; at most {MAX_LENGTH}, so make it several")
    try:
        with warnings.catch_warnings(action="ignore"):  # warnings of the parser are for programmers
            tree = ast.parse(text.strip(), mode="eval").body
    except (RecursionError, MemoryError):  # the parser's way to refuse deep nesting
        raise ExpressionError("is nested too deeply; make it several expressions") from None
    except (SyntaxError, ValueError) as error:
        message = str(getattr(error, "msg", error)).partition(" - ")[0]
        raise ExpressionError(f"is not an expression: {message}") from None
    for depth, node in _with_depth(tree):
        if depth > MAX_DEPTH:
            raise ExpressionError(f"is nested more than {MAX_DEPTH} deep; make it several expressions")
        _check(node)
    return tree


def _with_depth(tree: ast.AST) -> Iterator[tuple[int, ast.AST]]:
    waiting = [(1, tree)]
    while waiting:
        depth, node = waiting.pop()
        yield depth, node
        waiting += [(depth + 1, child) for child in ast.iter_child_nodes(node)]


def _check(node: ast.AST) -> None:
    if not isinstance(node, _NODES):
        reason = _REFUSED.get(type(node), f"{type(node).__name__}, which claim files do not allow")
        raise ExpressionError(f"has {reason.format(attr=getattr(node, 'attr', ''))}")
    if isinstance(node, ast.Constant) and not isinstance(node.value, bool | int | float | str):
        raise ExpressionError(f"has {node.value!r}, which is neither number nor text")
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name | ast.Attribute):
        raise ExpressionError("calls a value that is not a function; docs/papers/format.md lists them")
    if isinstance(node, ast.keyword) and node.arg is None:
        raise ExpressionError("has an asterisk; write the values one by one")
    if isinstance(node, ast.comprehension) and node.is_async:
        raise ExpressionError("has await")


class _Evaluation:
    """One evaluation: the names known at this place, and the remaining steps."""

    def __init__(self, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> None:
        self._names = names
        self._bound: dict[str, Any] = {}
        self._functions = functions
        self._left = MAX_STEPS
        # Names may be objects that only functions use, such as the cases of a paper.
        self._scalars: tuple[type, ...] = (*_SCALARS, *{type(value) for value in names.values()})
        self._kinds: dict[type[ast.expr], Callable[[Any], Any]] = {
            ast.Constant: lambda node: node.value,
            ast.Name: self._name,
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.BoolOp: self._boolean,
            ast.Compare: self._compare,
            ast.IfExp: lambda node: self.value(node.body if self._truth(node.test) else node.orelse),
            ast.Call: self._call,
            ast.Subscript: self._subscript,
            ast.List: lambda node: [self.value(item) for item in node.elts],
            ast.Tuple: lambda node: tuple(self.value(item) for item in node.elts),
            ast.ListComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
        }

    def value(self, node: ast.expr) -> Any:
        """The value of a node, of a permitted kind and size."""
        self._spend(1)
        value = self._kinds[type(node)](node)
        if not isinstance(node, ast.Name):  # a name was checked at its definition
            self._spend(self._size(value) // VALUES_A_STEP)
        return value

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise ExpressionError(f"takes more than {MAX_STEPS} steps; make its lists shorter")

    def _name(self, node: ast.Name) -> Any:
        if node.id in self._bound:
            return self._bound[node.id]
        if node.id not in self._names:
            raise UnknownName(node.id, function=False)
        return self._names[node.id]

    def _truth(self, node: ast.expr) -> bool:
        value = self.value(node)
        if isinstance(value, numpy.ndarray):
            raise ExpressionError("uses a list as a condition; compare one number, such as least(…) or most(…) of it")
        return bool(value)

    def _unary(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return not self._truth(node.operand)
        return _UNARY[type(node.op)](_arithmetic(self.value(node.operand)))

    def _binary(self, node: ast.BinOp) -> Any:
        left, right = _arithmetic(self.value(node.left)), _arithmetic(self.value(node.right))
        if isinstance(node.op, ast.Pow) and numpy.any(numpy.abs(right) > MAX_EXPONENT):
            raise ExpressionError(f"has an exponent beyond {MAX_EXPONENT}")
        return _BINARY[type(node.op)](left, right)

    def _boolean(self, node: ast.BoolOp) -> bool:
        some = any if isinstance(node.op, ast.Or) else all
        return some(self._truth(item) for item in node.values)

    def _compare(self, node: ast.Compare) -> Any:
        left, is_true = self.value(node.left), True
        for kind, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            self._spend((self._size(left) + self._size(right)) // VALUES_A_STEP)
            if isinstance(left, numpy.ndarray) or isinstance(right, numpy.ndarray):
                _arithmetic(left), _arithmetic(right)
            is_true = _COMPARISONS[type(kind)](left, _a_list(right) if isinstance(kind, ast.In | ast.NotIn) else right)
            if other is not node.comparators[-1] and not is_true:
                break
            left = right
        return is_true

    def _call(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)  # `_check` refuses all others
        name = node.func.id
        if name not in self._functions:
            raise UnknownName(name, function=True)
        positional = [self.value(item) for item in node.args]
        named = {str(item.arg): self.value(item.value) for item in node.keywords}
        self._spend(CALL_STEPS + sum(map(self._size, positional)) // VALUES_A_STEP)
        try:
            return self._functions[name](*positional, **named)
        except TypeError as error:  # Python's message for wrong arguments begins with a name that no claim file has
            raise ExpressionError(f"calls {name} wrongly: {re.sub(ARGUMENTS_OF, '', str(error))}") from None

    def _subscript(self, node: ast.Subscript) -> Any:
        values = _a_list(self.value(node.value))
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            return values[slice(*(None if bound is None else _index(self.value(bound)) for bound in bounds))]
        return values[_index(self.value(node.slice))]

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        outside, values = self._bound, []
        self._bound = dict(outside)
        self._go_through(node.generators, lambda: values.append(self.value(node.elt)))
        self._bound = outside
        return values

    def _go_through(self, loops: list[ast.comprehension], do: Callable[[], None]) -> None:
        if not loops:
            do()
            return
        for value in _a_list(self.value(loops[0].iter)):
            self._spend(1)
            self._bind(loops[0].target, value)
            if all(self._truth(condition) for condition in loops[0].ifs):
                self._go_through(loops[1:], do)

    def _bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._bound[target.id] = value
            return
        if not isinstance(target, ast.Tuple | ast.List):
            raise ExpressionError("has a comprehension without a name after `for`")
        for inner, item in zip(target.elts, _a_list(value), strict=True):
            self._bind(inner, item)

    def _size(self, value: Any) -> int:
        """The numbers and characters in a value; raises `ExpressionError` if it is too large or of another type."""
        size, waiting = 0, [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, list | tuple) and len(one) <= MAX_SIZE:
                size += 1
                waiting += one
            else:
                size += len(one) if isinstance(one, list | tuple) else self._size_of_one(one)
            if size > MAX_SIZE:
                raise ExpressionError(f"makes a list or text of more than {MAX_SIZE} values; make it shorter")
        return size

    def _size_of_one(self, value: Any) -> int:
        if isinstance(value, str):
            return len(value)
        if isinstance(value, numpy.ndarray):
            if value.ndim != 1 or value.dtype.kind not in "fiub":
                raise ExpressionError("makes a list of lists where a list of numbers is needed")
            return value.size
        if not isinstance(value, self._scalars):
            raise ExpressionError(f"makes {kind_of(value)} where a number is needed")
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise OverflowError
        return 1


def _arithmetic(value: Any) -> Any:
    """A number or an array of them; raises `ExpressionError` for lists and text."""
    if not is_number(value) and not isinstance(value, numpy.ndarray):
        remedy = "; write array([…])" if isinstance(value, list | tuple) else ""
        raise ExpressionError(f"computes with {kind_of(value)} where a number is needed{remedy}")
    return value


def _a_list(value: Any) -> Any:
    if not isinstance(value, list | tuple | numpy.ndarray):
        raise ExpressionError(f"has {kind_of(value)} where a list is needed")
    return value


def _index(value: Any) -> int:
    if not isinstance(value, int | numpy.integer):
        raise ExpressionError(f"has {kind_of(value)} as an index of a list, where a whole number is needed")
    return int(value)
