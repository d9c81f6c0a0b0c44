#include "capture/log/log_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "capture/log/fields.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

constexpr size_t kWord = sizeof(int64_t);
constexpr size_t kHeaderOfLog = sizeof(LogHeader) / kWord;
constexpr size_t kHeaderWords = sizeof(EntryHeader) / kWord;

}  // namespace

Result<ProcessLog> ProcessLog::Read(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "rb"), fclose);
  if (file == nullptr) return Error(fmt::format("cannot read: {}", strerror(errno)), {path, 0, 0});
  // A file is longer than its log: it grows in steps.
  LogHeader header;
  size_t bytes = fread(&header, 1, sizeof header, file.get());
  std::error_code failed;
  const uintmax_t size = std::filesystem::file_size(path, failed);
  const uintmax_t rest = failed || bytes < sizeof header ? 0 : size - sizeof header;
  std::vector<int64_t> words(kHeaderOfLog + std::min<uintmax_t>(header.bytes, rest) / kWord);
  memcpy(words.data(), &header, bytes);
  bytes += fread(words.data() + kHeaderOfLog, 1, (words.size() - kHeaderOfLog) * kWord, file.get());
  return ParseWords(std::move(words), bytes, path);
}

Result<ProcessLog> ProcessLog::Parse(std::string content, const std::string& path) {
  std::vector<int64_t> words(std::max(kHeaderOfLog, content.size() / kWord));
  const size_t bytes = std::min(content.size(), words.size() * kWord);
  memcpy(words.data(), content.data(), bytes);
  return ParseWords(std::move(words), bytes, path);
}

Status ProcessLog::Write(const std::string& path) const {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "wb"), fclose);
  if (file != nullptr && fwrite(words_.data(), kWord, words_.size(), file.get()) == words_.size() &&
      fflush(file.get()) == 0) {
    return OkStatus();
  }
  return Error(fmt::format("cannot write: {}", strerror(errno)), {path, 0, 0});
}

// `bytes`: of the words that have content.
Result<ProcessLog> ProcessLog::ParseWords(std::vector<int64_t> words, size_t bytes,
                                          const std::string& path) {
  const auto damaged = [&path](const std::string& how) {
    return Error("is a damaged log of a captured process: " + how, {path, 0, 0});
  };
  LogHeader header;
  if (bytes < sizeof header) return damaged("it has no header");
  memcpy(&header, words.data(), sizeof header);
  if (memcmp(header.magic, kLogMagic, sizeof header.magic) != 0) {
    return Error("is not a log of a captured process, or another build of Drydock wrote it",
                 {path, 0, 0});
  }
  if (header.bytes > bytes - sizeof header || header.bytes % kWord != 0) {
    return damaged("it ends too early");
  }
  ProcessLog log;
  log.rank_ = header.rank;
  log.process_ = header.process;
  log.words_ = std::move(words);
  log.words_.resize(kHeaderOfLog + header.bytes / kWord);
  for (size_t at = kHeaderOfLog; at < log.words_.size();) {
    EntryHeader entry;
    if (log.words_.size() - at < kHeaderWords) return damaged("its last entry is not complete");
    memcpy(static_cast<void*>(&entry), &log.words_[at], sizeof entry);
    at += kHeaderWords;
    if (entry.words > log.words_.size() - at) return damaged("its last entry is not complete");
    const std::span<const int64_t> words(log.words_.data() + at, entry.words);
    at += entry.words;
    if (static_cast<int>(entry.kind) >= kEntryKinds) {
      return damaged(
          fmt::format("it has an entry of the unknown kind {}", static_cast<int>(entry.kind)));
    }
    if (entry.kind == EntryKind::kName) {
      if (words.size() < 2 || words[0] != static_cast<int64_t>(log.names_.size()) || words[1] < 0 ||
          static_cast<size_t>(words[1]) > (words.size() - 2) * kWord) {
        return damaged(fmt::format("its text {} is not complete", log.names_.size()));
      }
      log.names_.emplace_back(reinterpret_cast<const char*>(words.data() + 2),
                              static_cast<size_t>(words[1]));
      continue;
    }
    const std::vector<Field>& fields = FieldsOfKind(entry.kind);
    if (words.size() != fields.size()) {
      return damaged(fmt::format("an entry '{}' has {} words in place of {}",
                                 FieldsOf(entry.kind).name, words.size(), fields.size()));
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].is_name &&
          (words[i] < 0 || static_cast<size_t>(words[i]) >= log.names_.size())) {
        return damaged(fmt::format("an entry '{}' names the text {}, which is missing",
                                   FieldsOf(entry.kind).name, words[i]));
      }
    }
    log.entries_.push_back({entry.kind, entry.thread, entry.wall_ns, entry.cpu_ns, words});
  }
  return log;
}

}  // namespace drydock::capture
