"""The output of the CUDA compiler for a kernel: its PTX, read as blocks of instructions, and the
resources that its machine code asks for."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

PREDICATE = r"(?:@!?%p\d+\s+)?"

# -- PTX -------------------------------------------------------------------------------------------


@dataclass
class Block:
    """Instructions between two labels or branches."""

    label: str
    instructions: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)  # of its branches


def entry_body(ptx: str) -> str:
    """The kernel's own instructions, without the functions that it calls."""
    start = end = ptx.index("{", ptx.index(".entry"))
    depth = 0  # inline assembly has scopes of its own
    while depth > 0 or end == start:
        depth += {"{": 1, "}": -1}.get(ptx[end], 0)
        end += 1
    return ptx[start:end]


def blocks(body: str) -> list[Block]:
    """In the order of the text: a label opens one, a branch ends one."""
    found = [Block("")]
    for line in body.splitlines():
        text = line.split("//")[0].strip()
        label = re.match(r"([$\w]+):", text)
        if label:
            found.append(Block(label.group(1)))
        elif text.endswith(";"):
            found[-1].instructions.append(text)
            branch = re.search(r"\bbra(?:\.uni)?\s+([$\w]+);", text)
            if branch:
                found[-1].targets.append(branch.group(1))
                found.append(Block(""))
    return [block for block in found if block.instructions]


def instructions(body: str) -> list[str]:
    return [text for block in blocks(body) for text in block.instructions]


def loops(body: str) -> list[list[str]]:
    """The instructions of each loop: from the target of a branch backwards to that branch."""
    all_blocks = blocks(body)
    position = {block.label: i for i, block in enumerate(all_blocks) if block.label}
    return [
        [text for block in all_blocks[position[target] : i + 1] for text in block.instructions]
        for i, block in enumerate(all_blocks)
        for target in block.targets
        if position[target] <= i
    ]


def branches(body: list[str]) -> int:
    """Jumps that depend on a condition."""
    return sum(1 for text in body if re.match(r"@!?%p\d+\s+bra\b", text))


def access_bytes(instruction: str) -> int:
    """`ld.global.nc.v4.u32`: 16."""
    lanes = re.search(r"\.v(\d)\b", instruction)
    bits = re.search(r"\.[busf](\d+)\b", instruction)
    assert bits is not None, instruction
    return (int(lanes.group(1)) if lanes else 1) * int(bits.group(1)) // 8


def loads(body: list[str]) -> list[int]:
    """The bytes of each load from global memory, into registers or past them."""
    return accesses(body, "ld") + [
        int(copied.group(1))
        for text in body
        if (copied := re.match(rf"{PREDICATE}cp\.async\.\w+\.shared\S*\.global\S* .*, (\d+)", text))
    ]


def stores(body: list[str]) -> list[int]:
    """The bytes of each store to global memory."""
    return accesses(body, "st")


def accesses(body: list[str], kind: str) -> list[int]:
    name = re.compile(rf"{PREDICATE}({kind}\.[.\w]*global[.\w]*)")
    return [access_bytes(found.group(1)) for text in body if (found := name.match(text))]


def local_accesses(body: list[str]) -> list[str]:
    return [text for text in body if re.match(rf"{PREDICATE}(ld|st)\.[.\w]*local\b", text)]


# -- machine code ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Resources:
    """The resources of a thread of a kernel. Its stack, and that of functions that it calls, holds
    spilled registers, arrays that registers cannot hold, and arguments that memory passes."""

    registers: int
    stack_bytes: int


STACK_SIZE, REGISTER_COUNT = 0x12, 0x2F  # attributes of .nv.info


def sections(elf: bytes) -> list[tuple[str, int, bytes]]:
    """The sections of a cubin: name, sh_info and contents."""
    assert elf[:5] == b"\x7fELF\x02"
    table, count, names_at = (
        struct.unpack_from("<Q", elf, 0x28)[0],
        *struct.unpack_from("<2H", elf, 0x3C),
    )
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + 64 * i) for i in range(count)]
    names = headers[names_at][4]

    def name_of(offset: int) -> str:
        return elf[names + offset : elf.index(b"\0", names + offset)].decode()

    nobits = 8
    return [
        (name_of(h[0]), h[7], b"" if h[1] == nobits else elf[h[4] : h[4] + h[5]]) for h in headers
    ]


def resources(cubin: bytes) -> dict[str, Resources]:
    """The resources of every kernel in the machine code, by name."""
    parts = {name: contents for name, _, contents in sections(cubin)}
    symbols = [
        struct.unpack_from("<IBBHQQ", parts[".symtab"], at)
        for at in range(0, len(parts[".symtab"]), 24)
    ]

    def name_of(symbol: int) -> str:
        offset = symbols[symbol][0]
        return parts[".strtab"][offset : parts[".strtab"].index(b"\0", offset)].decode()

    values: dict[int, dict[str, int]] = {STACK_SIZE: {}, REGISTER_COUNT: {}}
    info, at = parts[".nv.info"], 0
    while at < len(info):
        layout, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        sized = 4  # of the layouts, the one whose size is that of what follows
        if layout == sized:
            if attribute in values:
                symbol, value = struct.unpack_from("<II", info, at)
                values[attribute][name_of(symbol)] = value
            at += size
    return {
        name: Resources(registers, values[STACK_SIZE].get(name, 0))
        for name, registers in values[REGISTER_COUNT].items()
    }
