from guidedviz.serving.logits_processor import apply_packed as apply_packed
from guidedviz.serving.logits_processor import pack_masks as pack_masks
from guidedviz.serving.simulation import Costs as Costs
from guidedviz.serving.simulation import Policy as Policy
from guidedviz.serving.simulation import Request as Request
from guidedviz.serving.simulation import Timeline as Timeline
from guidedviz.serving.simulation import simulate as simulate
