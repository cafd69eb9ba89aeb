"""A PostgreSQL of the tests' own: a private cluster on a socket, gone when they end."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tiebreak.fair.bank.schema import TABLES, open_bank

DEBIAN = Path("/usr/lib/postgresql")
USER = "bank"
WAIT = 120.0
"""Seconds until a server that does not answer is a failure."""

# Nothing of it outlives the tests, so nothing has to be safe on a disk.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "60",
    "shared_buffers": "16MB",
}


def programs() -> Path | None:
    if found := shutil.which("initdb"):
        return Path(found).parent
    there = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return there[-1].parent if there else None


@dataclass(frozen=True)
class Cluster:
    """A running server with one bank, which each test gets empty."""

    folder: Path

    @property
    def url(self) -> str:
        """The address of the bank, as --bank takes it."""
        return f"postgresql://{USER}@/{USER}?host={self.folder}"

    def execute(self, statements: str, database: str = USER) -> None:
        """Execute some statements, all or none, unless there is one alone."""
        address = f"host={self.folder} user={USER} dbname={database}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statements.encode())

    def empty(self) -> None:
        """Take everything out of the bank; a tenth of the time that a new database takes."""
        # The role of a replica: no trigger guards the access log, and no key its rows.
        tables = [table.name for table in TABLES.sorted_tables if table.name != "bank_version"]
        deleted = "; ".join(f"DELETE FROM {table}" for table in tables)
        self.execute(f"SET lock_timeout = '10s'; SET session_replication_role = replica; {deleted}")


@contextmanager
def postgresql() -> Iterator[Cluster]:
    """A cluster; the calling test is skipped where there is no PostgreSQL, and fails in CI."""
    found = programs()
    if found is None:
        reason = "no PostgreSQL on this machine (Debian: apt-get install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    # A socket's path has to be short, so it is not pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="tiebreak-pg-"))
    server: subprocess.Popen[Any] | None = None
    try:
        who = _owner(folder)
        data = str(folder / "data")
        making = [f"{found}/initdb", "-D", data, "-U", USER, "-A", "trust", "--no-sync"]
        letters = ["-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run([*making, *letters], check=True, capture_output=True, **who)
        settings = [part for pair in SETTINGS.items() for part in ("-c", "=".join(pair))]
        with (folder / "log").open("wb") as log:
            starting = [f"{found}/postgres", "-D", data, "-k", str(folder), *settings]
            server = subprocess.Popen(starting, stdout=log, stderr=log, **who)
        cluster = Cluster(folder)
        _wait(cluster, server)
        cluster.execute(f"CREATE DATABASE {USER}", "postgres")
        open_bank(cluster.url, create=True).dispose()
        yield cluster
    finally:
        if server is not None:
            server.send_signal(signal.SIGQUIT)
            server.wait(WAIT)
        shutil.rmtree(folder, ignore_errors=True)


def _owner(folder: Path) -> dict[str, Any]:
    """As whom the server runs: it refuses root, for whom somebody else steps in."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, entry.pw_uid, entry.pw_gid)
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": [], "cwd": folder}
    raise AssertionError("PostgreSQL does not run as root, and there is no user nobody")


def _wait(cluster: Cluster, server: "subprocess.Popen[Any]") -> None:
    end = time.monotonic() + WAIT
    while True:
        try:
            cluster.execute("SELECT 1", "postgres")
        except psycopg.OperationalError:
            log = (cluster.folder / "log").read_text(encoding="utf-8", errors="replace")
            assert server.poll() is None, log
            assert time.monotonic() < end, log
            time.sleep(0.05)
        else:
            return
