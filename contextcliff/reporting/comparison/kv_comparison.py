"""KV policies side by side, and the one to use: the smallest cache that is shown not to be worse by the margin, as each
larger one is; without one the baseline."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from contextcliff.findings import phrases
from contextcliff.findings.drawing import SMALL, blank, drawable, heading, legend_under
from contextcliff.findings.finding import Code, Image, Table, Text, columns_of
from contextcliff.findings.kv_cache import KVCache, memory_words, rate
from contextcliff.kv.policy import KVPolicy
from contextcliff.kv.server_flags import start_lines
from contextcliff.records.comparison import CandidateVerdict, PairedDecision
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.reporting.comparison.comparison import ComparedRun, ComparisonPart, DecidedRun, PartResult
from contextcliff.reporting.comparison.verdicts import LOOKS, WORDS, interval, more_pairs, points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 7.0, 3.6
_HEAD = (
    *("policy", "safe cap", "points", "interval", "verdict", "bytes a token", "cache at the cap"),
    *("prefill tokens/s", "decode tokens/s"),
)
_policy = TypeAdapter(KVPolicy)


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyRow:
    """One run under its policy."""

    run: ComparedRun
    cache: KVCache
    decided: DecidedRun | None
    """None: the baseline."""

    @property
    def facts(self) -> CacheFacts:
        return self.cache.facts

    @property
    def cap_tokens(self) -> int | None:
        return None if self.run.report is None else self.run.report.analysis.safe_cap.tokens

    @property
    def decision(self) -> PairedDecision | None:
        return None if self.decided is None else self.decided.decision

    @property
    def verdict(self) -> CandidateVerdict | None:
        return None if self.decision is None else self.decision.verdict

    @property
    def gib_at_cap(self) -> float | None:
        return None if self.cap_tokens is None else self.facts.gib(self.cap_tokens)


class KVComparison(ComparisonPart):
    """Runs of one model and task under several policies."""

    key = "kv_cache"

    def compare(
        self,
        runs: Sequence[ComparedRun],
        *,
        decided: Sequence[DecidedRun] = (),
        confidence: float,  # noqa: ARG002
    ) -> PartResult:
        of_runs = {each.run.name: each for each in decided}
        rows = [
            PolicyRow(run=run, cache=cache, decided=of_runs.get(run.name))
            for run in runs
            if run.report is not None and (cache := run.report.analysis.finding(KVCache)) is not None
        ]
        title = "KV policies"
        if len({row.facts.shown for row in rows}) < 2:
            return PartResult(title=title)
        chosen, why = recommended(rows)
        saved = 1.0 - _size(chosen) / _size(rows[0])
        less = f", {saved:.0%} less memory a token" if chosen is not rows[0] and math.isfinite(saved) else ""
        line = f"use {overrides_of(chosen)}{less}: {why}"
        starts = starts_of(chosen)
        sized = [row for row in rows if row.facts.bytes_per_token is not None]
        caption, draw = "Memory of the KV cache and safe cap", partial(pareto_figure, sized, chosen=chosen)
        figures = (Image(name="memory", caption=caption, draw=draw),) if len(sized) > 1 else ()
        return PartResult(
            title=title,
            lines=(line, *(f"to serve it: {each}" for each in starts[:1])),
            blocks=(
                Text(text=f"{line[0].upper()}{line[1:]}.", strong=True),
                *([Text(text="To serve it:")] if starts else []),
                *(Code(text=each) for each in starts),
                Table(columns=columns_of(_HEAD, list(map(_cells, rows)), words=("policy", "verdict"))),
                *figures,
            ),
            data={
                "kv_policies": [_data(row) for row in rows],
                "recommended_policy": chosen.facts.shown,
                "recommended_overrides": overrides_of(chosen),
                "recommended_commands": list(starts),
            },
        )


def recommended(rows: Sequence[PolicyRow]) -> tuple[PolicyRow, str]:
    """The row to use, and why; the first row is the baseline.

    Smaller caches are looked at in a fixed order, the largest first, up to the first that is not shown to be as good:
    the smallest of many that pass would be one that passed by chance.
    """
    base, known = rows[0], [row for row in rows if row.facts.bytes_per_token is not None]
    smaller = [row for row in known[1:] if _size(row) < _size(base)] if base in known else []
    smaller.sort(key=lambda row: (-_size(row), row.facts.shown))
    good = list(itertools.takewhile(lambda row: row.verdict in ("not_worse", "better"), smaller))
    why = ["no smaller cache is shown to be as good"]
    if good:
        word = "better than" if good[-1].verdict == "better" else "not worse than"
        why = [f"it is {word} {base.facts.shown}{', as each larger cache is' if good[1:] else ''}"]
        if (own := good[-1].cap_tokens or 0) < (cap := base.cap_tokens or 0):
            why.append(f"its own cap is lower, {own:,} of {cap:,} tokens")
    if len(good) < len(smaller) and (decision := smaller[len(good)].decision) and decision.verdict == "unknown":
        more = more_pairs(decision)
        longest = f" at {decision.longest_tokens:,} tokens" if decision.longest else ""
        why.append(f"the pairs can't tell yet about {smaller[len(good)].facts.shown}{longest}{more and f': {more}'}")
    if unknown := [row.facts.shown for row in rows if row not in known]:
        why.append(f"without its size {' and '.join(unknown)} can be judged, but not recommended")
    return (good or [base])[-1], "; ".join(why)


def overrides_of(row: PolicyRow) -> str:
    """The overrides that ask for this policy."""
    facts = row.facts
    option, others = facts.option or facts.policy, ""
    if facts.evicts:
        others = f" kv_policy.budget={facts.budget:g}"
    elif option != facts.policy:
        others = f" kv_policy.key_type={facts.key_type} kv_policy.value_type={facts.value_type}"
    return f"kv_policy={option}{others}{' kv_policy.sees_question=true' if facts.sees_question else ''}"


def starts_of(row: PolicyRow) -> tuple[str, ...]:
    """Commands that start a server with this policy, that of the run's own kind of server first."""
    facts = row.facts
    if facts.evicts:
        return ()
    formats = {"key_type": facts.key_type, "value_type": facts.value_type}
    try:
        policy = _policy.validate_python({"name": facts.policy, **formats})
    except ValidationError:  # of a later version, with formats that this one does not know
        return ()
    engine = "" if row.run.report is None else row.run.report.run.engine
    return start_lines(policy, first="llama_server" if engine == "llamacpp" else engine)


