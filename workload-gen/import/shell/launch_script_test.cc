#include "workload-gen/import/shell/launch_script.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using Variables = std::map<std::string, std::string>;

LaunchLine Read(const std::string& text, const Variables& variables = {}) {
  const Result<LaunchLine> line = ReadLaunchScript(text, "run.sh", variables);
  EXPECT_TRUE(line.ok()) << line.error().ToString();
  return line.ok() ? *line : LaunchLine();
}

// Returns the arguments, separated by "|", with unknown parts in angle brackets.
std::string Arguments(const std::string& text, const Variables& variables = {}) {
  std::vector<std::string> words;
  for (const ScriptWord& word : Read(text, variables).arguments) {
    words.push_back(word.unresolved.empty() ? word.text : word.text + "<" + word.unresolved + ">");
  }
  return Join(words, "|");
}

std::string Of(const std::string& script, const std::string& arguments) {
  return Arguments(script + "\ntorchrun pretrain_gpt.py " + arguments + "\n");
}

TEST(LaunchScript, ABareListOfArguments) {
  EXPECT_EQ(Arguments("# a list\n--bf16\n  --num-layers 12 # deep\n\n--save \"a b\"\n"),
            "--bf16|--num-layers|12|--save|a b");
}

TEST(LaunchScript, WordsAndQuotes) {
  EXPECT_EQ(Of("", R"(--a 'x "y" $Z' --b "p 'q' \"r\" \$s \n" c\ d --e='f'"g")"),
            R"(--a|x "y" $Z|--b|p 'q' "r" $s \n|c d|--e=fg)");
  EXPECT_EQ(Of("", "--a \\\n   --b '' # --c"), "--a|--b|");
}

TEST(LaunchScript, VariablesAndArrays) {
  EXPECT_EQ(Of("TP=8; ARGS=(--tp ${TP} # wide\n '--name' \"a $TP\")", "${ARGS[@]} \"${ARGS[0]}\""),
            "--tp|8|--name|a|8|--tp");
  EXPECT_EQ(Of("ARGS=(--a 1)\nARGS+=(--b \"x y\")", "\"${ARGS[@]}\" ${ARGS[*]}"),
            "--a|1|--b|x y|--a|1|--b|x|y");
  EXPECT_EQ(Of("OPTIONS=\" \\\n  --a 1 \\\n  --b\n\"\nOPTIONS+=\" --c\"", "$OPTIONS \"$OPTIONS\""),
            "--a|1|--b|--c|   --a 1   --b\n --c");
  EXPECT_EQ(Of("export A=1 B=\"2 3\"", "$A ${B}"), "1|2|3");
}

TEST(LaunchScript, DefaultsReplaceUnsetVariables) {
  EXPECT_EQ(Of("A=1\nE=", "${A:-2} ${B:-2} ${B-3} ${E:-4} ${E-5} ${A:+6} ${B:+7} ${C:=\"8 9\"}"),
            "1|2|3|4|6|8|9");
  EXPECT_EQ(Of("A=1", "${B:-${C:-$A}}"), "1");
}

TEST(LaunchScript, Arithmetic) {
  EXPECT_EQ(Of("G=8\nN=4\nW=$(($G*$N))", "$W $((W / 2)) \"$((UNKNOWN))\""), "32|16|<$((UNKNOWN))>");
}

TEST(LaunchScript, UndefinedValues) {
  EXPECT_EQ(Of("A=$(date) B=`hostname`", "--a $A --b $B --c $1 --d ${#X[@]} --e x$HOME.y"),
            "--a|<$(date)>|--b|<`hostname`>|--c|<$1>|--d|<${#X[@]}>|--e|x.y<$HOME>");
}

