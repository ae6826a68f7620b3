"""The rule that a report was judged by: where two differ, and how they are told."""

from __future__ import annotations

from contextcliff.analysis.judged_by import compact, differing, rule_of, score_rule, suffix_of, worded
from tests.tracking.tracking_runs import report

RULE = {
    "analysis.threshold": "0.8",
    "analysis.relative_to_baseline": "False",
    "analysis.bins": "10",
    "task.word_list": "/home/me/lists/words.txt",
    "task.judge": "None",
    "task.judge.rubric": "Rate the answer from 1 to 10 by how much of the reference it has.",
}


def test_rules_differ_in_the_keys_that_both_tell() -> None:
    other = {"analysis.threshold": "0.9", "analysis.relative_to_baseline": "False", "analysis.confidence": "0.99"}
    assert differing(RULE, other) == ("analysis.threshold",)
    assert differing({}, RULE) == ()


def test_a_report_of_an_earlier_version_is_judged_by_what_its_cap_tells() -> None:
    assert rule_of(report()) == {
        "analysis.threshold": "0.8",
        "analysis.relative_to_baseline": "False",
        "analysis.confidence": "0.95",
    }
    assert rule_of(report(judged_by=RULE)) == RULE


def test_a_folder_is_called_by_what_differs() -> None:
    assert suffix_of(RULE, ["analysis.threshold"]) == "threshold-0.8"
    assert suffix_of(RULE, ["analysis.threshold", "task.word_list"]) == "threshold-0.8-word_list-words.txt"


def test_long_values_are_told_by_their_digest_and_stay_apart() -> None:
    one, other = ({"task.judge.rubric": f"{'rate it ' * 20}{ending}"} for ending in ("well", "badly"))
    suffixes = {suffix_of(rule, rule) for rule in (one, other)}
    assert len(suffixes) == 2
    assert max(map(len, suffixes)) < 40
    assert worded(one) != worded(other)
    assert compact(compact(one)) == compact(one) != compact(other)


def test_scores_depend_neither_on_drawn_bins_nor_on_a_judge_beside_them() -> None:
    assert set(score_rule(RULE)) == {"analysis.threshold", "analysis.relative_to_baseline", "task.word_list"}


def test_scores_depend_on_a_judge_that_decides() -> None:
    rule = {"task.metric": "judge", "task.judge": "j", "task.judge.right_from": "7"}
    assert score_rule(rule) == rule
