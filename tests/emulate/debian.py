# SPDX-License-Identifier: Apache-2.0
"""Packages of another Debian release or architecture, unpacked into a folder.

Nothing is installed: apt gets a configuration, package lists and a status file of its own, below the
folder, and the host's are left alone. Only the mirror is the host's.
"""
import os
import pathlib
import platform
import shutil
import subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def cache_folder():
    """Where downloads are kept between runs; ROWNORM_EMULATE_CACHE names another place."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = pathlib.Path(os.environ.get("ROWNORM_EMULATE_CACHE") or os.path.join(base, "rownorm-emulate"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def host_release():
    """The code name of this machine's Debian, "bookworm" for 12."""
    release = platform.freedesktop_os_release()
    if release.get("ID") != "debian":
        raise RuntimeError(f"the emulated machines are built from Debian packages; this is {release.get('ID')}")
    return release["VERSION_CODENAME"]


def host_mirror():
    """The mirror that this machine's own apt uses."""
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
        capture_output=True, text=True, check=True).stdout
    for uri in listing.split():
        if "security" not in uri:
            return uri
    raise RuntimeError("apt knows no Debian mirror on this machine")


class Apt:
    """An apt of its own for one release and architecture."""

    def __init__(self, release, architecture):
        self.folder = cache_folder() / f"apt-{release}-{architecture}"
        self.options = self._options(architecture)
        for part in ("lists/partial", "cache/archives/partial"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").write_text("")
        (self.folder / "sources.list").write_text(
            f"deb [arch={architecture} signed-by={KEYRING}] {host_mirror()} {release} main\n")

    def _options(self, architecture):
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        settings = {
            "Dir::Etc::sourcelist": self.folder / "sources.list", "Dir::Etc::sourceparts": "-",
            "Dir::Etc::preferences": "-", "Dir::Etc::preferencesparts": "-",
            "Dir::State": self.folder, "Dir::State::Lists": self.folder / "lists",
            "Dir::State::status": self.folder / "status", "Dir::Cache": self.folder / "cache",
            "APT::Architecture": architecture, "APT::Architectures": architecture,
            "APT::Install-Recommends": "0", "APT::Sandbox::User": user, "Debug::NoLocking": "1",
        }
        return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]

    def _run(self, program, *arguments, cwd=None):
        command = [program, *self.options, *arguments]
        result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(arguments)} failed:\n{result.stdout}{result.stderr}")
        return result.stdout

    def update(self):
        self._run("apt-get", "update")

    def dependencies(self, package):
        """The names that `package` depends on directly."""
        words = [line.split() for line in self._run("apt-cache", "depends", package).splitlines()]
        return [w[1] for w in words if w[0].lstrip("|") == "Depends:"]

    def unpack_with_libraries(self, packages, target):
        """Unpacks the packages and all they depend on."""
        self._run("apt-get", "-y", "--download-only", "install", *packages)
        self._unpack_all(self.folder / "cache" / "archives", target)

    def unpack_alone(self, package, target):
        """Unpacks one package without what it depends on."""
        archives = self.folder / "alone"
        archives.mkdir(exist_ok=True)
        self._run("apt-get", "download", package, cwd=archives)
        self._unpack_all(archives, target)

    def remove(self):
        """Frees the lists and archives once all is unpacked."""
        shutil.rmtree(self.folder)

    @staticmethod
    def _unpack_all(archives, target):
        for archive in sorted(archives.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", archive, target], check=True)