TEST(LaunchScript, DecidedConditions) {
  EXPECT_EQ(Of("T=fp8\nA=()\nif [[ \"$T\" == \"fp8\" ]]; then\n  A+=(\"--fp8-format hybrid\")\n"
               "elif [ $T = bf16 ]; then A+=(--bf16)\nelse\n  A+=(--fp16)\nfi",
               "${A[@]}"),
            "--fp8-format|hybrid");
  EXPECT_EQ(Of("TP=1; SP=true\nif [ $SP = true ] && [ $TP -gt 1 ]; then X=1; else X=2; fi\n"
               "if ! [[ $TP -ge 2 || -z $SP ]]; then Y=3; fi",
               "$X $Y"),
            "2|3");
  EXPECT_EQ(Of("if [ -z ${N} ]; then N=4; fi\n[ $N -eq 4 ] && M=5\n[ $N -eq 4 ] || M=6", "$N $M"),
            "4|5");
  EXPECT_EQ(
      Of("M=16B\nif [ $M = 7B ]; then\n  if [ x = x ]; then L=1; fi\nelif [ $M = 16B ]; then\n"
         "  L=2\nelse L=3; fi",
         "$L"),
      "2");
}

TEST(LaunchScript, UndecidedConditions) {
  EXPECT_EQ(Of("A=1\nif [ -f \"x\" ]; then\n  A=2\nfi\nB=3\nfor C in 1 2; do D=$C; done\n"
               "if [ $(nproc) -gt 2 ]; then E=1; else F=2; fi",
               "$A $B $D $F"),
            "<$A>|3|2|<$F>");
}

TEST(LaunchScript, SkipsBranchesThatAreNotTaken) {
  EXPECT_EQ(Arguments("if [ a = b ]; then torchrun train.py --a; else torchrun train.py --b; fi\n"),
            "--b");
  EXPECT_EQ(Arguments("CMD=\"torchrun train.py --a\"\necho $CMD\neval $CMD\n"), "--a");
}

TEST(LaunchScript, AppendsTextToTextAndElementsToElements) {
  EXPECT_EQ(Of("A=1; A+=2; B=(--x); B+=(--y)", "$A ${B[@]}"), "12|--x|--y");
}

TEST(LaunchScript, GivenValuesTakePrecedence) {
  EXPECT_EQ(Arguments("A=1\nif x; then B=2; fi\npython pretrain_gpt.py $A $B $1\n",
                      {{"A", "7"}, {"B", "8"}, {"1", "9"}}),
            "7|8|9");
}

TEST(LaunchScript, TheLaunchersGpus) {
  EXPECT_EQ(Read("N=4\ntorchrun --nproc_per_node 8 --nnodes=$N train.py").gpus, 32);
  EXPECT_EQ(Read("torchrun --nproc-per-node=8 train.py").gpus, 0);
  EXPECT_EQ(Read("torchrun --nproc-per-node=gpu --nnodes 2 train.py").gpus, 0);
}

TEST(LaunchScript, CommandsInsideShells) {
  EXPECT_EQ(Arguments("CMD=\"python -u ${DIR}/pretrain_gpt.py --a 1\"\n"
                      "srun -l --container-image x sh -c \"${CMD}\"\n"),
            "--a|1");
  EXPECT_EQ(Arguments("run_cmd=\"torchrun pretrain_gpt.py --a\"\neval $run_cmd\n"), "--a");
  EXPECT_EQ(Arguments("$LAUNCHER pretrain_gpt.py --a > out.log 2>&1 &\n"), "--a");
}

TEST(LaunchScript, ShellsWithOptions) {
  EXPECT_EQ(Arguments("CMD=\"\ncd /x;\npython /x/pretrain_gpt.py --a 1\"\n"
                      "srun -l bash -x -c \"$CMD\" 2>&1 | tee log\n"),
            "--a|1");
  EXPECT_EQ(Arguments("sh -e -o pipefail -c 'torchrun pretrain_gpt.py --a $1' x 3\n"), "--a|3");
  EXPECT_EQ(Arguments("CMD=\"torchrun pretrain_gpt.py --a\"; eval $CMD | tee log\n"), "--a");
}

