"""One Japanese sentence for each kind of fact; every module of `japanese_*` adds those of one subject."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from contextcliff.records.cap_reason import Part, Quantity, SampleCount, SharedBy, Unit
from contextcliff.records.fact import Fact, NoSamples, Said
from contextcliff.reporting.words import english_say


@singledispatch
def say(fact: Fact) -> str:
    """The sentence, without a full stop; in English where a kind has no Japanese one (facts on prose)."""
    return english_say.say(fact)


@say.register
def _said(fact: Said) -> str:
    return fact.text


@say.register
def _no_samples(_: NoSamples) -> str:
    return "分析するサンプルがない"


UNITS: dict[Unit, str] = {"samples": "サンプル", "questions": "質問", "distinct samples": "異なるサンプル"}
THIRDS: Mapping[str, str] = {"first": "前", "middle": "中", "last": "後ろ"}
QUANTITIES: Mapping[Quantity, str] = {"score": "スコア", "healthy": "健全率"}
SHARED: dict[SharedBy, str] = {"texts": "テキスト", "contexts": "コンテキスト"}


def amount(n: int, unit: Unit) -> str:
    """`サンプル 20 件`."""
    return f"{UNITS[unit]} {n:,} 件"


def counted(count: SampleCount, *, scored: bool = False) -> str:
    """`採点済みのサンプル 20 件（テキスト 8 個）`."""
    where = f"（{SHARED[count.shared_by]} {count.n_shared:,} 個）" if count.n_shared else ""
    return f"{'採点済みの' if scored else ''}{amount(count.n, count.unit)}{where}"


def portion(part: Part, noun: str) -> str:
    """`サンプル 20 件中 3 件`, `サンプル全 20 件`, `唯一のサンプル`."""
    if part.n < part.total:
        return f"{noun} {part.total:,} 件中 {part.n:,} 件"
    return f"唯一の{noun}" if part.total == 1 else f"{noun}全 {part.total:,} 件"


def at_lengths(n: int, total: int) -> str:
    """`長さ 3 種類中 1 種類`, `長さ 3 種類のすべて`, `唯一の長さ`."""
    if n < total:
        return f"長さ {total:,} 種類中 {n:,} 種類"
    return "唯一の長さ" if total == 1 else f"長さ {total:,} 種類のすべて"


_LABELS = {
    "Failure risk report": "劣化リスクレポート",
    "Partial": "途中終了",
    "Model": "モデル",
    "Engine": "エンジン",
    "KV policy": "KV ポリシー",
    "Task": "タスク",
    "Dataset": "データセット",
    "Tokenizer": "トークナイザー",
    "Maximum window": "最大ウィンドウ",
    "Detected": "検出",
    "Limits": "制約",
    "Attention entropy": "注意のエントロピー",
    "Safe cap": "安全な上限",
    "Shape": "形",
    "Evidence": "証拠",
    "Reason": "理由",
    "Do": "推奨",
    "for a browser": "ブラウザーで開く",
    "Threshold": "しきい値",
    "Tested": "検証の対象",
    "Range": "範囲",
    "Crossing": "交差",
    "Zones": "区分",
    "Operating guide": "運用ガイド",
    "safe as far as the cap; longest prompt of each length": "上限までが安全。長さは最長のプロンプト",
    "Beside the cap": "上限のほかに",
    "Fitted length": "あてはめ長",
    "Effective length": "有効長",
    "Half-life": "半減長",
    "Position": "位置",
    "Every depth": "深さごと",
    "Controls": "対照",
    "Text effect": "テキストの影響",
    "Early warnings": "早期の警告",
    "Latency canary": "遅延の予兆",
    "Latency spread": "遅延のばらつき",
    "Score spread": "スコアのばらつき",
    "Instability": "不安定性",
    "Failure spike": "失敗の急増",
    "Unscored spike": "未採点の急増",
    "Judge": "審査モデル",
    "Answers": "回答",
    "Score by length": "長さ別のスコア",
    "tokens": "トークン",
    "asked": "指定",
    "measured": "実測",
    "shortest -\nlongest": "最短 -\n最長",
    "median": "中央値",
    "n": "n",
    "un-\nscored": "未採点",
    "score": "スコア",
    "interval": "区間",
    "tested\nbound": "検定\n下限",
    "lower\nbound": "下限",
    "commonest\nfailure": "最多の\n失敗",
    "median\nTTFT": "TTFT\n中央値",
    "median\nlatency": "所要時間\n中央値",
    "Overall": "全体",
    "What it took": "使用量",
    "Prompt tokens": "プロンプトのトークン",
    "Completion": "回答",
    "Cost": "費用",
    "Wall time": "所要時間",
    "Samples": "サンプル",
    "Unscored": "未採点",
    "Ahead": "先行",
    "Paired": "対",
    "Search": "探索",
    "value": "値",
    "Extrapolation": "外挿",
    "beyond the positions that the model was trained on": "モデルが学習した位置の範囲外",
    "Trained": "学習範囲",
    "Score": "スコア",
    "Shown": "判定",
    "Pilot": "予備実行",
    "Failed attempts": "失敗した試行",
    "Notes": "注記",
    "Files": "ファイル",
    "Compare runs in MLflow": "MLflow で実行を比較",
}


def label(text: str) -> str:
    """The Japanese of a heading or a name; what has none stays as it is."""
    return _LABELS.get(text, text)
