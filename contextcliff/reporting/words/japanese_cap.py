"""Why the safe cap is where it is, in Japanese."""

from __future__ import annotations

from typing import assert_never

from contextcliff.analysis.best_case import (
    LengthsOutOfReach,
    NoLengthInReach,
    NothingBeyondBaseline,
    TooFewForBaseline,
)
from contextcliff.findings import phrases
from contextcliff.findings.phrases import confidence_figure, threshold_figure
from contextcliff.records.amounts import Quantity, SampleCount, Unit
from contextcliff.records.cap_reason import (
    AskedThreshold,
    BaselineAlone,
    BelowAtShortest,
    BelowEverywhere,
    Degraded,
    EndOfRange,
    GivenUp,
    LowBaseline,
    MostAsked,
    NeitherShown,
    NoBaseline,
    NoneScored,
    NotDecided,
    NothingScored,
    Part,
    ScoreAt,
    ShortestUnscored,
    Stop,
    TooFewPlanned,
    TooFewToClear,
    TooFewToReject,
    Unscorable,
    UnscoredCouldBeRight,
    UnscoredDecide,
    Unsettled,
    Unshowable,
    ZeroBaseline,
)
from contextcliff.reporting.words.japanese_say import QUANTITIES, THIRDS, UNITS, amount, counted, portion, say


def asked_threshold(threshold: AskedThreshold) -> str:
    """The threshold before anything is known of a baseline."""
    value = threshold_figure(threshold.value)
    of = "" if threshold.quantity == "score" else f"{QUANTITIES[threshold.quantity]} "
    return f"{of}ベースラインの {value} 倍" if threshold.relative else f"{of}{value}"


def _threshold(threshold: AskedThreshold) -> str:
    mean, tokens = threshold.baseline_mean, threshold.baseline_tokens
    each = "（深さの 1/3 ごと）" if threshold.every_depth else ""
    if mean is None or tokens is None:
        return asked_threshold(threshold) + each
    of = "" if threshold.quantity == "score" else f"{QUANTITIES[threshold.quantity]} "
    return f"{of}ベースライン（{tokens:,} トークンで {mean:.2f}）の {threshold_figure(threshold.value)} 倍{each}"


def _score(result: ScoreAt, confidence: float) -> str:
    if result.mean is None or result.ci_low is None or result.ci_high is None:
        return "不明"
    shown = phrases.interval_outward if result.in_search else phrases.interval
    ends = shown(result.ci_low, result.ci_high).replace("-", "–")
    return f"{result.mean:.2f}（{confidence_figure(confidence)} 信頼区間 {ends}）"


@say.register
def _stop(fact: Stop) -> str:
    threshold, confidence = _threshold(fact.threshold), confidence_figure(fact.confidence)
    if fact.shown_up_to is None and fact.threshold.relative:
        shown = f"ベースラインより先に、信頼度 {confidence} でしきい値 {threshold} を満たすと示された長さはない"
    elif fact.shown_up_to is None:
        shown = f"信頼度 {confidence} でしきい値 {threshold} を満たすと示された長さはない"
    else:
        shown = (
            f"{fact.shown_up_to:,} トークンまでのテスト済みの長さは、すべて信頼度 {confidence} でしきい値 {threshold} "
            "を満たす"
        )
    if fact.shown_up_to is not None and fact.cleared_to is not None:
        shown += (
            f"（満たした最後のビンは {fact.shown_up_to:,}〜{fact.cleared_to:,} トークンのプロンプトからなり、その平均が"
            "裏づけるのは最短のものだけ）"
        )
    if fact.fall is None:
        return f"{shown}。{_stopped_by(fact)}"
    what = QUANTITIES[fact.threshold.quantity]
    fall = f"{fact.fall.tokens:,} トークンではしきい値を下回り、{what}は {_score(fact.fall, fact.confidence)}"
    return f"{shown}。{_stopped_by(fact)}。{fall}"


