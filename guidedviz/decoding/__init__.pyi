from guidedviz.decoding.distribution import Rates as Rates
from guidedviz.decoding.jump import Cost as Cost
from guidedviz.decoding.jump import Payoff as Payoff
from guidedviz.decoding.jump import Spellings as Spellings
from guidedviz.decoding.sampling import Settings as Settings
from guidedviz.decoding.trace import Candidate as Candidate
from guidedviz.decoding.trace import Overlap as Overlap
from guidedviz.models.model import remember as remember
