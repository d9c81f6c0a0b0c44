#include "capture/run/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace drydock::capture {
namespace {

constexpr size_t kMostBytes = 4096;
constexpr int kShownLines = 12;
constexpr std::string_view kTraceback = "Traceback (most recent call last):";
constexpr std::string_view kFatal = "Fatal Python error: ";

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Reads '  File "train.py", line 12, in main'; the fault handler writes no comma before "in".
std::optional<PythonFrame> FrameOf(std::string_view line) {
  constexpr std::string_view kBegin = "  File \"", kLine = "\", line ";
  if (!line.starts_with(kBegin)) return std::nullopt;
  const size_t end = line.find(kLine);
  if (end == std::string_view::npos) return std::nullopt;
  PythonFrame frame;
  frame.file = line.substr(kBegin.size(), end - kBegin.size());
  line.remove_prefix(end + kLine.size());
  const auto [rest, failed] = std::from_chars(line.data(), line.data() + line.size(), frame.line);
  if (failed != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(rest - line.data()));
  const size_t in = line.find("in ");
  if (in != std::string_view::npos) frame.function = Trimmed(line.substr(in + 3));
  return frame;
}

bool IsPackage(const std::string& file) {
  return file.find("/site-packages/") != std::string::npos ||
         file.find("/dist-packages/") != std::string::npos;
}

bool IsPython(const std::string& file) {
  return file.starts_with("<") || file.find("/capture/hooks/python/") != std::string::npos ||
         (file.find("/lib/python3") != std::string::npos && !IsPackage(file));
}

bool IsTorch(const std::string& file) { return file.find("/torch/") != std::string::npos; }

// `frames`: the innermost last.
std::optional<PythonFrame> PlaceOf(const std::vector<PythonFrame>& frames) {
  const auto last = [&](auto&& wanted) {
    return std::find_if(frames.rbegin(), frames.rend(),
                        [&](const PythonFrame& frame) { return wanted(frame.file); });
  };
  const auto is_program = [](const auto& file) { return !IsPython(file) && !IsPackage(file); };
  // PyTorch may lie outside the packages of Python, and a program in a folder of that name.
  auto found = last([&](const auto& file) { return is_program(file) && !IsTorch(file); });
  if (found == frames.rend()) found = last(is_program);
  if (found == frames.rend()) {
    found = last([](const auto& file) { return !IsPython(file) && !IsTorch(file); });
  }
  if (found == frames.rend()) return std::nullopt;
  return *found;
}

// The exception that ends the block of a traceback at `first`.
PythonFailure ReadTraceback(const std::vector<std::string_view>& lines, size_t first) {
  PythonFailure failure;
  std::vector<PythonFrame> frames;
  for (size_t i = first; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (std::optional<PythonFrame> frame = FrameOf(line)) {
      frames.push_back(std::move(*frame));
    } else if (line.starts_with("    ")) {
      if (!frames.empty() && frames.back().code.empty()) frames.back().code = Trimmed(line);
    } else if (!line.starts_with("  ") && !Trimmed(line).empty()) {
      failure.what = Trimmed(line);
      break;
    }
  }
  failure.place = PlaceOf(frames);
  return failure;
}

PythonFailure ReadFatal(const std::vector<std::string_view>& lines, size_t first) {
  PythonFailure failure;
  failure.what = lines[first];
  std::vector<PythonFrame> frames;
  for (size_t i = first + 1; i < lines.size(); ++i) {
    if (std::optional<PythonFrame> frame = FrameOf(lines[i])) frames.push_back(std::move(*frame));
  }
  // The fault handler lists the innermost frame first, and the thread that failed last.
  std::reverse(frames.begin(), frames.end());
  const size_t current = static_cast<size_t>(
      std::find_if(lines.begin(), lines.end(),
                   [](auto line) { return line.starts_with("Current thread "); }) -
      lines.begin());
  if (current < lines.size()) {
    frames.clear();
    for (size_t i = current + 1; i < lines.size(); ++i) {
      std::optional<PythonFrame> frame = FrameOf(lines[i]);
      if (!frame.has_value()) break;
      frames.insert(frames.begin(), std::move(*frame));
    }
  }
  failure.place = PlaceOf(frames);
  return failure;
}

}  // namespace

std::optional<PythonFailure> FindFailure(std::string_view errors) {
  const std::vector<std::string_view> lines = LinesOf(errors);
  for (size_t i = lines.size(); i-- > 0;) {
    // A launcher's prefix, "[rank3]: ", stands before each line.
    if (lines[i].starts_with(kFatal)) return ReadFatal(lines, i);
    if (lines[i] == kTraceback) return ReadTraceback(lines, i + 1);
    if (!lines[i].ends_with(kTraceback)) continue;
    const size_t prefix = lines[i].size() - kTraceback.size();
    std::vector<std::string_view> own;
    for (size_t j = i + 1; j < lines.size(); ++j) {
      if (lines[j].substr(0, prefix) != lines[i].substr(0, prefix)) break;
      own.push_back(lines[j].substr(prefix));
    }
    return ReadTraceback(own, 0);
  }
  return std::nullopt;
}

std::string LastLines(std::string_view text, int lines) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  size_t begin = text.size();
  for (; lines > 0 && begin != std::string_view::npos; --lines) {
    begin = begin == 0 ? std::string_view::npos : text.rfind('\n', begin - 1);
  }
  std::string_view last = begin == std::string_view::npos ? text : text.substr(begin + 1);
  if (last.size() > kMostBytes) last.remove_prefix(last.size() - kMostBytes);
  return std::string(last);
}

Error FailureError(const std::string& subject, const std::string& end, std::string_view errors) {
  const std::optional<PythonFailure> failure = FindFailure(errors);
  const std::string last = LastLines(errors, kShownLines);
  const std::string shown = last.empty() ? "" : "; the end of its stderr:\n" + last;
  if (!failure.has_value()) return Error(subject + " " + end + shown);
  std::vector<Diagnostic> diagnostics(2);
  diagnostics[0].message = fmt::format("{}: {}", subject, failure->what);
  if (failure->place.has_value()) {
    diagnostics[0].location = {failure->place->file, failure->place->line, 0};
    diagnostics[0].source_line = failure->place->code;
  }
  diagnostics[1].message = subject + " " + end + shown;
  return Error(std::move(diagnostics));
}

}  // namespace drydock::capture
