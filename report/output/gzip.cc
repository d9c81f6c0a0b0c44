#include "report/output/gzip.h"

#include "core/base/check.h"

namespace drydock {
namespace {

// Traces are repetitive: higher levels take time and save little.
constexpr int kLevel = 1;
constexpr int kWindowBits = 15 + 16;  // the largest window, with a gzip header
constexpr int kMemoryLevel = 9;
constexpr int kUnknownSystem = 255;
constexpr size_t kGrowth = 1 << 20;

}  // namespace

GzipWriter::GzipWriter() {
  CHECK(deflateInit2(&stream_, kLevel, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) ==
        Z_OK);
  header_.os = kUnknownSystem;
  CHECK(deflateSetHeader(&stream_, &header_) == Z_OK);
}

GzipWriter::~GzipWriter() { deflateEnd(&stream_); }

void GzipWriter::Append(std::string_view content) { Deflate(content, Z_NO_FLUSH); }

std::string GzipWriter::Finish() {
  Deflate({}, Z_FINISH);
  return std::move(out_);
}

void GzipWriter::Deflate(std::string_view content, int flush) {
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream_.avail_in = static_cast<uInt>(content.size());
  CHECK(stream_.avail_in == content.size());
  do {
    const size_t used = out_.size();
    out_.resize(used + kGrowth);
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data() + used);
    stream_.avail_out = kGrowth;
    CHECK(deflate(&stream_, flush) != Z_STREAM_ERROR);
    out_.resize(used + kGrowth - stream_.avail_out);
  } while (stream_.avail_out == 0);
}

}  // namespace drydock
