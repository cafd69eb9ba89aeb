"""What reasons say in English: one text for each kind, with places for its figures.

A place is `{name}`, as in `str.format`, or has one of these after a colon:

    {n_items:item|items}     the first word where the figure is 1, else the second; of votes "votes"
    {n_items:items}          items, of votes "votes"
    {share:percent}          37%
    {p:p}, {p:p_most}        p = .012, and p ≤ .012 where several p-values do not exceed it
    {models}, {models:; }    several with commas, or with "; ", between them
    {models:and}             A, B and C
    {models:listed}          A, B and 3 more
    {models:or # models}     the same of up to four; of more the text, with their number: 7 models
    {jurors:grouped}         of names with a clause each: those with the same clause together
"""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any, Final

from tiebreak.text import Votes, all_of, listed, p_value, percent

# More models than this are counted, not named.
_FEW: Final = 4


class _Formatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        match format_spec:
            case "percent":
                return percent(value)
            case "p" | "p_most":
                return p_value(value, at_most=format_spec == "p_most")
            case "and":
                return all_of(value)
            case "listed":
                return listed(value)
            case "grouped":
                return _grouped(value)
            case _ if format_spec.startswith("or "):
                few = len(value) <= _FEW
                return all_of(value) if few else format_spec[3:].replace("#", str(len(value)))
            case "items":
                return "votes" if isinstance(value, Votes) else "items"
            case "item|items" if isinstance(value, Votes):
                return self.format_field(value, "vote|votes")
            case _ if "|" in format_spec:
                singular, plural = format_spec.split("|")
                return singular if value == 1 else plural
            case _ if isinstance(value, tuple):
                return (format_spec or ", ").join(map(str, value))
        return format(value, format_spec)


def _grouped(clauses: Iterable[tuple[str, object]]) -> str:
    names: dict[str, list[str]] = {}
    for name, clause in clauses:
        names.setdefault(str(clause), []).append(name)
    return "; ".join(f"{', '.join(alike)}{clause}" for clause, alike in names.items())


def sentence(kind: str, figures: Mapping[str, Any]) -> str:
    """The text of a kind of reason, with its figures in their places."""
    return _Formatter().vformat(SENTENCES[kind], (), figures)


