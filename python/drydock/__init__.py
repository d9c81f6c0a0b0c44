"""Predicts the iteration time of a training run on a cluster that need not exist.

The functions start Drydock's executables and read the files that they write; nothing is computed here.

    import drydock
    run = drydock.run("gpt-22b", "dgx-a100-80g-1", set={"training.micro_batch": 2})
    run.summary["iteration_time_s"]
    pandas.DataFrame(run.timeline)
"""
from drydock._collectives import Collectives, collectives
from drydock._executables import DrydockError, version
from drydock._run import Run, run

__all__ = ["Collectives", "DrydockError", "Run", "collectives", "run", "version"]
