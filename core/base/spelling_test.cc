#include "core/base/spelling.h"

#include <gtest/gtest.h>

#include "core/base/scan.h"

namespace drydock {
namespace {

TEST(SpellingTest, NearestIsTheFewestEditsAway) {
  EXPECT_EQ(Nearest("layer", {"heads", "layers", "player"}), "layers");
  EXPECT_EQ(Nearest("LAYERS", {"layers"}), "layers") << "case does not count";
  EXPECT_EQ(Nearest("bandwith", {"latency", "bandwidth"}), "bandwidth");
  EXPECT_EQ(Nearest("ab", {"xb", "ax"}), "xb") << "of equal distances the first";
}

TEST(SpellingTest, DistantWordsAreNotSuggested) {
  EXPECT_EQ(Nearest("quantum", {"layers", "heads"}), "");
  EXPECT_EQ(Nearest("xyz", {}), "");
  EXPECT_EQ(Nearest("zz", {"ab"}), "") << "nothing in common";
  EXPECT_EQ(Nearest("abcdef", {"abcxyz"}), "") << "half of it differs";
}

TEST(SpellingTest, PrefersANameThatBeginsWithTheWord) {
  EXPECT_EQ(Nearest("a100", {"h100", "a100-pcie-80g", "a100-sxm-80g"}), "a100-pcie-80g");
  EXPECT_EQ(Nearest("h1", {"h100-sxm-80g"}), "") << "too many names begin with two letters";
}

TEST(SpellingTest, FormatsSuggestionsAndLists) {
  EXPECT_EQ(DidYouMean("layer", {"layers"}), "; did you mean 'layers'?");
  EXPECT_EQ(DidYouMean("quantum", {"layers"}), "");
  EXPECT_EQ(Join({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(Join({"a", "b"}, " or "), "a or b");
  EXPECT_EQ(Join({}), "");
}

// A file that is not a configuration can contain words of megabytes. They must not take minutes.
TEST(SpellingTest, LongWordsAreRejectedQuickly) {
  const std::string word(5000000, 'x');
  const std::vector<std::string> candidates(1000, "some key");
  EXPECT_EQ(Nearest(word, candidates), "");
}

TEST(ScanTest, ReadsNumbersBetweenLiterals) {
  int host = -1, nic = -1;
  EXPECT_TRUE(ScanNumbers("host12/nic3", {"host", "/nic"}, {&host, &nic}));
  EXPECT_EQ(host, 12);
  EXPECT_EQ(nic, 3);
  EXPECT_TRUE(ScanNumbers("host999999999/nic0", {"host", "/nic"}, {&host, &nic}));
  EXPECT_EQ(host, 999999999);
}

TEST(ScanTest, RefusesOtherShapes) {
  int host = -1, nic = -1;
  for (const char* text :
       {"", "host", "host1", "host1/nic", "host/nic1", "host1/nic2 ", " host1/nic2", "host 1/nic2",
        "host+1/nic2", "host-1/nic2", "host1/nic2x", "host1.0/nic2", "host1234567890/nic1",
        "host99999999999999999999/nic1"}) {
    EXPECT_FALSE(ScanNumbers(text, {"host", "/nic"}, {&host, &nic})) << text;
  }
  EXPECT_EQ(host, -1) << "unchanged";
  EXPECT_EQ(nic, -1);
}

}  // namespace
}  // namespace drydock
