from guidedviz.tokens.guide import split_guide as split_guide
from guidedviz.tokens.index import Index as Index
from guidedviz.tokens.jump import find_jump as find_jump
from guidedviz.tokens.lazy import lazy_walk as lazy_walk
from guidedviz.tokens.lazy import lazy_walks as lazy_walks
from guidedviz.tokens.split import Split as Split
from guidedviz.tokens.trie import walk_steps as walk_steps
from guidedviz.tokens.vocabulary import longest_tokens as longest_tokens
