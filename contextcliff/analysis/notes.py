"""What a reader has to know to read the numbers of an analysis right."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import itemgetter

from contextcliff.analysis.bins import Group
from contextcliff.analysis.controls import ControlLevel
from contextcliff.analysis.lengths import LengthResult, by_item
from contextcliff.analysis.walk import FixedSequenceTest, SearchThreshold, Threshold
from contextcliff.records.amounts import QUANTITIES, of_lengths, portion, span
from contextcliff.records.generation import NO_ROOM, NO_TOKENS, NOT_SENT, ScoredSample
from contextcliff.records.note import MethodNote, Note
from contextcliff.records.positions import Positions
from contextcliff.statistics.clusters import design_effect_of
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.ranks import difference_within, holm
from contextcliff.statistics.sample_size import few_clusters

LENGTH_TOLERANCE = 0.02
"""Disagreement of the server's length with the built one from which on it is reported."""
COVERS_LITTLE = 0.5
"""Share of the window below which the longest document of a set leaves most of it unknown."""
_MODELS, _NAME = 5, 80
"""Most served models that are named and tested, and most characters of a name: a server may say anything."""
_MOST_TOKENS = 4
"""Control tokens that a note names."""
_WAYS_OUT = {
    "aborted": Note("the engine gave answers up: see the server's log"),
    "no_tokens": Note("the engine generated nothing: see the server's log and its window"),
    "no_room": Note("the window had room for one token: ask for shorter prompts"),
    "tool_calls": Note("the server answered by tool calls: turn tools off"),
}
"""What to do against a failure, by its tag."""
_LIKE_A_MARK = re.compile(
    r"\s*([<\[◁][|/]?(?:[\w:.-]{0,40}[|_:.-])?"
    r"(?:think|thought|reason|ponder|reflect|analy[sz]|scratch|contemplat|deliberat|monolog|cot\b)"
    r"[\w:.|-]{0,40}[>\]▷]|thought(?=\n))",
    re.IGNORECASE,
)
"""What begins an answer like a mark of reasoning. Engines cut the marks off that they know."""


def notes_of(
    groups: Sequence[Group],
    sequence: FixedSequenceTest,
    threshold: Threshold,
    controls: Sequence[ControlLevel],
    *,
    window: int | None,
    positions: Positions | None = None,
    begins_anywhere: bool = False,
    draws_anew: bool = True,
    raises: Callable[[str], bool],
) -> tuple[Note, ...]:
    """Everything that limits or qualifies the analysis, most important first.

    `groups` are the samples of the test's lengths, in the same order, and `raises` tells the alarms of the report; the
    rest is as `StudyFacts` has it."""
    scored = [item for group in groups for item in group.samples]
    return (
        *_served_models(groups, sequence.results, differ=raises("served_models")),
        *_unscored(scored, sequence),
        *_unknown_marks(scored),
        *_read_in_part(scored),
        *_empty_from(groups),
        *_not_monotone(sequence, threshold),
        *beyond_trained(positions, window),
        *_of_documents(sequence.results, window),
        *(_uninformative(controls, sequence.results) if raises("controls") else ()),
        *_one_text(scored, groups, sequence.results, begins_anywhere=begins_anywhere),
        *_shared_texts(sequence.results, threshold),
        *_repeats(scored, draws_anew=draws_anew),
        *_server_counts(scored),
        *(_of_search(threshold) if isinstance(threshold, SearchThreshold) else ()),
        *(_zero_or_one(sequence.results) if threshold.quantity == "score" else ()),
    )


