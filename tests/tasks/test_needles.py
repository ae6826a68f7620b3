"""What is special of needles: where they go, in which text, and what each task of the family hides and asks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records.corpus import Document
from contextcliff.records.sample import Passage, Prompt, Sample, Words
from contextcliff.tasks.task import ContextBudget, Materials, ScoringContext, made
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import FAMILY, OPTIONS, TEXT, TEXTS, build, built, materials, niah, prompt, said

LENGTHS = (400, 1_500)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
HIDING = [option for option in OPTIONS if option != "repeat"]
FINITE = tuple(replace(document, endless=False) for document in TEXTS)
WIDE = ContextBudget(context_window=262_144, answer_tokens=48)


def small(option: str, **changes: Any) -> Any:
    depths = {} if option == "aggregation" else {"depths": (0.0, 0.5, 1.0) if option != "niah_multi" else (0.0, 0.4)}
    return shipped(option, **{"lengths": LENGTHS, "trials": 2, **depths, **changes})


def passages(sample: Sample) -> list[Passage]:
    return [piece for piece in sample.recipe.user if isinstance(piece, Passage)]


def hidden(sample: Sample) -> list[str]:
    """What stands between instruction and question beside the text."""
    inside = [piece.text for piece in sample.recipe.user[1:-1] if isinstance(piece, Words)]
    return [text for text in inside if text.strip()]


def searched(task: Any, of: Materials, length: int, count: int) -> list[Sample]:
    steps = task.steps(of)
    return [sample for index in range(count) for sample in steps.step(length, index).samples]


@given(st.integers(400, 2_800), st.floats(0.0, 1.0), st.sampled_from([name for name in FAMILY if name != "repeat"]))
def test_what_is_hidden_stands_between_two_sentences_and_the_length_is_the_one_asked_for(
    length: int, depth: float, option: str
) -> None:
    at = {} if option == "aggregation" else {"depths": [depth]}
    (sample,) = build(shipped(option, lengths=[length], trials=1, haystacks=1, **at))
    counted = WordTokenizer().count_prompt(prompt(sample))
    assert counted <= length
    assert length - counted <= max(16, length // 100)
    assert abs(counted - sample.built_tokens) <= 3
    stretches = passages(sample)
    assert [piece.start for piece in stretches] == [0, *(piece.end for piece in stretches[:-1])]
    assert {piece.end for piece in stretches[:-1]} <= set(sentence_starts(TEXT.text))


def test_a_needle_lies_at_the_sentence_nearest_to_its_depth_and_several_evenly_after_it() -> None:
    for sample in build(niah(lengths=[2_500], depths=DEPTHS, trials=1, haystacks=1)):
        before, after = passages(sample)
        assert before.end / after.end == pytest.approx(sample.depth, abs=0.03)
    (sample,) = built(shipped("niah_multi", lengths=[2_900], depths=[0.4], trials=1, count=10)).samples
    text = prompt(sample).user
    first, last = text.index("\n\n") + 2, text.rindex("\n\n")
    places = [(text.index(number) - first) / (last - first) for number in sample.answers]
    assert places == pytest.approx([0.40 + 0.06 * i for i in range(10)], abs=0.02)


STRETCH = "tide ledger harbour lamp over the wall and on " * 600
SPARSE = replace(TEXT, text=f"{TEXT.text[:1_500].rsplit('. ', 1)[0]}. {STRETCH}. {TEXT.text}")


def test_needles_that_few_sentences_keep_from_their_depth_are_told_of_the_samples_asked_about() -> None:
    maker = niah(lengths=[4_000], haystacks=1, depths=DEPTHS).maker(materials(SPARSE))
    first, _ = (made(maker, [(4_000, depth, trial) for depth in DEPTHS]) for trial in range(2))
    assert maker.notes({sample.sample_id for sample in first.samples})[-1] == (
        "3 of 5 samples have a needle more than 0.25 of the text from its depth (the farthest 0.93), since needles go "
        "in where a sentence begins and few begin there; take another text, or longer contexts"
    )


@pytest.mark.parametrize("option", HIDING)
def test_controls_have_the_evidence_alone_and_the_text_without_it(option: str) -> None:
    run = built(small(option, controls=True))
    by_id = {control.sample_id: control for control in run.controls}
    for sample in run.samples:
        ceiling, floor = (by_id[name] for name in sample.controls)
        assert not passages(ceiling)
        assert not any(text.strip() in prompt(floor).user for text in hidden(sample))
        if option not in ("aggregation", "niah_static_ja"):
            assert all(answer in prompt(ceiling).user for answer in sample.answers)


@pytest.mark.parametrize("option", HIDING)
def test_several_haystacks_are_the_clusters_of_the_samples_and_the_steps_of_a_search(option: str) -> None:
    samples = built(small(option, haystacks=4, trials=8)).samples
    sizes = Counter((sample.cluster, sample.context_tokens) for sample in samples)
    assert {cluster for cluster, _ in sizes} == {document.document_id for document in TEXTS[:4]}
    assert len(set(sizes.values())) == 1
    assert all(sample.cluster == sample.document_id for sample in samples)
    task = small(option, lengths=[600], haystacks=4, trials="auto")
    steps = task.steps(materials(*FINITE[:4]))
    plans = [steps.step(600, index).samples for index in range(task.most_steps)]
    assert all(len(samples) == task.step_samples for samples in plans)
    clusters = [{sample.cluster for sample in samples} for samples in plans]
    assert all(len(texts) == task.turns for texts in clusters)
    assert sum(map(len, clusters)) == len(set().union(*clusters)) == 4


def test_a_fresh_context_begins_at_a_sentence_and_goes_round_its_text() -> None:
    document = FINITE[0].text
    round_once, rounded = f"{document}\n\n{document}", 0
    samples = searched(niah(lengths=[1_500], depths=[0.5]), materials(FINITE[0]), 1_500, 40)
    begins = [passages(sample)[0].start for sample in samples]
    assert set(begins) <= set(sentence_starts(document))
    assert len(set(begins)) > len(samples) / 2
    for begin, sample in zip(begins, samples, strict=True):
        (needle,) = hidden(sample)
        inside = prompt(sample, *FINITE).user.split("\n\n", 1)[1].rpartition("\n\n")[0].replace(needle, "")
        assert round_once[begin:].startswith(inside)
        rounded += begin + len(inside) > len(document)
    assert rounded > 0


@dataclass
class Counting:
    """The pieces of words, and how many characters it was given."""

    characters: int = 0
    name: str = "counting"

    def starts(self, text: str) -> Sequence[int]:
        self.characters += len(text)
        return WordTokenizer().starts(text)

    def count_prompt(self, prompt: Prompt) -> int:
        self.characters += len(prompt.user)
        return WordTokenizer().count_prompt(prompt)


def test_ten_depths_and_twenty_trials_at_128k_take_no_more_than_two_tokenisations_of_the_text() -> None:
    depths = [0.05 + place / 10 for place in range(10)]
    task, tokenizer = shipped("niah", lengths=[131_072], depths=depths, trials=20), Counting()
    corpus = Synthetic().corpus(tokens=task.text_tokens(WIDE), seed=0, count=task.traits.texts)
    made_from = Materials(corpus=corpus, tokenizer=tokenizer, context_budget=WIDE, seed=0, text_identity="text")
    assert len(task.build(made_from).samples) == 200
    assert tokenizer.characters <= 2 * len(corpus.documents[0].text)


def test_a_japanese_needle_goes_in_after_a_japanese_full_stop() -> None:
    text = "それは遠い星の夜でした。駅には誰もいません。汽車の音だけが野原に響いています。\n\n" * 200
    document = Document(document_id="ja", title="ja", text=text, language="ja")
    task = small("niah_static_ja", haystacks=1)
    for sample in built(task, document).samples:
        before, _ = passages(sample)
        assert before.end == 0 or text[: before.end].rstrip().endswith("。")
        assert "隠している。 " not in prompt(sample, document).user
        answers = "銅の水差しの底に隠しています。", "水差しの中です。"
        scores = [task.score(sample, said(answer), ScoringContext()) for answer in answers]
        assert [score.value for score in scores] == [1.0, 0.0]


def test_a_packed_row_asks_for_every_needle_of_one_and_the_same_context() -> None:
    samples = built(shipped("niah_multikey", lengths=[900], trials=2, distractors=3)).samples
    for trial in (0, 1):
        row = [sample for sample in samples if sample.trial == trial]
        contexts = {prompt(sample).user.rsplit("\n\n", 1)[0] for sample in row}
        assert len(contexts) == len({sample.cluster for sample in row}) == 1
        assert len({sample.question for sample in row}) == len(row) == 5
        (context,) = contexts
        assert all(f"magic {sample.question.split()[5]} number is: {sample.answers[0]}" in context for sample in row)
        assert all(len(sample.reference.distractors) == 7 for sample in row)
    assert len({sample.cluster for sample in samples}) == 2


@settings(max_examples=15)
@given(st.integers(1, 8), st.integers(1, 3), st.sampled_from(["forward", "backward", "shuffled"]))
def test_following_a_chain_from_the_question_leads_to_the_answer(hops: int, chains: int, order: str) -> None:
    links = {"hops": hops, "chains": chains, "order": order, "distances": [0.1]}
    (sample,) = built(shipped("tracing", lengths=[1_500], depths=[0.3], trials=1, **links)).samples
    text, steps = prompt(sample).user, 0
    name = sample.question.removesuffix("?").split()[-1]
    while not (told := text.split(f"The value of {name} is ")[1].split(".")[0]).isdigit():
        name, steps = told.split()[-1], steps + 1
    assert (told, steps) == (sample.answers[0], hops)
    assert len(sample.reference.distractors) == chains - 1
    assert 90 <= int(sample.metadata["evidence_distance_tokens"]) <= 210  # a tenth of the text, at sentence starts


ITEMS = json.loads(files("contextcliff").joinpath("tasks", "needles", "semantic.json").read_text(encoding="utf-8"))

STOP_WORDS = frozenset(
    """
    about above across after again against all along also among and any are before behind below beside between
    both can character characters did does down during each every few for from goes had has have her his how into
    its itself more most name named mentioned nor not off once one only onto other others our out over own people
    person persons round same some someone something such than that the their them then there these they this
    those through told under until upon very was were what whatever when whenever where which while who whom whose
    will with would you your
    """.split()
)


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]{3,}", text.replace("{name}", "").lower()) if word not in STOP_WORDS}


def same_stem(one: str, other: str) -> bool:
    """Their first five letters agree, or as many as the shorter one has."""
    length = min(5, len(one), len(other))
    return one[:length] == other[:length]


def test_a_question_shares_no_word_with_any_needle() -> None:
    """Not with its own, where a model could match words, and not with another, which may lie beside it to distract."""
    told = {(item["id"], word) for item in ITEMS for word in words(item["needle"])}
    asked = {(item["id"], word) for item in ITEMS for word in words(item["question"])}
    assert [(one, other) for one in asked for other in told if same_stem(one[1], other[1])] == []


def test_an_item_is_a_sentence_about_one_person_and_a_question_for_that_person() -> None:
    forms = {
        "id": r"[a-z]+(-[a-z]+)*",
        "needle": r"[^{}.?!]*\{name\}[^{}.?!]*\.",
        "question": r"(Who|Which (person|character|of the people mentioned)) [^{}?]+\?",
        "fact": r"[^{}?]+\.",
    }
    assert {frozenset(item) for item in ITEMS} == {frozenset({*forms, "topic"})}
    for key, form in forms.items():
        assert [item[key] for item in ITEMS if not re.fullmatch(form, item[key])] == []
        assert len({item[key] for item in ITEMS}) == len(ITEMS)
