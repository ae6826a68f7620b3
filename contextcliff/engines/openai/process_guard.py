"""A process that runs a command and ends it, with all that it started, once its own standard input is closed.

However ContextCliff ends, by SIGKILL too, the operating system closes the pipe to its guard. Standard library only, and
run as a file, so that it starts in a few hundredths of a second:

    python process_guard.py LOG GRACE_S COMMAND …

The command's output goes to the file LOG. The guard's exit code is the command's."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

_CHUNK = 1 << 16


def guard(log: Path, grace_s: float, command: list[str]) -> int:
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the user's own command
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    threading.Thread(target=_end_with_input, args=(process, grace_s), daemon=True).start()
    code = process.wait()
    _signal_group(process.pid, signal.SIGKILL)  # what the command started and left behind
    return code


def _end_with_input(process: "subprocess.Popen[bytes]", grace_s: float) -> None:
    while os.read(sys.stdin.fileno(), _CHUNK):
        pass
    _signal_group(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=grace_s)
    except subprocess.TimeoutExpired:
        _signal_group(process.pid, signal.SIGKILL)


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


if __name__ == "__main__":
    for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Whoever holds the pipe decides when to end. A handler, since the command would inherit SIG_IGN.
        signal.signal(_number, lambda *_: None)
    _code = guard(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
    os._exit(_code if _code >= 0 else 128 - _code)