def _stopped_by(fact: Stop) -> str:
    at, cause = fact.at, fact.cause
    if at is None and isinstance(cause, NotDecided):
        return "次の長さの判定前に実行が終わった"
    if at is None and fact.cleared_to is not None:
        return f"{fact.cleared_to:,} トークンまで低下は見られない"
    if at is None:
        return "これがテストした最長の長さで、低下は見られない"
    if isinstance(cause, NoneScored):
        needs = "" if cause.needed is None else f"。この長さに少なくとも{counted(cause.needed, scored=True)}が必要"
        return f"{at.tokens:,} トークンでは{_none_scored(cause.planned.n, cause.planned.unit)}{needs}"
    if isinstance(cause, Unscorable):
        return f"{at.tokens:,} トークンでは{_are_unscored(cause.unscored)}（{_unscorable(cause)}"
    what = QUANTITIES[fact.threshold.quantity]
    return f"{at.tokens:,} トークンでの{what}は {_score(at, fact.confidence)}{_cause(fact)}"


def _cause(fact: Stop) -> str:
    """What follows on the score of the length that stopped the test."""
    cause = fact.cause
    match cause:
        case EndOfRange() | NoneScored() | Unscorable() | Unsettled():
            return ""
        case Degraded():
            return "" if cause.third is None else f"で、深さの{THIRDS[cause.third]} 1/3 がしきい値を下回る"
        case NeitherShown():
            which = "" if cause.needed is None else f"（{_would_show_which(cause.needed, cause.planned_score)}）"
            return f"で、しきい値を満たすとも下回るとも示されない{which}"
        case MostAsked():
            return f"で、上限（task.max_trials）の{counted(cause.asked)}でも、しきい値を満たすとも下回るとも示されない"
        case GivenUp():
            return (
                f"で、{counted(cause.asked)}では、しきい値を満たすとも下回るとも示されない。"
                "ここまでのスコアからは、上限（task.max_trials）まで増やしても満たすと示される見込みがない"
            )
        case NotDecided():
            return "" if cause.asked is None else f"で、{counted(cause.asked)}の時点で判定前に実行が終わった"
        case Unshowable():
            what = QUANTITIES[fact.threshold.quantity]
            return f"。{what} {threshold_figure(cause.score)} は、サンプルをいくら増やしても示せない"
        case TooFewPlanned():
            short = cannot_show(
                cause.planned, _threshold(fact.threshold), binary=cause.binary, quantity=fact.threshold.quantity
            )
            return f"だが、{short}。{_needed(cause)}"
        case UnscoredDecide():
            return f"だが、{_unscored(cause)}しきい値 {_threshold(fact.threshold)} を満たさない"
        case UnscoredCouldBeRight():
            return f"でしきい値を下回るが、{_are_unscored(cause.here)}で、それが正解だったとすると、下回るとは言えない"
        case TooFewToClear():
            few = f"でしきい値を上回るが、それを示すには{amount(cause.scored, cause.unit)}では足りない"
            return f"{few}。{_settled_by(cause)}"
        case TooFewToReject():
            side = "しきい値と等しいが" if cause.is_at_threshold else "しきい値を下回るが"
            few = f"で{side}、{amount(cause.scored, cause.unit)}では劣化しているとは示せない"
            return f"{few}。{_settled_by(cause)}"
        case _:
            assert_never(cause)


def cannot_show(planned: SampleCount, threshold: str, *, binary: bool, quantity: Quantity = "score") -> str:
    """That even a perfect model would not clear the threshold with so many samples."""
    perfect = "健全" if quantity == "healthy" else "正解" if binary else "満点"
    even_if = f"{perfect}でも" if planned.n == 1 else f"すべて{perfect}でも"
    return f"{counted(planned)}では、{even_if}しきい値 {threshold} を満たすと示せない"


def _needed(cause: TooFewPlanned) -> str:
    if cause.needed is None:
        return f"長さごとに{amount(cause.most, cause.planned.unit)}でも示せない"
    return f"長さごとに少なくとも{counted(cause.needed)}が必要"