TEST(LaunchScript, ScriptsOfAQueue) {
  EXPECT_EQ(Arguments("N=7\nsbatch --nodes=2 <<EOF\n#!/bin/bash\n#SBATCH -t 1\nM=3\n"
                      "srun torchrun pretrain_gpt.py --n $N --m \\$M\nEOF\n"),
            "--n|7|--m|3");
  EXPECT_EQ(Arguments("bash <<'EOF'\nA=1; torchrun pretrain_gpt.py --a $A\nEOF\n"), "--a|1");
  EXPECT_EQ(Arguments("export A=1; B=2\nsbatch --wrap='torchrun train.py --a $A --b $B'\n"),
            "--a|1|--b|<$B>");
  EXPECT_EQ(Arguments("export A=1\nsbatch --export=NONE --wrap 'torchrun train.py --a $A'\n"),
            "--a|<$A>");
}

TEST(LaunchScript, StartsScriptsBesideIt) {
  const testing::TemporaryDirectory directory;
  const std::string folder = directory.path();
  ASSERT_TRUE(
      WriteFileAtomically(folder + "/job.sh", "torchrun pretrain_gpt.py --a $A --b $B --c $1 $2\n")
          .ok());
  const auto arguments = [&](const std::string& command) {
    const Result<LaunchLine> line =
        ReadLaunchScript("export A=1; B=2\n" + command + "\n", folder + "/run.sh", {});
    EXPECT_TRUE(line.ok()) << line.error().ToString();
    std::string all;
    if (!line.ok()) return all;
    for (const ScriptWord& word : line->arguments) {
      all += word.text + (word.unresolved.empty() ? "|" : "<" + word.unresolved + ">|");
    }
    return all;
  };
  const char* expected = "--a|1|--b|<$B>|--c|7|8|";
  EXPECT_EQ(arguments("bash job.sh 7 8"), expected);
  EXPECT_EQ(arguments("./job.sh 7 8"), expected);
  EXPECT_EQ(arguments("sbatch -p batch --nodes=2 job.sh 7 8"), expected);
  EXPECT_EQ(arguments("cd $(dirname $0); bash -x `pwd`/job.sh 7 8"), expected);
  EXPECT_EQ(arguments("B=5 bash job.sh 7 8"), "--a|1|--b|5|--c|7|8|");
}

TEST(LaunchScript, NamesAScriptThatLiesElsewhere) {
  const Result<LaunchLine> line = ReadLaunchScript("A=1 bash ../job.sh --x\n", "run.sh", {});
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().ToString(),
            "run.sh:1:10: error: no training command: this line starts '../job.sh', which does not "
            "lie beside this script; give that script, or a copy beside this one\n"
            "  A=1 bash ../job.sh --x\n"
            "           ^");
}

TEST(LaunchScript, ItsOwnVariablesAreEmptyUntilAssigned) {
  const std::string script = "L=none\nif [ $L != none ]; then load=\"--load $L\"; fi\n";
  EXPECT_EQ(Of(script, "--a $load --b"), "--a|--b");
  EXPECT_EQ(Of(script + "[ -n \"$load\" ] && X=1", "--a $load --b"), "--a|<$load>|--b")
      << "the script asks whether its caller has set it";
  EXPECT_EQ(Arguments(script + "torchrun train.py --a $load --b\n", {{"load", "x"}}), "--a|x|--b");
  const Result<LaunchLine> line =
      ReadLaunchScript(script + "torchrun train.py --a $load\n", "run.sh", {});
  ASSERT_TRUE(line.ok()) << line.error().ToString();
  EXPECT_EQ(line->empty_variables, std::vector<std::string>{"load"});
  EXPECT_EQ(Of("if [ a = b ]; then load=${load:-x}; fi", "--a $load"), "--a|<$load>");
  EXPECT_EQ(Of("case a in b) X=1 ;; c) X=2 ;; esac", "--a $X"), "--a");
  EXPECT_EQ(Of("f() {\n  X=1\n}", "--a $X"), "--a") << "a function that nobody calls";
  EXPECT_EQ(Of("if [ $1 = b ]; then X=1; fi", "--a $X"), "--a|<$X>") << "perhaps it is assigned";
  EXPECT_EQ(Of("f() { X=1; }; f", "--a $X"), "--a|1");
  EXPECT_EQ(Of("if [ a = b ]; then X=1; fi", "--a ${X:-2}"), "--a|2");
}

