from guidedviz.decoding.jump.cost import Cost as Cost
from guidedviz.decoding.jump.payoff import Payoff as Payoff
from guidedviz.decoding.jump.spellings import Spellings as Spellings
from guidedviz.decoding.overlap import Overlap as Overlap
from guidedviz.decoding.settings import Settings as Settings
from guidedviz.decoding.trace import Candidate as Candidate
from guidedviz.models.remember import remember as remember
