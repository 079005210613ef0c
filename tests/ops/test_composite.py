"""csrc/ops/composite.cpp: operations that are made of others."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType

D = DataType


def test_sign_is_two_selections(fd, math) -> None:
    x = fd.define_tensor([4], contiguity=True)
    assert math(fd.ops.sign(x)) == (
        "T1_l_bool[iS1{4}] = T0_g_float[iS0{4}] > float(0);\n"
        "T2_l_bool[iS2{4}] = T0_g_float[iS0{4}] < float(0);\n"
        "T3_l_float[iS3{4}] = where(T2_l_bool[iS2{4}], float(-1), float(0));\n"
        "T4_g_float[iS4{4}] = where(T1_l_bool[iS1{4}], float(1), T3_l_float[iS3{4}]);\n"
    )


def test_triu_compares_two_iotas(fd, math) -> None:
    x = fd.define_tensor([2, 3, 4], contiguity=True, dtype=D.Half)
    out = fd.ops.triu(x, 1)
    assert out.dtype() == D.Half
    text = math(out)
    assert "iota(3, 0, 1, nvfuser_index_t);" in text
    assert "iota(4, -1, 1, nvfuser_index_t);" in text
    assert text.count("broadcast( ") == 2
    assert text.count(" <= ") == 1
    assert text.count("where(") == 1


def test_triu_checks_its_operands(fd) -> None:
    with pytest.raises(
        RuntimeError, match="input tensor for triu must have 2 or more dims, but got 1 dims"
    ):
        fd.ops.triu(fd.define_tensor([4], contiguity=True))
    with pytest.raises(RuntimeError, match="offset must have integral type"):
        fd.ops.triu(fd.define_tensor([4, 4], contiguity=True), 0.5)
