"""workload-gen's dump, dot, graphml, stats and diff."""

import json
import xml.etree.ElementTree

from workload_graphs import SMALL, Graphs, main


class Text(Graphs):
    def test_dump_equals_the_output_of_generating(self):
        run = self.generate()
        whole = self.expect_ok("dump", run)[0]
        self.assertEqual(whole, self.expect_ok("configs/models/gpt-22b.yaml", "configs/clusters/dgx-a100-80g-1.topo", "--dump", "-q")[0])
        self.assertTrue(whole.startswith(self.expect_ok("dump", run, "--tables")[0]))
        lines = self.expect_ok("dump", run, "--ranks", "3", "--layers", "5")[0].splitlines()
        self.assertRegex(lines[0], r"^rank 3: class 0, \d+ ops$")
        self.assertTrue(all(" layer5: " in line for line in lines[1:]) and len(lines) > 5)
        self.assertIn("in group 0 'tp' (ranks 0-7)", "".join(lines))

    def test_dot_and_graphml(self):
        run = self.generate("run", *SMALL)
        dot = self.expect_ok("dot", run, "--ranks", "0,1,4,5", "--micro-batches", "0")[0]
        self.assertEqual((dot.count("{"), dot.count("digraph")), (dot.count("}"), 1))
        self.assertEqual(dot.count("subgraph cluster_rank"), 4)
        self.assertEqual(dot.count("[shape=rarrow"), dot.count("[style=bold]"), "every send in the slice has its receive there")
        self.expect_ok("graphml", run, "--ranks", "0,1,4,5", "--micro-batches", "0", "-o", self.folder / "g.xml")
        root = xml.etree.ElementTree.parse(self.folder / "g.xml").getroot()
        name = "{http://graphml.graphdrawing.org/xmlns}"
        nodes = {n.get("id") for n in root.iter(name + "node")}
        edges = [(e.get("source"), e.get("target")) for e in root.iter(name + "edge")]
        self.assertTrue(nodes.issuperset(end for edge in edges for end in edge))
        self.assertEqual((len(nodes), len(edges)), (dot.count("shape="), dot.count(" -> ")))
        self.assertEqual(self.run_tool("dot", run, "--ranks", "9")[0], 1)
        status, _, stderr = self.run_tool("dot", self.generate("more", "llama-3-70b", "dgx-h100-8"))
        self.assertEqual(status, 1)
        self.assertRegex(stderr, r"^error: \d+ ops are too many to draw \(at most 20000\); --ranks, --layers, --micro-batches and "
                                 r"--ops narrow them down\n$")

    def test_stats_add_up(self):
        run = self.generate("run", *SMALL)
        stats = json.loads(self.expect_ok("stats", run, "--json")[0])
        ops = sum(sum(v for k, v in phase.items() if k != "phase") for phase in stats["phases"])
        self.assertEqual(ops, stats["ops"])
        self.assertAlmostEqual(sum(c["flops"] for c in stats["compute"]) / stats["flops"], 1, 9)
        # The stats count calls in the ranks' programs; the test counts them by group.
        calls = {(c["role"], c["call"]): c["calls"] for c in stats["communication"]}
        text = "".join(self.expect_ok("dump", run, "--ranks", str(rank))[0] for rank in range(8))
        self.assertEqual(sum(n for (role, call), n in calls.items() if role == "tp") * 2, text.count(" 'tp' "))
        self.assertEqual(sum(n for (role, call), n in calls.items() if call == "send-recv"), text.count(": send "))
        table = self.expect_ok("stats", run)[0]
        for row in stats["communication"]:
            self.assertRegex(table, rf"(?m)^{row['role']} +{row['call']} +{row['groups']} +{row['least_members']} +{row['calls']} ")

    def test_diff(self):
        a = self.generate("a", *SMALL)
        self.assertEqual(self.run_tool("diff", a, a), (0, "", ""))
        b = self.generate("b", *SMALL, "training.recompute=none")
        status, stdout, stderr = self.run_tool("diff", a, b, "--shown", "2")
        self.assertEqual((status, stderr), (1, f"error: {a} and {b} differ\n"))
        self.assertRegex(stdout, r"(?m)^hardware FLOP: ")
        self.assertRegex(stdout, r"(?m)^rank 0 and 3 more: \d+ differences in \d+ and \d+ ops$")
        self.assertRegex(stdout, r"(?m)^  - op \d+: ")
        c = self.generate("c", *SMALL, "cluster.hosts=2")
        self.assertIn("cluster: differs\n", self.run_tool("diff", a, c)[1])
        self.assertIn("ranks: 8 and 16\n", self.run_tool("diff", a, c)[1])


if __name__ == "__main__":
    main()
