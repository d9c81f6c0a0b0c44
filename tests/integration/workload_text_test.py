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
        self.assertRegex(stderr, r"^\S+/more: error: \d+ ops are too many to draw \(at most 20000\); --ranks, --layers, --micro-batches and "
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
        self.assertEqual(len(stats["pytorch"]), stats["programs"])
        self.assertTrue(all(0 < p["max_memory_allocated"] <= p["max_memory_reserved"] for p in stats["pytorch"]))
        self.assertRegex(table, r"(?m)^program +max_memory_allocated +max_memory_reserved\n0 ")
        for row in stats["communication"]:
            self.assertRegex(table, rf"(?m)^{row['role']} +{row['call']} +{row['groups']} +{row['least_members']} +{row['calls']} ")

    def test_diff(self):
        a = self.generate("a", *SMALL)
        status, stdout, stderr = self.run_tool("diff", a, a)
        self.assertEqual((status, stderr), (0, ""))
        rows = self.rows(stdout)
        self.assertTrue(all(row[1:] == [0, 0, 0] for row in rows.values()) and rows["calls"][0] > 0, stdout)
        self.assertEqual(self.run_tool("diff", a, a, "--check"), (0, "", ""))
        b = self.generate("b", *SMALL, "training.recompute=none")
        status, stdout, stderr = self.run_tool("diff", a, b, "--shown", "2", "--json", self.folder / "diff.json")
        self.assertEqual((status, stderr), (1, f"{a}: error: this workload and that of {b} differ\n"))
        self.assertRegex(stdout, r"(?m)^  1x A hardware FLOP \S+; B hardware FLOP \S+$")
        self.assertRegex(stdout, r"(?m)^8 ranks compared, as \d with different programs; 8 of them differ$")
        self.assertRegex(stdout, r"(?m)^      A: rank 0, op \d+, recompute micro-batch 0 layer \d+, ")
        found = json.loads((self.folder / "diff.json").read_text())
        self.assertEqual({row["what"]: [row["equal"], row["only_a"], row["only_b"], row["differ"]] for row in found["summary"]},
                         {name: [0] * 4 for name in (row["what"] for row in found["summary"])} | self.rows(stdout))
        self.assertTrue(all(d["b"] is None for d in found["differences"] if d["what"] in ("calls", "products", "attention")))
        c = self.generate("c", *SMALL, "cluster.hosts=2")
        self.assertIn("note: the clusters differ\n", self.run_tool("diff", a, c)[1])
        self.assertIn("A ranks 8; B ranks 16\n", self.run_tool("diff", a, c)[1])
        self.assertIn("--memory-tolerance", self.run_tool("diff", a, a, "--memory-tolerance", "101")[2])

    @staticmethod
    def rows(text):
        """The table of a diff, by name."""
        found = {}
        for line in text.split("what  ")[1].split("\n\n")[0].splitlines()[1:]:
            if not line.startswith("note"):
                words = line.rsplit(maxsplit=4)
                found[words[0]] = list(map(int, words[1:]))
        return found


if __name__ == "__main__":
    main()
