"""Every step of the walk from one shape to another, as the documented tables have them."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nvfuser_direct import FusionDefinition, concretize, explain_reshape, find_concretization


def rows_of(text: str) -> list[str]:
    """The lines of a table without blanks around cells."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.split("\n")]
    return ["|".join(line) for line in cells if line]


# Old and new shape, whether dimensions of size one may go, and the rows i|p|j|cur|row|effect.
WALKS = [
    pytest.param(
        [2, 10, 40], [2, 10, 4, 10], True,
        ["0|0|0|2|B|", "1|1|1|10|B|", "2|2|2|40|F|split(2, 4)", "2|3|3|10|B|"],
        id="1",
    ),
    pytest.param(
        [8, 12, 7, 9], [8, 3, 28, 9], True,
        ["0|0|0|8|B|", "1|1|1|12|F|split(1, 3)", "1|2|2|4|G|merge(2)", "2|2|2|28|B|", "3|3|3|9|B|"],
        id="2",
    ),
    pytest.param(
        [3, 4, 5], [5, 3, 4], True,
        [
            "0|0|0|3|G|merge(0)", "1|0|0|12|G|merge(0)", "2|0|0|60|F|split(0, 5)",
            "2|1|1|12|F|split(1, 3)", "2|2|2|4|B|",
        ],
        id="3",
    ),
    pytest.param(
        [3, 17, 80, 1], [51, 1, 2, 4, 10], True,
        [
            "0|0|0|3|G|merge(0)", "1|0|0|51|B|", "2|1|1|80|C|broadcast(1)", "2|1|2|80|E|squeeze(3)",
            "3|1|2|80|F|split(1, 2)", "3|2|3|40|F|split(2, 4)", "3|3|4|10|B|",
        ],
        id="4",
    ),
    pytest.param(
        [1, 2, 1, 4], [1, 8, 1], True,
        ["0|0|0|1|B|", "1|1|1|2|E|squeeze(2)", "2|1|1|2|G|merge(1)", "3|1|1|8|B|",
         "4|2|2|0|C|broadcast(2)"],
        id="5-removable",
    ),
    pytest.param(
        [1, 2, 1, 4], [1, 8, 1], False,
        ["0|0|0|1|B|", "1|1|1|2|G|merge(1)", "2|1|1|2|G|merge(1)", "3|1|1|8|B|",
         "4|2|2|0|C|broadcast(2)"],
        id="5-ordinary",
    ),
    pytest.param(
        [5, 1, 3], [5, 3, 1], True,
        ["0|0|0|5|B|", "1|1|1|1|D|squeeze(1)", "2|1|1|3|B|", "3|2|2|0|C|broadcast(2)"],
        id="6-removable",
    ),
    pytest.param(
        [5, 1, 3], [5, 3, 1], False,
        ["0|0|0|5|A|merge(0)", "1|0|0|5|B|", "2|1|1|3|B|", "3|2|2|0|C|broadcast(2)"],
        id="6-ordinary",
    ),
    pytest.param(
        [5, 1, 3], [5, 1, 3], False, ["0|0|0|5|B|", "1|1|1|1|B|", "2|2|2|3|B|"], id="6-kept"
    ),
    pytest.param(
        [1, 27454, 1, 2], [1, 7844, 1, 7], True,
        [
            "0|0|0|1|B|", "1|1|1|27454|E|squeeze(2)", "2|1|1|27454|G|merge(1)",
            "3|1|1|54908|F|split(1, 7844)", "3|2|2|7|C|broadcast(2)", "3|2|3|7|B|",
        ],
        id="7",
    ),
    pytest.param(
        [4, 5, 6], [40, 3], True,
        ["0|0|0|4|G|merge(0)", "1|0|0|20|G|merge(0)", "2|0|0|120|F|split(0, 40)", "2|1|1|3|B|"],
        id="8",
    ),
    pytest.param(
        [4, 5, 6], [20, 6], True,
        ["0|0|0|4|G|merge(0)", "1|0|0|20|B|", "2|1|1|6|B|"],
        id="8-kept",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "may_go", "rows"), WALKS)
def test_each_step_of_a_walk_is_the_documented_one(old, new, may_go, rows) -> None:
    """reshape.md 4.2, 4.3"""
    text = str(explain_reshape(old, new, [may_go] * len(old)))
    assert rows_of(text)[1:] == rows


def test_a_walk_prints_as_a_table_and_a_line() -> None:
    """reshape.md 4.3, first walk"""
    assert str(explain_reshape([2, 10, 40], [2, 10, 4, 10])) == (
        "| i | p | j | cur | row | effect |\n"
        "| 0 | 0 | 0 | 2 | B | |\n"
        "| 1 | 1 | 1 | 10 | B | |\n"
        "| 2 | 2 | 2 | 40 | F | split(2, 4) |\n"
        "| 2 | 3 | 3 | 10 | B | |\n"
        "split(2, 4)"
    )


