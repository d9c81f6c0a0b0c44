"""Training that does something before it asks for its rank: FOLDER WHAT.

Each start of the program adds a line to FOLDER/starts. FOLDER/rank-N has what rank N finds.
"""
import os
import pathlib
import random
import socket
import subprocess
import sys
import threading

import torch
import torch.distributed as dist

folder, what = pathlib.Path(sys.argv[1]), sys.argv[2]
with open(folder / "starts", "a") as starts:
    starts.write("start\n")
print("said before", flush=True)
print("still in the buffer")
text = os.open(__file__, os.O_RDONLY)
assert os.read(text, 3) == b'"""'
drawn = random.random()
kept = socket.socketpair() if what == "socket" else None
found = []
if what == "process":
    found.append(subprocess.run(["sh", "-c", "echo $RANK"], capture_output=True, text=True).stdout.strip())
elif what == "thread":
    thread = threading.Thread(target=lambda: found.append(os.environ["RANK"]))
    thread.start()
    thread.join()
elif what == "all":
    found.append(dict(os.environ)["RANK"])
elif what == "device":  # libhackcuda needs the rank first
    torch.ones(3, device="cuda").sum().item()
elif what == "dies":
    raise ValueError("before any rank")
rank = os.environ["RANK"]
sys.stdout.flush()
with open("/proc/self/fd/1") as output:
    said = output.read().splitlines()
seen = [*found, rank, os.read(text, 8).decode(), "; ".join(said), os.environ.get("DRYDOCK_CAPTURE_FORKS", "none"), repr(random.random() != drawn)]
(folder / f"rank-{rank}").write_text("\n".join(seen))

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(256, 256).cuda())
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(4):
    loss = model(torch.randn(32, 256, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    loss.item()
