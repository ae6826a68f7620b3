"""Which sample of a task's grid is the k-th that a search asks at a length.

Places are drawn with replacement, so that each sample by itself has the mean over all of them, and a search may look
after every one. Taking them in the order of a list would not do: where its first places are easy and the rest are hard,
a search that ends early would always find a cap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count

from contextcliff.seeding import seed_of


def draws(*coordinates: object, places: int, turns: int = 1) -> Iterator[tuple[int, int]]:
    """The place and the trial of each sample in its order, without end; seeded by the coordinates and its number.

    `coordinates` are the run's seed, the task and the length. `turns`: through how many kinds of sample the trials of a
    place go in turn; these are drawn too. A trial is the first of its kind that was not drawn at its place before, so
    that samples are those of the grid of lengths, places and trials.
    """
    drawn: Counter[int] = Counter()
    for number in count():
        cell = seed_of("draw", *coordinates, number) % (places * turns)
        place, turn = divmod(cell, turns)
        yield place, turns * drawn[cell] + turn
        drawn[cell] += 1
