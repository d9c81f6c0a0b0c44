"""Tests that scripts/check_layering finds each kind of violation, with one small tree per rule."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(files):
    """Returns the exit status and lines of the script on a tree that holds `files` (path -> text)."""
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
        self.assertEqual((run.returncode, run.stdout), (0, "layering: every #include is allowed\n"))

    def test_a_room_may_include_core_itself_and_its_listed_rooms(self):
        status, lines = check({
            "core/base/units.h": "",
            "workload-gen/job/a.h": "",
            "workload-gen/layout/a.h": "",
            "workload-gen/layout/a.cc": '#include "workload-gen/layout/a.h"\n#include <vector>\n#include "core/base/units.h"\n'
                                '#include "workload-gen/job/a.h"\n',
        })
        self.assertEqual((status, lines), (0, ["layering: every #include is allowed"]))

    def test_a_tool_must_not_include_another(self):
        self.expect_error({"report/a.cc": '\n#include "exec-engine/replay/replay.h"\n'},
                          "report/a.cc:2: error: report must not include exec-engine/replay/replay.h")

    def test_the_core_must_not_include_a_tool(self):
        self.expect_error({"core/model/a.h": '#include "simccl/plan/plan.h"\n'},
                          "core/model/a.h:1: error: core/model must not include simccl/plan/plan.h")

    def test_the_base_must_not_include_the_model(self):
        self.expect_error({"core/base/a.h": '#include "core/model/gpu.h"\n'},
                          "core/base/a.h:1: error: core/base must not include core/model/gpu.h")

    def test_a_room_must_not_include_a_room_above_it(self):
        self.expect_error({"workload-gen/job/a.h": '#include "workload-gen/megatron/megatron.h"\n'},
                          "workload-gen/job/a.h:1: error: workload-gen/job must not include "
                          "workload-gen/megatron/megatron.h")

    def test_a_room_must_not_include_an_unlisted_room(self):
        self.expect_error({"exec-engine/replay/a.h": '#include "exec-engine/networks/fluid/fluid_network.h"\n'},
                          "exec-engine/replay/a.h:1: error: exec-engine/replay must not include "
                          "exec-engine/networks/fluid/fluid_network.h")

    def test_cuda_files_keep_to_their_rooms(self):
        self.expect_error({"compute-sim/measure/a.cu": '#include "compute-sim/fit/fit.h"\n'},
                          "compute-sim/measure/a.cu:1: error: compute-sim/measure must not include "
                          "compute-sim/fit/fit.h")
        self.expect_error({"compute-sim/measure/a.cuh": '#include "report/inputs/inputs.h"\n'},
                          "compute-sim/measure/a.cuh:1: error: compute-sim/measure must not include "
                          "report/inputs/inputs.h")

    def test_tests_may_include_every_room_of_their_house_and_its_testing_folders(self):
        status, lines = check({
            "workload-gen/job/a_test.cc": '#include "workload-gen/megatron/megatron.h"\n'
                                          '#include "workload-gen/testing/job_testing.h"\n',
            "workload-gen/testing/a_testing.h": '#include "workload-gen/import/job_source.h"\n',
            "workload-gen/megatron/megatron.h": "",
            "workload-gen/testing/job_testing.h": "",
            "workload-gen/import/job_source.h": "",
        })
        self.assertEqual((status, lines), (0, ["layering: every #include is allowed"]))
        self.expect_error({"workload-gen/job/a_test.cc": '#include "report/inputs/inputs.h"\n'},
                          "workload-gen/job/a_test.cc:1: error: workload-gen/job must not include "
                          "report/inputs/inputs.h")

    def test_production_code_must_not_include_test_helpers(self):
        self.expect_error({"report/output/a.cc": '#include "report/testing/run_testing.h"\n'},
                          "report/output/a.cc:1: error: report/output/a.cc is not a test and must not include "
                          "report/testing/run_testing.h")

    def test_the_packet_network_may_include_the_network_interface_but_not_the_replay(self):
        status, _ = check({
            "core/network/network.h": "",
            "ns3-backend/packet_network.h": "",
            "ns3-backend/a.cc": '#include "core/network/network.h"\n#include "ns3/simulator.h"\n',
            "exec-engine/command/a.cc": '#include "ns3-backend/packet_network.h"\n',
        })
        self.assertEqual(status, 0)
        self.expect_error({"ns3-backend/a.cc": '#include "exec-engine/replay/replay.h"\n'},
                          "ns3-backend/a.cc:1: error: ns3-backend must not include exec-engine/replay/replay.h")
        self.expect_error({"exec-engine/replay/a.cc": '#include "ns3-backend/packet_network.h"\n'},
                          "exec-engine/replay/a.cc:1: error: exec-engine/replay must not include "
                          "ns3-backend/packet_network.h")

    def test_only_ns3_backend_may_include_ns3(self):
        self.expect_error({"exec-engine/a.cc": "#include <ns3/simulator.h>\n"},
                          "exec-engine/a.cc:1: error: exec-engine must not include ns3/simulator.h: "
                          "only ns3-backend uses ns-3")

    def test_only_the_schema_may_include_protobuf(self):
        self.expect_error({"simccl/a.cc": '#include "core/schema/artefacts/artefacts.pb.h"\n'},
                          "simccl/a.cc:1: error: simccl must not include core/schema/artefacts/artefacts.pb.h: "
                          "only core/schema reads and writes protobuf")

    def test_paths_start_at_the_top(self):
        self.expect_error({"simccl/plan/plan.h": "", "simccl/plan/a.cc": '#include "plan.h"\n'},
                          "simccl/plan/a.cc:1: error: plan.h: write the path from the top folder, "
                          "simccl/plan/plan.h")
        self.expect_error({"simccl/a.cc": '#include "../report/a.h"\n'},
                          "simccl/a.cc:1: error: ../report/a.h: write the path from the top folder")

    def test_an_included_file_is_in_the_tree(self):
        self.expect_error({"simccl/plan/a.cc": '#include <vector>\n#include "core/base/gone.h"\n'},
                          "simccl/plan/a.cc:2: error: core/base/gone.h is not in the tree: include another file; "
                          "a library's header stands in <>")
        self.expect_error({"core/base/a.cc": '#include "fmt/format.h"\n'},
                          "core/base/a.cc:1: error: fmt/format.h is not in the tree: include another file; "
                          "a library's header stands in <>")

    def test_the_build_makes_the_headers_of_protobuf(self):
        text = '#include "core/schema/artefacts/artefacts.pb.h"\n'
        status, _ = check({"core/schema/artefacts/a.cc": text, "core/schema/artefacts/artefacts.proto": ""})
        self.assertEqual(status, 0)
        self.expect_error({"core/schema/artefacts/a.cc": text},
                          "core/schema/artefacts/a.cc:1: error: core/schema/artefacts/artefacts.pb.h is not in the "
                          "tree: include another file; a library's header stands in <>")

    def test_libhacknccl_includes_headers_of_nccl(self):
        status, _ = check({"simccl/hacknccl/log/a.cc": '#include "core.h"\n'})
        self.assertEqual(status, 0)
        self.expect_error({"simccl/hacknccl/log/a.cc": '#include "simccl/hacknccl/log/gone.h"\n'},
                          "simccl/hacknccl/log/a.cc:1: error: simccl/hacknccl/log/gone.h is not in the tree: "
                          "include another file; a library's header stands in <>")

    def test_in_a_checkout_only_files_in_git_count(self):
        with tempfile.TemporaryDirectory() as folder:
            room = pathlib.Path(folder, "core/base")
            room.mkdir(parents=True)
            (room / "a.cc").write_text('#include "core/base/a.h"\n#include "core/base/b.h"\n')
            (room / "a.h").write_text("")
            (room / "b.h").write_text("")
            for command in (["init", "-q"], ["add", "core/base/a.cc", "core/base/a.h"]):
                subprocess.run(["git", "-C", folder, *command], check=True)
            run = subprocess.run([sys.executable, ROOT / "scripts/check_layering", folder],
                                 capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout),
                             (1, "core/base/a.cc:2: error: core/base/b.h is not in git: add it (git add), or include "
                                 "another file\n"))
            (room / "a.h").unlink()  # deleted, but still in the index
            (room / "b.h").unlink()
            run = subprocess.run([sys.executable, ROOT / "scripts/check_layering", folder],
                                 capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout.count("is not in the tree")), (1, 2))

    def test_a_new_folder_needs_a_room(self):
        self.expect_error({"core/extra/a.h": ""},
                          "core/extra/a.h:1: error: core/extra is not a room (ROOMS in scripts/check_layering)")

    def test_two_headers_must_not_define_the_same_name(self):
        text = "namespace drydock {\nclass Other;\nstruct Seat {\n};\n}\n"
        self.expect_error({"simccl/plan/a.h": text, "workload-gen/job/b.h": text},
                          "simccl/plan/a.h:3: error: drydock::Seat is defined in workload-gen/job/b.h:3 too; "
                          "give one of them another name or namespace")
        status, _ = check({"simccl/plan/a.h": text,
                           "workload-gen/job/b.h": text.replace("namespace drydock", "namespace drydock::job")})
        self.assertEqual(status, 0)

    def test_a_room_must_not_exceed_its_limit_of_files(self):
        files = {f"report/facts/a{number}.h": "" for number in range(41)}
        self.expect_error(files, "report/facts:1: error: 41 files; a room holds at most 40")


if __name__ == "__main__":
    unittest.main()
