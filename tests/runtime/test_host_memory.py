"""Memory of large outputs on the host is used again, as soon as no tensor has it."""

from __future__ import annotations

import threading

import torch

from nvfuser_direct import FusionDefinition

LARGE = 3 << 20  # elements: 12 MB


def doubled() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.mul(x, 2.0))
    return fd


def test_memory_of_an_output_that_is_gone_is_used_again() -> None:
    fd, x = doubled(), torch.ones(LARGE)
    (first,) = fd.execute([x])
    address = first.data_ptr()
    del first
    (second,) = fd.execute([x])
    assert second.data_ptr() == address
    torch.testing.assert_close(second, x * 2)


def test_memory_that_a_view_sees_is_not_used_again() -> None:
    fd, x = doubled(), torch.ones(LARGE)
    view = fd.execute([x])[0][1 << 10 :][:5]
    (other,) = fd.execute([x + 1])
    assert other.data_ptr() > view.data_ptr() or other[-1].data_ptr() < view.data_ptr()
    torch.testing.assert_close(view, torch.full((5,), 2.0))


def test_a_much_smaller_tensor_gets_memory_of_its_own() -> None:
    fd = doubled()
    (large,) = fd.execute([torch.ones(LARGE)])
    address = large.data_ptr()
    del large
    (small,) = fd.execute([torch.ones(LARGE // 2)])
    (again,) = fd.execute([torch.ones(LARGE)])
    assert again.data_ptr() == address
    assert small.data_ptr() != address


def test_outputs_have_memory_of_their_own_in_all_threads() -> None:
    fd = doubled()
    wrong = []

    def work(value: float) -> None:
        x = torch.full((LARGE // 4,), value)
        kept = None
        for _ in range(20):
            (result,) = fd.execute([x])
            if kept is not None and not bool((kept == 2 * value).all()):
                wrong.append(value)
            kept = result

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_sizes_that_are_no_whole_pages() -> None:
    fd = doubled()
    for size in ((1 << 19), (1 << 19) + 1, (1 << 20) - 1):
        x = torch.randn(size)
        torch.testing.assert_close(fd.execute([x])[0], x * 2)
