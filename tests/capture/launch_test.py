"""Tests that drydock-capture finds out what scripts launch, whatever way they call the launchers, and what it says if they
launch nothing. No PyTorch is needed: no rank runs.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "configs/clusters/dgx-h100-8.topo"
TOOL = None  # from the command line


class Launches(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def run_tool(self, *arguments, environment=(), timeout=60):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("SLURM", "PET_", "OMPI")) and name not in ("RANK", "WORLD_SIZE")}
        return subprocess.run([TOOL, *map(str, arguments)], cwd=self.folder, text=True, capture_output=True, timeout=timeout,
                              env={**kept, "TMPDIR": str(self.temporary), **dict(environment)})

    def script(self, text, name="run.sh"):
        path = self.folder / name
        path.write_text("#!/bin/bash\n" + text)
        path.chmod(0o755)
        return path

    def launches(self, text, *arguments, options=(), environment=()):
        """What a script launches: the objects of --json."""
        self.script(text)
        done = self.run_tool("--arguments-only", "--json", "--cluster", CLUSTER, *options, "--", "bash", "run.sh", *arguments,
                             environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.notes = done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def commands(self, *arguments, **named):
        """(hosts, ranks of each, command) of what a script launches."""
        return [(launch["hosts"], launch["ranks_per_host"], launch["command"]) for launch in self.launches(*arguments, **named)]

    def refusal(self, text, *options):
        self.script(text)
        done = self.run_tool("--arguments-only", "--cluster", CLUSTER, *options, "--", "bash", "run.sh")
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def test_words_arrive_as_the_shell_makes_them(self):
        self.assertEqual(self.commands(r"""
set -euo pipefail
mapfile -t lines < <(printf '%s\n' --a "x y")
arguments=("${lines[@]}" --empty '' --dollar '$HOME' --quote "it's" --star '*')
declare -A sizes=([small]=8 [large]=16)
let layers=2*4; ((layers+=1)); printf -v rate '%.1e' 0.001; read -r one two <<<"1 2"
[[ ${MODE:-} == test ]] && arguments+=(--test)
eval "torchrun --nproc-per-node ${sizes[small]} 'my file.py' \"\${arguments[@]}\" --layers $layers --rate $rate --octal $((010)) $two \$1"
""", "last word", environment={"MODE": "test"}), [(1, 8, [
            "python", "-u", "my file.py", "--a", "x y", "--empty", "", "--dollar", "$HOME", "--quote", "it's", "--star", "*",
            "--test", "--layers", "9", "--rate", "1.0e-03", "--octal", "8", "2", "last", "word"])])

    def test_launchers_are_seen_in_whatever_way_they_are_called(self):
        ways = {
            "function": "f() { torchrun --nproc-per-node 4 t.py \"$@\"; }; f",
            "exec": "exec torchrun --nproc-per-node 4 t.py",
            "subshell": "(cd . && torchrun --nproc-per-node 4 t.py)",
            "background": "nohup torchrun --nproc-per-node 4 t.py > out.txt 2>&1 &",
            "disowned": "setsid torchrun --nproc-per-node 4 t.py & disown",
            "pipe": "torchrun --nproc-per-node 4 t.py 2>&1 | tee log.txt",
            "path": "/usr/local/bin/torchrun --nproc-per-node 4 t.py",
            "env": "/usr/bin/env -u X torchrun --nproc-per-node 4 t.py",
            "other PATH": "PATH=/usr/bin:/bin; /opt/env/bin/torchrun --nproc-per-node 4 t.py",
            "PATH without it": "PATH=/usr/bin:/bin; torchrun --nproc-per-node 4 t.py",
            "empty environment": "env -i PATH=\"$PATH\" torchrun --nproc-per-node 4 t.py",
            "HOME": "$HOME/.local/bin/torchrun --nproc-per-node 4 t.py",
            "time": "time torchrun --nproc-per-node 4 t.py",
            "timeout": "timeout 9 torchrun --nproc-per-node 4 t.py",
            "numactl": "numactl -N 0 torchrun --nproc-per-node 4 t.py",
            "nsys": "nsys profile -o out -t cuda torchrun --nproc-per-node 4 t.py",
            "apptainer": "apptainer exec --nv image.sif torchrun --nproc-per-node 4 t.py",
            "sh -c": "sh -c 'torchrun --nproc-per-node 4 t.py'",
            "xargs": "echo t.py | xargs torchrun --nproc-per-node 4",
            "ssh": "ssh -o StrictHostKeyChecking=no worker-0 \"cd $PWD; torchrun --nproc-per-node 4 t.py\"",
            "pdsh": "pdsh -R ssh -w worker-0 torchrun --nproc-per-node 4 t.py",
            "docker": "docker run --gpus all -it --rm -v $PWD:/w -w /w image:1 bash -c 'torchrun --nproc-per-node 4 t.py'",
            "enroot": "enroot start --rw -m /a:/b image torchrun --nproc-per-node 4 t.py",
            "execl": f"python3 -c 'import ctypes; ctypes.CDLL(None).execl(b\"/opt/torchrun\", b\"torchrun\", "
                     "b\"--nproc-per-node\", b\"4\", b\"t.py\", None)'",
            "execlp": f"python3 -c 'import ctypes; ctypes.CDLL(None).execlp(b\"torchrun\", b\"torchrun\", "
                      "b\"--nproc-per-node\", b\"4\", b\"t.py\", None)'",
            "which": "python $(which torchrun) --nproc-per-node 4 t.py",
            "module": "python -m torch.distributed.run --nproc-per-node 4 t.py",
            "python in Python": "python3 - <<'P'\nimport os; os.system('torchrun --nproc-per-node 4 t.py')\nP",
            "another script": "echo 'torchrun --nproc-per-node 4 t.py' > inner.sh; source ./inner.sh",
            "modules": "module load cuda; ml purge; torchrun --nproc-per-node 4 t.py",
            "limits": "set -e; ulimit -l unlimited; torchrun --nproc-per-node 4 t.py",
        }
        for way, text in ways.items():
            with self.subTest(way):
                self.assertEqual(self.commands(text), [(1, 4, ["python", "-u", "t.py"])])

    def test_questions_to_the_cluster_are_answered(self):
        self.assertEqual(self.commands("""
