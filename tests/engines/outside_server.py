"""A stand-in for a server that a command starts, run as a file: `PORT`, and what else it is to do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.engines.fake_server import FakeServer, serving


def main() -> None:
    port, *wishes = sys.argv[1:]
    if "listed=" in " ".join(wishes):  # the process, and one that it starts, for tests that look for both
        file = next(wish.partition("=")[2] for wish in wishes if wish.startswith("listed="))
        child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
        with Path(file).open("a", encoding="utf-8") as listed:
            listed.write(f"{os.getpid()}\n{child.pid}\n")
    print("loading the weights", " ".join(wishes), flush=True)
    if "fails" in wishes:
        print("no such file: weights.gguf", flush=True)
        sys.exit(7)
    if "hangs" in wishes:
        time.sleep(600)
    dies = "dies" in wishes
    server = FakeServer(models=[{"id": "SmolLM2-135M-Instruct"}], counts="/tokenize")
    if dies:
        server.fault = lambda number: os._exit(9) if number > 2 else None
    server.pause_s = 0.5 if "slow" in wishes else 0.0
    with serving(server, port=int(port)):
        time.sleep(600)


if __name__ == "__main__":
    main()
