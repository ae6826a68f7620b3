"""What a reader has to know to read the numbers right, in Japanese."""

from __future__ import annotations

from contextcliff.records.cap_reason import Part
from contextcliff.records.cautions import (
    ControlMeans,
    FewSharedTexts,
    LowBaseline,
    NotMonotone,
    OneText,
    OneTextALength,
    RecurringTexts,
    RepeatedQuestions,
    ServerCountsDiffer,
    SharedDraws,
    SharedTexts,
    UninformativeCells,
    UninformativeLengths,
    UnscoredSamples,
    ZeroOrOneScores,
)
from contextcliff.reporting.words.japanese_amounts import SHARED, at_lengths, portion
from contextcliff.reporting.words.japanese_say import say
from contextcliff.reporting.words.number_formats import span


@say.register
def _unscored(fact: UnscoredSamples) -> str:
    kinds = "、".join(f"{tag or '理由不明'} {n}" for tag, n in fact.tags)
    after = "。すべて不正解だったとしても上限は変わらない" if fact.cap_holds else ""
    return f"{portion(Part(n=fact.n, total=fact.total), 'サンプル')}が未採点（{kinds}）{after}"


@say.register
def _low_baseline(fact: LowBaseline) -> str:
    return (
        f"ベースラインのスコアが {fact.mean:.2f} しかない。短いプロンプトでもこのタスクがほとんどできないモデルなので、"
        "それに対する相対的な上限はあまり意味を持たない。より易しいタスクか、より大きなモデルを使うこと"
    )


@say.register
def _not_monotone(fact: NotMonotone) -> str:
    chance = "（サンプルが少ないので偶然かもしれない）" if fact.may_be_chance else ""
    return (
        f"観測された曲線は単調ではない。{fact.higher_tokens:,} トークンでのスコア（{fact.higher_mean:.2f}）はしきい値を"
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
    return (
        f"各質問を {fact.times} 回ずつ尋ねた。質問のスコアは反復の平均で、反復は合わせて一つの証拠として数える。"
        "不安定性は、反復の結果が食い違う割合"
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
    return "スコアは 0 か 1 なので、ばらつきは平均で決まる。ブループリントの規則の分散の部分は、平均を言い換えたもの"
