"""Half-life, position and the advice of the operating guide, in English."""

from __future__ import annotations

from contextcliff.findings.phrases import span
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
from contextcliff.reporting.words.english_say import QUANTITIES, are, listed, portion, say

_WAYS_OUT = {
    "aborted": "the engine gave answers up: see the server's log",
    "no_tokens": "the engine generated nothing: see the server's log and its window",
    "no_room": "the window had room for one token: ask for shorter prompts",
    "tool_calls": "the server answered by tool calls: turn tools off",
}


@say.register
def _unscored(fact: UnscoredSamples) -> str:
    kinds = ", ".join(f"{tag or 'no reason given'} {n}" for tag, n in fact.tags)
    wrong = "it was" if fact.n == 1 else "all of them were"
    after = f"; the cap holds even if {wrong} wrong" if fact.cap_holds else ""
    ways = "".join(f"; {_WAYS_OUT[tag]}" for tag, _ in fact.tags if tag in _WAYS_OUT)
    return f"{portion(fact.n, fact.total, 'samples')} {are(fact.n)} unscored ({kinds}){after}{ways}"


@say.register
def _unknown_marks(fact: UnknownMarks) -> str:
    return (
        f"{portion(fact.n, fact.total, 'answers')} began with “{fact.mark}” or its like, as reasoning does, which "
        "counted as the answer: let the server split reasoning off, or turn thinking off"
    )


@say.register
def _empty_from(fact: EmptyFrom) -> str:
    return f"every answer from {fact.tokens:,} tokens on is empty: is that the end of the server's window?"


@say.register
def _not_monotone(fact: NotMonotone) -> str:
    chance = ", which with so few samples can be chance" if fact.may_be_chance else ""
    what = QUANTITIES[fact.quantity]
    return (
        f"the observed curve is not monotone: at {fact.higher_tokens:,} tokens the {what} ({fact.higher_mean:.2f}) "
        f"clears the threshold, though at {fact.stop_tokens:,} ({fact.stop_mean:.2f}) it does not{chance}; the cap "
        "stays below the first length that does not"
    )


@say.register
def _uninformative_lengths(fact: UninformativeLengths) -> str:
    at = ", ".join(f"{control.asked_tokens:,} tokens ({_means(control)})" for control in fact.lengths)
    return f"by the controls no cliff can show at {at}: a score there says nothing about the length"


def _means(control: ControlMeans) -> str:
    figures = ((control.ceiling, "with the evidence alone"), (control.floor, "without it"))
    return ", ".join(f"{mean:.2f} {how}" for mean, how in figures if mean is not None)


@say.register
def _uninformative_cells(fact: UninformativeCells) -> str:
    at = "at other lengths " if fact.at_other_lengths else ""
    if fact.n == 1:
        return f"{at}1 cell of the heatmap tells nothing about the length, by its own controls"
    return f"{at}{fact.n:,} cells of the heatmap tell nothing about the length, by their own controls"


@say.register
def _one_text(fact: OneText) -> str:
    return f"all samples are cut from one text, “{fact.document_id}”: the claim is about that text"


@say.register
def _all_over_one_text(fact: AllOverOneText) -> str:
    return f"samples begin all over one text, “{fact.document_id}”: the claim is about prose of its kind"


@say.register
def _stopped_when_decided(fact: StoppedWhenDecided) -> str:
    holds = ["decisions", "tested bounds", "the intervals of the lengths"]
    estimates = ["mean scores", "intervals by depth and by facet", "fitted lengths", "area", "half-life"]
    (estimates if fact.each_third else holds).append("the test of position")
    return (
        f"the search stopped at each length as soon as it was decided: {listed(holds)} hold all the same; "
        f"{listed(estimates)} are estimates from stopped data, and such a mean lies on average further from the "
        "threshold than the true score"
    )


@say.register
def _recurring_texts(fact: RecurringTexts) -> str:
    return (
        f"the samples are cut from {fact.texts} texts, and those of one text are treated as independent: where texts "
        "differ in difficulty, the intervals are too narrow"
    )


@say.register
def _one_text_a_length(fact: OneTextALength) -> str:
    one = fact.shared_by[:-1]
    at = portion(fact.n_lengths, fact.of_lengths, "lengths")
    return f"at {at} all samples share one {one}: the claim there is about that {one}"


@say.register
def _document_zones(_: DocumentZones) -> str:
    return (
        "documents of many lengths share a bin: a zone is about the mean of its bins; cap and crossing hold for every "
        "length on their side, so that the cap is the shortest document of its bin and the crossing ends with the "
        "longest of another"
    )


@say.register
def _covers_little(fact: CoversLittle) -> str:
    return (
        f"the longest document takes {fact.longest_tokens:,} tokens, {fact.longest_tokens / fact.window_tokens:.0%} of "
        f"the window of {fact.window_tokens:,}: nothing is known of longer ones"
    )


@say.register
def _shared_texts(fact: SharedTexts) -> str:
    return (
        f"samples of one length share {fact.shared_by} ({span(*fact.texts, 'd')} a length): the intervals and the cap "
        f"allow for it, with a design effect of {span(*fact.design_effect, '.1f')}"
    )


@say.register
def _few_shared_texts(fact: FewSharedTexts) -> str:
    shared, at = fact.shared_by, portion(fact.n_lengths, fact.of_lengths, "lengths")
    return (
        f"with fewer than {fact.fewest} {shared} at {at}, how much {shared} differ is hardly known, and the intervals "
        f"there are wide and rough: more {shared} help more than more samples of each"
    )


@say.register
def _repeated_questions(fact: RepeatedQuestions) -> str:
    meant = (
        "the instability is how often they differ"
        if fact.draws_anew
        else "at temperature 0, or with sampling.seed set, they are no draws of their own and measure no instability"
    )
    return (
        f"each question was put {fact.times} times: its score is the mean over its repeats, which are one piece of "
        f"evidence together; {meant}"
    )


@say.register
def _shared_draws(fact: SharedDraws) -> str:
    has = "has" if fact.n == 1 else "have"
    return (
        f"{portion(fact.n, fact.total, 'samples')} {has} the prompt and the draw of another one (temperature 0, or "
        "sampling.seed is set): they are one piece of evidence together"
    )


@say.register
def _server_counts(fact: ServerCountsDiffer) -> str:
    return (
        f"for {portion(fact.n, fact.total, 'prompts')} the server's token count differs by more than "
        f"{fact.tolerance:.0%} from the built length (by up to {fact.largest:.1%}); lengths here are the server's"
    )


@say.register
def _zero_or_one(_: ZeroOrOneScores) -> str:
    return "scores are 0 or 1, so their spread follows from their mean and says nothing more"
