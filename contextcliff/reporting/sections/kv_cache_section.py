"""The KV cache: its policy and size, and which of quality, memory and latency limits the context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from contextcliff.analysis.kv_limits import CacheAtLength, KVCache, kv_cache
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Measurement, Pairs, Shown, Table
from contextcliff.records.report import Report
from contextcliff.reporting.kv_facts import CacheSize, LimitsInWords, MemoryInWords, PolicyInWords, memory_words, rate


class KVCacheSection(Finding[KVCache]):
    """The cache by length, and the cap rule `memory`."""

    key = "kv_cache"
    title = "KV cache"
    folded = True
    record = KVCache
    cap_rules: ClassVar[Mapping[str, str]] = {
        "memory": "tokens whose KV cache fits beside the weights in model.memory_gib, or in nine tenths of the"
        " device's memory, one request at a time"
    }

    def find(self, study: Study) -> KVCache | None:
        return kv_cache(study)

    def caps(self, finding: KVCache, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"memory": finding.limits.memory}

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        finding = self.of(report)
        if finding is None or (finding.limits.memory is None and not finding.limits.latency_is_set):
            return ()
        return (("Limits", LimitsInWords(limits=finding.limits)),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None:
            return ()
        facts = finding.facts
        rows: list[tuple[str, Shown]] = [("Policy", PolicyInWords(facts=facts)), ("Size", CacheSize(facts=facts))]
        if finding.memory_gib is not None:
            rows.append(("Memory", MemoryInWords(cache=finding)))
        rows.append(("Limits", LimitsInWords(limits=finding.limits)))
        return (Pairs(rows=tuple(rows)), *((_by_length(finding, report),) if finding.lengths else ()))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is None:
            return
        yield Measurement(key="kv/limit_tokens", value=finding.limits.tokens)
        yield Measurement(key="kv/bytes_per_token", value=finding.facts.bytes_per_token)
        in_use = finding.facts.in_use
        if in_use is not None:
            yield Measurement(key="kv/bytes_per_token_measured", value=in_use.bytes_per_token)
        for each in finding.lengths:
            yield Measurement(key="by_length/kv_gib", value=each.gib, step=each.context_tokens)
            yield Measurement(
                key="by_length/prefill_tokens_per_s", value=each.prefill_tokens_per_s, step=each.context_tokens
            )
            yield Measurement(
                key="by_length/decode_tokens_per_s", value=each.decode_tokens_per_s, step=each.context_tokens
            )

    def tags(self, report: Report) -> Mapping[str, str]:
        finding = self.of(report)
        if finding is None:
            return {}
        tags: dict[str, str] = {}
        # Where no cliff was found, quality limits nothing yet.
        reached = finding.limits.binding != "quality" or not report.analysis.safe_cap.censored
        if finding.limits.binding is not None and reached:
            tags["binding_limit"] = finding.limits.binding
        if finding.facts.evicts:
            tags["sees_question"] = str(finding.facts.sees_question).lower()
        return {**tags, **({"kv_policy_declared": "true"} if finding.facts.declared else {})}


def _by_length(finding: KVCache, report: Report) -> Table:
    bins = {each.asked_tokens: each for each in report.analysis.bins}
    at = [bins.get(each.context_tokens) for each in finding.lengths]
    return Table(
        columns=(
            Column(title="asked tokens", cells=tuple(f"{each.context_tokens:,}" for each in finding.lengths)),
            Column(title="KV cache", cells=tuple(map(_memory, finding.lengths))),
            Column(title="mean score", cells=tuple(phrases.score(b.mean if b else None) for b in at)),
            Column(title="prefill tokens/s", cells=tuple(rate(each.prefill_tokens_per_s) for each in finding.lengths)),
            Column(title="decode tokens/s", cells=tuple(rate(each.decode_tokens_per_s) for each in finding.lengths)),
            Column(title="median TTFT", cells=tuple(phrases.milliseconds(b.ttft_ms_median if b else None) for b in at)),
        )
    )


def _memory(at: CacheAtLength) -> str:
    return phrases.MISSING if at.gib is None else memory_words(at.gib)
