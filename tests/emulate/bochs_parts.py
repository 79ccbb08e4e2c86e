# SPDX-License-Identifier: Apache-2.0
"""What a bochs run needs and what is the same for every run, made once and kept in the cache folder:
Debian 13's bochs, Debian's cloud kernel as a flat image, our ROM and our init.

bochs 3.0 is needed: 2.7 of Debian 12 lacks AVX512_BF16, and its vcvtps2ph rounds ties away from zero.
"""
import dataclasses
import pathlib
import shutil
import struct
import subprocess

import debian

GUEST_SOURCES = pathlib.Path(__file__).parent / "guest"
KERNEL_ADDRESS = 0x1000000  # where Debian's kernels are linked to start
XEN_NOTE_PVH_ENTRY = 0x12
LZ4_MAGIC = bytes.fromhex("02214c18")


@dataclasses.dataclass
class Kernel:
    image: bytes  # as it lies in memory from KERNEL_ADDRESS on
    end: int  # first address after its zero-initialised data
    entry: int  # 32-bit PVH entry


@dataclasses.dataclass
class Parts:
    bochs_root: pathlib.Path
    kernel: Kernel
    rom: bytes
    init: bytes


def prepare():
    folder = debian.cache_folder() / "bochs"
    folder.mkdir(exist_ok=True)
    vmlinux = _made_once(folder / "vmlinux", _make_vmlinux)
    rom = _made_once(folder / "rom.bin", _make_rom, GUEST_SOURCES / "rom.S")
    init = _made_once(folder / "init", _make_init, GUEST_SOURCES / "init.c")
    root = _made_once(folder / "root", _make_bochs_root)
    return Parts(root, parse_kernel(vmlinux.read_bytes()), rom.read_bytes(), init.read_bytes())


def _made_once(target, make, source=None):
    """`target`, made if it is not there yet or older than its source; never left half made."""
    if target.exists() and (source is None or target.stat().st_mtime >= source.stat().st_mtime):
        return target
    unfinished = target.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.unlink(missing_ok=True)
    make(unfinished)
    unfinished.replace(target)
    return target


def _make_rom(target):
    objects = target.with_suffix(".o")
    subprocess.run(["as", "--32", "-o", objects, GUEST_SOURCES / "rom.S"], check=True)
    subprocess.run(["ld", "-m", "elf_i386", "-e", "0", "-Ttext", "0xffff0000", "--oformat", "binary",
                    "-o", target, objects], check=True)
    objects.unlink()


def _make_init(target):
    subprocess.run(["gcc", "-O2", "-s", "-static", "-o", target, GUEST_SOURCES / "init.c"], check=True)


def _make_bochs_root(target):
    everything = target.with_suffix(".all")
    shutil.rmtree(everything, ignore_errors=True)
    apt = debian.Apt("trixie", "amd64")
    apt.update()
    apt.unpack_with_libraries(["bochs", "bochs-term"], everything)
    apt.remove()
    for kept in ("usr/bin", "usr/lib/x86_64-linux-gnu", "usr/share/bochs", "usr/share/vgabios"):
        (target / kept).parent.mkdir(parents=True, exist_ok=True)
        (everything / kept).rename(target / kept)
    shutil.rmtree(everything)


def _make_vmlinux(target):
    unpacked = target.with_suffix(".package")
    shutil.rmtree(unpacked, ignore_errors=True)
    apt = debian.Apt(debian.host_release(), "amd64")
    apt.update()
    (package,) = [p for p in apt.dependencies("linux-image-cloud-amd64") if p.startswith("linux-image")]
    apt.unpack_alone(package, unpacked)
    (compressed,) = (unpacked / "boot").glob("vmlinuz-*")
    target.write_bytes(_decompressed(compressed.read_bytes()))
    apt.remove()
    shutil.rmtree(unpacked)


def _decompressed(bz_image):
    """The ELF file inside a bzImage (Linux's x86 boot protocol, fields of the setup header)."""
    setup_sectors = bz_image[0x1F1]
    offset, length = struct.unpack_from("<II", bz_image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    payload = bz_image[start:start + length - 4]  # without the uncompressed size at its end
    if not payload.startswith(LZ4_MAGIC):
        raise RuntimeError(f"the kernel is compressed in another way than lz4: {payload[:4].hex()}")
    return subprocess.run(["lz4", "-dc"], input=payload, capture_output=True, check=True).stdout


def parse_kernel(elf):
    """Lays the loadable segments of a 64-bit ELF kernel out by physical address; finds its PVH entry."""
    table, entry_bytes, count = *struct.unpack_from("<Q", elf, 0x20), *struct.unpack_from("<HH", elf, 0x36)
    image, end, entry = bytearray(), 0, None
    for i in range(count):
        kind, _, offset, _, physical, in_file, in_memory, _ = struct.unpack_from("<IIQQQQQQ", elf, table + i * entry_bytes)
        content = elf[offset:offset + in_file]
        if kind == 1:  # PT_LOAD
            at = physical - KERNEL_ADDRESS
            image.extend(bytes(max(0, at + in_file - len(image))))
            image[at:at + in_file] = content
            end = max(end, physical + in_memory)
        elif kind == 4:  # PT_NOTE
            entry = _pvh_entry(content) or entry
    if entry is None:
        raise RuntimeError("the kernel has no PVH entry")
    return Kernel(bytes(image), end, entry)


def _pvh_entry(notes):
    at = 0
    while at + 12 <= len(notes):
        name_bytes, value_bytes, kind = struct.unpack_from("<III", notes, at)
        value_at = at + 12 + _padded(name_bytes)
        if notes[at + 12:at + 12 + name_bytes] == b"Xen\0" and kind == XEN_NOTE_PVH_ENTRY:
            return struct.unpack_from("<I", notes, value_at)[0]
        at = value_at + _padded(value_bytes)
    return None


def _padded(size):
    return (size + 3) & ~3
