from guidedviz.sketches.construction import dfa_frames as dfa_frames
from guidedviz.sketches.construction import merged_states as merged_states
from guidedviz.sketches.construction import minimal_frames as minimal_frames
from guidedviz.sketches.earley_film import earley_frames as earley_frames
from guidedviz.sketches.folded import count_ways as count_ways
from guidedviz.sketches.reading_film import nfa_reading_frames as nfa_reading_frames
from guidedviz.sketches.stack_film import stack_frames as stack_frames
from guidedviz.sketches.trie_film import trie_frames as trie_frames
