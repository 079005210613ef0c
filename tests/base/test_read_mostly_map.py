"""The map behind caches of plans: look-ups of many threads while few threads change it."""

from __future__ import annotations

import random
import threading
import time

from nvfuser_direct import _core


def test_it_is_a_dict_that_keeps_the_first_value(rng) -> None:
    numbers = _core.internal.NumberMap()
    expected: dict[int, int] = {}
    choose = random.Random(rng.initial_seed())
    for _ in range(3000):
        key, value, action = choose.randrange(200), choose.randrange(10**9), choose.randrange(500)
        if action == 0:
            numbers.clear()
            expected.clear()
        elif action < 100:
            assert numbers.insert(key, value) == expected.setdefault(key, value)
        assert numbers.find(key) == expected.get(key)
        assert len(numbers) == len(expected)
    assert dict(numbers.items()) == expected
    assert [key for key, _ in numbers.items()] == list(expected)


def test_readers_find_what_was_inserted_while_it_grows() -> None:
    """A value that one thread was told of is found by all; a key has one value."""
    numbers = _core.internal.NumberMap()
    count = 400
    failures: list[str] = []
    start = threading.Barrier(8)

    def write(first: int) -> None:
        start.wait()
        for i in range(count):
            key = (first + i) % count
            kept = numbers.insert(key, key * 1000 + first)
            if numbers.find(key) != kept or kept // 1000 != key:
                failures.append(f"{key} has {numbers.find(key)}, not {kept}")

    def read() -> None:
        start.wait()
        seen: dict[int, int] = {}
        for i in range(20 * count):
            value = numbers.find(i % count)
            known = seen.setdefault(i % count, value) if value is not None else None
            if value != (known if i % count in seen else value):
                failures.append(f"{i % count} changed from {known} to {value}")

    threads = [threading.Thread(target=write, args=(100 * i,)) for i in range(4)]
    threads += [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    assert len(numbers) == count


def test_readers_survive_clearing() -> None:
    """Entries are deleted when no thread looks at them; a number belongs to its key."""
    numbers = _core.internal.NumberMap()
    is_over = threading.Event()
    failures: list[str] = []
    found = [0] * 4

    def read(reader: int) -> None:
        while not is_over.is_set():
            for key in range(50):
                value = numbers.find(key)
                if value is not None:
                    found[reader] += 1
                    if value % 50 != key:
                        failures.append(f"{key} has {value}")

    readers = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for reader in readers:
        reader.start()
    # On a busy machine the readers may not come to run for a while.
    deadline = time.monotonic() + 60
    round_ = 0
    while round_ < 300 or (not any(found) and time.monotonic() < deadline):
        for key in range(50):
            numbers.insert(key, 50 * round_ + key)
        if round_ >= 300:
            time.sleep(0.001)  # while the numbers are there
        numbers.clear()
        round_ += 1
    is_over.set()
    for reader in readers:
        reader.join()
    assert not failures, failures[0]
    assert len(numbers) == 0
    assert any(found)