def _settled_by(cause: TooFewToClear | TooFewToReject) -> str:
    where = "両方の長さにそれぞれ" if cause.at_both_lengths else "この長さに"
    if cause.needed is None:
        most = amount(cause.most, cause.unit)
        return f"しきい値に近すぎるため、{where}採点済みの{most}があっても判定できない見込み"
    likely = f"{where}約 {counted(cause.needed, scored=True)}がある新しい実行なら、判定できる見込み"
    return f"{likely}{_if_it_is(cause.planned_score)}"


def _would_show_which(needed: SampleCount, score: float | None) -> str:
    return f"この長さに約 {counted(needed, scored=True)}があれば、どちらかを示せる見込み{_if_it_is(score)}"


def _if_it_is(score: float | None) -> str:
    """The true score that samples are planned for."""
    return "" if score is None else f"。全長さから見込まれる真のスコア {score:.2f} を前提とする"


def _none_scored(n: int, unit: Unit) -> str:
    return f"唯一の{UNITS[unit]}が未採点" if n == 1 else f"{amount(n, unit)}のどれも採点されていない"


def _unscorable(cause: Unscorable) -> str:
    """Why the samples have no score and what to do, up from the bracket around the kind."""
    window = "" if cause.window_tokens is None else f"。サーバーの言うウィンドウは {cause.window_tokens:,} トークン"
    do = {
        "overflow": "より短い長さを指定するか、より長いウィンドウでサーバーを起動する",
        "truncated": "より短い長さを指定するか、より長いウィンドウでサーバーを起動する",
        "content_filter": "別のテキスト（dataset.path）を使うか、それを通すプロバイダーを選ぶ",
    }.get(cause.kind, "サーバーのログを確かめる。同じコマンドで、回答のないものをもう一度尋ねる")
    return f"{cause.kind}{window}）で、これ以上尋ねてもしきい値を満たすとは示されない。{do}"


def _unscored(cause: UnscoredDecide) -> str:
    """Which unscored samples decide, up to the threshold's name."""
    here, base = cause.here, cause.at_baseline
    if here is not None and base is not None:
        return (
            f"{_are_unscored(here)}で、ベースラインでは{_are_unscored(base)}。前者が不正解で後者が正解だったとすると、"
        )
    if base is not None:
        return f"ベースラインでは{_are_unscored(base)}で、それが正解だったとすると、"
    return "" if here is None else f"{_are_unscored(here)}で、それが不正解だったとすると、"


def _are_unscored(part: Part) -> str:
    return f"{portion(part, 'サンプル')}が未採点"


@say.register
def _nothing_scored(fact: NothingScored) -> str:
    none = "唯一のサンプルが未採点" if fact.planned == 1 else f"サンプル {fact.planned:,} 件のどれも採点されていない"
    return f"{none}。どの長さについても何も言えない"


@say.register
def _baseline_alone(fact: BaselineAlone) -> str:
    if fact.n_lengths == 1:
        return f"テストした長さは {fact.tokens:,} トークンだけで、比べる相手がない"
    lengths = f"テストした {fact.n_lengths} 種類の長さ（{fact.tokens:,} トークンまで）"
    return f"{lengths}はすべてベースラインで、比べる相手がない"


@say.register
def _low_baseline(fact: LowBaseline) -> str:
    what = QUANTITIES[fact.quantity]
    return (
        f"ベースラインの{what}が {fact.tokens:,} トークンで {fact.mean:.2f} しかなく、{fact.least:.2f} を下回る。短い"
        "プロンプトでもこのタスクがほとんどできないモデルなので、その割合を保っても安全な長さとは言えない。より易しい"
        "タスクか、より大きなモデルを使うこと"
    )


