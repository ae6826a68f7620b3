"""The figures of a report that take a sentence, in Japanese."""

from __future__ import annotations

from rich.cells import set_cell_size

from contextcliff.findings import phrases
from contextcliff.records.analysis import Zone
from contextcliff.reporting.report_facts import (
    Crossing,
    EvidenceInWords,
    Headline,
    HealthyRound,
    NoCliffInRange,
    NoCrossingShown,
    Recommendation,
    ShapeInWords,
    StoppedEarly,
    ThresholdName,
    Tokens,
    ZoneNames,
    ZoneRange,
)
from contextcliff.reporting.words.japanese_say import QUANTITIES, say

_SHAPES = {
    "flat": "平坦。長さによって{what}は変わらず、しきい値以上",
    "slope": "なだらかな低下。{what}は長さとともに、数段階にわたって、またはしきい値に達せずに下がる",
    "cliff": "崖。{what}は一段でしきい値を割る",
    "below": "しきい値未満。テストしたすべての長さで{what}がしきい値を下回る",
    "rising": "上昇。{what}は長さとともに上がる",
}
_ZONES = {"stable": "安定", "transition": "遷移", "degraded": "劣化"}
_NAME_CELLS = 6
"""Full-width characters count two cells."""


@say.register
def _stopped_early(fact: StoppedEarly) -> str:
    missing = "長さ" if fact.lengths_missing else "評価や測定値"
    return f"実行が途中で止まったため、{missing}が欠けている可能性がある"


@say.register
def _tokens(fact: Tokens) -> str:
    return f"{fact.n:,} トークン"


@say.register
def _headline(fact: Headline) -> str:
    cap = fact.cap
    if cap.tokens is None:
        return "なし（安全と示された長さはない）"
    share = "" if cap.fraction_of_max is None else f"、ウィンドウの {phrases.percent(cap.fraction_of_max)}"
    return f"{cap.tokens:,} トークン（信頼度 {phrases.percent(cap.confidence)}{share}）"


@say.register
def _recommendation(fact: Recommendation) -> str:
    tokens = fact.cap.tokens
    if tokens is None:
        return "テストしたどの長さにも頼らない"
    return f"プロンプトを {tokens:,} トークン以下に保つ"


_OF_ONE_LENGTH = {
    "flat": "平坦。テストした唯一の長さの{what}はしきい値以上",
    "below": "しきい値未満。テストした唯一の長さの{what}がしきい値を下回る",
}


@say.register
def _shape(fact: ShapeInWords) -> str:
    shape, step, dip = fact.cap.shape or "", fact.cap.shape_step, fact.cap.dip_tokens
    if fact.n_lengths == 1:
        return _OF_ONE_LENGTH.get(shape, shape).format(what=QUANTITIES[fact.cap.quantity])
    where = "" if step is None else f"（{step[0]:,}～{step[1]:,} トークンの間）"
    but = "" if dip is None else f"（{dip:,} トークンでのみ落ち込む）"
    what = QUANTITIES[fact.cap.quantity]
    name, _, text = _SHAPES.get(shape, shape).format(what=what).partition("。")
    return f"{name}。最もよく合う曲線では（検定ではない）、{text}{where}{but}"


@say.register
def _evidence(fact: EvidenceInWords) -> str:
    cap = fact.cap
    if cap.evidence != "settled":
        needed = cap.settling_samples
        likely = "" if needed is None else f"。検定が止まった長さに約 {needed:,} 件のサンプルがあれば示せる見込み"
        return f"未確定。この形は検定では示されていない{likely}"
    if cap.shape == "below":
        return "確定。テストしたすべての長さでしきい値を下回ると示されている"
    if cap.censored or cap.ci_high is None:
        return "確定。テストしたすべての長さでしきい値を満たすと示されている"
    return f"確定。{cap.ci_high:,} トークンからはしきい値を下回ると示されている"


@say.register
def _threshold(fact: ThresholdName) -> str:
    each = "（深さの 1/3 ごと）" if fact.cap.every_depth else ""
    if fact.cap.quantity == "healthy":
        of = "最短の長さの健全率" if fact.cap.relative_to_baseline else "健全率"
        return f"{of} {phrases.percent(fact.cap.threshold)}"
    if fact.cap.relative_to_baseline:
        return f"最短の長さのスコアの {phrases.percent(fact.cap.threshold)}{each}"
    return f"スコア {fact.cap.threshold:.2f}{each}"


@say.register
def _healthy_round(_: HealthyRound) -> str:
    return (
        "健全率、つまり健全なラウンドの割合。健全なラウンドとは、文章が十分に長く、同じ文の繰り返しに陥らず、著者からの隔たり"
        "（各指標を合わせた値、0～100）が著者自身の文章の 99% の範囲に収まるもの"
    )


@say.register
def _no_cliff_in_range(fact: NoCliffInRange) -> str:
    at = "" if fact.longest is None else f"（{fact.longest:,} トークン）"
    return f"テストした最長{at}まで崖はない。実際の限界はさらに上かもしれない"


@say.register
def _crossing(fact: Crossing) -> str:
    what = QUANTITIES[fact.quantity]
    if fact.low is None:
        return f"遅くとも {fact.high:,} トークンで{what}はしきい値を下回る"
    return f"{what}は {fact.low:,}～{fact.high:,} トークンの間でしきい値を割る"


@say.register
def _no_crossing(fact: NoCrossingShown) -> str:
    return f"しきい値を下回ると示された長さはない。低下があるとすれば {fact.low:,} トークンより上"


@say.register
def _zone_names(fact: ZoneNames) -> str:
    return (
        "安定：テストしたどの長さもしきい値を満たす。劣化：テストしたどの長さもしきい値を下回ると示されている（最長から"
        f"順に検定し、全体で信頼度 {phrases.percent(fact.confidence)}）。遷移：どちらも示されていないか、テストされて"
        "いない。低下は平均スコアのもので、ベースライン（なければ最初の区分）と比べる"
    )


@say.register
def _zone(fact: ZoneRange) -> str:
    zone = fact.zone
    name = set_cell_size(_ZONES.get(zone.name, zone.name), _NAME_CELLS)
    return f"{fact.mark} {name} {zone.min_tokens:,} - {zone.max_tokens:,} トークン{_mean_of_zone(zone)}"


def _mean_of_zone(zone: Zone) -> str:
    if zone.mean is None:
        return ""
    if zone.fall is None:
        return f"、平均 {zone.mean:.2f}"
    share = f"{abs(zone.fall):.0%}"
    change = f"{share} {'高い' if zone.fall < 0.0 else '低い'}" if share != "0%" else "変化なし"
    return f"、平均 {zone.mean:.2f}（{change}）"
