"""`engine.command`: the command line by which ContextCliff starts a server for a run."""

from __future__ import annotations

import shlex
import shutil
import socket
import string
from dataclasses import dataclass

from contextcliff.errors import ConfigError, one_line
from contextcliff.kv.policy import KVPolicy
from contextcliff.kv.server_flags import kv_flags
from contextcliff.models.model import Model

_KEY = "engine.command"
_NAMES = ("model", "weights", "context", "port", "key_type", "value_type", "kv_flags", "concurrency")
_OF_POLICY = ("kv_flags", "key_type", "value_type")


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerCommand:
    """A template such as `llama-server -m {weights} -c {context} --port {port} {kv_flags}`. No shell reads it.

    `{model}` is the model's name on the server, `{weights}` its GGUF file, `{context}` the tokens of the longest prompt
    with its answer, `{port}` that of `engine.base_url`; `{kv_flags}` are the flags of the policy for this kind of
    server (`kv/server_flags.py`), `{key_type}` and `{value_type}` its formats.
    """

    template: str
    preset: str

    @property
    def placeholders(self) -> frozenset[str]:
        """Those that the template has. Raises `ConfigError` for one that there is not."""
        try:
            parsed = [name for _, name, _, _ in string.Formatter().parse(self.template) if name is not None]
        except ValueError as error:
            raise ConfigError(
                f"{_KEY}={self.template}: {one_line(str(error), longest=80)}; write {{{{ and }}}} for braces of the "
                "command's own"
            ) from error
        unknown = next((name for name in parsed if name not in _NAMES), None)
        if unknown is not None:
            there = ", ".join(f"{{{name}}}" for name in _NAMES)
            raise ConfigError(
                f"{_KEY}: {{{unknown}}} is no placeholder; there are {there}; write {{{{ and }}}} for braces of the "
                "command's own"
            )
        return frozenset(parsed)

    def check(self, policy: KVPolicy) -> None:
        """Raise `ConfigError` for a template that can't be filled, or that sets no policy where one has to be set."""
        names = self.placeholders
        if "kv_flags" in names and kv_flags(self.preset, policy) is None:
            raise ConfigError(
                f"{_KEY}: the flags for kv_policy={policy.shown} are not known for engine={self.preset}; write them in "
                "the place of {kv_flags}, with {key_type} and {value_type} where they name formats"
            )
        if not policy.is_plain and not names.intersection(_OF_POLICY):
            raise ConfigError(
                f"{_KEY}: starts the server without kv_policy={policy.shown}; write {{kv_flags}}, or {{key_type}} and "
                "{value_type}, where its flags go"
            )

    def filled(self, *, model: Model, policy: KVPolicy, context_tokens: int, port: int, concurrency: int) -> list[str]:
        """The program and its arguments. Raises `ConfigError` for a program that is not there, and for no command."""
        names = self.placeholders
        values: dict[str, object] = {
            "model": model.served_name(self.preset) or "",
            "context": context_tokens,
            "port": port,
            "key_type": policy.key_type,
            "value_type": policy.value_type,
            "kv_flags": kv_flags(self.preset, policy) or "",
            "concurrency": concurrency,
            "weights": shlex.quote(str(model.gguf.fetch())) if "weights" in names else "",
        }
        try:
            words = shlex.split(self.template.format(**values))
        except ValueError as error:
            raise ConfigError(f"{_KEY}={self.template}: {error}; close the quotation") from error
        if not words:
            raise ConfigError(f"{_KEY}: is empty; give a command, or null for a server that runs already")
        program = shutil.which(words[0])
        if program is None:
            raise ConfigError(f"{_KEY}: there is no program {words[0]}; install it, or give its whole path")
        return [program, *words[1:]]


def free_port(wanted: int) -> int:
    """`wanted`, or where that is 0 one that is free. Raises `ConfigError` where something listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError as error:
            raise ConfigError(
                f"engine.base_url: something listens on port {wanted} already, so that {_KEY} can't; end it, or take "
                "another port (0: any that is free)"
            ) from error
        return int(probe.getsockname()[1])