def _served_models(groups: Sequence[Group], results: Sequence[LengthResult], *, differ: bool) -> Iterator[Note]:
    by_number = _answered(groups)
    if len(by_number) < 2:
        return
    which: list[Note] = [Note("“{model}” {n:samples}", model=model[:_NAME], n=n) for model, n in by_number[:_MODELS]]
    rest = len(by_number) - len(which)
    said = Note(
        "{n} models answered, by the names that the server gave: {which}",
        n=len(by_number), which=[*which, Note("{n:,} more", n=rest)] if rest else which,
    )  # fmt: skip
    if (told := told_apart(groups, results)) is None:
        yield Note(
            "{said}; no length was answered by several of them, so that a fall may be the change of the model",
            said=said,
        )
        return
    p_value, name, mean, others = told
    yield (
        Note(
            "{said}; at equal lengths “{model}” scored {mean:.2f} and the {others_n:other/others} {others:.2f}"
            " (p = {p:.2g}), so that the curve is of no one model: let one model of one provider answer",
            said=said, model=name[:_NAME], mean=mean, others=others, others_n=len(by_number) - 1, p=p_value,
        )
        if differ
        else Note("{said}; their scores at equal lengths are not shown to differ (p = {p:.2g})", said=said, p=p_value)
    )  # fmt: skip


def _answered(groups: Sequence[Group]) -> list[tuple[str, int]]:
    """The models that answered, by the server's names, with the number of their samples; the commonest first."""
    answered = Counter(_served_by(item) for group in groups for item in group.samples)
    del answered[""]
    return sorted(answered.items(), key=lambda model: (-model[1], model[0]))


def told_apart(groups: Sequence[Group], results: Sequence[LengthResult]) -> tuple[float, str, float, float] | None:
    """The model that differs most from the others at equal lengths: p-value, name, its mean and theirs; None where no
    length was answered by several."""
    names = [name for name, _ in _answered(groups)]
    # Of two models one against the other is the only test; of more each is tested against all others.
    tested, strata = names[: _MODELS if len(names) > 2 else len(names) - 1], _strata(groups, results)
    found = [
        (name, told)
        for name in tested
        if (told := difference_within([_against_others(name, stratum) for stratum in strata])) is not None
    ]
    corrected = zip(holm([p for _, (_, _, p) in found]), found, strict=True)
    tests = ((p, name, mean, others) for p, (name, (mean, others, _)) in corrected)
    return min(tests, key=itemgetter(0), default=None)


def _served_by(item: ScoredSample) -> str:
    """The model that answered, by the server's own name; empty if unknown."""
    return "" if item.generation is None else item.generation.served_model


def _strata(groups: Sequence[Group], results: Sequence[LengthResult]) -> list[list[tuple[str, float]]]:
    """Models with their mean score of each item, by length and, where samples count by texts, by text."""
    strata: defaultdict[tuple[int, str], list[tuple[str, float]]] = defaultdict(list)
    for place, (group, result) in enumerate(zip(groups, results, strict=True)):
        for item in by_item(group.samples):
            scores: defaultdict[str, list[float]] = defaultdict(list)
            for each in item:
                if each.score is not None and (model := _served_by(each)):
                    scores[model].append(each.score)
            stratum = strata[place, item[0].sample.cluster if result.clusters else ""]
            stratum += [(model, mean_of(of_model)) for model, of_model in scores.items()]
    return list(strata.values())


def _against_others(name: str, stratum: Sequence[tuple[str, float]]) -> tuple[list[float], list[float]]:
    return [score for model, score in stratum if model == name], [score for model, score in stratum if model != name]


def beyond_trained(positions: Positions | None, window: int | None) -> Iterator[Note]:
    """A window above the positions that the model was trained on, and those that a scaling makes of them."""
    if positions is None or positions.trained_tokens is None or (positions.scaling and positions.factor is None):
        return
    if window is not None and window > positions.trained_tokens * (positions.factor or 1.0):
        scaled = Note(", scaled by {factor:g}", factor=positions.factor) if positions.factor is not None else ""
        yield Note(
            "model.context_window={window} is above the {trained:,} tokens that the model was trained on{scaled}: it"
            " may not read what lies beyond", window=window, trained=positions.trained_tokens, scaled=scaled,
        )  # fmt: skip