TEST(LaunchScript, PatternsOfLayersAreNoFiles) {
  EXPECT_EQ(Of("A=(--freq [0]*3+[1]*58)", "${A[@]}"), "--freq|[0]*3+[1]*58");
  EXPECT_EQ(Arguments("O=\"--layout Et\\\\|\\\\(tt\\\\|\\\\)*30L\"\n"
                      "eval torchrun pretrain_gpt.py $O\n"),
            "--layout|Et|(tt|)*30L");
  EXPECT_EQ(Of("", "--x [0-9]*"), "--x|<'[0-9]*'>");
}

TEST(LaunchScript, SkipsHereDocumentsAndOtherCommands) {
  EXPECT_EQ(Arguments("cat <<EOF > config.json\ntorchrun pretrain_x.py --no\nEOF\n"
                      "python tools/preprocess_data.py --input x && mkdir -p a | true\n"
                      "torchrun pretrain_gpt.py --a # --b\necho done; ls x.py\n"),
            "--a");
}

TEST(LaunchScript, WordsHaveTheirPlaces) {
  const LaunchLine line = Read("A=(\n  --num-layers 12\n)\ntorchrun pretrain_gpt.py ${A[@]} --x\n");
  EXPECT_EQ(line.script.text, "pretrain_gpt.py");
  EXPECT_EQ(line.arguments[1].ErrorHere("no").ToString(),
            "run.sh:2:16: error: no\n    --num-layers 12\n                 ^");
  EXPECT_EQ(line.arguments[2].location.line, 4);
}

TEST(LaunchScript, SettingsOfNccl) {
  EXPECT_EQ(Read("export NCCL_ALGO=Ring\nNCCL_IB_SL=1 torchrun train.py").nccl_settings,
            (std::vector<std::string>{"NCCL_ALGO", "NCCL_IB_SL"}));
}

TEST(LaunchScript, SettingsOfTransformerEngine) {
  using Settings = std::map<std::string, std::string>;
  EXPECT_EQ(Read("export NVTE_FUSED_ATTN=0 NVTE_DEBUG=1\nNVTE_FLASH_ATTN=$X torchrun train.py")
                .engine_settings,
            (Settings{{"NVTE_FUSED_ATTN", "0"}, {"NVTE_FLASH_ATTN", ""}}));
  EXPECT_EQ(Read("export NVTE_NVFP4_DISABLE_RHT=1\ntorchrun train.py").engine_settings,
            (Settings{{"NVTE_NVFP4_DISABLE_RHT", "1"}}));
  EXPECT_EQ(ReadLaunchScript("--a 1", "args", {{"NVTE_FLASH_ATTN", "0"}})->engine_settings,
            (Settings{{"NVTE_FLASH_ATTN", "0"}}));
}

std::string ErrorOf(const std::string& text) {
  const Result<LaunchLine> line = ReadLaunchScript(text, "run.sh", {});
  return line.ok() ? "" : line.error().ToString();
}

TEST(LaunchScript, OneTrainingCommandIsNeeded) {
  EXPECT_EQ(ErrorOf("echo hello\n"),
            "run.sh: error: no training command; expected torchrun, python or deepspeed and a "
            "Python file, or a file of arguments that begins with '--'");
  EXPECT_EQ(ErrorOf("torchrun pretrain_gpt.py --a\ntorchrun pretrain_gpt.py --b\n"),
            "run.sh:2:10: error: a second training command; the first is in line 1; remove one\n"
            "  torchrun pretrain_gpt.py --b\n"
            "           ^");
}

// Returns what the message says about $X, with its place.
std::string UnknownX(const std::string& script) {
  for (const ScriptWord& word : Read(script + "\ntorchrun train.py --x $X\n").arguments) {
    if (!word.unresolved.empty()) {
      return std::to_string(word.location.line) + ":" + std::to_string(word.location.column) +
             ": " + word.Unknown();
    }
  }
  return "";
}

struct Construct {
  const char* script;
  const char* value;  // of X
};

class Followed : public ::testing::TestWithParam<Construct> {};

// tests/integration/launch_script_test.py compares many more with bash.
TEST_P(Followed, GivesTheValueOfBash) {
  EXPECT_EQ(Of(GetParam().script, "--x \"$X\""), std::string("--x|") + GetParam().value)
      << GetParam().script;
}

