"""The code stays plain: how much a statement holds, riddles that one has to solve, and branches of a function.

The size of a statement is its number of *parts*: nodes of the syntax tree, without signs such as `+` and `==`, and
without the statements inside it. Python's `re` has 5.6 per statement, starlette 6.3, hypothesis 6.7.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from radon.complexity import cc_visit

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "guidedviz"
ROOMS = sorted(path.name for path in LIBRARY.iterdir() if (path / "__init__.py").exists())
SIGNS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MOST_PER_STATEMENT = {"views": 8.0}  # elsewhere 7.1: shapes are described in long calls
MOST_OF_NINE_IN_TEN = {"views": 13}  # elsewhere 12
MOST_AT_ONCE = 10  # unrelated things that one statement assigns, in the whole library
MOST_SHARED_NAMES = 10  # of functions and constants that several modules define


def read(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def sources() -> dict[Path, ast.Module]:
    """The files of the library; they are read by the first test, not by each process that collects the tests."""
    return {path: read(path) for path in sorted(LIBRARY.rglob("*.py")) if "node_modules" not in path.parts}


def count_parts(statement: ast.stmt) -> int:
    """The nodes of a statement, without those of the statements inside it."""
    parts = 0
    waiting: list[ast.AST] = [statement]
    for node in waiting:  # it grows
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.stmt, *SIGNS)):
                parts += 1
                waiting.append(child)
    return parts


def statements_of(room: str) -> list[int]:
    """The sizes of all statements of a room, in order."""
    sizes = []
    for path, tree in sources().items():
        if path.relative_to(LIBRARY).parts[0] == room:
            sizes += [count_parts(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return sorted(sizes)


@pytest.mark.parametrize("room", ROOMS)
def test_a_statement_holds_little(room):
    sizes = statements_of(room)
    assert 1 + sum(sizes) / len(sizes) <= MOST_PER_STATEMENT.get(room, 7.1)
    assert sizes[len(sizes) * 9 // 10] <= MOST_OF_NINE_IN_TEN.get(room, 12)


def riddles(node: ast.AST) -> Iterator[str]:
    """What has to be solved before one can go on."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = (node.left, node.right)
        if any(is_sequence(one) for one in sides) and not any(isinstance(one, ast.Constant) for one in sides):
            yield "a text or list times a flag"
    if isinstance(node, ast.IfExp) and [inner for inner in ast.walk(node) if isinstance(inner, ast.IfExp)] != [node]:
        yield "a conditional in a conditional"
    if isinstance(node, COMPREHENSIONS) and len(node.generators) > 2:
        yield "three fors in one comprehension"
    if isinstance(node, ast.Assign) and assigns_several(node):
        yield "several at once"


def is_sequence(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.JoinedStr)


def assigns_several(node: ast.Assign) -> bool:
    """Whether one statement gives several names other values than each other's: a swap is none."""
    target = node.targets[0]
    if not isinstance(target, ast.Tuple) or not isinstance(node.value, ast.Tuple):
        return False
    names = {ast.unparse(one) for one in target.elts}
    return names != {ast.unparse(one) for one in node.value.elts}


def test_no_statement_is_a_riddle():
    found = defaultdict(list)
    for path, tree in sources().items():
        for node in ast.walk(tree):
            for riddle in riddles(node):
                found[riddle].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    few = found.pop("several at once", [])
    assert found == {}
    assert len(few) <= MOST_AT_ONCE, few


@pytest.mark.parametrize(
    ("code", "riddle"),
    [
        ("a = [b] * flag", "a text or list times a flag"),
        ("a = f'{b}' * flag", "a text or list times a flag"),
        ("a = b if c else d if e else f", "a conditional in a conditional"),
        ("a = [x for b in c for d in b for x in d]", "three fors in one comprehension"),
        ("a, b = c, d", "several at once"),
    ],
)
def test_a_riddle_is_found(code, riddle):
    assert [found for node in ast.walk(ast.parse(code)) for found in riddles(node)] == [riddle]


def test_a_swap_and_a_line_are_no_riddles():
    for code in ("a, b = b, a", "a = ['-'] * 3", "a = b if c else d", "a = [x for b in c for x in b]"):
        assert [found for node in ast.walk(ast.parse(code)) for found in riddles(node)] == []


@pytest.mark.slow
def test_few_functions_have_many_branches():
    counts = Counter()
    for path in sources():
        for block in cc_visit(path.read_text(encoding="utf-8")):
            for function in getattr(block, "methods", [block]):
                counts[f"{path.relative_to(ROOT)}:{function.name}"] = function.complexity
    assert {name for name, branches in counts.items() if branches > 15} == set()
    assert len([name for name, branches in counts.items() if branches > 10]) <= 20


def test_few_names_stand_in_several_modules():
    homes = defaultdict(set)
    for path, tree in sources().items():
        for node in tree.body:
            for name in defined_names(node):
                homes[name].add(path)
    shared = {name for name, paths in homes.items() if len(paths) > 1 and not name.startswith("_")}
    assert len(shared) <= MOST_SHARED_NAMES, sorted(shared)


def defined_names(node: ast.stmt) -> list[str]:
    """The functions and constants that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [one.id for one in node.targets if isinstance(one, ast.Name) and one.id.isupper()]
    return []


def test_no_two_classes_have_one_name():
    names = Counter(
        node.name for tree in sources().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []
