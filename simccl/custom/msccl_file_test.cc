// "Which algorithms of MSCCL does the reader accept, and where does it say what is wrong?"
#include "simccl/custom/msccl_file.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using Kind = MscclStep::Kind;
using testing::ErrorText;

// Two GPUs that swap their chunks. `gpu1`: the steps of GPU 1's thread block.
std::string Swap(const std::string& gpu1, const std::string& head = "") {
  return "<algo name=\"swap\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" "
         "coll=\"allgather\" inplace=\"1\"" +
         head +
         ">\n<gpu id=\"0\" i_chunks=\"0\" o_chunks=\"2\" s_chunks=\"0\">\n"
         "<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n"
         "<step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" "
         "cnt=\"1\"/>\n"
         "<step s=\"1\" type=\"r\" srcbuf=\"o\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\" "
         "cnt=\"1\"/>\n"
         "</tb>\n</gpu>\n<gpu id=\"1\" i_chunks=\"0\" o_chunks=\"2\" s_chunks=\"0\">\n"
         "<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">\n" +
         gpu1 + "</tb>\n</gpu>\n</algo>\n";
}

const char* const kRight =
    "<step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\"/>\n"
    "<step s=\"1\" type=\"r\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\"/>\n";

TEST(MscclFileTest, ReadsStepsAndPlaces) {
  const auto algorithm = ParseMsccl(Swap(kRight, " minBytes=\"64\" maxBytes=\"128\""), "a.xml");
  ASSERT_TRUE(algorithm.ok()) << algorithm.error().ToString();
  EXPECT_EQ(algorithm->name, "swap");
  EXPECT_EQ(algorithm->collective, CollectiveType::kAllGather);
  EXPECT_EQ(algorithm->protocol, Protocol::kLl);
  EXPECT_EQ(algorithm->least, 64);
  EXPECT_EQ(algorithm->most, 128);
  ASSERT_EQ(algorithm->members(), 2);
  const MscclBlock& block = algorithm->gpus[1].blocks[0];
  EXPECT_EQ(block.send, 0);
  ASSERT_EQ(block.steps.size(), 2u);
  EXPECT_EQ(block.steps[0].kind, Kind::kSend);
  EXPECT_EQ(block.steps[0].source, 1);
  EXPECT_EQ(block.steps[1].kind, Kind::kReceive);
  EXPECT_EQ(block.steps[1].target, 0);
}

// The newer form names one chunk of a step. Chunk 0 of the input is the GPU's own part.
TEST(MscclFileTest, ReadsTheShortForm) {
  const auto algorithm = ParseMsccl(
      Swap("<step s=\"0\" type=\"s\" buf=\"i\" off=\"0\"/>\n<step s=\"1\" type=\"r\" buf=\"o\" "
           "off=\"0\"/>\n"),
      "a.xml");
  ASSERT_TRUE(algorithm.ok()) << algorithm.error().ToString();
  EXPECT_EQ(algorithm->gpus[1].blocks[0].steps[0].source, 1);
}

TEST(MscclFileTest, SaysWhatIsWrongAndWhere) {
  const auto mistake = [](const std::string& text) {
    return testing::FirstLine(ErrorText(ParseMsccl(text, "a.xml")));
  };
  EXPECT_EQ(mistake("<graph/>"), "a.xml:1:1: error: an algorithm of MSCCL begins with <algo>");
  EXPECT_EQ(mistake(Swap(kRight, " chans=\"1\"")),
            "a.xml:1:102: error: <algo> has no attribute 'chans'");
  EXPECT_EQ(mistake(Swap("<step s=\"0\" type=\"rsc\"/>")),
            "a.xml:10:13: error: there is no type 'rsc'; did you mean 'rrc'?; there are nop, s, r, "
            "rcs, rrs, rrc, rrcs, cpy, re");
  EXPECT_EQ(mistake(Swap("<step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"2\"/>")),
            "a.xml:10:1: error: chunks 2 to 2 of buffer 'o' are not there; it has 2");
  EXPECT_EQ(mistake(Swap("<step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"1\" depid=\"1\" "
                         "deps=\"0\"/>")),
            "a.xml:10: error: there is no step 0 of a thread block 1 of gpu 1 to wait for");
  EXPECT_EQ(mistake(Swap("<step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"1\"/>\n")),
            "a.xml:4: error: gpu 1 never receives this from gpu 0 over channel 0");
  EXPECT_EQ(mistake(Swap("<step s=\"0\" type=\"r\" dstbuf=\"o\" dstoff=\"0\" cnt=\"2\"/>\n"
                         "<step s=\"1\" type=\"s\" srcbuf=\"o\" srcoff=\"1\"/>\n")),
            "a.xml:10: error: this step receives 2 chunks, but line 4 sends 1");
}

}  // namespace
}  // namespace drydock