INSTANTIATE_TEST_SUITE_P(
    LaunchScript, Followed,
    ::testing::Values(Construct{"X=$((010 + 0x10 + 2#101))", "29"}, Construct{"let X=4*2", "8"},
                      Construct{"X=3; ((X++))", "4"}, Construct{"for X in 1 2; do :; done", "2"},
                      Construct{"i=0; while ((i++ < 3)); do X=$i; done", "3"},
                      Construct{"X=1; (X=2); X=3 | cat; X=4 &", "1"},
                      Construct{"f() { local Y=$1; X=$Y$#; }; f a b", "a2"},
                      Construct{"X=1; f() { local X=2; }; f", "1"},
                      Construct{"read -r Y X <<< '1 2 3'", "2 3"},
                      Construct{"IFS=, read -ra A <<< 1,2; X=${A[1]}", "2"},
                      Construct{"printf -v X %02d 7", "07"},
                      Construct{"A=(1 2); A[1]=5; A+=(6); X=${A[*]}", "1 5 6"},
                      Construct{"declare -A M=([a]=1); M[b]=2; X=${M[b]}", "2"},
                      Construct{"declare -i X=2+3", "5"}, Construct{"export -n X=4", "4"},
                      Construct{"set -- 4 5; shift; X=$1", "5"}, Construct{"N=X; eval $N=4", "4"},
                      Construct{"case a2 in a?) X=4 ;; *) X=5 ;; esac", "4"},
                      Construct{"Y=a.b; X=${Y%.*}${Y^^}${#Y}${Y/a/c}", "aA.B3c.b"},
                      Construct{"Y=Z; Z=4; X=${!Y}", "4"}, Construct{"X=4; X=5 true", "4"},
                      Construct{"X=4; unset X; X=${X:-5}", "5"},
                      Construct{"X=$(cat <<E\na b\nE\n)", "a b"},
                      Construct{"if [ -f x ]; then X=4; else X=4; fi", "4"},
                      Construct{"[ -z \"$U\" ] && exit 1; X=4", "4"},
                      Construct{"if test -f x; then exit; fi; X=4", "4"}));

class NotFollowed : public ::testing::TestWithParam<Construct> {};

TEST_P(NotFollowed, NamesThePlaceAndTheVariable) {
  EXPECT_EQ(UnknownX(GetParam().script), GetParam().value) << GetParam().script;
}

INSTANTIATE_TEST_SUITE_P(
    LaunchScript, NotFollowed,
    ::testing::Values(
        Construct{
            "X=1\nfor i in $(seq 3); do X=$i; done",
            "2:1: $X is not known: this 'for' loop may assign it, and how often it runs is not "
            "known; give it with --variable X=VALUE"},
        Construct{"X=1\n  if [ $SIZE = 7B ]; then X=2; fi",
                  "2:3: $X is not known: this 'if' may assign it or not, as that depends on $SIZE; "
                  "give it with --variable X=VALUE"},
        Construct{"X=1; case $(uname) in a) X=2 ;; esac",
                  "1:6: $X is not known: this 'case' may assign it or not, as that depends on "
                  "$(uname); give it with --variable X=VALUE"},
        Construct{"if [ a = b ]; then\n  X=2\nfi; [ -z \"$X\" ] && Y=1",
                  "4:23: $X is not known: line 2 assigns it, on a path that does not run before "
                  "this; give it with --variable X=VALUE"},
        Construct{"X=1; grep -q a b && X=2",
                  "1:18: $X is not known: the command after this '&&' may assign it or not, as its "
                  "condition is not known; give it with --variable X=VALUE"},
        Construct{"X=1; source no/such.sh",
                  "1:6: $X is not known: 'source no/such.sh' may assign it, and that file is not "
                  "beside the script; give it with --variable X=VALUE"},
        Construct{
            "X=1; eval \"$(a)\"",
            "1:6: $X is not known: 'eval' may assign it, as it runs a text that is not known in "
            "full; give it with --variable X=VALUE"},
        Construct{"read X < file",
                  "1:1: $X is not known: 'read' assigns it what it reads; give it with --variable "
                  "X=VALUE"},
        Construct{"X=$(nproc)",
                  "1:3: $(nproc) is not known: it is the output of a command; give it "
                  "with --variable X=VALUE"},
        Construct{
            "trap 'X=2' USR1; X=1",
            "1:1: $X is not known: a handler of 'trap' may assign it at any time; give it with "
            "--variable X=VALUE"},
        Construct{"X=~/a",
                  "1:3: ~ is not known: it is a home folder; give it with --variable "
                  "X=VALUE"}));

