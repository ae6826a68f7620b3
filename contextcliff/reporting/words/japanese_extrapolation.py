"""Where extrapolation begins to fail, in Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.analysis.extrapolation import (
    ClearsBeyond,
    FailsBeyond,
    FailsWithin,
    NeitherBeyond,
    NothingBeyond,
    PooledScore,
)
from contextcliff.findings import phrases
from contextcliff.records.positions import PositionSource
from contextcliff.reporting.extrapolation_facts import ScoresByPlace, TrainedPositions
from contextcliff.reporting.words.japanese_say import say

_SOURCES: Mapping[PositionSource, str] = {
    "given": "model.rope.trained_tokens",
    "gguf": "GGUF のヘッダー",
    "config": "config.json",
    "server": "サーバーによる",
}


@say.register
def _trained(fact: TrainedPositions) -> str:
    found = fact.extrapolation
    positions = found.positions
    source = "" if positions.source is None else f"（{_SOURCES[positions.source]}）"
    factor = "" if positions.factor is None else f" x{positions.factor:g}"
    scaled = f"、{positions.scaling}{factor}" if positions.scaling else ""
    return f"{found.trained_tokens:,} トークン{source}{scaled}。テストは {found.longest_tokens:,} まで"


@say.register
def _scores(fact: ScoresByPlace) -> str:
    found = fact.extrapolation
    return f"範囲内 {_score(found.within)}、範囲外 {_score(found.beyond)}"


def _score(pooled: PooledScore | None) -> str:
    if pooled is None:
        return "なし"
    return f"{pooled.mean:.2f}（{phrases.interval(pooled.ci_low, pooled.ci_high)}、n {pooled.n_samples:,}）"


@say.register
def _fails_beyond(fact: FailsBeyond) -> str:
    cleared = (
        "満たす長さはない" if fact.cleared_tokens is None else f"{fact.cleared_tokens:,} トークンまではしきい値を満たす"
    )
    return (
        f"外挿は {fact.tokens:,} トークン（学習範囲の {fact.times:.2f} 倍）で失敗し始める。"
        f"しきい値を下回ると示された最初の長さ。{cleared}"
    )


@say.register
def _fails_within(fact: FailsWithin) -> str:
    return f"学習した位置の範囲内の {fact.tokens:,} トークンから、すでにしきい値を下回る。先に失敗するのは外挿ではない"


@say.register
def _clears_beyond(fact: ClearsBeyond) -> str:
    at = f"{fact.tokens:,} トークン（学習範囲の {fact.times:.2f} 倍）"
    cleared = f"学習した位置を超えても失敗は示されていない。{at}までしきい値を満たす"
    return f"{cleared}。それより長い {fact.n_open} 種類の長さは未決" if fact.n_open else cleared


@say.register
def _neither(fact: NeitherBeyond) -> str:
    return (
        f"テストが少なく、外挿が失敗するかどうかは言えない。範囲外の長さ {fact.n_lengths} 種類（サンプル "
        f"{fact.n_samples:,} 件）は、しきい値を満たすとも下回るとも示されていない"
    )


@say.register
def _nothing(_: NothingBeyond) -> str:
    return "学習した位置を超える長さはテストしていない"