gpus=$(nvidia-smi -L | wc -l)
port=$(python3 -c 'print(29500)')
torchrun --nproc-per-node $gpus --nnodes ${NODES:-2} --master_port $port t.py --at $(hostname -I | awk '{print $1}')
"""), [(2, 8, ["python", "-u", "t.py", "--at", "127.0.0.1"])])

    def test_jobs(self):
        one = self.launches("""#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1 --gpus-per-node=8
nodes=($(scontrol show hostnames $SLURM_JOB_NODELIST))
head=$(srun --nodes=1 --ntasks=1 -w "${nodes[0]}" hostname)
srun --kill-on-bad-exit=1 bash -c "torchrun --nnodes $SLURM_NNODES --nproc-per-node 8 --node_rank \\$SLURM_NODEID \
  --rdzv_endpoint $head:1 t.py --nodes ${#nodes[@]}"
""")
        self.assertEqual([(one[0]["hosts"], one[0]["ranks_per_host"], one[0]["command"])],
                         [(4, 8, ["python", "-u", "t.py", "--nodes", "4"])])
        each = self.launches("""#SBATCH -N 2
srun --ntasks-per-node=8 bash -c 'export LOCAL=$SLURM_LOCALID; python t.py --rank $SLURM_PROCID --out log-$SLURM_NODEID'
""")[0]
        self.assertEqual((each["hosts"], each["ranks_per_host"]), (2, 8))
        self.assertEqual(each["rank_words"], [{"index": 3, "before": "", "number": "rank", "after": ""},
                                              {"index": 5, "before": "log-", "number": "host", "after": ""}])
        self.assertEqual(each["rank_variables"], {"SLURM_PROCID": "rank", "SLURM_LOCALID": "local_rank", "SLURM_NODEID": "host",
                                                  "LOCAL": "local_rank"})
        for shell in ("-e", "-eo", "-x"):  # as sbatch would run it
            self.script("#SBATCH -N 2\nsrun -n 16 python t.py\n")
            options = [shell, "pipefail"] if shell == "-eo" else [shell]
            done = self.run_tool("--arguments-only", "--cluster", CLUSTER, "--", "bash", *options, "run.sh")
            self.assertEqual((done.returncode, done.stdout.splitlines()[:1]), (0, ["# 16 ranks on 2 hosts"]), done.stderr)
        self.assertIn("run.sh:3: error: sbatch: option '--nods' is not known; did you mean '--nodes'?\n",
                      self.refusal("#SBATCH -N 2\n#SBATCH --nods=4\ntorchrun t.py\n"))
        self.assertEqual(self.commands("sbatch --parsable <<'J'\n#!/bin/bash\n#SBATCH -N 2\nsrun -n 16 python t.py\nJ\n"),
                         [(2, 8, ["python", "t.py"])])
        (self.folder / "sub").mkdir()
        for words in (["bash", "run.sh"], ["sbatch", "run.sh"]):
            self.script("#SBATCH -D sub\ntorchrun t.py $(basename $SLURM_SUBMIT_DIR)\n")
            done = self.run_tool("--arguments-only", "--", *words)
            self.assertEqual(done.stdout.splitlines()[1], f"cd {self.folder}/sub && {done.stdout.split('&& ')[1].strip()}", done.stderr)
            self.assertTrue(done.stdout.endswith(f"t.py {self.folder.name}\n"), done.stdout)
        self.script("python t.py --task $SLURM_PROCID\n", name="task.sh")
        self.assertEqual(self.commands("srun -N 1 -n 8 task.sh"), [(1, 8, ["python", "t.py", "--task", "0"])])
        self.launches("#PBS -l select=2\ntorchrun t.py\n")
        self.assertIn("run.sh:2: #PBS -l select=2; the options of this system are not read; set the variables of the job before "
                      "the command: NAME=VALUE drydock capture ...\n", self.notes)
        self.assertEqual(self.commands("sbatch -N 2 --wrap 'srun -n 16 python t.py'"), [(2, 8, ["python", "t.py"])])
        self.assertEqual(self.commands("mpirun -np 16 -x A=1 python t.py"), [(2, 8, ["python", "t.py"])])

    def test_ranks_that_a_script_starts_itself(self):
        launch = self.launches("""
