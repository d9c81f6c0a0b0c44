// Nsight Systems' SQLite export. Its kernels have no shapes, but the NVTX ranges that PyTorch's
// emit_nvtx(record_shapes=True) puts around every operator have:
//     aten::mm, op_id = 12, sizes = [[8192, 6144], [6144, 2304]]
// A kernel belongs to the innermost such range that was open on its thread when it was launched.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "compute-sim/import/import.h"
#include "compute-sim/import/traced_op.h"
#include "core/base/files.h"

namespace drydock {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

struct Range {
  int64_t thread = 0, start = 0, end = 0;
  std::string name;
  std::optional<Kernel> kernel;
  int64_t kernel_ns = 0;
};

struct Launch {
  int64_t thread = 0, start = 0, kernel_ns = 0;
};

// Calls `row` for every row of the query.
Status Query(sqlite3* database, const std::string& path, const char* sql,
             const std::function<void(sqlite3_stmt*)>& row) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &raw, nullptr) != SQLITE_OK) {
    return Error(
        fmt::format("this is not an export of Nsight Systems: {}", sqlite3_errmsg(database)),
        {path, 0, 0});
  }
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
  int state = SQLITE_ROW;
  while ((state = sqlite3_step(raw)) == SQLITE_ROW) row(raw);
  if (state == SQLITE_DONE) return OkStatus();
  return Error(fmt::format("cannot be read: {}", sqlite3_errmsg(database)), {path, 0, 0});
}

// nullopt if `text` is not the range of an operator.
std::optional<Range> RangeOf(std::string_view text, DataType type) {
  const size_t sizes = text.find(", sizes = ");
  if (!text.starts_with("aten::") || sizes == std::string_view::npos) return std::nullopt;
  Range range;
  range.name = text.substr(0, text.find(','));
  const auto shapes = ParseShapes(text.substr(sizes + std::string_view(", sizes = ").size()));
  // The sizes do not tell whether attention is causal.
  if (shapes.has_value()) range.kernel = KernelOfOp(range.name, *shapes, type, std::nullopt);
  return range;
}

Result<std::vector<Range>> ReadRanges(sqlite3* database, const std::string& path, DataType type) {
  std::vector<Range> ranges;
  const char* sql =
      "SELECT e.globalTid, e.start, e.end, coalesce(e.text, s.value) FROM NVTX_EVENTS e "
      "LEFT JOIN StringIds s ON e.textId = s.id WHERE e.end IS NOT NULL "
      "ORDER BY e.globalTid, e.start, e.end DESC";
  RETURN_IF_ERROR(Query(database, path, sql, [&](sqlite3_stmt* row) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, 3));
    std::optional<Range> range = RangeOf(text == nullptr ? "" : text, type);
    if (!range.has_value()) return;
    range->thread = sqlite3_column_int64(row, 0);
    range->start = sqlite3_column_int64(row, 1);
    range->end = sqlite3_column_int64(row, 2);
    ranges.push_back(*std::move(range));
  }));
  return ranges;
}

Result<std::vector<Launch>> ReadLaunches(sqlite3* database, const std::string& path) {
  std::vector<Launch> launches;
  // Every process counts its correlations from 0. The low 24 bits of a globalTid identify the
  // thread; without them it is the globalPid of the process.
  const char* sql =
      "SELECT r.globalTid, r.start, k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL k "
      "JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId "
      "AND k.globalPid = (r.globalTid & ~16777215) "
      "ORDER BY r.globalTid, r.start";
  RETURN_IF_ERROR(Query(database, path, sql, [&](sqlite3_stmt* row) {
    launches.push_back(
        {sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2)});
  }));
  return launches;
}

// Both arguments are in order of thread and start. Returns the number of kernels that no operator
// launched.
int64_t AssignKernelsToRanges(const std::vector<Launch>& launches, std::vector<Range>* ranges) {
  int64_t without = 0;
  std::vector<size_t> open;  // innermost last
  size_t next = 0;
  for (const Launch& launch : launches) {
    const auto before = [&](const Range& range) {
      return std::tie(range.thread, range.start) <= std::tie(launch.thread, launch.start);
    };
    while (next < ranges->size() && before((*ranges)[next])) {
      while (!open.empty() && ((*ranges)[open.back()].end <= (*ranges)[next].start ||
                               (*ranges)[open.back()].thread != (*ranges)[next].thread)) {
        open.pop_back();
      }
      open.push_back(next++);
    }
    while (!open.empty() && ((*ranges)[open.back()].end < launch.start ||
                             (*ranges)[open.back()].thread != launch.thread)) {
      open.pop_back();
    }
    if (open.empty())
      ++without;
    else
      (*ranges)[open.back()].kernel_ns += launch.kernel_ns;
  }
  return without;
}

}  // namespace

Result<ImportedTimes> ReadNsys(const std::string& path, const ImportOptions& options) {
  if (!FileExists(path)) return Error("cannot read: no such file", {path, 0, 0});
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  const Database database(raw);
  if (opened != SQLITE_OK) return Error("cannot be opened", {path, 0, 0});
  ASSIGN_OR_RETURN(std::vector<Range> ranges, ReadRanges(raw, path, options.type));
  ASSIGN_OR_RETURN(const std::vector<Launch> launches, ReadLaunches(raw, path));
  ImportedTimes out;
  const int64_t without = AssignKernelsToRanges(launches, &ranges);
  if (without > 0) out.left_out["kernel without an operator"] = without;
  for (const Range& range : ranges) {
    if (range.kernel_ns <= 0) continue;
    if (range.kernel.has_value())
      out.Add(*range.kernel, static_cast<double>(range.kernel_ns) / 1000);
    else
      ++out.left_out[range.name];
  }
  return out;
}

}  // namespace drydock
