from guidedviz.decoding.cost_model import Cost as Cost
from guidedviz.decoding.estimates import Rates as Rates
from guidedviz.decoding.overlap import Overlap as Overlap
from guidedviz.decoding.payoff import Payoff as Payoff
from guidedviz.decoding.settings import Settings as Settings
from guidedviz.decoding.spellings import Spellings as Spellings
from guidedviz.decoding.trace import Candidate as Candidate
from guidedviz.models.remembered import remember as remember