SENTENCES: Final = {
    # Of figures: why there is none, and what to bear in mind.
    "undefined": "undefined",
    "one_item": "an interval over items needs at least two items",
    "one_item_in_all": "an interval needs at least two items",
    "one_item_to_test": "a test needs at least two items",
    "no_scored_item": "no item has a score",
    "undefined_throughout": "the score is undefined in every draw",
    "undefined_draws": "undefined in {n} of {draws} draws of items, which are left out",
    "undefined_subsamples": "undefined in {n} of {of} subsamples, which are left out",
    "undefined_runs": "undefined in {n} of {of} pairs of runs, which are left out",
    "infinite_draws": "{n} of {draws} draws of items have no finite strengths and are left out",
    # Matches of an arena.
    "models_unjoined": (
        "No chain of matches joins {models:listed} to the other models, so they have no rank"
    ),
    "no_interval_of": "No interval for {models:listed}: it takes at least two {n:items}",
    # Agreement of two rankings, or of two raters.
    "no_common_model": "the two have no model in common",
    "few_common_models": "the two have {n} models in common, and a comparison takes two",
    "all_tied": "the {side} one ties all models",
    "infinite_gain": "all native scores are equal: any gain would be infinite",
    "no_case_of_both": "no case was rated by both",
    "no_answer_of_both": "no answer has a label of both",
    "no_pair_of_two_raters": "no two raters voted on the same answers",
    "one_label": "all labels are the same, so chance alone would agree fully",
    "one_label_throughout": "both gave the same label throughout",
    "few_other_labels": (
        "rests on {n:g} {n:label|labels} other than the most frequent: the interval holds less "
        "than it says"
    ),
    # Reviewers.
    "no_complete_pair": (
        "no item has two ballots that rank all its candidates; Kendall's τ reads partial ballots"
    ),
    "no_common_order": "no two ballots order the same candidates",
    "ballots_tie_all": "all ballots tie all candidates",
    "no_pair_of_both": "no pair that both the reviewer and the others order",
    "no_order_to_follow": "no ballot orders answers that were shown in different places",
    "few_complete_ballots": ("complete ballots that order anything come from {n} of the reviewers"),
    "reviewers_without_common_item": "two reviewers never ranked the same item",
    "few_reviewers": "to tell dependence from a common view takes four reviewers",
    "few_mixed_items": "native scores tell answers apart in {n} items, and it takes {least}",
    "ballots_unlike_native": "ballots do not follow native scores clearly enough",
    "pairs_alike": (
        "all pairs of reviewers have equally much in common: the truth, or errors that all make"
    ),
    "native_ties_all": "native scores tell no two ranked answers apart",
    # Relative scores, contests, and the search for a Kemeny order.
    "no_positive_score": "no model has a score above 0",
    "no_positive_reference": "the reference has no score above 0",
    "one_contest": "one contest has no standard error",
    "few_contests": "a rank interval needs at least {least} contests",
    "playing_other_items": "playing with the scores of other items",
    "no_majority_cycle": "no majority cycle: every majority is followed",
    "search_of_cycles": "majority cycles one by one, bound from 3-cycles, search over sets",
    "stopped_search": (
        "majority cycles one by one, bound from 3-cycles, search over sets, stopped at the limit"
    ),
    # About the judge.
    "no_triple": "no three answers all met",
    "no_match": "no match",
    "no_verified_pair": "no two judged answers have native scores 1 and 0",
    "no_match_of_others": "no match that other judges decided",
    "no_scored_canary": "no canary and its control have a verdict",
    "no_verdict": "no match has a verdict",
    "unknown_lengths": "the log does not say how long answers are",
    "no_texts": "the log does not hold the texts of answers",
    "lengths_follow_models": ("of every two models the same one always gave the longer answer"),
    "reviewer_as_shown": "{reviewer} ranks in the order of presentation",
    "reviewer_against_order": "{reviewer} ranks against the order shown",
    "bound_reviewer": (
        "{fault}: mean τ = {tau:.2f} ({lower:.2f} to {upper:.2f}){exactly}: do not trust it"
    ),
    "exactly_so": ", and exactly so in {share:percent} of {n:,} {n:ballot|ballots}",
    # Peer review.
    "all_identical": (
        "{benchmark} is left out: all answers to all items are identical, so no reviewer was "
        "called ({log})"
    ),
    "identical_items": (
        "In {n:,} {n:item|items} of {of:,} all answers are identical: no reviewer was called, and "
        "no figure includes these items"
    ),
    "unusable_items": "In {n:,} {n:item|items} no review compares two answers",
    "outside_reviewers": "On the panel, but not candidates: {reviewers}",
    "not_reviewers": "Candidates that are not reviewers: {models}",
    "sparse_mode": (
        "Sparse mode: each reviewer ranks {degree} answers of others, so that PR are places among "
        "these, and there is no view of a model on itself{full}"
    ),
    "full_items": " but in {n:,} {n:item|items} where it ranks all",
    "other_aggregator": (
        "The run itself, and `tiebreak rank`, aggregate by {aggregator}; this is by {method}"
    ),
    "few_items_tell_apart": (
        "Only {n:,} {n:item|items} {n:tells|tell} models apart: intervals over so few are too "
        "narrow"
    ),
    "one_item_no_verdicts": (
        "There is one item, so nothing to resample: no intervals, and no verdicts"
    ),
    "no_item_for_both": "in no item do both rankings tell models apart",
    "no_ballot_read": "it can read no ballot of any item",
    "answers_cut": (
        "{reviewer} did not see all answers in {n:,} of {of:,} {of:review|reviews}: they did not "
        "fit its context. The longest are left out until the rest fits: {n_left_out:,} "
        "{n_left_out:answer|answers} in all, which it does not rank"
    ),
    "mute_reviewer": (
        "{reviewer} gave no usable review in any of {n:,} {n:item|items}, and the others decide "
        "alone. {common}"
    ),
    "unscored_reviews": (
        "{n:,} of {of:,} {of:review|reviews} by {reviewer} ({share:percent}) rank no answer. "
        "{common}"
    ),
    "commonest": "Most frequent reason: {reason}",
    "failed_calls": (
        "Most frequent reason: {reason}. The same `inspect eval` again asks for these alone; the "
        "rest is in the cache"
    ),
    "lone_reviewer": (
        "All usable reviews are by {reviewer}: that is one model's opinion, not peer review"
    ),
    # Self-preference.
    "no_sr_and_pr": "no item gives both SR and PR",
    "no_third_answer": "no other ballot compares it with a third answer",
    "no_sia_and_sfa": "{method} gives no item both SIA and SFA",
    "no_four_views": "no item gives all four views",
    "no_reviewer_of_model": "no reviewer is this candidate",
    "sparse_without_own": "in sparse mode no reviewer is shown its own answer",
    "own_answer_unranked": "its own ballots never rank its own answer",
    "unranked_by_others": "no other reviewer ranks it",
    "few_items_to_tell": "too few items to tell",
    "no_self_favour": "No model is found to favour itself.",
    "no_self_favour_of_tested": "None of the {n} that were tested is found to favour itself.",
    "self_favours": "{clauses:; }.",
    "ranks_itself_higher": (
        "{model} ranks itself {places:.1f} places higher than its peers rank it ({consensus})"
    ),
    "ranks_itself_lower": (
        "{model} ranks itself {places:.1f} places lower than its peers rank it ({consensus})"
    ),
    "favour_removed": "the consensus removes that",
    "favour_reduced": "the consensus reduces that",
    "favour_kept": "the consensus keeps that",
    # Warnings and notes of boards.
    "ends_early": (
        "The log ends early: {n:,} of {of:,} {of:item|items} are not in it, and the receipt lacks "
        "what calls for them may have cost"
    ),
    "pairs_chosen": (
        "People were asked only about pairs that another board left open. Each is tested by its "
        "own votes; nothing is said of other pairs. Scores fill those by a guess: they order the "
        "models, and have no interval"
    ),
    "unscored": "{clause}. {common}",
    "unscored_replies": "{n:,} of {of:,} {asked} ({share:percent}) {lack}",
    "ties": (
        "In {n:,} of {of:,} {of:match|matches} ({share:percent}) the votes were even and {effect}"
    ),
    "without_media": (
        "{n:,} of {of:,} {of:item|items} {n:was|were} judged without images or files of the "
        "question"
    ),
    "one_item_no_intervals": "No intervals: there is one item, so nothing to resample",
    "one_item_of": "No interval for {models}: it needs at least two items",
    "no_item_tells_apart": "No item tells models apart, so this ranking says nothing",
    "narrow_intervals": (
        "Only {n} of {of} items {n:tells|tell} models apart: the intervals are too narrow (in "
        "simulation a 95% interval covered 93% with 10 such items, 91% with 5)"
    ),
    "win_rates": "Scores are win rates against {baselines}, a tie counting ½; its own is ½",
    "unseeded": "In {n} of {of} items the seeding call gave no usable reply",
    # The verdict: who leads, and who cannot be told apart.
    "verdict": "{statements: }",
    "nothing_ranked": "No item could be ranked.",
    "alone": "There is nothing to compare: {model} alone is ranked.",
    "few_items_for_two": (
        "Too few {n:items}: {n} cannot tell {models:and} apart, it takes at least {least}; the "
        "order below is not a ranking."
    ),
    "few_items_for_any": (
        "Too few {n:items}: {n} cannot tell any two models apart, it takes at least {least}; the "
        "order below is not a ranking."
    ),
    "two_equal": (
        "{models:and} cannot be told apart: their mean scores are equal; the order below is not a "
        "ranking."
    ),
    "all_equal": (
        "No two of the {n_models} models can be told apart: their mean scores are equal; the order "
        "below is not a ranking."
    ),
    "two_not_apart": (
        "{models:and} cannot be told apart on these {n_items:,} {n_items:item|items}: the order "
        "below is not a ranking."
    ),
    "none_apart": (
        "No two of the {n_models} models can be told apart on these {n_items:,} "
        "{n_items:item|items}: the order below is not a ranking."
    ),
    "first_of_all": "{model} is first ({p:p_most} against each other model).",
    "first_of_two": "{model} is first ({p:p_most} against {second}).",
    "all_apart": (
        "All {n_models} models are told apart on these {n_items:,} {n_items:item|items}."
    ),
    "not_apart": (
        "{models:or # models} cannot be told apart on these {n_items:,} {n_items:item|items}."
    ),
    "rest_not_apart": (
        "{models:or The other #} cannot be told apart on these {n_items:,} {n_items:item|items}."
    ),
    "leads": "{model} leads: {clauses} on these {n_items:,} {n_items:item|items}.",
    "lead_together": (
        "{models:or The first # models} lead, in the order of their scores; these {n_items:,} "
        "{n_items:item|items} do not tell them apart."
    ),
    "first_is": "{model} is {clauses}.",
    "ahead_of": "ahead of {models:or # models} ({p:p_most})",
    "not_ahead_of": "not told apart from {models:or # models}",
    "tiers": "The {n_models} models form {n_tiers} tiers.",
    "overlapping_tiers": "The {n_models} models form {n_tiers} overlapping tiers.",
    "judge_adds": (
        "With the judge, {n:,} {n:label|labels} of people tell models apart as well as {as_many:,} "
        "would alone."
    ),
    "judge_adds_nothing": "The judge adds nothing to the {n:,} {n:label|labels} of people.",
    "judge_higher": (
        "The judge places {model} {points:.1f} points ({lower:.1f} to {upper:.1f}) higher than "
        "people do."
    ),
    "judge_lower": (
        "The judge places {model} {points:.1f} points ({lower:.1f} to {upper:.1f}) lower than "
        "people do."
    ),
    "rare_failures": (
        "Too few items to test {n:,} {n:pair|pairs}: a failure too rare to show in {n_items:,} "
        "{n_items:item|items} could turn the lead round."
    ),
    "settled": "A sequential test stopped the run when {decided} was decided{only} ({rate}).",
    "settled_ranking": "the ranking",
    "settled_top": "the top {n}",
    "for_these_items": " for these items",
    "error_rate": "error rate {error:g}%, tests of pairs add theirs",
    "error_rate_at_five": "error rate {error:g}%, 7% with the tests of pairs",
    # The verdict: what else could put another model first.
    "placed_first": ("Placed by {rules: or }, {model} is first (rank --place {rule})."),
    "first_by_matches": "By all matches at once ({views: and }) {model} is first.",
    "least_squares": "least squares",
    "bradley_terry": "Bradley–Terry",
    "native_against_judging": (
        "Judging puts {above} above {below}, native scores say the opposite ({score:.3f} against "
        "{against:.3f}){more}."
    ),
    "pairs_in_all": ", as of {n} pairs in all",
    "first_by_native": ("By native score {model} is first ({score:.3f}; {first}: {against:.3f})."),
    "longer_gains": "Between the same two models the longer answer gains {size}",
    "shorter_gains": "Between the same two models the shorter answer gains {size}",
    "longer_may_be_better": "{gain}; longer answers may be better.",
    "shorter_may_be_better": "{gain}; shorter answers may be better.",
    "same_at_equal_length": "At equal length nothing changes that is said here.",
    "sensitive_to_length": (
        "At equal length {changes: and }: this board is sensitive to length (rank --control "
        "length)."
    ),
    "pairs_lost": "{n} of {of:,} {of:pair|pairs} told apart {n:does|do} not hold",
    "highest_score": "{model} has the highest score",
    # The verdict: whether the judge can be trusted.
    "no_judge": "There is no judge: models are ranked by their native scores.",
    "trust": "The {judges} on this board: {clauses:; }.",
    "doubtful": "The {judges} is doubtful on this board: {clauses:; }.",
    "doubtful_reviewers": "The reviewers are doubtful on this board: {clauses:; }.",
    "doubtful_raters": "The raters are doubtful on this board: {clauses:; }.",
    "doubtful_judge": "{trust} Use a stronger judge: --model-role judge=MODEL",
    "doubtful_jury": (
        "{trust} Leave those out, or use stronger ones: --model-role 'judge=[MODEL, …]'"
    ),
    "together": "together, {fault}",
    "jurors": "{jurors:grouped}",
    "juror_fine": " fine",
    "juror_unknown": " unknown: {clause}",
    "juror_faults": ": {faults:; }",
    "faults_of": "{judge}: {faults:; }",
    "contradicts_jury": "it contradicts the others in {share:percent} of pairs",
    "contradict_raters": "they contradict the others in {share:percent} of pairs",
    "no_usable_reply": "no usable reply to {n:,} of {of:,} {of:question|questions}",
    "no_canary_verdict": "no planted canary has a verdict",
    "persuaded": ("persuaded by {n:,} of {of:,} {of:planted canary|planted canaries}{bounds}"),
    "within": " ({lower:.0f}–{upper:.0f}%)",
    "place_won": ("the answer shown {place} won {share:percent} of {n:,} {n:verdict|verdicts}"),
    "lists_as_shown": (
        "in {n:,} {n:list|lists} it ranked {share:percent} of pairs of answers as they were shown"
    ),
    "lists_against_order": (
        "in {n:,} {n:list|lists} it ranked {share:percent} of pairs of answers against the order "
        "shown"
    ),
    "flips_to_one_place": (
        "of {n:,} {n:match|matches} that it decided otherwise in the other order, {most:,} went to "
        "the answer shown {place} both times"
    ),
    "failed_preferred": (
        "the answer that failed was preferred in {n:,} of {of:,} "
        "{of:verified pair|verified pairs} ({share:percent})"
    ),
    "besides": "; {clause}",
    "passed_not_preferred": ("nothing shows that answers which passed are preferred{verified}"),
    "graded_one_by_one": "answers were graded one by one, which shows nothing about it",
    "few_verdicts_to_tell": "too few {many} ({n:,}) to tell whether position sways it",
    "few_reviews_to_tell": "too few {many} ({n:,}) to tell whether position sways them",
    "coin_tosses": "nothing shows that its {many} are more than coin tosses",
    "coin_tosses_of_reviewers": "nothing shows that their {many} are more than coin tosses",
    "slight_position_bias": "{gain} in {n:,} {many}, too little to matter{verified}",
    "no_position_bias": "no position bias found in {n:,} {many}{verified}",
    "first_gains": "the answer shown first gains {size}",
    "last_gains": "the answer shown last gains {size}",
    "points": "{n:,} {n:point|points}",
    "points_within": "{n:,} {n:point|points} ({lower} to {upper})",
    # Stars.
    "different_judges": (
        "Models were judged by different judges, so that scores differ by judge as well: "
        "{judged:; }"
    ),
    "judged_by": "{judges} judged {models}",
    "judged_before": (
        "{log}: {n:,} {n:answer|answers} judged before in another log; the newer verdict counts"
    ),
    "no_answer_labelled": "no answer is labelled",
    "no_question_decided": "no question could be decided",
    # Boards against people.
    "lines": "{lines:\n}",
    "no_item_ranked": "{name}: no item could be ranked",
    "no_item_ranked_on": "{name} on {benchmark}: no item could be ranked",
    "no_board": "No board of {benchmarks}, which {source} ranks models on",
    "few_ranked_models": (
        "{benchmark}: {source} ranks {n:,} {n:candidate|candidates} out of {of}, and a comparison "
        "takes {least}. The candidates are {models}; the file has {names} for this benchmark"
    ),
    "no_model": "no model",
    "people_tie_all": (
        "{benchmark}: {source} ties all {n} candidates that it ranks: there is no order to agree "
        "with"
    ),
    "unranked_by_people": "Left out, since people did not rank them: {models}",
    "no_candidates": "Ranked by people, but not candidates: {models}",
    "agreement_by_chance": (
        "With {n} models, 1 of {orders} random orders agrees fully with people"
    ),
    "sparse_reviewers": (
        "Reviewers saw {degree} answers each: their own correlations are of these only"
    ),
    "no_reviewer_called": "No reviewer was called: all answers are identical",
    "no_native_scores": "There are no native scores",
    "slow_dodgson": (
        "dodgson is left out: it is slow for {n_items:,} {n_items:item|items} of {n_models:,} "
        "{n_models:model|models}. --method dodgson asks for it"
    ),
    "no_result": "{name}: no result: {error}",
    "no_sia": "SIA: no result, as {method} has none",
    "unranked_by_ballots": "no ballot that {method} reads ranks it",
    "unranked_by_other_ballots": "no ballot of another model that {method} reads ranks it",
    "no_view_of": "No {view} of {models}: {why}",
    "model_in_items": "{model} in {n:,} of {of:,} {of:item|items}",
    "no_sr_in_items": "No SR where the own ballot does not rank the own answer: {models}",
    "no_usable_score": "{rater} has no usable score",
    "no_usable_review": "{rater} has no usable review",
    "no_readable_ballot": "{rater} finds no ballot that it can read",
    "no_two_scores": "{rater} has no two scores",
    "rater_ties_each_item": "in no item does the rater tell the models apart",
    "rater_ties_all": "the rater ties all models, or ranks fewer than two",
    # Judges against people's labels.
    "no_stars_in_preferences": "preferences have no stars",
    "few_labelled": (
        "People judged {n:,} items, which are few: below {enough:,}, tests tell equal models apart "
        "too often where the judge has a favourite"
    ),
    "labels_left_out": "Left out: {n:,} {n:label|labels} {why}",
    "labels_of_strangers": "of models that no log judged: {models:listed}",
    "labels_of_other_items": "of items that no log judged",
    "labels_unjudged": "of answers or pairs that no judge labelled",
    "labels_settled": "of pairs that need no judge (the same answer, or verified ones)",
    "labels_of_other_answers": "of other answers than the logs' (by answer_digest)",
    "labels_of_an_epoch": "of one of several epochs; a column answer_digest says which",
    "no_usable_label": (
        "{judge} gave no usable label to {n:,} of {of:,} {of:case|cases} that people labelled"
    ),
    # Logs against logs.
    "no_reference": "{benchmark} is left out: no log of it is the reference",
    "doubtful_logs": "Do not trust these (`tiebreak rank` says why): {names}",
    "log_compared_on": "{name} is compared on {kept}",
    "runs_compared_on": "Runs of {label} on {benchmark} are compared on {kept}",
    "nothing_in_common": (
        "The {n} runs of {label} on {benchmark} have no item and no model that all share"
    ),
    "kept": "{parts: and }",
    "kept_items": "{n:,} {n:item|items} (ranked: {ranked})",
    "kept_models": "{n:,} {n:model|models} (ranked: {ranked})",
    "ranked_by": "{n:,} by {name}",
    "runs_of_reference": "{n} runs of the reference; compared with {log}",
    "no_noise_ceiling": (
        "{name} is not a noise ceiling: {n:,} of its {of:,} calls are from the cache, replies of "
        "another run. Judge again with -T repeat={repeat}"
    ),
    "no_second_opinion": (
        "{name} on {benchmark} is not a second opinion: {n:,} of its {of:,} {of:call|calls} are "
        "from the cache, replies of another run. Judge again with -T repeat={repeat}"
    ),
    "cached_calls": (
        "Calls from the cache: {shares}. Where two logs share a judge's replies, their agreement "
        "is that of the protocols alone, without the judge's noise"
    ),
    "share_of_log": "{name} {share:percent}",
    "no_agreement": "{name} against {reference}: {reason}",
    "no_gain": "No resolution gain: {reason}",
    "no_gain_of": "No resolution gain of {name}: {reason}",
    "one_model_with_native": "only one model has native scores on items that were ranked",
    "no_model_with_native": "no model has native scores on items that were ranked",
    "stopped_early": (
        "{name} stopped after {n:,} of {of:,} {of:item|items}, its ranking decided; figures per "
        "item are those of judged items"
    ),
    "priced_models": "By --price, where the logs have none: {models}",
    "unpriced_models": "No price known for {models}: add --price IN,OUT",
    "undefined_part": "{name} on {benchmark} at {share:g}: {reason}",
    "part_of_all": (
        "{name} on {benchmark} at {share:g}: that is all of its items, so it tells nothing"
    ),
    "undefined_run_to_run": "Runs of {label} on {benchmark}: {reason}",
    # One pair.
    "pair_without_item": "No item ranks both {first} and {second}.",
    "pair_not_apart": (
        "{first} and {second} cannot be told apart: {difference:+.3f} Borda ({figures})."
    ),
    "pair_apart": "{better} is ahead of {worse}: {difference:+.3f} Borda ({figures}).",
    "test_of_pair": "{interval}{p:p}, {n_items:,} {n_items:item|items}",
    "interval": "{level:g}% interval {lower:+.3f} to {upper:+.3f}, ",
    # Contests and elections.
    "out_of_opponents": (
        "Elimination may take {n} of {of} models out before the last round, more than the weaker "
        "half (with {n_rounds:,} {n_rounds:round|rounds}, {bound}). The model that wins most then "
        "loses most, for lack of opponents"
    ),
    "largest_eliminate": "the largest T that cannot is {most}",
    "any_eliminate": "any T above 0 can",
    "crowded_tier": (
        "{n:,} of {of:,} {of:item|items} are in one tier of difficulty, {tier}; the other "
        "{n_rounds:,} {n_rounds:round rests|rounds rest} on {rest:,} {rest:item|items}, and each "
        "counts as much as that one"
    ),
    "tied_rounds": "All models tie, so every match is a coin toss, on: {rounds}",
    "one_round": (
        "One round: the order is that of the scores, and E[wins] is the chance to win a match "
        "against a random other model (a bye wins none)"
    ),
    "no_errors": "the scores have no standard errors",
    "missing_errors": (
        "{n:,} {n:score has|scores have} no standard error, such as {model!r} on {benchmark!r}"
    ),
    "tiers_of_answers": (
        "the tiers are made from the answers that are played, and in simulation intervals over "
        "other items did not hold what they said"
    ),
    "missing_score": (
        "{model!r} has no score on {benchmark!r}, and a contest needs one; `tiebreak csd "
        "--missing` says how to go on without it"
    ),
    "no_items": "Each benchmark is one ballot: there are no items to count one by one",
    # Saturation: what native scores tell apart.
    "one_model": "a comparison takes two models",
    "constant_pairs": (
        "{n} of {of} pairs of models differ by the same amount in every item, so there is no "
        "spread to estimate an error from: at {level:.0%} confidence they do otherwise on at most "
        "{unseen:.1%} of such items"
    ),
    "nothing_to_compare": "One model only: there is nothing to compare.",
    "unknown_saturation": "No native scores: whether the benchmark is saturated is unknown.",
    "all_models": "{n} models",
    "models_with_scores": "{n} models that have them",
    "native_items_few": (
        "Too few items: native scores of {n:,} {n:item|items} cannot tell {models} apart, whatever "
        "they are; it takes at least {least}."
    ),
    "two_models": "two models",
    "any_two_of": "any two of {models}",
    "saturated_two": "Saturated: native scores do not tell the {models} apart ({size}).",
    "saturated": "Saturated: native scores tell no two of the {models} apart ({size}).",
    "partly_saturated": (
        "Partly saturated: of {models}, native scores tell {n} of {of} pairs apart, {top} ({size})."
    ),
    "tied_top": "but no two of the top {n}",
    "first_two_apart": "also the first two",
    "not_saturated_two": "Not saturated: native scores tell the {models} apart ({size}).",
    "not_saturated": "Not saturated: native scores tell all {models} apart ({size}).",
    "equal_scores": "they are equal in all {n:,} {n:item|items}",
    "equal_so_far": (
        "{equal}; at {level:g}% confidence two models' true means differ by at most {most}"
    ),
    "only_difference": "the difference is {amount}",
    "largest_difference": "the largest difference is {amount}",
    "detectable": "{there}; {n:,} {n:item|items} can show about {amount} or more",
    "amount": "{value:.3g}",
    "points_of": "{value:.1f} points",
    "few_points": "less than 0.1 points",
    "judging_identical": (
        "Judging cannot help: all answers are identical in all {n:,} {n:item|items}."
    ),
    "judging_not_needed": "Judging is not needed to tell them apart.",
    "judging_same_scores": (
        "Judging cannot help: answers with the same native score are identical in all {n:,} "
        "{n:item|items}."
    ),
    "judging_where_different": (
        "Judging could help in at most {n:,} of {of:,} {of:item|items}: those where answers differ."
    ),
    "judging_where_tied": (
        "Judging could help in at most {n:,} of {of:,} {of:item|items}: those where different "
        "answers have the same native score."
    ),
    "judging_where_tied_or_unscored": (
        "Judging could help in at most {n:,} of {of:,} {of:item|items}: those where different "
        "answers have the same native score, or none."
    ),
}