def notes_of_control_tokens(counts: Mapping[str, int] | None, *, kept: bool) -> tuple[Note, ...]:
    """What became of the model's control tokens that stand in the texts: `counts` of each, None for none."""
    if not counts:
        return ()
    n, shown = sum(counts.values()), sorted(counts, key=lambda token: -counts[token])
    named = [*shown[:_MOST_TOKENS], *(["…"] if len(shown) > _MOST_TOKENS else [])]
    if kept:
        return (Note(
            "{n:control tokens} of the model's own {n:stands/stand} in the texts ({named}) and {n:was/were} sent as "
            "such: the user's turn may end there; dataset.control_tokens=spell makes text of {n:it/them}",
            n=n, named=named,
        ),)  # fmt: skip
    return (MethodNote(
        "{n:control tokens} of the model's own {n:stands/stand} in the texts ({named}) and {n:was/were} sent as text, "
        "with a blank after the first sign; dataset.control_tokens=keep sends {n:it/them} as such", n=n, named=named,
    ),)  # fmt: skip


def _unscored(scored: Sequence[ScoredSample], sequence: FixedSequenceTest) -> Iterator[Note]:
    missing = [item for item in scored if item.score is None]
    if not missing:
        return
    n, tags = len(missing), Counter(item.failure or "" for item in missing)
    commonest_first = sorted(tags.items(), key=lambda tag: (-tag[1], tag[0]))
    kinds = [Note("{tag} {n}", tag=tag or Note("no reason given"), n=count) for tag, count in commonest_first]
    said = Note("{samples} {n:is/are} unscored ({kinds})", samples=portion(n, len(scored), "samples"), n=n, kinds=kinds)
    further = [_WAYS_OUT[tag] for tag, _ in commonest_first if tag in _WAYS_OUT]
    if sequence.cap_tokens is not None:
        further.insert(0, Note("the cap holds even if {n:it was/all of them were} wrong", n=n))
    for more in further:
        said = Note("{said}; {more}", said=said, more=more)
    yield said


def _unknown_marks(scored: Sequence[ScoredSample]) -> Iterator[Note]:
    answers = [item.generation.text for item in scored if item.generation is not None and item.score is not None]
    marks = Counter(found[1] for text in answers if (found := _LIKE_A_MARK.match(text)) is not None)
    if marks:
        yield Note(
            "{answers} began with “{mark}” or its like, as reasoning does, which counted as the answer: let the server"
            " split reasoning off, or turn thinking off",
            answers=portion(marks.total(), len(answers), "answers"), mark=marks.most_common(1)[0][0],
        )  # fmt: skip


def _read_in_part(scored: Sequence[ScoredSample]) -> Iterator[Note]:
    n = sum(item.is_read_in_part for item in scored)
    if n:
        yield Note(
            "of {answers} only the beginning was scored: many times longer than the tokens asked for",
            answers=portion(n, len(scored), "answers"),
        )


def _empty_from(groups: Sequence[Group]) -> Iterator[Note]:
    asked = [[item for item in group.samples if item.failure != NOT_SENT] for group in groups]
    silent = [bool(items) and all(map(_is_empty, items)) for items in asked]
    first = len(silent) - len(list(takewhile(bool, reversed(silent))))
    if 0 < first < len(silent):
        yield Note(
            "every answer from {tokens:,} tokens on is empty: is that the end of the server's window?",
            tokens=min(item.sample.built_tokens for item in asked[first]),
        )


def _is_empty(item: ScoredSample) -> bool:
    """Whether the model, or the engine in its place, ended before it said anything."""
    if item.score is None:
        return item.failure in (NO_TOKENS, NO_ROOM)
    return item.generation is not None and not (item.generation.text.strip() or item.generation.reasoning)


def _not_monotone(sequence: FixedSequenceTest, threshold: Threshold) -> Iterator[Note]:
    beyond, stop = sequence.results[sequence.cleared + 1 :], sequence.stop
    # Where the stop is not shown below, another length that clears the threshold is what chance often brings.
    if threshold.score is None or stop is None or not threshold.is_shown_below(stop):
        return
    if (higher := next((result for result in beyond if threshold.is_shown_above(result)), None)) is not None:
        yield Note(
            "the observed curve is not monotone: at {higher:,} tokens the {what} ({higher_mean:.2f}) clears the"
            " threshold, though at {stop:,} ({stop_mean:.2f}) it does not; the cap stays below the first length that"
            " does not",
            higher=higher.bin.median_tokens, what=QUANTITIES[threshold.quantity], higher_mean=higher.bin.mean,
            stop=stop.bin.median_tokens, stop_mean=stop.bin.mean,
        )  # fmt: skip


