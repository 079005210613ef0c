"""Calls with arguments that make no sense end in exceptions, never in a crash."""

from __future__ import annotations

import faulthandler
import inspect
import random
import subprocess
import sys

import pytest

ROUNDS = 2000


def _pool(nvf, order: random.Random) -> list[object]:
    """Values of every kind: of this fusion, of another one, and of none."""
    values: list[object] = [
        None,
        0,
        1,
        -1,
        3,
        2**40,
        -(2**63),
        2.5,
        1j,
        True,
        "text",
        [],
        [0],
        [1, 0],
    ]
    values += [[None], {0: 1}, (2, 3), [-1], float("nan"), object()]
    for shape in ([4, 8], [-1, 8], [-1, -1]):
        with nvf.FusionDefinition() as fd:
            t0 = fd.define_tensor(shape, contiguity=True)
            t1 = fd.ops.exp(t0)
            t2 = fd.ops.sum(t1, [1])
            t3 = fd.ops.broadcast(t2, [False, True])
            t4 = fd.ops.add(t0, t3)
            fd.add_output(t4)
            scalar = fd.define_scalar()
        tensors = [t0, t1, t2, t3, t4]
        values += [fd.fusion, *tensors, scalar, tensors, [t1], t1.axis(0), t1.domain()]
        values += [t1.get_loop_domain(), t1.definition(), [t4.definition()], t0.size(0)]
        values += [nvf.idm.IdModel(fd.fusion)]
        with fd:
            copy = fd.fusion.clone()
            fd.sched.trivial(copy)
        kernel = copy.lower(target="cpu")
        values += [kernel, kernel.body, kernel.body[0], kernel.tensors()[-1]]
    values += [nvf.DataType.Float, nvf.DataType.Null, nvf.ParallelType.block_x]
    values += [nvf.ParallelType.vectorize, nvf.MemoryType.shared, nvf.IdMappingMode.loop]
    values += [nvf.BinaryOpType.Add, nvf.SchedulerType.none, nvf.LoadStoreOpType.set]
    values += [nvf.CompileParams(), nvf.LaunchParams(), nvf.KernelExecutor()]
    order.shuffle(values)
    return values


def _functions(nvf) -> list[object]:
    functions: list[object] = [nvf.define_tensor, nvf.define_scalar, nvf.exprs_between]
    for module in (nvf.ops, nvf.schedule):
        functions += [f for n, f in sorted(vars(module).items()) if callable(f) and n[0] != "_"]
    return functions


# Their effects reach beyond the objects at hand.
_LEFT_OUT = {"clear", "store", "instance"}


def _methods(value: object) -> list[object]:
    if inspect.isbuiltin(value) or isinstance(
        value, str | int | float | complex | list | dict | tuple
    ):
        return []
    names = [n for n in dir(value) if not n.startswith("_") and n not in _LEFT_OUT]
    methods = []
    for name in names:
        try:
            methods.append(getattr(value, name))
        except Exception:
            continue
    return [m for m in methods if callable(m)]


def fuzz(seed: int) -> None:
    """Run in a process of its own."""
    faulthandler.enable()
    import nvfuser_direct as nvf

    order = random.Random(seed)
    functions = _functions(nvf)
    for i in range(ROUNDS):
        if i % 300 == 0:
            pool = _pool(nvf, order)
            guard = nvf.FusionGuard(next(v for v in pool if isinstance(v, nvf.Fusion)))
        if order.random() < 0.5:
            callee = order.choice(functions)
        else:
            methods = _methods(order.choice(pool))
            if not methods:
                continue
            callee = order.choice(methods)
        args = [order.choice(pool) for _ in range(order.choice([0, 1, 1, 2, 2, 3]))]
        try:
            result = callee(*args)
            str(result)
        except (Exception, SystemExit):
            continue
        if order.random() < 0.3:
            pool.append(result)
            pool.pop(order.randrange(len(pool)))
    del guard
    print("survived")


@pytest.mark.parametrize("seed", range(4))
def test_senseless_calls(seed: int) -> None:
    result = subprocess.run(
        [sys.executable, __file__, str(seed)], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr[-4000:]
    assert result.stdout.strip().endswith("survived")
    assert "INTERNAL ASSERT" not in result.stderr


if __name__ == "__main__":
    fuzz(int(sys.argv[1]))