TEST(LaunchScript, SourcesFilesBesideTheScript) {
  const testing::TemporaryDirectory folder;
  ASSERT_TRUE(WriteFileAtomically(folder.path() + "/env.sh", "X=8\nY=$1\n\nZ=$(date)\n").ok());
  const std::string script =
      "source \"$(dirname \"$0\")/env.sh\" 5\ntorchrun train.py --x $X --y $Y --z $Z\n";
  const Result<LaunchLine> line = ReadLaunchScript(script, folder.path() + "/run.sh", {});
  ASSERT_TRUE(line.ok()) << line.error().ToString();
  EXPECT_EQ(line->arguments[1].text, "8");
  EXPECT_EQ(line->arguments[3].text, "5");
  EXPECT_EQ(line->arguments[5].location.file, folder.path() + "/env.sh");
  EXPECT_EQ(line->arguments[5].location.line, 4);
}

TEST(LaunchScript, WhatBashRefuses) {
  EXPECT_EQ(
      ErrorOf("X=1\nif true; then\n  X=2\ntorchrun train.py\n"),
      "run.sh:2:1: error: expected 'fi' after 'if', which begins in line 2; bash does not read "
      "this script\n  if true; then\n  ^");
  EXPECT_EQ(ErrorOf("X=$((1 / 0))\ntorchrun train.py\n"),
            "run.sh:1:6: error: bash cannot evaluate '1 / 0': division by 0\n"
            "  X=$((1 / 0))\n       ^");
  EXPECT_EQ(
      ErrorOf("readonly X=1\nX=2\ntorchrun train.py\n"),
      "run.sh:2:1: error: 'X' is readonly, and bash refuses to assign it; remove this line or "
      "the 'readonly'\n  X=2\n  ^");
}

TEST(LaunchScript, AScriptThatEndsBeforeItsTraining) {
  EXPECT_EQ(
      ErrorOf("D=\n[ -z \"$D\" ] && exit 1\ntorchrun train.py\n"),
      "run.sh:2:16: error: no training command: without further values, the script ends here; "
      "give what the condition of this line needs with --variable NAME=VALUE, and arguments "
      "with --variable 1=VALUE\n  [ -z \"$D\" ] && exit 1\n                 ^");
  EXPECT_EQ(Arguments("[ -z \"$2\" ] && exit 1\ntorchrun train.py $2\n", {{"@", "a b"}}), "b");
}

TEST(LaunchScript, SettingsThatAreNotExportedDoNotReachTheTraining) {
  EXPECT_TRUE(Read("NVTE_FLASH_ATTN=0\ntorchrun train.py").engine_settings.empty());
  EXPECT_TRUE(Read("NVTE_FLASH_ATTN=0 true\ntorchrun train.py").engine_settings.empty());
}

TEST(LaunchScript, HostileTextTerminates) {
  std::string doubling = "A=aaaaaaaaaaaaaaaa\n";
  for (int i = 0; i < 40; ++i) doubling += "A=$A$A\n";
  EXPECT_EQ(ErrorOf(doubling + "torchrun train.py $A\n"),
            "run.sh: error: the script's variables expand to more than 4 MiB, or its loops "
            "run too often");
  std::string nested = "x";
  for (int i = 0; i < 5000; ++i) nested = "${A:-" + nested;
  EXPECT_NE(ErrorOf("B=" + nested), "");
  EXPECT_NE(ErrorOf(std::string("--a\0b", 5)), "");
  EXPECT_EQ(ErrorOf("C='sh -c \"$C\"'\nsh -c \"$C\" x\ntorchrun train.py\n"), "");
}

}  // namespace
}  // namespace drydock
