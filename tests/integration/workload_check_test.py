"""workload-gen check: the properties that it proves of a run, and the runs that it refuses."""

from workload_graphs import SMALL, Graphs, main


class Check(Graphs):
    def test_shipped_workloads_can_run(self):
        for model, cluster, *settings in [("gpt-22b", "dgx-a100-80g-1"), ("llama-3-70b", "dgx-h100-8"), SMALL]:
            with self.subTest(model=model):
                stdout, stderr = self.expect_ok("check", self.generate(model, model, cluster, *settings))
                self.assertEqual(stderr, "")
                self.assertRegex(stdout, r"^\d+ ranks, \d+ programs? of \d+ ops together: no cycle, every op is reached; ")

    def test_a_damaged_run(self):
        run = self.generate()
        self.assertEqual(self.run_tool("check", self.folder / "no")[0], 1)
        path = run / "1-workload/class-0.et"
        path.write_bytes(path.read_bytes()[:-3])
        self.assertEqual(self.run_tool("check", run),
                         (1, "", f"{path}: error: this is not the trace the manifest was written with; run workload-gen again\n"))

    def test_the_cluster_of_a_run(self):
        run = self.generate("run", *SMALL)
        cluster = f"configs/clusters/{SMALL[1]}.topo"
        self.assertEqual(self.expect_ok("check", run, "--cluster", cluster, "--set", "cluster.hosts=1"), ("", ""))
        self.assertEqual(self.run_tool("check", run, "--cluster", cluster, "--set", "cluster.hosts=3"), (1, "", (
            f"{cluster}: error: is not the cluster of the workload in {run}; give the --set with which the workload was made, or "
            "no cluster\n")))
        self.assertEqual(self.run_tool("check", run, "--set", "cluster.hosts=3")[2].splitlines()[0],
                         "workload-gen: error: --set needs --cluster")

    def test_usage(self):
        self.assertEqual(self.run_tool("check"),
                         (2, "", "workload-gen: error: RUN is required\nworkload-gen: see workload-gen check --help\n"))
        self.assertEqual(self.run_tool("help", "chek"),
                         (1, "", "error: there is no command 'chek'; did you mean 'check'?; commands are check, explode, merge, "
                                 "import, import-cluster, dump, dot, graphml, stats, diff, keys\n"))
        for command in ["check", "explode", "merge", "import", "dump", "dot", "graphml", "stats", "diff", "keys"]:
            by_flag, by_name = self.expect_ok(command, "--help")[0], self.expect_ok("help", command)[0]
            self.assertEqual(by_flag, by_name)
            self.assertIn("Exit status:", by_flag)
        self.assertEqual(self.expect_ok("help"), self.expect_ok("--help"))


if __name__ == "__main__":
    main()
