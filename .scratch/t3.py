import torch, nvfuser_direct as nvf
dev="cuda"
from nvfuser_direct import FusionDefinition, DataType, ParallelType as P, schedule, _core
with FusionDefinition() as fd:
    x = fd.define_tensor([-1,-1], contiguity=True)
    y = fd.define_tensor([-1,-1], contiguity=True)
    z = fd.ops.add(x,y)
    s = fd.ops.sum(z,[1])
    fd.add_output(s); 
    s.split(1,64); schedule.transform_like(s)
    s.axis(0).parallelize(P.grid_x); s.axis(2).parallelize(P.block_x); schedule.parallelize_like(s); schedule.inline_most()
ke=_core.KernelExecutor()
a=torch.randn(37,100,device=dev); b=torch.randn(37,100,device=dev)
ke.compile(fd.fusion,[a,b])
o=ke.run([a,b])
print((o[0]-(a+b).sum(1)).abs().max())
with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    s = fd.ops.sum(x,[0]); fd.add_output(s)
    s.split(0,256); s.split(0,64,False); r1=s.rfactor([1]); r2=s.rfactor([1]);
    r1.axis(0).parallelize(P.grid_x); r2.axis(0).parallelize(P.grid_x); s.axis(0).parallelize(P.grid_x)
    r1.axis(2).parallelize(P.block_x); r2.axis(1).parallelize(P.block_x); schedule.inline_most()
for n in (1,5,1000,100000):
    ke=_core.KernelExecutor()
    a=torch.randn(n,dtype=torch.float32,device=dev)
    ke.compile(fd.fusion,[a]); o=ke.run([a]); print(n, o[0]-a.double().sum())
with FusionDefinition() as fd:
    x = fd.define_tensor([-1,-1], contiguity=True)
    avg,var,n=fd.ops.welford(x,[1]); fd.add_output(avg); fd.add_output(var)
    avg.split(1,64); schedule.transform_like(avg)
    avg.axis(0).parallelize(P.grid_x); avg.axis(2).parallelize(P.block_x); schedule.parallelize_like(avg); schedule.inline_most()
ke=_core.KernelExecutor()
a=torch.randn(37,100,device=dev)
ke.compile(fd.fusion,[a]); o=ke.run([a]); print((o[0]-a.mean(1)).abs().max(), (o[1]-a.var(1,correction=0)*100).abs().max())
