# SPDX-License-Identifier: Apache-2.0
"""The memory of the emulated PC: an initramfs with the programs, and the image that bochs loads."""
import os
import pathlib
import stat
import struct
import subprocess

import bochs_parts

IMAGE_ADDRESS = bochs_parts.KERNEL_ADDRESS - 0x100000  # its first page is the PVH start info
PVH_MAGIC = 0x336EC578
RAM = 1  # e820 type
ALIGNMENT = 0x200000


class Initramfs:
    """A cpio archive (format "newc") that is filled file by file."""

    def __init__(self):
        self.entries = {}

    def add_folder(self, path, mode=0o755):
        path = pathlib.PurePosixPath(path)
        for folder in [*reversed(path.parents), path]:
            self.entries.setdefault(str(folder), (stat.S_IFDIR | mode, b""))

    def add_bytes(self, path, content, mode=0o755):
        self.add_folder(pathlib.PurePosixPath(path).parent)
        self.entries[str(path)] = (stat.S_IFREG | mode, content)

    def add_host_path(self, path):
        """A file or folder of the host, at the same absolute path; programs bring their libraries."""
        for file in _files_below(pathlib.Path(os.path.abspath(path))):
            self.add_bytes(file, file.read_bytes())
            for library in _libraries_of(file):
                self.add_bytes(library, pathlib.Path(library).read_bytes())

    def archive(self):
        members = [_cpio_member(p.lstrip("/"), mode, content, inode)
                   for inode, (p, (mode, content)) in enumerate(sorted(self.entries.items()), 1) if p != "/"]
        return b"".join(members) + _cpio_member("TRAILER!!!", 0, b"", 0)


def _files_below(path):
    if path.is_dir():
        return [p for p in path.rglob("*") if p.is_file()]
    if not path.is_file():
        raise RuntimeError(f"{path}: no such file")
    return [path]


def _libraries_of(program):
    """Paths that ldd names: the loader and all shared libraries; none for a static program or a data file."""
    if not os.access(program, os.X_OK) or program.read_bytes()[:4] != b"\x7fELF":
        return []
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    if "not found" in listing:
        raise RuntimeError(f"{program}: {listing}")
    return [word for line in listing.splitlines() for word in line.split() if word.startswith("/")]


def _cpio_member(name, mode, content, inode):
    fields = [inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
    header = b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0"
    return _padded(header) + _padded(content)


def _padded(data):
    return data + bytes(-len(data) % 4)


def memory_image(kernel, initramfs, command_line, memory_bytes):
    """Everything from IMAGE_ADDRESS on: start info, kernel, initramfs (layout of Linux's PVH boot)."""
    initramfs_address = (kernel.end + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    if initramfs_address + len(initramfs) + (96 << 20) > memory_bytes:
        raise RuntimeError(f"{memory_bytes >> 20} MiB of guest memory are too few for these programs")
    modules, memory_map, text = (IMAGE_ADDRESS + offset for offset in (0x100, 0x200, 0x800))
    regions = [(0, 0x9F000, RAM), (0x100000, memory_bytes - 0x100000, RAM)]
    image = bytearray(initramfs_address - IMAGE_ADDRESS) + initramfs
    struct.pack_into("<4I4Q2I", image, 0, PVH_MAGIC, 1, 0, 1, modules, text, 0, memory_map, len(regions), 0)
    struct.pack_into("<4Q", image, 0x100, initramfs_address, len(initramfs), 0, 0)
    for i, (address, size, kind) in enumerate(regions):
        struct.pack_into("<2Q2I", image, 0x200 + 24 * i, address, size, kind, 0)
    image[0x800:0x800 + len(command_line)] = command_line.encode()
    at = bochs_parts.KERNEL_ADDRESS - IMAGE_ADDRESS
    image[at:at + len(kernel.image)] = kernel.image
    return image
