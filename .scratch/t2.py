import torch, nvfuser_direct as nvf
from nvfuser_direct import FusionDefinition, DataType
device="cuda"
with FusionDefinition() as fd:
    t0 = fd.define_tensor(symbolic_sizes=[-1, 1, -1], contiguous=[True, True, True], dtype=DataType.Float)
    t1 = fd.define_tensor(3)
    c0 = fd.define_scalar(3.0)
    t2 = fd.ops.add(t0, t1)
    t3 = fd.ops.mul(t2, c0)
    t4 = fd.ops.sum(t3, [-1], False, DataType.Float)
    fd.add_output(t4)
outs = fd.execute([torch.ones(2, 1, 8, device=device), torch.ones(2, 4, 8, device=device)])
print(outs)