def _of_documents(results: Sequence[LengthResult], window: int | None) -> Iterator[Note]:
    natural = [result for result in results if result.bin.natural_lengths]
    if any(result.bin.min_tokens < result.bin.max_tokens for result in natural):
        yield MethodNote(
            "documents of many lengths share a bin: a zone is about the mean of its bins; cap and crossing hold for"
            " every length on their side, so that the cap is the shortest document of its bin and the crossing ends"
            " with the longest of another"
        )
    longest = max((result.bin.max_tokens for result in results), default=0)
    if natural and window is not None and longest < COVERS_LITTLE * window:
        yield Note(
            "the longest document takes {longest:,} tokens, {share:.0%} of the window of {window:,}: nothing is known"
            " of longer ones",
            longest=longest, share=longest / window, window=window,
        )  # fmt: skip


def _uninformative(controls: Sequence[ControlLevel], results: Sequence[LengthResult]) -> Iterator[Note]:
    measured = {result.bin.asked_tokens: result.bin.median_tokens for result in results}
    void = [control for control in controls if not control.informative]
    if void:
        told = [Note("{n:,} tokens ({means})", n=measured[each.asked_tokens], means=_means(each)) for each in void]
        yield Note(
            "by the controls no cliff can show at {lengths}: a score there says nothing about the length", lengths=told
        )


def _means(control: ControlLevel) -> list[Note]:
    alone = [] if control.ceiling is None else [Note("{mean:.2f} with the evidence alone", mean=control.ceiling)]
    return [*alone, *([] if control.floor is None else [Note("{mean:.2f} without it", mean=control.floor)])]


def _one_text(
    scored: Sequence[ScoredSample], groups: Sequence[Group], results: Sequence[LengthResult], *, begins_anywhere: bool
) -> Iterator[Note]:
    texts = sorted({item.sample.document_id for item in scored})
    contexts = any(result.texts == "contexts" for result in results)
    if len(texts) == 1 and len(scored) > 1:
        yield (
            MethodNote("samples begin all over one text, “{text}”: the claim is about prose of its kind", text=texts[0])
            if begins_anywhere
            else MethodNote("all samples are cut from one text, “{text}”: the claim is about that text", text=texts[0])
        )
        if not contexts:
            return
    elif len(texts) < len(scored) and _texts_recur(groups, results):
        yield Note(
            "the samples are cut from {texts} texts, and those of one text are treated as independent: where texts"
            " differ in difficulty, the intervals are too narrow",
            texts=len(texts),
        )
    named = [{item.cluster for item in result.items} for result in results if len(result.items) > 1]
    single = sum(len(names) == 1 and "" not in names for names in named)
    if single:
        yield Note(
            "at {lengths} all samples share one {shared:one}: the claim there is about that {shared:one}",
            lengths=of_lengths(single, len(results)), shared=Note("contexts") if contexts else Note("texts"),
        )  # fmt: skip


def _texts_recur(groups: Sequence[Group], results: Sequence[LengthResult]) -> bool:
    """Whether a length has several texts, and several items of one that the intervals do not allow for."""
    if all(len({item.sample.document_id for item in group.samples}) == 1 for group in groups):
        return False
    shared = [result.sharing > 0 for result in results]
    units = {
        (
            repeats[0].sample.document_id,
            repeats[0].sample.context_tokens,
            repeats[0].sample.cluster if is_shared and repeats[0].sample.cluster else (place, number),
        )
        for place, (group, is_shared) in enumerate(zip(groups, shared, strict=True))
        for number, repeats in enumerate(by_item(group.samples))
    }
    return len({unit[:2] for unit in units}) < len(units)


