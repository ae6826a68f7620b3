"""Half-life, position and the advice of the operating guide, in Japanese."""

from __future__ import annotations

from contextcliff.findings.phrases import span
from contextcliff.records.cap_reason import Part
from contextcliff.records.cautions import (
    AllOverOneText,
    ControlMeans,
    CoversLittle,
    DocumentZones,
    EmptyFrom,
    FewSharedTexts,
    NotMonotone,
    OneText,
    OneTextALength,
    RecurringTexts,
    RepeatedQuestions,
    ServerCountsDiffer,
    SharedDraws,
    SharedTexts,
    StoppedWhenDecided,
    UninformativeCells,
    UninformativeLengths,
    UnknownMarks,
    UnscoredSamples,
    ZeroOrOneScores,
)
from contextcliff.reporting.words.japanese_say import QUANTITIES, SHARED, at_lengths, portion, say

_WAYS_OUT = {
    "aborted": "エンジンが回答を中断した。サーバーのログを確認する",
    "no_tokens": "エンジンが何も生成しなかった。サーバーのログとウィンドウを確認する",
    "no_room": "ウィンドウに 1 トークン分しか余裕がなかった。短いプロンプトで測る",
    "tool_calls": "サーバーがツール呼び出しで答えている。ツールを無効にする",
}


@say.register
def _unscored(fact: UnscoredSamples) -> str:
    kinds = "、".join(f"{tag or '理由不明'} {n}" for tag, n in fact.tags)
    after = "。すべて不正解だったとしても上限は変わらない" if fact.cap_holds else ""
    ways = "".join(f"。{_WAYS_OUT[tag]}" for tag, _ in fact.tags if tag in _WAYS_OUT)
    return f"{portion(Part(n=fact.n, total=fact.total), 'サンプル')}が未採点（{kinds}）{after}{ways}"


@say.register
def _unknown_marks(fact: UnknownMarks) -> str:
    return (
        f"{portion(Part(n=fact.n, total=fact.total), '回答')}が、推論のように「{fact.mark}」などで始まり、それも"
        "回答として採点された。推論をサーバーに分けさせるか、思考を切ること"
    )


@say.register
def _empty_from(fact: EmptyFrom) -> str:
    return f"{fact.tokens:,} トークン以上の回答はすべて空。サーバーのウィンドウがそこで終わっていないか確認する"


@say.register
def _not_monotone(fact: NotMonotone) -> str:
    what = QUANTITIES[fact.quantity]
    chance = "（サンプルが少ないので偶然かもしれない）" if fact.may_be_chance else ""
    return (
        f"観測された曲線は単調ではない。{fact.higher_tokens:,} トークンでの{what}（{fact.higher_mean:.2f}）はしきい値を"
        f"満たすが、{fact.stop_tokens:,} トークン（{fact.stop_mean:.2f}）では満たさない{chance}。上限は、満たさない"
        "最初の長さより下にとどまる"
    )


@say.register
def _uninformative_lengths(fact: UninformativeLengths) -> str:
    at = "、".join(f"{control.asked_tokens:,} トークン（{_means(control)}）" for control in fact.lengths)
    return f"対照プロンプトによれば、{at}では崖が現れえない。そこでのスコアは長さについて何も語らない"


def _means(control: ControlMeans) -> str:
    figures = ((control.ceiling, "根拠のみで"), (control.floor, "根拠なしで"))
    return "、".join(f"{how} {mean:.2f}" for mean, how in figures if mean is not None)


@say.register
def _uninformative_cells(fact: UninformativeCells) -> str:
    at = "ほかの長さでは、" if fact.at_other_lengths else ""
    return f"{at}ヒートマップの {fact.n:,} セルが、そのセルの対照プロンプトによれば、長さについて何も語らない"


@say.register
def _one_text(fact: OneText) -> str:
    return f"すべてのサンプルは一つのテキスト「{fact.document_id}」から切り出した。主張はそのテキストについてのもの"


@say.register
def _all_over_one_text(fact: AllOverOneText) -> str:
    return f"サンプルは一つのテキスト「{fact.document_id}」のあちこちから始まる。主張はその種の文章についてのもの"


