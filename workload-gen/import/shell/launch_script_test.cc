#include "workload-gen/import/shell/launch_script.h"

#include <gtest/gtest.h>

#include "core/base/spelling.h"

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
            "--a|<$(date)>|--b|<$(hostname)>|--c|<$1>|--d|<${#X[@]}>|--e|x.y<$HOME>");
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
            "<$A, which is assigned under a condition>|3|"
            "<$D, which is assigned under a condition>|<$F, which is assigned under a condition>");
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

TEST(LaunchScript, HostileTextTerminates) {
  std::string doubling = "A=aaaaaaaaaaaaaaaa\n";
  for (int i = 0; i < 40; ++i) doubling += "A=$A$A\n";
  EXPECT_EQ(ErrorOf(doubling + "torchrun train.py $A\n"),
            "run.sh: error: the script's variables expand to more than 4 MiB");
  std::string nested = "x";
  for (int i = 0; i < 5000; ++i) nested = "${A:-" + nested;
  EXPECT_NE(ErrorOf("B=" + nested), "");
  EXPECT_NE(ErrorOf(std::string("--a\0b", 5)), "");
  EXPECT_EQ(ErrorOf("C='sh -c \"$C\"'\nsh -c \"$C\" x\ntorchrun train.py\n"), "");
}

}  // namespace
}  // namespace drydock