def _size(row: PolicyRow) -> float:
    """Bytes a token; a size that is not known is larger than any."""
    size = row.facts.bytes_per_token
    return math.inf if size is None else size


def _cells(row: PolicyRow) -> tuple[str, ...]:
    decision, size, longest = row.decision, row.facts.bytes_per_token, row.cache.lengths[-1:]
    prefill, decode = next(((each.prefill_tokens_per_s, each.decode_tokens_per_s) for each in longest), (None, None))
    missing = (phrases.MISSING, phrases.MISSING)
    return (
        *(row.facts.shown, row.run.cap),
        *(missing if decision is None else (points(decision.judged.mean), interval(decision.judged))),
        _look(row)[2],
        phrases.MISSING if size is None else f"{size:,.0f}",
        phrases.MISSING if row.gib_at_cap is None else memory_words(row.gib_at_cap),
        *(rate(prefill), rate(decode)),
    )


def _data(row: PolicyRow) -> dict[str, object]:
    judged, facts = row.decision and row.decision.judged, row.facts
    return {
        "run": row.run.name,
        "policy": facts.shown,
        "safe_cap_tokens": row.cap_tokens,
        "verdict": row.verdict,
        "difference": judged and judged.mean,
        "difference_low": judged and judged.low,
        "difference_high": judged and judged.high,
        "bytes_per_token": facts.bytes_per_token,
        "bytes_per_token_measured": facts.in_use and facts.in_use.bytes_per_token,
        "gib_at_cap": row.gib_at_cap,
        "limited_by": row.run.report and row.run.report.analysis.safe_cap.limited_by,
    }


def pareto_figure(rows: Sequence[PolicyRow], *, chosen: PolicyRow | None = None) -> Figure:
    """Draw at least two policies, each of a known size; one without a cap stands on the axis."""
    from matplotlib.lines import Line2D

    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    top, widest = max(_cap(row) for row in rows), 1.25 * max(map(_size, rows))
    axes.set(xlim=(0.0, widest), ylim=(0.0, 1.25 * max(1, top)))
    best = frontier(rows)
    sizes, caps = [0.0, *map(_size, best), widest], [0, *map(_cap, best), top]
    axes.step(sizes, caps, where="post", color="0.8", linewidth=1.2, zorder=1)
    for row in rows:
        colour, mark, _ = _look(row)
        at = (_size(row), _cap(row))
        axes.plot(*at, mark, color=colour, markersize=8, zorder=3, clip_on=False)
        if row is chosen:
            axes.plot(*at, "o", markersize=16, markerfacecolor="none", markeredgecolor=colour, zorder=2, clip_on=False)
    for place, row in enumerate(sorted(rows, key=lambda each: (_cap(each), _size(each)))):
        below = not place % 2 and row.cap_tokens  # never over the axis
        axes.annotate(
            drawable(row.facts.shown), (_size(row), _cap(row)), xytext=(10, -13 if below else 9), fontsize=SMALL,
            textcoords="offset points", fontweight="bold" if row is chosen else "normal",
        )  # fmt: skip
    axes.set_xlabel("bytes of KV cache a token", fontsize=9)
    axes.set_ylabel("safe cap, tokens", fontsize=9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    axes.tick_params(labelsize=SMALL)
    axes.spines[["top", "right"]].set_visible(False)
    subtitle = (
        "Left is less memory, up is more context; the line joins the policies that no other one beats in both. A ring"
        " marks the one to use. Two caps are bounds: the verdict compares the answers, pair by pair"
    )
    heading(axes, title="Memory and safe cap", subtitle=subtitle, inches=_WIDTH, above=10)
    looks = dict.fromkeys(map(_look, rows))
    handles = [Line2D([], [], color=c, marker=m, linestyle="none", markersize=7, label=word) for c, m, word in looks]
    legend_under(axes, drop=0.55 / _HEIGHT, handles=handles, ncols=5)
    return figure


def frontier(rows: Sequence[PolicyRow]) -> tuple[PolicyRow, ...]:
    """Those that none beats in memory and cap together, by memory ascending."""
    best: list[PolicyRow] = []
    for row in sorted(rows, key=lambda each: (_size(each), -_cap(each))):
        if not best or _cap(row) > _cap(best[-1]):
            best.append(row)
    return tuple(best)


def _cap(row: PolicyRow) -> int:
    return row.cap_tokens or 0


def _look(row: PolicyRow) -> tuple[str, str, str]:
    if row.decided is None:
        return ("black", "D", "baseline")
    return ("0.45", "x", "no verdict") if row.verdict is None else (*LOOKS[row.verdict], WORDS[row.verdict])
