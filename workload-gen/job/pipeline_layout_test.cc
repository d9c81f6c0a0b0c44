#include "workload-gen/job/pipeline_layout.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

using Stages = LayoutStages;

Stages Expanded(const std::string& text) {
  const LayoutText layout = ExpandPipelineLayout(text);
  EXPECT_EQ(layout.mistake, "") << text;
  return layout.stages;
}

TEST(PipelineLayout, Expands) {
  EXPECT_EQ(Expanded("Ett|tt|ttL"), (Stages{"Ett", "tt", "ttL"}));
  EXPECT_EQ(Expanded("Et*3|(tt|)*2,mL"), (Stages{"Ettt", "tt", "tt", "mL"}));
  EXPECT_EQ(Expanded("E|(t*2|t|)*2L"), (Stages{"E", "tt", "t", "tt", "t", "L"}));
  EXPECT_EQ(Expanded("Et(|tt)*2L"), (Stages{"Et", "tt", "ttL"}));
  EXPECT_EQ(Expanded("Et|*3tL"), (Stages{"Et", "", "", "tL"}));
  EXPECT_EQ(Expanded("E,t,*,2|t*0L"), (Stages{"Ett", "L"})) << "commas are ignored";
}

// DeepSeek-V3 in Megatron's example: 61 layers on 32 virtual stages.
TEST(PipelineLayout, DeepSeekV3) {
  const Stages stages = Expanded("Et*3|(tt|)*29,m|L");
  ASSERT_EQ(stages.size(), 32u);
  int layers = 0;
  for (const std::string& stage : stages) layers += LayersOf(stage);
  EXPECT_EQ(layers, 61);
  EXPECT_EQ(stages[30] + "/" + stages[31], "m/L");
}

TEST(PipelineLayout, MistakesNameTheirCharacter) {
  const auto mistake = [](const std::string& text) { return ExpandPipelineLayout(text).mistake; };
  EXPECT_EQ(mistake("Ett|d"), "'d' is not one of E, t, m, L, | and (...)*n (character 5)");
  EXPECT_EQ(mistake("(tt|"), "a ')' is missing (character 5)");
  EXPECT_EQ(mistake("(tt|)L"), "'*' and a number must follow ')' (character 6)");
  EXPECT_EQ(mistake("()*2"), "there is nothing between the parentheses (character 3)");
  EXPECT_EQ(mistake("((tt)*2|)*3"), "'(' is not one of E, t, m, L, | and (...)*n (character 2)");
  EXPECT_EQ(mistake("t*"), "a number must follow '*' (character 3)");
  EXPECT_EQ(mistake("t*2*3"), "'*' is not one of E, t, m, L, | and (...)*n (character 4)");
  EXPECT_EQ(mistake("(t*9999|)*9"), "the layout is too long (character 12)");
  EXPECT_EQ(mistake("t*99999999999999999999"), "the layout is too long (character 8)");
}

TEST(PipelineLayout, ReportsTheBrokenRule) {
  const auto mistake = [](const std::string& text, int layers = 4, int mtp = 0, int pipeline = 2) {
    return LayoutMistake(Expanded(text), {layers, mtp, pipeline});
  };
  EXPECT_EQ(mistake("Ett|ttL"), "");
  EXPECT_EQ(mistake("Ett|tt||L"), "");
  EXPECT_EQ(mistake("Ett|t|tL"), "it has 3 stages, which pipeline 2 does not divide");
  EXPECT_EQ(mistake("tEt|ttL"), "it must have one E, before everything else");
  EXPECT_EQ(mistake("|EttttL"), "it must have one E, before everything else");
  EXPECT_EQ(mistake("Ett|tt"), "it must have one L, after everything else");
  EXPECT_EQ(mistake("Ett|tttL"), "it has 5 t, but layers is 4");
  EXPECT_EQ(mistake("Ett|ttmL"), "it has 1 m, but mtp_layers is 0");
  EXPECT_EQ(mistake("Ett|ttmL", 4, 1), "");
  EXPECT_EQ(mistake("Ett|ttm|L|", 4, 1, 4), "it must have one L, after everything else");
  for (const char* apart : {"Ett|tt|m|L", "Ett|ttm||L", "Etttt|m||L"}) {
    EXPECT_EQ(mistake(apart, 4, 1, 4), "") << apart;
  }
  EXPECT_EQ(mistake("Ettm|ttL", 4, 1), "every m must follow the last t");
  EXPECT_EQ(mistake("Ett|tmtL", 4, 1), "every m must follow the last t");
  EXPECT_EQ(mistake("Ett|tt|m|mL", 4, 2, 4), "");
  EXPECT_EQ(mistake("Ett|tm|tm|L", 4, 2, 4), "every m must follow the last t");
  EXPECT_EQ(mistake("Ettt|tm||L", 4, 1), "m must be on the last virtual stage of its ranks");
  EXPECT_EQ(mistake("Ett|tt|m|L", 4, 1), "m cannot be on the first pipeline stage");
}

TEST(PipelineLayout, NearestLayoutKeepsValidStages) {
  const auto nearest = [](const std::string& text, LayoutDemand demand) {
    return NearestPipelineLayout(ExpandPipelineLayout(text).stages, demand);
  };
  EXPECT_EQ(nearest("Ett|ttL", {4, 0, 2}), "Ett|ttL");
  EXPECT_EQ(nearest("tt|ttt", {4, 0, 2}), "Ett|ttL");
  EXPECT_EQ(nearest("Ett|tt|t|tL", {9, 0, 2}), "Ettt|tt|tt|ttL");
  EXPECT_EQ(nearest("Ett|tt|tL", {5, 0, 2}), "Ett|tttL") << "two stages are as near as four";
  EXPECT_EQ(nearest("Et*5L", {5, 0, 4}), "Et|t|t|ttL");
  EXPECT_EQ(nearest("Et*3|(tt|)*29,m|L", {61, 1, 16}), "Ettt|(tt|)*29m|L");
  EXPECT_EQ(nearest("Et*3|(tt|)*29,m|L", {60, 1, 16}), "Ett|(tt|)*29m|L");
  EXPECT_EQ(nearest("Et*3|(tt|)*28tt|m|mL", {61, 1, 16}), "Ettt|(tt|)*29|mL");
  EXPECT_EQ(nearest("Ett|x", {4, 0, 2}), "Ett|ttL") << "what was read before the mistake";
  EXPECT_EQ(nearest("", {4, 0, 1}), "Et*4L");
}

// For any layout, the nearest one breaks no rule and parses.
TEST(PipelineLayout, NearestLayoutIsValid) {
  for (const char* text : {"", "L", "|*40", "t*100", "(t|)*7", "mmm|E", "Ettt|L|E", "(Et|t|)*3"}) {
    for (const int pipeline : {1, 2, 3, 8}) {
      for (const int layers : {1, 7, 24}) {
        const LayoutDemand demand = {layers, layers % 2, pipeline};
        const std::string near = NearestPipelineLayout(ExpandPipelineLayout(text).stages, demand);
        EXPECT_EQ(LayoutMistake(Expanded(near), demand), "") << text << " -> " << near;
      }
    }
  }
}

TEST(PipelineLayout, TextIsShort) {
  for (const char* text : {"Ettt|(tt|)*29mL", "Et*12|ttL", "(t*4|)*3t*4", "Et||*3tL", "t|t|t"}) {
    EXPECT_EQ(ToLayoutText(Expanded(text)), text);
  }
}

}  // namespace
}  // namespace drydock
