"""What building a plan costs: a text is tokenised once, and a sample holds places in it, not its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.datasets.synthetic import Synthetic
from contextcliff.records.sample import Prompt
from contextcliff.tasks.task import ContextBudget, Materials
from contextcliff.text.tokenizers import WordTokenizer
from tests.tasks.made_tasks import shipped

ROOM = ContextBudget(context_window=262_144, answer_tokens=48)
DEPTHS = [0.05 + place / 10 for place in range(10)]


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
    task, tokenizer = shipped("niah", lengths=[131_072], depths=DEPTHS, trials=20), Counting()
    corpus = Synthetic().corpus(tokens=task.text_tokens(ROOM), seed=0, count=task.traits.texts)
    materials = Materials(corpus=corpus, tokenizer=tokenizer, context_budget=ROOM, seed=0, text_identity="text")
    assert len(task.build(materials).samples) == 200
    assert tokenizer.characters <= 2 * len(corpus.documents[0].text)
