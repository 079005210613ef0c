"""The trie of statements: every list of statements that this process has seen, each once.

    root --define_tensor--> . --define_scalar--> . --mul--> . --add_output--> . (end: entry 1)
                                                      \\--sum--> . --add_output--> . (end: entry 0)

A *node* is a statement after those that lead to it. A definition walks from the root: a statement
whose key is among the children of its node is a hit, and costs a look-up in a dictionary.

A key decides whether two statements are equal: it has the kind, the indices of operands in their
order, and attributes. Kinds of operands and numbers of results follow from the path, so they are
not in it. Numbers are in a key together with their type: `1`, `1.0` and `True` are equal as keys of
dictionaries.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .entry import Entry
    from .statements import StatementKind

    # The class of a handle, and the number that it has beside its index; None: no result.
    Result = tuple[type, Any] | None


class Node:
    """A statement in the trie.

    Attributes
    ----------
    children : dict
        Next statements, by key.
    kind : StatementKind
        What it does; None for the root.
    key : tuple
        The name of the kind, then an operand or attribute for every parameter.
    depth : int
        How many statements lead to it, itself included.
    index : int
        State index of its first result.
    num_states : int
        State indices in use behind it.
    results : tuple
        For every result the class of its handle and its rank or size; None for one that the
        statement does not produce.
    cls, extra
        Those of the first result.
    entry : Entry or None
        The fusion that ends here.
    line : tuple[str, int] or None
        File and line of Python that wrote it first.
    """

    __slots__ = (
        "children",
        "cls",
        "depth",
        "entry",
        "extra",
        "index",
        "key",
        "kind",
        "line",
        "num_states",
        "parent",
        "results",
    )

    def __init__(
        self,
        parent: Node | None,
        kind: StatementKind | None,
        key: tuple[Any, ...],
        results: tuple[Result, ...],
        line: tuple[str, int] | None,
    ) -> None:
        self.children: dict[tuple[Any, ...], Node] = {}
        self.parent = parent
        self.kind = kind
        self.key = key
        self.results = results
        self.line = line
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.index: int = 0 if parent is None else parent.num_states
        made = [result for result in results if result is not None]
        self.num_states: int = self.index + len(made)
        self.cls: Any = made[0][0] if made else None
        self.extra: Any = made[0][1] if made else None
        self.entry: Entry | None = None

    def path(self) -> list[Node]:
        """The statements that lead here, this one included, without the root."""
        nodes = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            nodes.append(node)
            node = node.parent
        nodes.reverse()
        return nodes

    def states(self) -> list[tuple[type, Any]]:
        """For every state index on the path: the class of its handles, and its rank or size."""
        return [result for node in self.path() for result in node.results if result is not None]

    def result_indices(self) -> list[int | None]:
        """State indices of the results; None for one that is not produced."""
        indices: list[int | None] = []
        index = self.index
        for result in self.results:
            indices.append(None if result is None else index)
            index += result is not None
        return indices


class Trie:
    """A root, and what guards additions. Look-ups take no lock: dictionaries are atomic."""

    def __init__(self) -> None:
        self.root = Node(None, None, (), (), None)
        self._lock = threading.Lock()

    def child(
        self,
        node: Node,
        kind: StatementKind,
        key: tuple[Any, ...],
        results: tuple[Result, ...],
        line: tuple[str, int] | None,
    ) -> Node:
        """The child with that key, which is added if another thread has not done so meanwhile."""
        with self._lock:
            found = node.children.get(key)
            if found is None:
                found = Node(node, kind, key, results, line)
                node.children[key] = found
            return found

    def nodes(self) -> Iterator[Node]:
        """Every node but the root, parents before children."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            children = list(node.children.values())
            yield from children
            waiting += children
