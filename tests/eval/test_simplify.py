"""IndexSimplifier: normal forms of indices, and what can be proven about them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvfuser_direct import (
    DataType,
    ExpressionEvaluator,
    Fusion,
    FusionGuard,
    IndexSimplifier,
    UserError,
    Val,
    define_scalar,
    ops,
)


class Index:
    """An index expression written with operators; numbers become constants of dtype Index."""

    def __init__(self, val: Val | int) -> None:
        self.val = define_scalar(val, DataType.Index) if isinstance(val, int) else val

    def __add__(self, other: Index | int) -> Index:
        return Index(ops.add(self.val, val_of(other)))

    def __sub__(self, other: Index | int) -> Index:
        return Index(ops.sub(self.val, val_of(other)))

    def __mul__(self, other: Index | int) -> Index:
        return Index(ops.mul(self.val, val_of(other)))

    def __truediv__(self, other: Index | int) -> Index:
        return Index(ops.div(self.val, val_of(other)))

    def __mod__(self, other: Index | int) -> Index:
        return Index(ops.mod(self.val, val_of(other)))

    def __lt__(self, other: Index | int) -> Index:
        return Index(ops.lt(self.val, val_of(other)))


def val_of(index: Index | int) -> Val:
    return index.val if isinstance(index, Index) else Index(index).val


def ceil_div(a: Index, b: Index | int) -> Index:
    return Index(ops.ceil_div(a.val, val_of(b)))


class Space:
    """Symbols, and a simplifier that knows their ranges."""

    def __init__(self) -> None:
        self.fusion = Fusion()
        self.guard = FusionGuard(self.fusion)
        self.simplifier = IndexSimplifier(self.fusion)

    def size(self) -> Index:
        symbol = self.symbol()
        self.simplifier.set_nonnegative(symbol.val)
        return symbol

    def symbol(self) -> Index:
        return Index(define_scalar(DataType.Index))

    def index(self, extent: Index | int) -> Index:
        symbol = self.symbol()
        self.simplifier.set_range(symbol.val, val_of(extent))
        return symbol

    def is_same(self, a: Index, b: Index | int) -> bool:
        """Whether both have one normal form: the same Val."""
        return self.simplifier.simplify(a.val) is self.simplifier.simplify(val_of(b))

    def text(self, a: Index) -> str:
        return self.simplifier.simplify(a.val).to_inline_string()

    def lt(self, a: Index, b: Index | int) -> bool:
        return self.simplifier.prove_lt(a.val, val_of(b))

    def le(self, a: Index, b: Index | int) -> bool:
        return self.simplifier.prove_le(a.val, val_of(b))


@pytest.fixture
def space() -> Space:
    return Space()


# ---- Normal forms --------------------------------------------------------------------------------


def test_a_contiguous_merge_is_linear(space: Space) -> None:
    n0, n1 = space.size(), space.size()
    k = space.index(n0 * n1)
    assert space.is_same(k / n1 * n1 + k % n1, k)
    o, i = space.index(ceil_div(n0 * n1, 128)), space.index(128)
    k = o * 128 + i
    assert space.is_same(k / n1 * n1 + k % n1, o * 128 + i)


def test_any_chain_of_divisions_is_put_together(space: Space) -> None:
    n0, n1, n2 = space.size(), space.size(), space.size()
    k = space.index(n0 * n1 * n2)
    middles = [k / n2 % n1, k % (n1 * n2) / n2]
    outers = [k / (n1 * n2), k / n1 / n2, k / n2 / n1]
    inners = [k % n2, k % (n1 * n2) % n2]
    for outer, middle, inner in itertools.product(outers, middles, inners):
        terms = [outer * n1 * n2, middle * n2, inner]
        for a, b, c in itertools.permutations(terms):
            assert space.is_same(a + b + c, k)
        assert space.is_same((outer * n1 + middle) * n2 + inner, k)


def test_gaps_and_other_orders_stay(space: Space) -> None:
    n0, n1, n2 = space.size(), space.size(), space.size()
    k = space.index(n0 * n1 * n2)
    for index in (
        k % n1 * n0 + k / n1,  # transposed
        k / (n1 * n2) * n2 + k % n2,  # a concretized broadcast in between
        k / 12 * 10 + k % 12,  # rows of 12 slots in memory of 10
    ):
        assert not space.is_same(index, k)
        assert "/" in space.text(index)
        assert "%" in space.text(index)


def test_rows_that_fit_are_linear(space: Space) -> None:
    """16 elements in 4 groups of 4."""
    k, v = space.index(space.size()), space.index(4)
    assert space.is_same(k / 4 * 16 + (k % 4 * 4 + v), k * 4 + v)


def test_a_quotient_finds_its_remainder_in_another_form(space: Space) -> None:
    """The remainder of a remainder by the same divisor is gone from a dividend."""
    k, v = space.index(space.size()), space.index(13)
    dividend = k % 143 * 13 + v
    rest = (k * 13 + v) % 143
    assert space.is_same(dividend % 143, rest)
    assert space.is_same(dividend / 143 * 858 + rest * 6, k % 143 * 78 + v * 6)
    assert not space.is_same(dividend / 143 * 858 + rest * 5, k % 143 * 78 + v * 6)


def test_a_reshape_cancels(space: Space) -> None:
    o, i = space.index(3), space.index(5)
    k = o * 5 + i
    assert space.is_same(k / 4 * 4 + k % 4, o * 5 + i)


def test_inner_parts_leave_a_division(space: Space) -> None:
    n, m = space.size(), space.size()
    o, i, j = space.index(n), space.index(4), space.index(m)
    assert space.is_same((o * 4 + i) / 4, o)
    assert space.is_same((o * 4 + i) % 4, i)
    assert space.is_same((o * 4 + i) / 8, o / 2)
    assert space.is_same((o * 4 + i) % 8, o % 2 * 4 + i)
    assert space.is_same((o * m + j) / m, o)
    assert space.is_same((o * m + j) % m, j)
    assert space.is_same((o * m + j) / (m * 3), o / 3)
    assert space.is_same(o / n, 0)
    assert space.is_same(o % n, o)


def test_differences_become_remainders(space: Space) -> None:
    k = space.index(space.size())
    assert space.is_same(k - k / 4 * 4, k % 4)
    assert space.is_same(k / 4 - k / 16 * 4, k / 4 % 4)
    assert space.is_same(k % 16 / 4, k / 4 % 4)
    assert space.is_same(k % 1, 0)


def test_stages_of_a_circular_buffer(space: Space) -> None:
    i = space.index(space.size())
    assert space.is_same((i % 3 + 1) % 3, (i + 1) % 3)


def test_negative_operands_keep_c_division(space: Space) -> None:
    """-1 / 4 is 0 in C, so nothing may be taken out."""
    n = space.size()
    m = space.index(n)
    assert not space.is_same((m - 1) / n, (m - 1 + n) / n - 1)
    assert not space.is_same((m * 4 - 1) / 4, m - 1)
    assert space.is_same((m * 4 - 4) / 4, m - 1)  # exact: any sign
    assert space.is_same((m * 4 - 4) % 4, 0)


def test_division_is_not_distributive(space: Space) -> None:
    a, b = space.index(space.size()), space.index(space.size())
    assert not space.is_same((a * 4 + b) / 8, a / 2 + b / 8)
    assert not space.is_same(a * (b / 4), a * b / 4)
    assert space.is_same((a * 8 + b) / 8, a + b / 8)
    assert space.is_same(a / 2 / 4, a / 8)
    unknown = space.symbol()
    assert not space.is_same(a / unknown / unknown, a / (unknown * unknown))


def test_rounded_up_division(space: Space) -> None:
    n, m = space.size(), space.size()
    assert space.is_same(ceil_div(n * m, m), n)
    assert space.is_same(ceil_div(n * 4, 4), n)
    assert space.is_same(ceil_div(ceil_div(n, 4), 8), ceil_div(n, 32))
    assert space.is_same(ceil_div(n * 8 + 1, 4), n * 2 + 1)


def test_divisors_are_multiplied_only_while_they_fit_in_an_index_of_32_bits(space: Space) -> None:
    n, a, b = space.size(), space.size(), space.size()

    def short(x: Index) -> Index:
        return Index(ops.minimum(ops.maximum(x.val, val_of(1)), val_of(16)))

    assert space.text(ceil_div(ceil_div(n, a), b)) == "( ceilDiv(( ceilDiv(i0, i1) ), i2) )"
    assert space.is_same(ceil_div(ceil_div(n, a), b), ceil_div(ceil_div(n, b), a))
    once = space.text(ceil_div(ceil_div(n, short(a)), 2**26))
    twice = space.text(ceil_div(ceil_div(n, short(a)), 2**27))
    assert (once.count("ceilDiv"), twice.count("ceilDiv")) == (1, 2)


def test_the_text_is_small_and_stable(space: Space) -> None:
    n1, n2 = space.size(), space.size()
    i, j, k = space.index(8), space.index(n1), space.index(n2)
    expected = f"( ( ( ( {i.val} * {n1.val} ) + {j.val} ) * {n2.val} ) + {k.val} )"
    for a, b, c in itertools.permutations([i * n1 * n2, j * n2, k]):
        assert space.text(a + b + c) == expected
    assert space.text(k - 1 + i * 4) == f"( ( ( {i.val} * 4 ) + {k.val} ) - 1 )"
    assert space.text(Index(1) - i) == f"( 1 - {i.val} )"


def test_a_normal_form_is_the_val_itself(space: Space) -> None:
    o, i = space.index(8), space.index(4)
    index = o * 4 + i
    assert space.simplifier.simplify(index.val) is index.val
    assert space.simplifier.simplify(o.val) is o.val


def test_overflow_leaves_the_expression_alone(space: Space) -> None:
    i = space.index(space.size())
    large = i * 2**62 * 4
    assert space.text(large) == large.val.to_inline_string()


def test_deep_expressions(space: Space) -> None:
    i = space.index(4)
    index = i
    for _ in range(20_000):
        index = index + 1
    assert space.text(index) == f"( {i.val} + 20000 )"


# ---- Proofs --------------------------------------------------------------------------------------


def test_bounds_of_merged_and_split_loops(space: Space) -> None:
    n, m, f = space.size(), space.size(), space.size()
    i, j, k = space.index(n), space.index(m), space.index(n * m)
    assert space.lt(i * m + j, n * m)
    assert space.lt(k / m, n)
    assert space.lt(k % m, m)
    assert not space.lt(i * m + j, n * m - 1)
    o, v = space.index(ceil_div(n, 4)), space.index(4)
    assert space.lt(o * 4, n)
    assert not space.lt(o * 4 + v, n)
    assert space.lt(o * 4 + v, n + 3)
    assert space.le(n, ceil_div(n, f) * f)
    assert space.lt(space.index(ceil_div(n, f)) * f, n)


def test_extents_may_be_zero(space: Space) -> None:
    """Only inside of its loop an extent is at least 1."""
    n = space.size()
    assert not space.lt(Index(0), n)
    assert space.simplifier.prove_nonnegative(n.val)
    assert space.text(Index(ops.maximum(n.val, Index(1).val))).startswith("( max(")
    assert space.lt(space.size() % n, n)  # where it is computed, n is not 0
    assert space.le(Index(0), space.index(n) - 1 + n)  # inside of the loop


def test_divisibility(space: Space) -> None:
    n, m = space.size(), space.size()
    divisible = space.simplifier.prove_divisible
    assert divisible((n * 8).val, Index(4).val)
    assert divisible((n * m * 4).val, (m * 2).val)
    assert divisible((n * 4 + 8).val, Index(4).val)
    assert not divisible(n.val, Index(4).val)
    assert not divisible(n.val, Index(0).val)


def test_divisibility_that_the_launch_checks(space: Space) -> None:
    """A split of an axis that is known to be divisible leaves no holes."""
    n0, n1 = space.size(), space.size()
    groups = ceil_div(n1, 4)
    k, v = space.index(n0 * groups), space.index(4)
    index = k / groups * n1 + (k % groups * 4 + v)
    assert not space.is_same(index, k * 4 + v)
    assert not space.lt(k % groups * 4 + v, n1)
    space.simplifier.assume_divisible(n1.val, Index(4).val)
    assert space.is_same(index, k * 4 + v)
    assert space.lt(k % groups * 4 + v, n1)
    assert space.lt(k * 4 + v, n0 * n1)
    assert space.is_same(n1 * n0 / 4, n0 * groups)
    assert space.is_same((k * n1 + v) % 4, v)
    assert space.simplifier.prove_divisible((n1 * 2).val, Index(4).val)
    assert not space.simplifier.prove_divisible(n0.val, Index(4).val)


def test_a_test_asks_for_the_part_that_decides(space: Space) -> None:
    """Between two multiples of what divides the extent, all positions are in range, or none."""
    n = space.size()
    o, i, j = space.index(n), space.index(4), space.index(8)
    assert not space.is_same(o * 4 + i < n, o * 4 < n)
    assert space.is_same(o * 4 + i < n * 8, o * 4 < n * 8)
    assert space.is_same(o * 8 + i + 3 < n * 8, o * 8 < n * 8)
    assert not space.is_same(o * 8 + j + 1 < n * 8, o * 8 < n * 8)
    assert space.is_same(o * 128 + j * 4 + i < 1000, o * 128 + j * 4 < 1000)
    assert space.is_same(o * 8 + j + 16 < n * 8, o * 8 + 16 < n * 8)
    space.simplifier.assume_divisible(n.val, Index(4).val)
    assert space.is_same(o * 4 + i < n, o * 4 < n)
    assert space.is_same(o * 1024 + i + 3072 < n, o * 1024 + 3072 < n)
    assert space.is_same(o * n + i < n * n, o * n < n * n)
    assert not space.is_same(o * 4 + j < n, o * 4 < n)


@pytest.mark.parametrize("divisor", [1, 2, 3, 4, 6])
def test_the_part_that_decides_decides(space: Space, divisor: int) -> None:
    """For all positions, sizes and offsets of either sign."""
    values = {}
    o, i = space.index(7), space.index(3)
    for offset, extent in itertools.product(range(-7, 8), range(4)):
        test = o * 2 * divisor + i + offset < extent * divisor
        values[offset, extent] = (test.val, space.simplifier.simplify(test.val))
    for position, lane in itertools.product(range(7), range(3)):
        evaluator = ExpressionEvaluator()
        evaluator.bind(o.val, position)
        evaluator.bind(i.val, lane)
        for test, simple in values.values():
            assert evaluator.evaluate(test) == evaluator.evaluate(simple)


def test_facts_that_come_late(space: Space) -> None:
    n, i = space.symbol(), space.symbol()
    index = i % n
    assert space.text(index) == f"( {i.val} % {n.val} )"
    assert not space.simplifier.prove_nonnegative(n.val)
    space.simplifier.set_nonnegative(n.val)
    assert space.simplifier.prove_nonnegative(n.val)
    space.simplifier.set_range(i.val, n.val)
    assert space.is_same(index, i)
    space.simplifier.set_range(i.val, (n * 2).val)
    assert not space.is_same(index, i)


def test_comparisons_are_decided(space: Space) -> None:
    n = space.size()
    o, i = space.index(ceil_div(n, 4)), space.index(4)
    assert space.text(o * 4 < n) == "true"
    assert space.text(i < Index(0)) == "false"
    assert space.text(o * 4 + i < n) == f"( ( ( {o.val} * 4 ) + {i.val} ) < {n.val} )"


# ---- Extrema -------------------------------------------------------------------------------------


def test_extrema_of_sums(space: Space) -> None:
    """The lower end of a padded index is negative."""
    o, i = space.index(space.size()), space.index(4)
    index = o * 4 + i - 1
    largest = space.simplifier.max_over(index.val, [i.val])
    smallest = space.simplifier.min_over(index.val, [i.val])
    assert space.is_same(Index(largest), o * 4 + 2)
    assert space.is_same(Index(smallest), o * 4 - 1)


def test_a_remainder_has_the_extrema_of_its_divisor(space: Space) -> None:
    """A = 3 gives 7 % 3 = 1, but a = 1 reaches 2."""
    o, a, b = space.index(3), space.index(4), space.index(4)
    index = (o * 4 + a) % 3 * 4 + b
    largest = space.simplifier.max_over(index.val, [a.val, b.val])
    assert str(largest) == "11"
    assert str(space.simplifier.min_over(index.val, [a.val, b.val])) == "0"


def test_an_unknown_bound_is_none(space: Space) -> None:
    i, stride = space.index(4), space.symbol()
    assert space.simplifier.max_over((i * stride).val, [i.val]) is None
    assert space.simplifier.max_over(stride.val, [stride.val]) is None
    assert space.simplifier.max_over(stride.val, [i.val]) is stride.val


def test_a_computed_leaf_runs_with_what_it_is_computed_from(space: Space) -> None:
    """On 2^64 paths, which are not walked one by one."""
    i, j, n = space.index(8), space.index(8), space.size()
    ahead = i
    for _ in range(64):
        ahead = ahead * ahead
    space.simplifier.set_range(ahead.val, n.val)
    index = ahead + j
    assert space.is_same(Index(space.simplifier.max_over(index.val, [i.val])), n - 1 + j)
    assert space.is_same(Index(space.simplifier.max_over(index.val, [j.val])), ahead + 7)


@pytest.mark.parametrize("factor", [1, 13, 16])
def test_what_a_remainder_leaves_has_none(space: Space, factor: int) -> None:
    """As the elements of earlier rows that stand before the first vector of this one."""
    row, lane, size = space.size(), space.index(8), space.size()
    for elements in (row * factor, row * size):
        whole = elements - elements % 8
        for divisor in (2, 4, 8):
            quotient, rest = (whole + lane) / divisor, (whole + lane) % divisor
            assert space.is_same(quotient, elements / 8 * (8 // divisor) + lane / divisor)
            assert space.is_same(rest, lane % divisor)


# ---- Errors --------------------------------------------------------------------------------------


def test_another_fusion_is_refused(space: Space) -> None:
    other = IndexSimplifier(Fusion())
    with pytest.raises(RuntimeError, match="was not found in the active fusion"):
        other.simplify(space.size().val)


# ---- Any expression ------------------------------------------------------------------------------

SIZES = {"n": (0, 1, 2, 5), "m": (0, 1, 3)}
CONSTANTS = [-3, -1, 0, 1, 2, 3, 4, 6, 8, 12]


@st.composite
def programs(draw: st.DrawFn, depth: int = 4) -> tuple:
    """A tree of tuples: ("name",), (number,) or (operation, left, right)."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(
            st.one_of(
                st.sampled_from([("n",), ("m",), ("i",), ("j",), ("k",), ("t",)]),
                st.sampled_from([(number,) for number in CONSTANTS]),
            )
        )
    operation = draw(st.sampled_from(["+", "+", "-", "*", "/", "/", "%", "%", "ceil"]))
    divisors = st.sampled_from([("n",), ("m",), ("*", ("n",), ("m",)), (4,), (6,), (8,), (-2,)])
    is_division = operation in ("/", "%", "ceil")
    right = divisors if is_division and draw(st.integers(0, 3)) else programs(depth=depth - 1)
    return operation, draw(programs(depth=depth - 1)), draw(right)


