"""Predicts published iterations. A row runs through the executables; the cache (kept.py) holds the prediction under the
hash of the executables, of NCCL's library, of the row and of the configuration files that the row names. configs/bands.yaml is not
among these: it moves no time, and bands.py makes the band of a kept prediction from it."""
import collections
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import threading

import bands
import manifest
import training_records as training
import unstated
from kept import Kept, configuration_files, key_of
from training_records import ROOT

TOOLS = ["workload-gen", "simccl", "compute-sim", "exec-engine"]  # report passes on the time of exec-engine
NCCL = ROOT / ".deps/nccl/libhacknccl.so"  # where third_party/nccl/build.sh puts it


class Runs:
    """The runs of one set of executables over one network, in one folder."""

    def __init__(self, tools, out, network):
        self.tools, self.out, self.network = tools, out, network
        self.kept = Kept(out / "kept")
        self.bands = ROOT / "configs/bands.yaml"
        self.errors = bands.read_errors(self.bands)

    def key(self, record):
        configs = [path for path in configuration_files([record.model, record.cluster], ROOT) if path != self.bands]
        words = [self.network, *record.settings, *record.arguments]
        return key_of(words, [*(self.tools / tool for tool in TOOLS), NCCL, *configs], ROOT)

    def recall(self, record):
        """Returns whether the cache has a prediction from the same files, and stores that prediction in the row."""
        key = self.key(record)
        found = self.kept.find(f"{record.source}-{record.name}", key) or self.kept.find_any(key)
        if found:
            record.predicted, record.cpu_seconds, record.gigabytes = (
                found["seconds"], found["cpu_seconds"], found["gigabytes"])
            record.predicted_gib = found.get("memory_gib", {}).get(record.memory_of, 0.0)
            record.fits = found.get("fits")
            record.band = bands.band_of(found.get("band"), record.predicted, self.errors)
        return found is not None

    def predict(self, record):
        """Fills in the prediction, or `failure`."""
        run = self.out / self.network / f"{record.source}-{record.name}"
        run.mkdir(parents=True, exist_ok=True)
        for tool, *arguments in self.stages(record, run):
            status, said = self.call(record, [self.tools / tool, *arguments, "--quiet"], run / "said.txt")
            if status != 0:
                record.failure = f"{tool}: exit status {status}: {said}"
                shutil.rmtree(run, ignore_errors=True)
                return
        summary = json.loads((run / "summary.json").read_text())
        record.predicted, record.band = summary["iteration_time_s"], summary["band"]
        record.fits = (summary.get("memory") or {}).get("fits")
        if not bands.agree(bands.band_of(record.band, record.predicted, self.errors), record.band):
            record.failure = "report: its band is not that of tests/validation/bands.py"
            return
        memory = manifest.peak_memory(run / "1-workload/manifest.pb")
        record.predicted_gib = memory.get(record.memory_of, 0.0)
        for artefact in run.glob("[24ct]*"):  # plans, timelines and traces of hundreds of runs would fill a disk
            artefact.unlink()
        self.kept.keep(f"{record.source}-{record.name}", self.key(record), {
            "row": record.name_and_settings, "seconds": record.predicted, "memory_gib": memory, "fits": record.fits,
            "band": record.band, "cpu_seconds": round(record.cpu_seconds, 1), "gigabytes": round(record.gigabytes, 2)})

    def stages(self, record, run):
        settings = [word for setting in record.settings for word in ("--set", setting)]
        model = [record.model]
        if record.arguments:
            script = run / "arguments.sh"
            script.write_text(f"{shlex.join(record.arguments)}\n")
            model = ["--megatron-args", script]
        return [
            ["workload-gen", *model, record.cluster, "-o", run, "--alike-once", "--if-changed", *settings],
            ["simccl", run, "--if-changed"],
            ["compute-sim", run, "--if-changed"],
            ["exec-engine", run, "--network", self.network, "--threads", "1", "--if-changed"],
            ["report", run, "--no-html", "--trace-ranks", "1"],
        ]

    @staticmethod
    def call(record, command, log):
        """Returns the exit status and the output; adds to the resources of the record."""
        with log.open("w") as errors:
            child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=errors)
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # otherwise its destructor would wait for the ended process
        record.cpu_seconds += used.ru_utime + used.ru_stime
        record.gigabytes = max(record.gigabytes, used.ru_maxrss * 1024e-9)
        return child.returncode, log.read_text().strip()

    def predict_all(self, wanted, jobs, why_not=lambda record: "", done=lambda record: None):
        """Uses cached predictions and runs the other rows, smaller rows first, unless `why_not` gives a reason. Calls `done` in
        that order, so that the output does not depend on which run ends first."""
        locks = collections.defaultdict(threading.Lock)  # rows of one run that was measured several times wait for each other

        def one(record):
            if record.needs:
                return record
            with locks[self.key(record)]:
                if not self.recall(record):
                    record.left_out = why_not(record)
                    if not record.left_out:
                        self.predict(record)
            return record

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for record in pool.map(one, wanted):
                done(record)

    def predict_options(self, wanted, jobs, why_not=lambda record: "", done=lambda record: None):
        """Predicts the rows once more with the other values of their unstated settings (unstated.py), in the same way. A row
        without a prediction waits. Where a run is taken as tuned, the row gets the best of these predictions."""
        rows = training.predicted(wanted)
        for record in rows:
            record.options = unstated.options(record)
        self.predict_all([option.record for record in rows for option in record.options], jobs, why_not, done)
        for record in rows:
            unstated.choose(record)
