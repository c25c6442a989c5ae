from guidedviz.serving.packed import apply_packed as apply_packed
from guidedviz.serving.packed import pack_masks as pack_masks
from guidedviz.serving.simulation import simulate as simulate
from guidedviz.serving.timeline import Timeline as Timeline
from guidedviz.serving.workload import Costs as Costs
from guidedviz.serving.workload import Policy as Policy
from guidedviz.serving.workload import Request as Request
from guidedviz.serving.workload import make_requests as make_requests