export WORLD_SIZE=8
for rank in $(seq 7 -1 0); do RANK=$rank LOCAL_RANK=$rank python3 t.py --local_rank=$rank & done; wait
""")
        self.assertEqual([(one["ranks"], one["rank_words"]) for one in launch],
                         [(8, [{"index": 2, "before": "--local_rank=", "number": "rank", "after": ""}])])
        self.assertIn("a capture needs words that are the same, or numbers of the rank", self.refusal("""
for rank in 0 1; do WORLD_SIZE=2 RANK=$rank python t.py --seed $((rank + 5)) & done; wait"""))

    def test_the_same_launch_on_several_hosts_is_one(self):
        self.assertEqual(self.commands("""
for host in 0 1 2 3; do NODE_RANK=$host torchrun --nnodes 4 --nproc-per-node 8 --node_rank $host t.py & done; wait"""),
                         [(4, 8, ["python", "-u", "t.py"])])

    def test_several_launches_are_listed_and_one_is_chosen(self):
        text = "torchrun --nproc-per-node 8 one.py\ndeepspeed --num_gpus 4 two.py\n"
        self.assertEqual([command[2][2] for command in self.commands(text)], ["one.py", "two.py"])
        self.assertEqual([command[2][2] for command in self.commands(text, options=["--launch", "2"])], ["two.py"])
        done = self.run_tool("--check", "--cluster", CLUSTER, "--", "bash", "run.sh")
        self.assertEqual(done.returncode, 1)
        self.assertIn("""error: the script launches 2 programs; choose one:
  --launch 1  torchrun: python -u one.py, 8 ranks on 1 host
  --launch 2  deepspeed: python -u two.py --local_rank=0, 4 ranks on 1 host""", done.stderr)
        self.assertIn("--launch 3: the script launches 2 programs", self.refusal(text, "--launch", "3"))
        self.script("for rate in 1 2; do RATE=$rate torchrun t.py; done\n")
        done = self.run_tool("--check", "--cluster", CLUSTER, "--", "bash", "run.sh")
        self.assertIn("""
  --launch 1  torchrun: python -u t.py, 1 rank on 1 host
  --launch 2  torchrun: python -u t.py, 1 rank on 1 host, RATE=2""", done.stderr)

    def test_helpers(self):
        (self.folder / "make.py").write_text("open('layers.txt', 'w').write('12')\n")
        text = "python make.py\ntorchrun t.py --layers $(cat layers.txt 2>/dev/null || echo none)\n"
        self.assertEqual(self.commands(text), [(1, 1, ["python", "-u", "t.py", "--layers", "none"])])
        self.assertIn("drydock-capture: executes the script, with stand-ins in place of launchers: bash run.sh\n", self.notes)
        self.assertIn("drydock-capture: was not run: python make.py; --run-helpers runs it\n", self.notes)
        self.assertEqual(self.commands(text, options=["--run-helpers"]), [(1, 1, ["python", "-u", "t.py", "--layers", "12"])])
        self.assertEqual(self.commands("pip install x\ncurl -s a | sh\ntorchrun t.py\n"), [(1, 1, ["python", "-u", "t.py"])])
        self.assertIn("was not run: pip install x\n", self.notes)

    def test_environment_is_that_of_the_script_and_nothing_of_the_stand_ins(self):
        launch = self.launches("""
