"""scripts/check_layering finds what it is there to find. One small tree per rule."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(files):
    """Exit status and lines of the script on a tree that holds `files` (path -> text)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run(
            [sys.executable, ROOT / "scripts/check_layering", folder], capture_output=True, text=True)
    return run.returncode, run.stdout.splitlines()


class Layering(unittest.TestCase):
    def expect_error(self, files, line):
        self.assertEqual(check(files), (1, [line]))

    def test_this_tree_is_clean(self):
        run = subprocess.run([sys.executable, ROOT / "scripts/check_layering"], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, "layering: every #include points the right way\n"))

    def test_tools_may_use_the_core_and_themselves(self):
        status, _ = check({
            "core/base/units.h": "",
            "simccl/plan.h": "",
            "simccl/plan.cc": '#include "simccl/plan.h"\n#include <vector>\n#include "core/base/units.h"\n',
        })
        self.assertEqual(status, 0)

    def test_a_tool_must_not_include_another(self):
        self.expect_error({"report/a.cc": '\n#include "exec-engine/replay.h"\n'},
                          "report/a.cc:2: error: report must not include exec-engine/replay.h")

    def test_the_core_must_not_include_a_tool(self):
        self.expect_error({"core/model/a.h": '#include "simccl/plan.h"\n'},
                          "core/model/a.h:1: error: core/model must not include simccl/plan.h")

    def test_the_base_must_not_include_the_model(self):
        self.expect_error({"core/base/a.h": '#include "core/model/gpu.h"\n'},
                          "core/base/a.h:1: error: core/base must not include core/model/gpu.h")

    def test_the_network_seam_is_one_header_each_way(self):
        status, _ = check({
            "ns3-backend/a.cc": '#include "exec-engine/network.h"\n',
            "exec-engine/a.cc": '#include "ns3-backend/packet_network.h"\n',
        })
        self.assertEqual(status, 0)
        self.expect_error({"ns3-backend/a.cc": '#include "exec-engine/replay.h"\n'},
                          "ns3-backend/a.cc:1: error: ns3-backend must not include exec-engine/replay.h")

    def test_ns3_is_known_to_its_backend_alone(self):
        self.expect_error({"exec-engine/a.cc": "#include <ns3/simulator.h>\n"},
                          "exec-engine/a.cc:1: error: exec-engine must not include ns3/simulator.h: "
                          "ns-3 is known to ns3-backend alone")

    def test_protobuf_is_known_to_the_schema_alone(self):
        self.expect_error({"simccl/a.cc": '#include "core/schema/artefacts.pb.h"\n'},
                          "simccl/a.cc:1: error: simccl must not include core/schema/artefacts.pb.h: "
                          "only core/schema maps files to nouns")

    def test_paths_start_at_the_top(self):
        self.expect_error({"simccl/plan.h": "", "simccl/a.cc": '#include "plan.h"\n'},
                          "simccl/a.cc:1: error: plan.h: write the path from the top folder, simccl/plan.h")
        self.expect_error({"simccl/a.cc": '#include "../report/a.h"\n'},
                          "simccl/a.cc:1: error: ../report/a.h: write the path from the top folder")

    def test_a_new_folder_needs_a_rule(self):
        self.expect_error({"core/extra/a.h": ""},
                          "core/extra/a.h:1: error: no layering rule for this folder (scripts/check_layering)")


if __name__ == "__main__":
    unittest.main()
