"""What a reader has to know to read the numbers right, in English."""

from __future__ import annotations

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
from contextcliff.reporting.words.english_amounts import are, portion
from contextcliff.reporting.words.english_say import say
from contextcliff.reporting.words.number_formats import span


@say.register
def _unscored(fact: UnscoredSamples) -> str:
    kinds = ", ".join(f"{tag or 'no reason given'} {n}" for tag, n in fact.tags)
    wrong = "it was" if fact.n == 1 else "all of them were"
    after = f"; the cap holds even if {wrong} wrong" if fact.cap_holds else ""
    return f"{portion(fact.n, fact.total, 'samples')} {are(fact.n)} unscored ({kinds}){after}"


@say.register
def _low_baseline(fact: LowBaseline) -> str:
    return (
        f"the baseline is a score of {fact.mean:.2f}: this model hardly does the task even with short prompts, so that "
        "a cap relative to it says little; take an easier task or a larger model"
    )


@say.register
def _not_monotone(fact: NotMonotone) -> str:
    chance = ", which with so few samples can be chance" if fact.may_be_chance else ""
    return (
        f"the observed curve is not monotone: at {fact.higher_tokens:,} tokens the score ({fact.higher_mean:.2f}) "
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
    return (
        f"each question was put {fact.times} times: its score is the mean over its repeats, which are one piece of "
        "evidence together; the instability is how often they differ"
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
    return (
        "scores are 0 or 1, so their spread follows from their mean: the variance part of the blueprint's rule "
        "restates the mean"
    )