def _shared_texts(results: Sequence[LengthResult], threshold: Threshold) -> Iterator[Note]:
    clustered = [result for result in results if result.clusters]
    if not clustered:
        return
    counts, shared = [len(result.clusters) for result in clustered], Note(clustered[0].texts)
    effects = [design_effect_of(result.evidence.clusters or result.if_unscored_wrong.clusters) for result in clustered]
    yield MethodNote(
        "samples of one length share {shared} ({n} a length): the intervals and the cap allow for it, with a design"
        " effect of {effect}",
        shared=shared, n=span(min(counts), max(counts), "d"), effect=span(min(effects), max(effects), ".1f"),
    )  # fmt: skip
    if isinstance(threshold, SearchThreshold) or threshold.score is None:
        return
    enough = few_clusters(threshold.score, threshold.confidence)
    few = sum(count < enough for count in counts)
    if few:
        yield Note(
            "with fewer than {fewest} {shared} at {lengths}, how much {shared} differ is hardly known, and a cap there"
            " takes nearly all of them right: their mean scores have to show it too (Gaffke's bound); more {shared}"
            " help, and more samples of each do not",
            fewest=enough, shared=shared, lengths=of_lengths(few, len(results)),
        )  # fmt: skip


def _repeats(scored: Sequence[ScoredSample], *, draws_anew: bool) -> Iterator[Note]:
    times = max((item.sample.repeat + 1 for item in scored), default=1)
    if times > 1:
        meant = (
            Note("the instability is how often they differ")
            if draws_anew
            else Note(
                "at temperature 0, or with sampling.seed set, they are no draws of their own and measure no instability"
            )
        )
        yield MethodNote(
            "each question was put {times} times: its score is the mean over its repeats, which are one piece of"
            " evidence together; {meant}", times=times, meant=meant,
        )  # fmt: skip
        return
    shared = [item.sample.item for item in scored if item.sample.item and item.sample.repeat == 0]
    again = len(shared) - len(set(shared))
    if again:
        yield Note(
            "{samples} {n:has/have} the prompt and the draw of another one (temperature 0, or sampling.seed is set):"
            " they are one piece of evidence together", samples=portion(again, len(scored), "samples"), n=again,
        )  # fmt: skip


def _server_counts(scored: Sequence[ScoredSample]) -> Iterator[Note]:
    gaps = [
        abs(item.generation.prompt_tokens - item.server_offset_tokens - item.sample.built_tokens)
        / item.sample.built_tokens
        for item in scored
        if item.generation is not None and item.sample.built_tokens > 0
    ]
    beyond = [gap for gap in gaps if gap > LENGTH_TOLERANCE]
    if beyond:
        yield Note(
            "for {prompts} the server's token count differs by more than {tolerance:.0%} from the built length (by up"
            " to {largest:.1%}); lengths here are the server's",
            prompts=portion(len(beyond), len(gaps), "prompts"), tolerance=LENGTH_TOLERANCE, largest=max(beyond),
        )  # fmt: skip


def _of_search(threshold: SearchThreshold) -> Iterator[Note]:
    """That its figures are of stopped data."""
    if threshold.asked_otherwise:
        yield MethodNote(
            "the search is followed by the rule of this report on the answers there are, {how}",
            how=threshold.asked_otherwise,
        )
    told = ("decisions", "tested bounds", "the intervals of lengths, area and half-life", "the test of position")
    holds = [*map(Note, told)]
    estimates = [*map(Note, ("mean scores", "intervals by depth and by facet", "fitted lengths"))]
    yield MethodNote(
        "the search stopped at each length as soon as it was decided: {holds:and} hold all the same; {estimates:and}"
        " are estimates, on average further from the threshold than the truth",
        holds=holds, estimates=estimates,
    )  # fmt: skip


def _zero_or_one(results: Sequence[LengthResult]) -> Iterator[Note]:
    if any(result.scores for result in results) and all(result.binary for result in results):
        yield MethodNote("scores are 0 or 1, so their spread follows from their mean and says nothing more")
