"""exec-engine astra: whole workloads over ASTRA-sim's network, from its own files."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()

NETWORK = "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]  # ns\n"
SYSTEM = """{"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 4,
 "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"], "reduce-scatter-implementation": ["ring"],
 "all-to-all-implementation": ["ring"], "local-mem-bw": 1600, "roofline-enabled": %d, "peak-perf": 900}"""


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    """A varint, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(identity, kind, deps=(), us=0, **attributes):
    """kind: Chakra's NodeType."""
    body = field(1, identity) + field(2, b"n%d" % identity) + field(3, kind)
    body += b"".join(field(5, dep) for dep in deps) + field(7, us)
    for name, value in attributes.items():
        number = 27 if name == "is_cpu_op" else 9
        body += field(10, field(1, name.encode()) + field(number, value))
    return body


def trace(*nodes):
    return b"".join(varint(len(each)) + each for each in (field(1, b"0.0.4"), *nodes))


COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7


class AstraWorkload(unittest.TestCase):
    maxDiff = None

    def astra(self, traces, roofline=0, network=NETWORK, groups=None):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            (at / "network.yml").write_text(network)
            (at / "system.json").write_text(SYSTEM % roofline)
            for npu, content in enumerate(traces):
                (at / f"w.{npu}.et").write_bytes(content)
            words = [BIN / "exec-engine", "astra", at / "w", "--astra-network", at / "network.yml", "--astra-system", at / "system.json"]
            if groups is not None:
                (at / "groups.json").write_text(groups)
                words += ["--groups", at / "groups.json"]
            done = subprocess.run(words, text=True, capture_output=True, timeout=60)
            return done.returncode, done.stdout, done.stderr.replace(folder + "/", "")

    def ends(self, *arguments, **options):
        status, stdout, stderr = self.astra(*arguments, **options)
        self.assertEqual(status, 0, stderr)
        return [[int(cell) for cell in line.split(",")[1:]] for line in stdout.splitlines()[1:]]

    def test_its_published_answer_and_what_stands_around_it(self):
        call = dict(is_cpu_op=0, comm_type=0, comm_size=1 << 20)
        alike = trace(node(3, COMPUTE, us=7), node(5, COLLECTIVE, [3], **call))
        self.assertEqual(self.ends([alike] * 4), [[50_000, 7_000, 43_000]])
        # NPU 3 comes later, so the NPUs differ.
        late = trace(node(3, COMPUTE, us=17), node(5, COLLECTIVE, [3], **call))
        ends = self.ends([alike] * 3 + [late])
        self.assertEqual(len(ends), 4)
        self.assertEqual(max(end[0] for end in ends), 60_000)

    def test_roofline(self):
        # 1.8e9 operations at 900 TFLOPS: 2000 ns; of 1 MB at 1600 GB/s: 655 ns.
        busy = trace(node(0, COMPUTE, num_ops=1_800_000_000, tensor_size=1 << 20))
        self.assertEqual(self.ends([busy] * 4, roofline=1), [[2000, 2000, 0]])
        # 1000 operations a MB: bound by memory.
        lazy = trace(node(0, COMPUTE, num_ops=1000, tensor_size=1 << 20))
        self.assertEqual(self.ends([lazy] * 4, roofline=1), [[655, 655, 0]])

    def test_messages_and_groups(self):
        send = trace(node(0, SEND, comm_dst=1, comm_size=1 << 20, comm_tag=4))
        receive = trace(node(0, RECEIVE, comm_src=0, comm_size=1 << 20, comm_tag=4))
        pair = trace(node(0, COLLECTIVE, comm_type=0, comm_size=1 << 20, pg_name=1))
        ends = self.ends([send, receive, pair, pair], groups='{"1": [2, 3]}')
        self.assertEqual([end[0] for end in ends[:2]], [20_031, 20_031])
        self.assertEqual(ends[2], ends[3])

    def test_mistakes(self):
        memory = trace(node(0, 2, tensor_size=64))
        self.assertEqual(self.astra([memory] * 4), (1, "", "w.0.et: error: node 0 'n0': ASTRA-sim's remote memory is not modeled; on a "
                                                    "cluster, workload-gen import gives the transfer a memory\n"))
        empty = trace()
        self.assertEqual(self.astra([empty] * 3), (1, "", "w.3.et: error: there is no such trace; the network has 4 NPUs\n"))
        group = trace(node(0, COLLECTIVE, comm_type=0, comm_size=64, pg_name=7))
        self.assertEqual(self.astra([group] * 4), (1, "", "w.0.et: error: node 0 'n0': there is no group '7'; --groups names the JSON of "
                                                   "ASTRA-sim's --comm-group-configuration\n"))
        stranger = trace(node(0, COLLECTIVE, comm_type=0, comm_size=64, pg_name=1))
        self.assertEqual(self.astra([stranger] * 4, groups='{"1": [1, 2]}'),
                         (1, "", "w.0.et: error: node 0 'n0': NPU 0 is not a member of the group '1' of --groups\n"))
        status, _, stderr = self.astra([empty] * 4, network='{"logical-dims": ["4"]}')
        self.assertEqual((status, stderr.splitlines()[0]),
                         (1, "network.yml:1:2: error: 'logical-dims' states the sizes of a logical network alone, and ns-3 has the "
                          "network itself; write 'topology', 'npus_count', 'bandwidth' and 'latency' of each dimension"))


if __name__ == "__main__":
    unittest.main()
