// Runs the fuzz targets without a fuzzer, on seeds and mutations that are the same on every
// machine.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/fuzz/targets.h"

namespace drydock::fuzz {
namespace {

// libFuzzer's first mutations: flip, overwrite, cut, repeat, insert a token, splice.
std::string Mutate(std::string text, const std::vector<std::string>& seeds,
                   std::mt19937_64* random) {
  const auto below = [random](size_t n) { return n == 0 ? 0 : (*random)() % n; };
  static const std::vector<std::string> tokens = {"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                                                  "\x80\x80\x80\x80\x08",
                                                  std::string(1, '\0'),
                                                  "{",
                                                  "[",
                                                  "&a ",
                                                  "*a",
                                                  ": ",
                                                  "\n",
                                                  "'",
                                                  "\"",
                                                  "- ",
                                                  "-1",
                                                  "9223372036854775807",
                                                  "1e309",
                                                  "nan",
                                                  "\t",
                                                  "0",
                                                  "!t ",
                                                  "---\n",
                                                  "\xc3\xa9",
                                                  "1 ps"};
  for (size_t i = 0; i <= below(4); ++i) {
    const size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>((*random)());
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 2:
        text.erase(at, below(20));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), below(40)));
        break;
      case 4:
        text.insert(at, tokens[below(tokens.size())]);
        break;
      case 5: {
        const std::string& other = seeds[below(seeds.size())];
        text = text.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      }
    }
  }
  return text;
}

class CorpusTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CorpusTest, HostileBytesNeitherCrashNorHang) {
  const Target& target = *FindTarget(GetParam());
  const std::vector<std::string> seeds = target.seeds();
  std::vector<std::string> pool = seeds;
  std::mt19937_64 random(11);
  target.run("");
  for (const std::string& seed : seeds) target.run(seed);
  for (int round = 0; round < target.rounds; ++round) {
    const std::string input = Mutate(pool[random() % pool.size()], pool, &random);
    const auto start = std::chrono::steady_clock::now();
    target.run(input);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ASSERT_LT(seconds.count(), 20) << input;
    if (input.size() > 10000) continue;
    if (pool.size() < 200)
      pool.push_back(input);
    else
      pool[seeds.size() + random() % (pool.size() - seeds.size())] = input;
  }
}

std::vector<const char*> Names() {
  std::vector<const char*> names;
  for (const Target& target : Targets()) names.push_back(target.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Targets, CorpusTest, ::testing::ValuesIn(Names()),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace drydock::fuzz
