"""What the store's rows hold: the key of an answer, and facts of a run and samples as JSON objects.

The key is what makes two requests the same question to the same model. Facts and samples stand in `manifest.json` in
the same form.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite

from pydantic import TypeAdapter

from contextcliff.datasets.local_files import MAX_BYTES
from contextcliff.errors import RunError
from contextcliff.models.sampling import Sampling
from contextcliff.records.corpus import Document, LengthAudit
from contextcliff.records.generation import Generation
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.positions import Positions
from contextcliff.records.report import DrawnBins, RunFacts
from contextcliff.records.sample import Reference, Sample
from contextcliff.records.search_record import Replay, SearchPlan
from contextcliff.seeding import digest_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Respondent:
    """Who answers: engine, weights and KV policy (`identity`), how tokens are drawn, and the label."""

    identity: Mapping[str, object]
    sampling: Sampling
    label: str

    def key(self, sample: Sample, prompt_sha256: str, *, served: str | None = None) -> str:
        """The store's key of this respondent's answer to a prompt; `served` is the model's name as a server reports it.

        The seed is part of it only where tokens are drawn at random: a greedy answer to the same
        prompt is the same answer. A repeat is asked anew.
        """
        drawn = self.sampling.temperature > 0.0
        seed = (sample.seed if self.sampling.seed is None else self.sampling.seed) if drawn else None
        samplers = {
            name: value
            for name, value in asdict(self.sampling.for_answer(sample.answer_tokens)).items()
            if name != "seed"
        }
        again = (sample.repeat,) if sample.repeat else ()
        return digest_of(dict(self.identity), served, samplers, self.label, prompt_sha256, seed, *again)


_audit = TypeAdapter(LengthAudit)
_search = TypeAdapter(SearchPlan)
_replay = TypeAdapter(Replay)
_cache = TypeAdapter(CacheFacts)
_positions = TypeAdapter(Positions)
_texts = TypeAdapter(dict[str, str])
_BINS, _BINNING = "analysis.bins", "analysis.binning"


def facts_to_strings(facts: RunFacts) -> dict[str, str]:
    """Numbers as digits, lines joined, the audit as JSON; facts that are None are left out."""
    drawn = facts.drawn
    return {
        "model": facts.model,
        "engine": facts.engine,
        "window": str(facts.context_window),
        "tokenizer": facts.tokenizer,
        **({"own_tokenizer": "true"} if facts.own_tokenizer else {}),
        "dataset": facts.dataset,
        "texts": facts.texts,
        **({} if facts.task_option is None else {"task_option": facts.task_option}),
        **({} if facts.dataset_option is None else {"dataset_option": facts.dataset_option}),
        **({} if drawn is None else {_BINS: str(drawn.bins), _BINNING: drawn.binning}),
        "notes": "\n".join(facts.notes),
        "audit": "" if facts.audit is None else _json(asdict(facts.audit)),
        "server": "\n".join(facts.server),
        "api": facts.api,
        **({} if facts.judge is None else {"judge": facts.judge, "judge_served": facts.judge_served or ""}),
        **({} if facts.embedder is None else {"embedder": facts.embedder}),
        **({} if facts.search is None else {"search": _json(asdict(facts.search))}),
        **({} if facts.replay is None else {"replay": _json(asdict(facts.replay))}),
        **({} if facts.cache is None else {"cache": _json(asdict(facts.cache))}),
        **({} if facts.positions is None else {"positions": _json(asdict(facts.positions))}),
    }


def facts_from_json(text: str) -> RunFacts:
    """Read them back; those of early versions lack some. Raises `ValueError` where a fact can't be read."""
    strings = _texts.validate_json(text)
    audit = strings.get("audit")
    return RunFacts(
        model=_required(strings, "model"),
        engine=_required(strings, "engine"),
        context_window=int(_required(strings, "window")),
        tokenizer=_required(strings, "tokenizer"),
        own_tokenizer="own_tokenizer" in strings,
        dataset=strings.get("dataset", ""),
        texts=strings.get("texts", ""),
        task_option=strings.get("task_option"),
        dataset_option=strings.get("dataset_option"),
        drawn=DrawnBins(bins=int(strings[_BINS]), binning=strings[_BINNING]) if _BINNING in strings else None,
        notes=tuple(strings.get("notes", "").splitlines()),
        audit=_audit.validate_json(audit) if audit else None,
        server=tuple(strings.get("server", "").splitlines()),
        api=strings.get("api", ""),
        judge=strings.get("judge"),
        judge_served=strings.get("judge_served") or None,
        embedder=strings.get("embedder"),
        search=_search.validate_json(strings["search"]) if "search" in strings else None,
        replay=_replay.validate_json(strings["replay"]) if "replay" in strings else None,
        cache=_cache.validate_json(strings["cache"]) if "cache" in strings else None,
        positions=_positions.validate_json(strings["positions"]) if "positions" in strings else None,
    )


def _required(strings: Mapping[str, str], name: str) -> str:
    if name not in strings:
        raise ValueError(f"a run without its {name}")
    return strings[name]


_sample = TypeAdapter(Sample)
_generation = TypeAdapter(Generation)
_document = TypeAdapter(Document)
_REFERENCE = "reference"
_OF_REFERENCE = tuple(field.name for field in fields(Reference))


def sample_to_json(sample: Sample) -> str:
    """The JSON object of a sample, without what is at its default."""
    values = _sample.dump_python(sample, mode="json", exclude_defaults=True)
    return _json({**values.pop(_REFERENCE, {}), **values})


def generation_to_json(generation: Generation) -> str:
    """The JSON object of a generation, without what is at its default."""
    return _json(_generation.dump_python(generation, mode="json", exclude_defaults=True))


def generation_from_json(text: str) -> Generation:
    """Read it back. Raises `ValueError` for JSON that is none."""
    return _generation.validate_json(text)


def _json(values: Mapping[str, object]) -> str:
    try:
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise RunError(f"a number that is not finite is not stored ({error})") from error


def sample_from_json(text: str) -> Sample:
    """Read it back. Raises `ValueError` for JSON that is no sample."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("a sample is a JSON object")
    reference = {name: values.pop(name) for name in _OF_REFERENCE if name in values}
    return _sample.validate_python({**values, _REFERENCE: reference})


def document_to_json(document: Document) -> bytes:
    """The JSON object of a document."""
    return _document.dump_json(document)


def document_of(sha256: str, document: bytes) -> Document:
    """Unpack and read it. Raises `ValueError` or `zlib.error` for bytes that this digest does not name."""
    data = zlib.decompressobj().decompress(document, MAX_BYTES)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError("a document is not the one that its digest names")
    return _document.validate_json(data)


def vector_of(data: bytes) -> tuple[float, ...]:
    """The numbers of an embedding. Raises `ValueError` for bytes that are none."""
    vector = tuple(array("f", data))
    if not all(map(isfinite, vector)):
        raise ValueError("a number of an embedding is not finite")
    return vector