def build(program: tuple, symbols: dict[str, Index]) -> Index:
    if len(program) == 1:
        return symbols[program[0]] if isinstance(program[0], str) else Index(program[0])
    operation, left, right = program
    a, b = build(left, symbols), build(right, symbols)
    if operation == "ceil":
        return ceil_div(a, b)
    return {"+": a.__add__, "-": a.__sub__, "*": a.__mul__, "/": a.__truediv__, "%": a.__mod__}[
        operation
    ](b)


def value(val: Val, numbers: dict[str, int], symbols: dict[str, Index]) -> int | None:
    """None where it divides by zero."""
    evaluator = ExpressionEvaluator()
    for name, number in numbers.items():
        evaluator.bind(symbols[name].val, number)
    try:
        return evaluator.evaluate(val)
    except UserError:
        return None


@settings(max_examples=200, deadline=None)
@given(programs(), programs(depth=2), st.randoms(use_true_random=False))
def test_the_normal_form_has_the_same_values(program: tuple, other: tuple, random) -> None:
    space = Space()
    symbols = {"n": space.size(), "m": space.size(), "t": space.symbol()}
    extents = {"i": symbols["n"], "j": symbols["m"], "k": symbols["n"] * symbols["m"]}
    for name, extent in extents.items():
        symbols[name] = space.index(extent)
    a, b = build(program, symbols), build(other, symbols)
    simple = space.simplifier.simplify(a.val)
    is_less = space.lt(a, b)
    over = [symbols[name].val for name in random.sample(["i", "j", "k"], 2)]
    largest = space.simplifier.max_over(a.val, over)
    for n, m in itertools.product(SIZES["n"], SIZES["m"]):
        numbers = {"n": n, "m": m, "t": random.randint(-4, 4)}
        limits = {"i": n, "j": m, "k": n * m}
        # An index of a loop that does not run has no value: it is left unbound.
        numbers |= {name: random.randrange(limit) for name, limit in limits.items() if limit}
        before = value(a.val, numbers, symbols)
        if before is None:
            continue
        assert value(simple, numbers, symbols) == before
        if largest is not None:
            bound = value(largest, numbers, symbols)
            assert bound is not None
            assert before <= bound
        compared = value(b.val, numbers, symbols)
        assert not (is_less and compared is not None) or before < compared