export NCCL_DEBUG=INFO DATA=$HOME/data; unset LANGUAGE
cd / && torchrun --nproc-per-node 2 t.py $HOME/more""", environment={"LANGUAGE": "en", "HOME": "/home/someone"})[0]
        self.assertEqual(launch["environment"], {"DATA": "/home/someone/data", "NCCL_DEBUG": "INFO", "OMP_NUM_THREADS": "1"})
        self.assertEqual((launch["unset"], launch["folder"]), (["LANGUAGE"], "/"))
        self.assertEqual(launch["command"][-1], "/home/someone/more")
        self.launches("torchrun t.py", environment={"NCCL_ALGO": "Ring", "NCCL_KEY": "x", "CUDA_VISIBLE_DEVICES": "0"})
        self.assertRegex(self.notes, "the program gets from your environment: .*CUDA_VISIBLE_DEVICES=0.*, NCCL_ALGO=Ring")
        self.assertNotIn("NCCL_KEY", self.notes)

    def test_a_script_is_kept_apart(self):
        home = self.folder / "home"
        home.mkdir()
        self.launches("touch $HOME/file; mktemp >&2; torchrun t.py", environment={"HOME": str(home)})
        self.assertEqual(list(home.iterdir()), [])
        self.assertIn("the script wrote into its HOME", self.notes)
        self.launches("touch $HOME/file; torchrun t.py", options=["--keep-home"], environment={"HOME": str(home)})
        self.assertEqual([file.name for file in home.iterdir()], ["file"])
        if subprocess.run(["unshare", "-Urn", "true"], stderr=subprocess.DEVNULL).returncode == 0:
            self.launches("cat /proc/net/dev | wc -l > count.txt; torchrun t.py")
            self.assertEqual((self.folder / "count.txt").read_text().strip(), "3")  # two lines of titles, and lo
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_script_has_a_time_limit_and_leaves_nothing_running(self):
        begin = time.monotonic()
        mark = f"capture-{os.getpid()}"
        text = f"(exec -a {mark} bash -c 'while :; do /bin/sleep 1; done') &\n"
        self.launches(text + "torchrun t.py")
        self.assertIn("processes that the script had left in the background were ended after it", self.notes)
        self.assertIn("error: 'bash' has not ended after 1 second; --time-limit gives it more",
                      self.refusal(text + "wait", "--time-limit", "1"))
        self.assertLess(time.monotonic() - begin, 20)
        processes = subprocess.run(["ps", "-eo", "args"], text=True, capture_output=True).stdout
        self.assertNotIn(mark, processes)

    def test_nothing_is_left_running_on_a_system_without_namespaces(self):
        without = ["unshare", "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"', "sh"]
        if subprocess.run([*without, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this system has no namespaces at all")
        mark = f"capture-alone-{os.getpid()}"
        left = f"(exec -a {mark} setsid bash -c 'while :; do /bin/sleep 1; done') &\n"
        for text, status in ((left + "torchrun t.py", 0), (left + "wait", 1)):
            done = subprocess.run([*without, TOOL, "--arguments-only", "--time-limit", "4", "--", "bash", self.script(text)],
                                  cwd=self.folder, text=True, capture_output=True, timeout=60,
                                  env={**os.environ, "TMPDIR": str(self.temporary)})
            self.assertEqual(done.returncode, status, done.stderr)
            processes = subprocess.run(["ps", "-eo", "args"], text=True, capture_output=True).stdout
            self.assertNotIn(mark, processes)
            self.assertEqual(list(self.temporary.iterdir()), [])

    def test_the_folder_for_scratch(self):
        (self.folder / "here").mkdir()
        self.assertEqual(self.commands("cd /; torchrun t.py", environment={"TMPDIR": "here"}),
                         [(1, 1, ["python", "-u", "t.py"])])
        for name, message in (("nowhere", "error: TMPDIR names no folder"), ("a b", "a script needs a folder without blanks")):
            (self.folder / "a b").mkdir(exist_ok=True)
            done = self.run_tool("--arguments-only", "--", "bash", "-c", "torchrun t.py",
                                 environment={"TMPDIR": str(self.folder / name)})
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)

    def test_nothing_launched(self):
        self.assertIn("error: no training program is started by: bash run.sh\n  it ended with exit status 3 at run.sh: exit 3\n",
                      self.refusal("exit 3"))
        self.assertIn("  it ended with exit status 1 at run.sh:4: cd $X/data\n",
                      self.refusal("set -e\ntest a = b || true\ncd $X/data\ntorchrun t.py"))
        self.assertIn("  it ended with exit status 1 at run.sh: source /nowhere/start\n",
                      self.refusal("set -xe\nsource /nowhere/start\ntorchrun t.py"))
        self.assertIn("  this machine has no 'nowhere'\n", self.refusal("nowhere --x"))
        self.assertIn("  this machine has no 'elsewhere'\n", self.refusal("numactl -N 0 elsewhere"))
        self.assertIn("  was not run: ssh worker-1 rm -r old\n", self.refusal("ssh worker-1 rm -r old"))
        self.assertIn("  run.sh:3: srun: option '--node-list' is not known; did you mean '--nodelist'?\n",
                      self.refusal("\nsrun --node-list=a python t.py"))
        self.assertIn("error: torchrun: --nnodes has no value: a variable of the script is empty here; set it before the "
                      "command: NAME=VALUE drydock capture ...", self.refusal("torchrun --nnodes=$NODES t.py"))
        done = self.run_tool("--arguments-only", "--", "bash", "nowhere.sh")
        self.assertIn("nowhere.sh: error: there is no such script", done.stderr)
        for words, message in ((["nowhere"], "nowhere: error: this machine has no such program"),
                               (["./nowhere"], "./nowhere: error: there is no such program")):
            done = self.run_tool("--arguments-only", "--", *words)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)

    def test_a_program_that_is_missing(self):
        (self.folder / "train.py").write_text("")
        (self.folder / "sub").mkdir()
        done = self.run_tool("--check", "--cluster", CLUSTER, "--", "torchrun", "trian.py")
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (1, (
            f"{self.folder}/trian.py: error: torchrun starts this program, but there is no such file; did you mean 'train.py'?")))
        self.script("cd sub; python3 train.py")
        done = self.run_tool("--check", "--cluster", CLUSTER, "--", "bash", "run.sh")
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (1, (
            f"{self.folder}/sub/train.py: error: Python starts this program, but there is no such file")))

    def test_commands_that_are_read_and_not_executed(self):
        done = self.run_tool("--arguments-only", "--", "torchrun", "--nnodes", "2", "--nproc-per-node", "gpu", "t.py", "a b")
        self.assertEqual(done.stdout, f"# 16 ranks on 2 hosts\ncd {self.folder} && env OMP_NUM_THREADS=1 python -u t.py 'a b'\n")
        self.assertIn("drydock-capture: no --cluster: hosts with 8 GPUs are taken for granted\n", done.stderr)
        done = self.run_tool("--arguments-only", "--nnodes", "3", "--nproc-per-node", "gpu", "--", "python", "t.py")
        self.assertEqual(done.stdout, f"# 24 ranks on 3 hosts\ncd {self.folder} && python t.py\n")
        done = self.run_tool("--arguments-only", "--nproc-per-node", "2", "--", "torchrun", "t.py")
        self.assertIn("--nnodes and --nproc-per-node are for programs without a launcher; here torchrun starts 1 rank",
                      done.stderr)

    def test_the_world_has_to_fit_the_cluster(self):
        done = self.run_tool("--check", "--cluster", CLUSTER, "--", "torchrun", "--nnodes", "128", "--nproc-per-node", "8", "t.py")
        self.assertEqual((done.returncode, done.stderr[done.stderr.index(str(CLUSTER)):]), (1, (
            f"{CLUSTER}: error: torchrun starts 1024 ranks on 128 hosts, but the cluster has 8 hosts with 64 GPUs; "
            "--set cluster.hosts=128 makes it larger\n")))

    def test_wrong_usage(self):
        cases = {("--cluster", CLUSTER): "program (behind --) is required",
                 ("--", "python", "t.py"): "--cluster is required",
                 ("--cluster", CLUSTER, "--", "python", "t.py"): "-o RUN is required",
                 ("--setup", "--", "python", "t.py"): "--setup makes an environment and captures nothing",
                 ("--setup", "--arguments-only"): "--setup makes an environment and captures nothing",
                 ("--json", "--cluster", CLUSTER, "-o", "x", "--", "python", "t.py"): "--json needs --arguments-only",
                 ("--launch", "0", "--", "x"): "--launch"}
        for arguments, message in cases.items():
            done = self.run_tool(*arguments)
            self.assertEqual(done.returncode, 2, message)
            self.assertIn(message, done.stderr)

    def test_a_python_without_pytorch(self):
        (self.folder / "t.py").write_text("")
        done = self.run_tool("--check", "--cluster", CLUSTER, "--python", "/bin/false", "--", "python", "t.py")
        self.assertEqual(done.returncode, 1)
        done = self.run_tool("--check", "--cluster", CLUSTER, "--python", "nowhere", "--", "python", "t.py")
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (
            1, "nowhere: error: this machine has no such program"))
        done = self.run_tool("--check", "--cluster", CLUSTER, "--cache", self.folder / "cache", "--", "/nowhere/python", "t.py")
        self.assertEqual((done.returncode, done.stderr[done.stderr.index("error"):]), (1, (
            "error: this machine has no '/nowhere/python'\n  'drydock capture --setup' makes an environment with PyTorch (0.9 GB "
            "to fetch); --python PATH takes one of yours\n")))


class Drydock(unittest.TestCase):
    def drydock(self, *arguments):
        return subprocess.run([TOOL.parent / "drydock", *arguments], text=True, capture_output=True, timeout=60)

    def test_a_command_is_the_tool_beside_it(self):
        version = self.drydock("capture", "--version")
        self.assertEqual((version.returncode, version.stdout.split()[0]), (0, "drydock-capture"))
        self.assertEqual(self.drydock("capture", "--nonsense").returncode, 2)

    def test_help_lists_the_commands(self):
        for arguments in [(), ("--help",), ("help",)]:
            said = self.drydock(*arguments)
            self.assertEqual(said.returncode, 0)
            self.assertIn("\n  workload-gen     model and cluster -> workload", said.stdout)
        self.assertRegex(self.drydock("--version").stdout, r"^drydock \d")

    def test_unknown_commands(self):
        for name, message in {"captur": "there is no command 'captur'; did you mean 'capture'?",
                              "../bin/simccl": "there is no command '../bin/simccl'", "ls": "there is no command 'ls'"}.items():
            done = self.drydock(name)
            self.assertEqual((done.returncode, done.stderr), (2, f"drydock: error: {message}\ndrydock: see drydock --help\n"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    options, rest = parser.parse_known_args()
    TOOL = options.tool.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