# Old and new shape, squeezes, merges and splits, broadcasts.
RESULTS = [
    ([2, 3, 4], [2, 12], [], ["merge(1)"], []),
    ([4, 3], [3, 4], [], ["merge(0)", "split(0, 3)"], []),
    ([128], [32, 4], [], ["split(0, 32)"], []),
    ([3, 4], [1, 12], [], ["merge(0)"], [0]),
    ([2, 3, 4], [24, 1, 1], [], ["merge(0)", "merge(0)"], [1, 2]),
    ([6], [1, 2, 1, 3, 1], [], ["split(0, 2)"], [0, 2, 4]),
    ([1, 333], [1, 1, 1, 111, 1, 3], [], ["split(1, 111)"], [1, 2, 4]),
    ([1, 333, 1], [1, 37, 9], [2], ["split(1, 37)"], []),
    ([5, 1], [1, 5], [1], [], [0]),
    ([6, 1, 1, 2], [2, 1, 6], [1, 2], ["split(0, 2)", "merge(1)"], [1]),
    ([1, 19, 1, 12, 7, 1, 99], [1, 19, 1, 3, 2772], [5],
     ["split(3, 3)", "merge(4)", "merge(4)"], []),
    ([8, 1, 1, 8, 1, 8], [8, 2, 4, 1, 8], [1, 2, 4], ["split(1, 2)"], [3]),
    ([2, 3, 4, 5], [1, 6, 1, 2, 2, 5, 1], [], ["merge(0)", "split(1, 2)"], [0, 2, 6]),
    ([22, 22, 2], [22, 11, 1, 1, 4], [], ["split(1, 11)", "merge(2)"], [2, 3]),
    ([37, 9, 7, 6, 10], [333, 2, 2, 3, 35], [],
     ["merge(0)", "merge(1)", "split(1, 2)", "merge(2)", "split(2, 2)", "split(3, 3)"], []),
    ([5, 10, 12], [2, 25, 3, 4], [], ["merge(0)", "split(0, 2)", "split(2, 3)"], []),
    ([22, 1, 23, 1], [-1, 1], [1], ["merge(0)"], []),
    ([1, 1], [], [0, 1], [], []),
    ([], [1, 1], [], [], [0, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "squeezes", "transforms", "broadcasts"), RESULTS)
def test_results_of_walks(old, new, squeezes, transforms, broadcasts) -> None:
    """reshape.md 4.4"""
    found = explain_reshape(old, new)
    assert (found.squeezes, found.transforms, found.broadcasts) == (
        squeezes,
        transforms,
        broadcasts,
    )


@pytest.mark.parametrize(
    ("old", "new", "transforms"),
    [
        ([5, 1], [5], ["merge(0)"]),
        ([1, 5], [5], ["merge(0)"]),
        ([5, 1, 3], [15], ["merge(0)", "merge(0)"]),
    ],
)
def test_results_of_walks_with_ordinary_ones(old, new, transforms) -> None:
    """reshape.md 4.4, rows marked "ordinary 1" """
    found = explain_reshape(old, new, [False] * len(old))
    assert (found.squeezes, found.transforms, found.broadcasts) == ([], transforms, [])


def test_an_ordinary_one_that_remains_is_squeezed() -> None:
    """reshape.md 4.2: the one leftover"""
    found = explain_reshape([1], [], [False])
    assert found.squeezes == [0]
    assert rows_of(str(found))[1:] == ["0|0|0|1|-|squeeze(0)"]


@pytest.mark.parametrize(
    ("old", "new"), [([2, 3], [7]), ([2, 0], [0]), ([2, 3], [-1, 4]), ([2], [-2]), ([4], [-1, -1])]
)
def test_shapes_without_a_walk_are_an_error(old, new) -> None:
    with pytest.raises(RuntimeError, match="There is no walk between these shapes"):
        explain_reshape(old, new)


def test_a_flag_is_needed_for_every_dimension() -> None:
    with pytest.raises(RuntimeError, match="a flag for each of 2 dimensions"):
        explain_reshape([2, 1], [2], [True])


def sizes_of(count: int, draw: st.DrawFn) -> list[int]:
    """A list of sizes with this product."""
    sizes = []
    while count > 1:
        factor = draw(st.sampled_from([n for n in range(2, count + 1) if count % n == 0]))
        sizes.append(factor)
        count //= factor
    for _ in range(draw(st.integers(0, 2))):
        sizes.insert(draw(st.integers(0, len(sizes))), 1)
    return sizes


@given(st.data())
def test_a_printed_walk_is_what_the_nodes_do(data: st.DataObject) -> None:
    """The explanation, the record of a dynamic reshape and PyTorch agree on random shapes.

    reshape.md 4.2: "The element counts agree beforehand, so the walk ends."
    """
    count = data.draw(st.sampled_from([1, 6, 24, 60, 64]))
    old = sizes_of(count, data.draw)
    new = sizes_of(count, data.draw)
    with FusionDefinition() as fd:
        x = fd.define_tensor([1 if size == 1 else -1 for size in old])
        fd.add_output(fd.ops.reshape(x, fd.define_vector(len(new))))
    found = find_concretization(fd.fusion, [torch.empty(old), *new])
    walk = explain_reshape(old, new)
    if str(found):  # otherwise the walk is the same for all sizes, and was made at definition
        assert str(found) == "T1: " + str(walk).splitlines()[-1]
    shape = replay(old, walk)
    assert shape == new
    resolved = concretize(fd.fusion, found)
    assert resolved.outputs()[0].rank() == len(new)


def replay(old: list[int], walk: object) -> list[int]:
    """The sizes after the squeezes, steps and broadcasts of a walk."""
    sizes = [size for i, size in enumerate(old) if i not in walk.squeezes]
    for step in walk.transforms:
        name, numbers = step[:-1].split("(")
        position, *factor = map(int, numbers.split(", "))
        if name == "merge":
            sizes[position : position + 2] = [sizes[position] * sizes[position + 1]]
        else:
            assert sizes[position] % factor[0] == 0
            sizes[position : position + 1] = [factor[0], sizes[position] // factor[0]]
    for dim in walk.broadcasts:
        sizes.insert(dim, 1)
    return sizes
