"""guidedviz: see the machine, the mask and the model at every step of constrained decoding.

The front door; each name is fetched when it is first used, so that `import guidedviz` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ROOMS = {
    "errors": "EmptyMask GrammarError GuidedVizError IllegalToken ModelError PatternError SettingError TraceError "
    "VocabularyError",
    "files": "shipped",
    "machines.regex": "machine_stages regex",
    "machines.pattern": "pattern",
    "machines.algebra": "complement count_texts difference intersection is_empty shortest shortest_difference union",
    "machines.compare": "compare_machines",
    "machines.frames": "dfa_frames merged_states minimal_frames nfa_frames",
    "machines.pda": "grammar",
    "machines.json_grammar": "json",
    "machines.lint": "lint",
    "machines.ending": "bytes_to_end",
    "machines.fold": "count_ways",
    "machines.schema": "json_schema schema_gbnf schema_grammar schema_regex",
    "machines.show_gbnf": "to_gbnf",
    "machines.earley": "earley earley_steps",
    "machines.derivation": "derivation",
    "tokens.vocabulary": "Vocabulary",
    "tokens.engines": "guide split_guide",
    "tokens.index": "Index build_index",
    "tokens.compare": "compare_guides",
    "tokens.differences": "compare",
    "tokens.split": "Split build_split",
    "tokens.fsm": "GuidedFSM",
    "tokens.trie": "build_trie walk_steps",
    "tokens.frames": "trie_frames",
    "tokens.jump": "find_jump",
    "tokens.longest": "longest_tokens",
    "tokens.lazy": "lazy_walk lazy_walks",
    "tokens.grown": "walk_frames",
    "tokens.static": "char_classes static_masks",
    "tokens.budget": "within",
    "decoding.sampling": "apply_logit_bias apply_token_mask draw keep_top_k keep_top_p masked_softmax "
    "softmax temper Settings",
    "decoding.trace": "Candidate Step Trace",
    "decoding.loop": "decode record",
    "decoding.overlap": "Overlap",
    "decoding.parting": "compare_jump",
    "decoding.payoff": "Cost Payoff",
    "decoding.spellings": "Spellings spellings",
    "decoding.toy": "ToyModel",
    "decoding.models": "LanguageModel load_model readiness",
    "views.figure": "Figure",
    "views.bars": "draw_bars",
    "views.branches": "draw_branches",
    "views.comparison": "draw_comparison",
    "views.costs": "draw_costs",
    "views.disagreement": "draw_disagreement",
    "views.break_even": "draw_break_even",
    "views.density": "draw_density",
    "views.map": "draw_map draw_xor",
    "views.machine": "draw_machine draw_pda to_dot",
    "views.machines": "draw_machines",
    "views.overlap": "draw_overlap",
    "views.payoff": "draw_payoff",
    "views.museum": "draw_museum",
    "views.token_table": "draw_token_table",
    "views.walk": "draw_walk",
    "views.walks": "draw_walks",
    "views.chart": "draw_chart",
    "views.depth": "draw_depth",
    "views.derivation": "draw_derivation",
    "views.lint": "draw_lint",
    "views.shared_stacks": "draw_shared_stacks",
    "views.split": "draw_split",
    "views.spellings": "draw_spellings",
    "views.split_nodes": "draw_split_nodes",
    "views.stack": "draw_stack",
    "views.stack_table": "draw_stack_table",
    "views.distribution": "draw_distribution",
    "views.stage": "draw_stage draw_strip",
    "widgets.map": "vocabulary_map",
    "widgets.token_table": "token_table",
    "widgets.stage": "stage",
    "widgets.bias": "bias_sliders",
    "widgets.film": "film",
    "widgets.fraction": "fraction_slider",
    "widgets.fold": "folded",
    "checks.machine": "check_machine",
    "checks.lab00": "check_parses",
    "checks.lab01": "check_only_answers check_softmax check_spellings",
    "checks.lab02": "check_count_texts check_name_masks check_token_mask",
    "checks.lab03": "check_advance check_clock check_several_words",
    "checks.lab04": "check_event_schema check_legal_tokens check_price",
    "checks.lab05": "check_lists check_sums check_tags",
    "checks.lab06": "check_merge check_sort_token check_storage",
    "checks.lab07": "check_jump",
    "checks.lab07_chart": "check_complete",
    "checks.lab07_slices": "check_whole",
    "checks.lab08": "check_forced check_heal check_speedup",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'guidedviz' has no attribute {name!r}")
    value = getattr(import_module(f"guidedviz.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
