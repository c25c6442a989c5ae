from guidedviz.views.machine.films import dfa_frames as dfa_frames
from guidedviz.views.machine.films import merged_states as merged_states
from guidedviz.views.machine.films import minimal_frames as minimal_frames
from guidedviz.views.machine.films import nfa_reading_frames as nfa_reading_frames
from guidedviz.views.machine.films import trie_frames as trie_frames
from guidedviz.views.machine.fold import count_ways as count_ways
from guidedviz.views.stack.chart_film import earley_frames as earley_frames
from guidedviz.views.stack.stack_film import stack_frames as stack_frames
