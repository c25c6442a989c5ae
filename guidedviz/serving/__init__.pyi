from guidedviz.serving.packed import apply_packed as apply_packed
from guidedviz.serving.packed import pack_masks as pack_masks
from guidedviz.serving.packed import unpack_masks as unpack_masks
