#include "core/schema/foreign/unpack.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

std::string Packed(const std::string& content) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string in = content, out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

class UnpackTest : public ::testing::Test {
 protected:
  Result<std::string> Read(const std::string& content) {
    const std::string path = folder_ / "f";
    EXPECT_TRUE(WriteFileAtomically(path, content).ok());
    return ReadUnpacked(path);
  }
  testing::TemporaryDirectory folder_;
};

TEST_F(UnpackTest, FilesThatAreNotPackedStayAsTheyAre) {
  EXPECT_EQ(*Read("plain"), "plain");
  EXPECT_EQ(*Read(""), "");
}

TEST_F(UnpackTest, PartsAreOneContent) {
  const std::string large(5'000'000, 'x');  // larger than a piece
  EXPECT_EQ(*Read(Packed(large)), large);
  EXPECT_EQ(*Read(Packed("one") + Packed(" two")), "one two");
}

TEST_F(UnpackTest, DamageIsReported) {
  std::string packed = Packed(std::string(5'000'000, 'y') + "end");
  const auto message = [&](const std::string& content) { return Read(content).error().message(); };
  EXPECT_EQ(message(packed.substr(0, packed.size() - 9)), "cannot unpack: its end is missing");
  EXPECT_EQ(message("\x1f\x8b"), "cannot unpack: its end is missing");
  packed[20] = static_cast<char>(packed[20] ^ 0x5a);
  EXPECT_EQ(message(packed), "cannot unpack: it is damaged");
  EXPECT_EQ(message(Packed("a") + "tail"), "cannot unpack: it is damaged");
}

}  // namespace
}  // namespace drydock