@say.register
def _no_baseline(fact: NoBaseline) -> str:
    where = (
        f"最短の長さ（{fact.tokens:,} トークン）では"
        if fact.n_lengths == 1
        else f"最短の長さ {fact.n_lengths} 種類を合わせても"
    )
    if fact.scored == 0:
        return f"{where}{_none_scored(fact.planned, fact.unit)}。比べるベースラインがない"
    needs = f"ベースラインには少なくとも {fact.fewest} 件が必要"
    if fact.scored == fact.planned:
        return f"{where}{amount(fact.scored, fact.unit)}しかない。{needs}"
    scored = portion(Part(n=fact.scored, total=fact.planned), UNITS[fact.unit])
    return f"{where}{scored}しか採点されていない。{needs}"


@say.register
def _shortest_unscored(fact: ShortestUnscored) -> str:
    none = _none_scored(fact.planned, fact.unit)
    return f"最短の長さ（{fact.tokens:,} トークン）では{none}。安全と示された長さは最初からない"


@say.register
def _zero_baseline(fact: ZeroBaseline) -> str:
    what = QUANTITIES[fact.quantity]
    return (
        f"最短の長さ（{fact.tokens:,} トークン）での{what}が 0.00 で、比べるベースラインがない。より短い長さか、"
        "より易しいタスクで試すこと"
    )


@say.register
def _below_everywhere(fact: BelowEverywhere) -> str:
    return (
        f"テストしたすべての長さでしきい値 {_threshold(fact.threshold)} を下回る（最短の {fact.first.tokens:,} "
        f"トークンで {_score(fact.first, fact.confidence)}）。安全な長さはない。より短い長さか、より易しいタスクで"
        "試すこと"
    )


@say.register
def _below_at_shortest(fact: BelowAtShortest) -> str:
    what = QUANTITIES[fact.threshold.quantity]
    if fact.is_only:
        return (
            f"最短の {fact.first.tokens:,} トークンでしきい値 {_threshold(fact.threshold)} を下回り（{what}は "
            f"{_score(fact.first, fact.confidence)}）、探索はそこで終わる。安全と示された長さはない。より短い長さか、"
            "より易しいタスクで試すこと"
        )
    after = "それより長いすべての長さで下回るとは示されない"
    if fact.recovered_tokens is not None:
        after = f"{fact.recovered_tokens:,} トークンでは満たすので、最短の長さが最も易しいわけではない"
    return (
        f"最短の {fact.first.tokens:,} トークンですでにしきい値 {_threshold(fact.threshold)} を下回る（{what}は "
        f"{_score(fact.first, fact.confidence)}）。ただし{after}。安全と示された長さは最初からない"
    )


@say.register
def _nothing_beyond_baseline(_: NothingBeyondBaseline) -> str:
    return "安全な上限を検証できない。ベースラインと比べる、より長い長さがない"


@say.register
def _too_few_for_baseline(fact: TooFewForBaseline) -> str:
    return (
        f"安全な上限を示せない。最短の長さの{counted(fact.planned)}ではベースラインにならず、少なくとも {fact.fewest} "
        "件が必要"
    )


@say.register
def _no_length_in_reach(fact: NoLengthInReach) -> str:
    return f"安全な上限を示せない。長さごとの{_cannot_show(fact)}"


@say.register
def _lengths_out_of_reach(fact: LengthsOutOfReach) -> str:
    beyond = "" if fact.cap_tokens is None else f"{fact.cap_tokens:,} トークンより先の"
    others = f"。さらに長い {fact.others:,} 種類の長さでも同じ" if fact.others else ""
    return f"{beyond}安全な上限を示せない。{fact.at_tokens:,} トークンの{_cannot_show(fact)}{others}"


def _cannot_show(fact: NoLengthInReach | LengthsOutOfReach) -> str:
    short = cannot_show(
        fact.planned, asked_threshold(fact.threshold), binary=fact.binary, quantity=fact.threshold.quantity
    )
    return f"{short}（信頼度 {confidence_figure(fact.confidence)}）"
