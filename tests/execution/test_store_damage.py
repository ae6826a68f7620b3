"""A `state.db` that can't be used: what is wrong with it, and the way out of that and of nothing else."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.errors import RunError
from contextcliff.execution.database import explained
from contextcliff.execution.store import Store
from tests.execution.test_store import PLANNED, RUN, edited
from tests.execution.test_store_versions import opened
from tests.tasks.needles import said

NOBODY = 65534


def filled(folder: Path) -> Path:
    """A database of some forty pages."""
    with Store(folder) as store:
        store.begin(RUN, PLANNED)
        for number in range(200):
            store.keep(
                replace(PLANNED[0], prompt_sha256="s", key=f"k{number:03}"),
                said(random.Random(number).randbytes(400).hex()),
            )
        for item in PLANNED:
            store.keep(item, said("9"))
    return folder / "state.db"


def read_all(folder: Path, *, verify: bool = False) -> None:
    with Store(folder) as store:
        if verify:
            store.verify()
        store.schedule("run")
        for number in range(200):
            store.generation(f"k{number:03}")


def damaged_line(folder: Path, *, verify: bool = False) -> str:
    with pytest.raises(RunError) as told:
        read_all(folder, verify=verify)
    assert f"{folder}/state.db: is damaged, or no database (" in str(told.value)
    assert "free the disk" not in str(told.value)
    return str(told.value)


def test_overwritten_pages_are_told_as_damage_with_both_ways_out(tmp_path: Path) -> None:
    file = filled(tmp_path)
    data = bytearray(file.read_bytes())
    data[4096 : 4096 * 12] = random.Random(0).randbytes(4096 * 11)
    file.write_bytes(data)
    aside = f"{tmp_path}/damaged"
    assert damaged_line(tmp_path) == (
        f"{file}: is damaged, or no database (database disk image is malformed); move it aside (mkdir {aside} && "
        f"mv {file}* {aside}) and the same command begins anew; what can be read of it comes back by: "
        f"sqlite3 {aside}/state.db .dump | sed 's/^ROLLBACK/COMMIT/;/^PRAGMA user_version/d' | sqlite3 {file} "
        "(perhaps more by .recover in the place of .dump)"
    )


def test_a_file_that_lost_its_end_is_damaged(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size // 3)
    damaged_line(tmp_path)


@pytest.mark.parametrize(
    "generation", ["'{'", "json_object('text', 1)", "x'00'", "replace(generation, '1.0', '1e999')"]
)
def test_a_row_that_holds_something_else_is_damage_too(tmp_path: Path, generation: str) -> None:
    file = filled(tmp_path)
    changing = f"UPDATE generations SET generation = {generation} WHERE key = 'k100'"
    edited(file, changing)
    assert "a row can't be read (ValidationError)" in damaged_line(tmp_path)
    with opened(file) as connection:
        connection.execute(changing.replace("100", "101"))
    assert "a row of generations is not as it was written" in damaged_line(tmp_path, verify=True)


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the command line tool of SQLite")
def test_the_ways_out_that_are_told_work(tmp_path: Path) -> None:
    file = filled(tmp_path)
    data = bytearray(file.read_bytes())
    data[4096 * 20 : 4096 * 22] = bytes(8192)
    file.write_bytes(data)
    line = damaged_line(tmp_path)
    moving = line.split("move it aside (")[1].split(") and the same")[0]
    subprocess.run(moving, shell=True, check=True)
    with Store(tmp_path) as store:
        assert store.generation("k000") is None
    saving = line.split("comes back by: ")[1].split(" (perhaps")[0]
    subprocess.run(saving, shell=True, check=True, capture_output=True)
    with Store(tmp_path) as store:
        found = [store.generation(f"k{number:03}") for number in range(200)]
        store.verify()
    assert 150 <= sum(generation is not None for generation in found) < 200


def test_a_full_database_says_to_free_space(tmp_path: Path) -> None:
    filled(tmp_path)
    with Store(tmp_path) as store:
        connection = store._connection()
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
        with pytest.raises(RunError) as told:
            store.keep(replace(PLANNED[0], prompt_sha256="s", key="new"), said("x" * 10**6))
    assert str(told.value) == (
        f"{tmp_path}/state.db: database or disk is full; free space on its disk and run the same command again; what "
        "was answered is kept"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody who may not write")
def test_a_database_that_may_not_be_written_says_to_allow_it(tmp_path: Path) -> None:
    filled(tmp_path)
    told = tmp_path.with_name("told")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    told.touch()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with told.open("w") as stream:
                os.setuid(NOBODY)
                try:
                    with Store(tmp_path) as store:
                        store.keep(PLANNED[0], said("8"))
                except RunError as error:
                    stream.write(str(error))
                    code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    line = told.read_text(encoding="utf-8")
    assert line.startswith(f"{tmp_path}/state.db: ")
    assert line.endswith(
        "; allow writing to it and to its folder, or give another output_dir, and run the same command again; what was "
        "answered is kept"
    )


@pytest.mark.parametrize(
    ("code", "way_out"),
    [
        (sqlite3.SQLITE_READONLY, "allow writing to it and to its folder, or give another output_dir, and run"),
        (sqlite3.SQLITE_IOERR_FSYNC, "is its disk full, or gone? Mend that and run"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "another process holds it: wait for its end, or end it, and run"),
        (sqlite3.SQLITE_MISUSE, "mend that and run"),
    ],
)
def test_extended_codes_have_the_way_out_of_their_kind(tmp_path: Path, code: int, way_out: str) -> None:
    error = sqlite3.OperationalError("told")
    error.sqlite_errorcode = code
    with pytest.raises(RunError) as told, explained(tmp_path / "state.db"):
        raise error
    assert str(told.value) == f"{tmp_path}/state.db: told; {way_out} the same command again; what was answered is kept"
