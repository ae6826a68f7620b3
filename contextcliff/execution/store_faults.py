"""What is wrong with a `state.db` that can't be read or written, and the way out of each."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from contextcliff.errors import RunError

_PRIMARY = 0xFF
"""Extended result codes of SQLite hold the primary one in their low byte."""
_GOES_ON = "run the same command again; what was answered is kept"
_WAYS_OUT: Mapping[int, str] = {
    sqlite3.SQLITE_BUSY: f"another process holds it: wait for its end, or end it, and {_GOES_ON}",
    sqlite3.SQLITE_LOCKED: f"another process holds it: wait for its end, or end it, and {_GOES_ON}",
    sqlite3.SQLITE_FULL: f"free space on its disk and {_GOES_ON}",
    sqlite3.SQLITE_IOERR: f"is its disk full, or gone? Mend that and {_GOES_ON}",
    sqlite3.SQLITE_READONLY: f"allow writing to it and to its folder, or give another output_dir, and {_GOES_ON}",
    sqlite3.SQLITE_PERM: f"allow writing to it and to its folder, or give another output_dir, and {_GOES_ON}",
    sqlite3.SQLITE_CANTOPEN: f"allow writing to it and to its folder, or give another output_dir, and {_GOES_ON}",
}
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turn what SQLite, and the contents of its rows, complain of into one line. Raises `RunError`."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)  # None where Python and not SQLite found it
        way_out = None if code is None else _WAYS_OUT.get(code & _PRIMARY)
        if way_out is None and (code is None or code & _PRIMARY in _DAMAGE):
            raise _damaged(file, str(error)) from error
        raise RunError(f"{file}: {error}; {way_out or f'mend that and {_GOES_ON}'}") from error
    except OSError as error:
        raise RunError(f"{file}: {error.strerror or error}; {_WAYS_OUT[sqlite3.SQLITE_CANTOPEN]}") from error
    except (ValueError, zlib.error) as error:  # a row that holds something else than what was written
        raise _damaged(file, f"a row can't be read ({type(error).__name__})") from error


def _damaged(file: Path, cause: str) -> RunError:
    # With its -wal and -shm: beside a new database SQLite would take them for its own.
    aside = file.parent / "damaged"
    moving = f"mkdir {quote(str(aside))} && mv {quote(str(file))}* {quote(str(aside))}"
    # .dump goes on past what it can't read, and then ends with a ROLLBACK; .recover is not in every build.
    dumping = f"sqlite3 {quote(str(aside / file.name))} .dump"
    saving = f"{dumping} | sed s/^ROLLBACK/COMMIT/ | sqlite3 {quote(str(file))}"
    return RunError(
        f"{file}: is damaged, or no database ({cause}); move it aside ({moving}) and the same command begins anew; "
        f"what can be read of it comes back by: {saving} (perhaps more by .recover in the place of .dump)"
    )
