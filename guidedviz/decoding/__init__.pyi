from guidedviz.decoding.distribution import Rates as Rates
from guidedviz.decoding.overlap import Overlap as Overlap
from guidedviz.decoding.payoff import Cost as Cost
from guidedviz.decoding.payoff import Payoff as Payoff
from guidedviz.decoding.sampling import Settings as Settings
from guidedviz.decoding.spellings import Spellings as Spellings
from guidedviz.decoding.trace import Candidate as Candidate
from guidedviz.models.model import remember as remember