@say.register
def _stopped_when_decided(fact: StoppedWhenDecided) -> str:
    holds, estimates = ("", "、位置の検定") if fact.each_third else ("、位置の検定", "")
    return (
        f"探索は、判定がついた時点で各長さを打ち切る。判定、検定の下限、長さごとの区間{holds}はそれでも成り立つ。"
        f"平均スコア、深さ別・項目別の区間、あてはめ長、面積、半減長{estimates}は打ち切ったデータからの推定で、こうした平均は"
        "真のスコアより平均してしきい値から遠い"
    )


@say.register
def _recurring_texts(fact: RecurringTexts) -> str:
    return (
        f"サンプルは {fact.texts} 個のテキストから切り出し、同じテキストのものも独立とみなした。テキストごとに難しさが"
        "違うなら、区間は狭すぎる"
    )


@say.register
def _one_text_a_length(fact: OneTextALength) -> str:
    one = SHARED[fact.shared_by]
    at = at_lengths(fact.n_lengths, fact.of_lengths)
    return f"{at}では、すべてのサンプルが一つの{one}を共有する。そこでの主張はその{one}についてのもの"


@say.register
def _document_zones(_: DocumentZones) -> str:
    return (
        "一つの区分にはさまざまな長さの文書が入る。ゾーンは区分の平均についてのもので、上限と交差はその側のすべての"
        "長さについて成り立つ。そのため上限は区分の最短の文書、交差の終わりは別の区分の最長の文書になる"
    )


@say.register
def _covers_little(fact: CoversLittle) -> str:
    return (
        f"最長の文書は {fact.longest_tokens:,} トークンで、ウィンドウ {fact.window_tokens:,} の "
        f"{fact.longest_tokens / fact.window_tokens:.0%}。それより長い文書については何もわからない"
    )


@say.register
def _shared_texts(fact: SharedTexts) -> str:
    return (
        f"同じ長さのサンプルは{SHARED[fact.shared_by]}を共有する（長さごとに {span(*fact.texts, 'd')} 個）。区間と"
        f"上限はそれを考慮している（デザイン効果 {span(*fact.design_effect, '.1f')}）"
    )


@say.register
def _few_shared_texts(fact: FewSharedTexts) -> str:
    shared = SHARED[fact.shared_by]
    return (
        f"{at_lengths(fact.n_lengths, fact.of_lengths)}で{shared}が {fact.fewest} 個に満たず、{shared}ごとの違いが"
        f"ほとんど分からないため、そこでの区間は広く粗い。サンプルを増やすより{shared}を増やすほうがよい"
    )


@say.register
def _repeated_questions(fact: RepeatedQuestions) -> str:
    meant = (
        "不安定性は、反復の結果が食い違う割合"
        if fact.draws_anew
        else "温度 0 または sampling.seed の指定があると、反復は独立した抽選ではなく、不安定性は測れない"
    )
    return (
        f"各質問を {fact.times} 回ずつ尋ねた。質問のスコアは反復の平均で、反復は合わせて一つの証拠として数える。{meant}"
    )


@say.register
def _shared_draws(fact: SharedDraws) -> str:
    shared = portion(Part(n=fact.n, total=fact.total), "サンプル")
    return (
        f"{shared}は、ほかのサンプルとプロンプトも生成も同じ（温度 0、または "
        "sampling.seed の指定）。合わせて一つの証拠として数える"
    )


@say.register
def _server_counts(fact: ServerCountsDiffer) -> str:
    return (
        f"{portion(Part(n=fact.n, total=fact.total), 'プロンプト')}で、サーバーの数えたトークン数が作成時の長さと "
        f"{fact.tolerance:.0%} を超えて違う（最大 {fact.largest:.1%}）。ここでの長さはサーバーのもの"
    )


@say.register
def _zero_or_one(_: ZeroOrOneScores) -> str:
    return "スコアは 0 か 1 なので、ばらつきは平均で決まり、それ以上のことは言わない"
