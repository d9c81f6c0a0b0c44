// Imports AICB's physical workloads and its logs of them: CSV files with a call or a product of
// matrices a row, which AICB runs on a cluster one after another.
//
//   [ pp_stage0: [rank0, rank1] ]                    ranks that run the rows below; optional
//   comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,...
//   CommType.all_reduce,CommGroup.tp_group,2,16777216,forward.MegatronEmbedding,None,None,,None,...
//   CommType.epoch_end,None,None,0,,None,None,,None,...   ends an iteration
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"
#include "workload-gen/graph/foreign/import.h"

namespace drydock {
namespace {

constexpr double kMostBytes = 1LL << 50;

enum class Span : uint8_t {
  kTensor,
  kData,
  kPipeline,
  kExpert,
  kExpertData,
  kExpertTensor,
  kEnds,
  kAll
};
constexpr size_t kSpans = 8;
const std::array<const char*, kSpans> kSpanNames = {"tp_group",        "dp_group",    "pp_group",
                                                    "ep_group",        "ep_dp_group", "ep_tp_group",
                                                    "embedding_group", "all"};

enum class Kind : uint8_t { kCollective, kSend, kReceive, kProduct };

struct Row {
  Kind kind = Kind::kCollective;
  CollectiveType collective = CollectiveType::kAllReduce;
  Span span = Span::kAll;
  bool next = false;    // a message: to or from the next stage
  int64_t bytes = 0;    // with the meaning of ForeignOp::bytes
  int root = 0;         // member
  std::string stage;    // "forward.MegatronRowLinear"
  double flops = 0;     // of a product of matrices
  double elements = 0;  // that it reads and writes
  double elapsed = -1;  // as the file states it; negative: not stated
  int line = 0;
};

// Rows that the same ranks run.
struct Section {
  std::vector<int> ranks;  // empty: all
  std::vector<Row> rows;   // of the last iteration
  int line = 0;
};

struct AicbFile {
  std::vector<Section> sections;
  std::array<int, kSpans> sizes = {};      // the largest that a row states; 0: none
  std::array<int, kSpans> stated_at = {};  // its line
  bool is_log = false;                     // times are measured, in milliseconds
  size_t iterations = 1;
  size_t set_up = 0;       // rows before the first iteration
  size_t other_sizes = 0;  // rows that state another size of their group
};

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> fields;
  std::string field;
  std::istringstream in(line);
  while (std::getline(in, field, ',')) {
    const size_t first = field.find_first_not_of(" \t\r"), last = field.find_last_not_of(" \t\r");
    fields.push_back(first == std::string::npos ? "" : field.substr(first, last - first + 1));
  }
  return fields;
}

std::optional<double> NumberOf(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

// Returns the numbers in a text.
std::vector<int64_t> WholeNumbersIn(std::string_view text) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at < text.size();) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc()) {
      ++at;
      continue;
    }
    numbers.push_back(value);
    at = static_cast<size_t>(end - text.data());
  }
  return numbers;
}

// "CommType.all_reduce" and "all_reduce".
std::string Bare(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

class Parser {
 public:
  Parser(const std::string& text, std::string path) : text_(text), path_(std::move(path)) {}

  Result<AicbFile> Parse() {
    std::istringstream in(text_);
    while (std::getline(in, line_)) {
      ++number_;
      if (line_.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (line_[0] == '[') {
        RETURN_IF_ERROR(BeginSection());
      } else if (line_.starts_with("comm_type,")) {
        RETURN_IF_ERROR(ReadHeader());
      } else {
        RETURN_IF_ERROR(ReadRow());
      }
    }
    RETURN_IF_ERROR(EndSection());
    if (file_.sections.empty() || columns_.empty()) {
      return Error("a workload of AICB begins with 'comm_type,comm_group,...'", {path_, 1, 0});
    }
    return std::move(file_);
  }

 private:
  Error Bad(const std::string& message) const { return Error(message, {path_, number_, 0}, line_); }

  // "[ pp_stage1: [rank16, rank17] ]", "[rank0 ~ rank127]".
  Status BeginSection() {
    RETURN_IF_ERROR(EndSection());
    Section section;
    section.line = number_;
    const size_t stage = line_.find(':');
    const std::vector<int64_t> numbers =
        WholeNumbersIn(std::string_view(line_).substr(stage == std::string::npos ? 0 : stage));
    const bool is_range = line_.find('~') != std::string::npos && numbers.size() == 2;
    const auto valid = [](int64_t rank) { return rank >= 0 && rank < 10'000'000; };
    if (numbers.empty() || !std::all_of(numbers.begin(), numbers.end(), valid) ||
        (is_range && numbers[0] > numbers[1])) {
      return Bad("expected ranks, as in '[rank0 ~ rank7]' or '[ pp_stage0: [rank0, rank1] ]'");
    }
    if (is_range) {
      for (int64_t rank = numbers[0]; rank <= numbers[1]; ++rank) {
        section.ranks.push_back(static_cast<int>(rank));
      }
    } else {
      for (const int64_t rank : numbers) section.ranks.push_back(static_cast<int>(rank));
    }
    section_ = std::move(section);
    iterations_ = {{}};
    return OkStatus();
  }

  // Keeps the rows of the last iteration. Rows before the first "epoch_end" set the program up,
  // unless there is no iteration after them.
  Status EndSection() {
    if (!section_) return OkStatus();
    if (iterations_.size() > 1 && iterations_.back().empty()) iterations_.pop_back();
    section_->rows = std::move(iterations_.back());
    if (section_->rows.empty()) {
      return Error("no rows follow", {path_, section_->line, 0});
    }
    const size_t count = std::max<size_t>(1, iterations_.size() - 1);
    if (!file_.sections.empty() && count != file_.iterations) {
      return Error(fmt::format("the ranks of this part have {}, those of the first part {}",
                               Plural(count, "iteration"), file_.iterations),
                   {path_, section_->line, 0});
    }
    file_.iterations = count;
    if (iterations_.size() > 1) file_.set_up += iterations_.front().size();
    file_.sections.push_back(*std::move(section_));
    section_.reset();
    return OkStatus();
  }

  Status ReadHeader() {
    columns_.clear();
    const std::vector<std::string> names = Split(line_);
    for (size_t i = 0; i < names.size(); ++i) columns_[names[i]] = i;
    for (const char* needed : {"comm_type", "comm_group", "msg_size", "stage"}) {
      if (!columns_.contains(needed)) return Bad(fmt::format("there is no column '{}'", needed));
    }
    if (!section_) {
      section_ = Section();
      section_->line = number_;
      iterations_ = {{}};
    }
    return OkStatus();
  }

  // Returns "" for a column that is absent, and for Python's None.
  std::string Field(const std::string& name) const {
    const auto column = columns_.find(name);
    if (column == columns_.end() || column->second >= fields_.size()) return "";
    const std::string& text = fields_[column->second];
    return text == "None" ? "" : text;
  }

  Status ReadRow() {
    if (!section_ || columns_.empty()) {
      return Bad("a workload of AICB begins with 'comm_type,comm_group,...'");
    }
    fields_ = Split(line_);
    const std::string type = Bare(Field("comm_type"));
    if (type == "epoch_end") {
      iterations_.emplace_back();
      return OkStatus();
    }
    if (++rows_ > kMaxForeignOps) {
      return Bad(fmt::format("there are more than {} rows", kMaxForeignOps));
    }
    Row row;
    row.line = number_;
    row.stage = PrintableName(Field("stage"));
    if (!Field("_elapsed_time").empty()) {
      const std::optional<double> elapsed = NumberOf(Field("_elapsed_time"));
      if (!elapsed || *elapsed < 0) return Bad("'_elapsed_time' is a time or None");
      row.elapsed = *elapsed;
    }
    if (type == "computation") {
      RETURN_IF_ERROR(ReadProduct(&row));
    } else {
      RETURN_IF_ERROR(ReadCall(type, &row));
    }
    iterations_.back().push_back(std::move(row));
    return OkStatus();
  }

  // "((2048 1 4096) (4096 1024))": the shapes of two factors.
  Status ReadProduct(Row* row) {
    row->kind = Kind::kProduct;
    const std::string text = Field("msg_size");
    const size_t between = text.find(") (");
    const std::vector<int64_t> a = WholeNumbersIn(
        std::string_view(text).substr(0, between == std::string::npos ? 0 : between));
    const std::vector<int64_t> b = WholeNumbersIn(
        std::string_view(text).substr(between == std::string::npos ? text.size() : between));
    const auto positive = [](int64_t extent) { return extent > 0 && extent < int64_t{1} << 40; };
    if (a.size() < 2 || b.size() < 2 || !std::all_of(a.begin(), a.end(), positive) ||
        !std::all_of(b.begin(), b.end(), positive) || a.back() != b[b.size() - 2]) {
      if (row->elapsed >= 0) return OkStatus();
      return Bad("a computation states the shapes of two factors, '((m k) (k n))', or its time");
    }
    double left = 1, right = 1;
    for (const int64_t extent : a) left *= static_cast<double>(extent);
    for (const int64_t extent : b) right *= static_cast<double>(extent);
    // A second factor of two dimensions serves all matrices of the first one.
    const double columns = static_cast<double>(b.back());
    const double result = left / static_cast<double>(a.back()) * columns;
    row->flops = 2 * left * columns;
    row->elements = left + right + result;
    return OkStatus();
  }

  Status ReadCall(const std::string& type, Row* row) {
    static const std::map<std::string, CollectiveType> kinds = {
        {"all_reduce", CollectiveType::kAllReduce},
        {"all_gather", CollectiveType::kAllGather},
        {"all_gather_into_tensor", CollectiveType::kAllGather},
        {"reduce_scatter", CollectiveType::kReduceScatter},
        {"reduce_scatter_tensor", CollectiveType::kReduceScatter},
        {"all_to_all", CollectiveType::kAllToAll},
        {"broadcast", CollectiveType::kBroadcast},
        {"reduce", CollectiveType::kReduce},
        {"barrier", CollectiveType::kAllReduce}};
    const auto found = kinds.find(type);
    if (type == "isend" || type == "irecv") {
      row->kind = type == "isend" ? Kind::kSend : Kind::kReceive;
      const std::string way = Field("additional");
      const std::string verb = type == "isend" ? "send" : "recv";
      row->next = way == verb + "_next";
      if (!row->next && way != verb + "_prev") {
        return Bad(fmt::format("the column 'additional' of {} is '{}_next' or '{}_prev', not '{}'",
                               type, verb, verb, PrintableName(way)));
      }
    } else if (found != kinds.end()) {
      row->collective = found->second;
    } else {
      std::vector<std::string> names = {"computation", "epoch_end", "irecv", "isend"};
      for (const auto& [name, kind] : kinds) names.push_back(name);
      std::sort(names.begin(), names.end());
      return Bad(fmt::format("there is no comm_type '{}'{}; types are {}", PrintableName(type),
                             DidYouMean(PrintableName(type), names), Join(names)));
    }
    RETURN_IF_ERROR(ReadGroup(row));
    const std::optional<double> bytes = NumberOf(Field("msg_size"));
    if (!bytes || *bytes < 0 || *bytes > kMostBytes) {
      return Bad("'msg_size' is a number of bytes from 0 to 2^50");
    }
    // A barrier is an all-reduce of four bytes.
    row->bytes = type == "barrier" ? 4 : std::llround(*bytes);
    if (row->elapsed > 0) file_.is_log = true;
    return OkStatus();
  }

  Status ReadGroup(Row* row) {
    const std::string name = Bare(Field("comm_group"));
    const auto found = std::find(kSpanNames.begin(), kSpanNames.end(),
                                 name == "all_nodes" ? std::string("all") : name);
    if (found == kSpanNames.end()) {
      const std::vector<std::string> names(kSpanNames.begin(), kSpanNames.end());
      return Bad(fmt::format("there is no comm_group '{}'{}; groups are {}", PrintableName(name),
                             DidYouMean(PrintableName(name), names), Join(names)));
    }
    row->span = static_cast<Span>(found - kSpanNames.begin());
    if (row->kind != Kind::kCollective || Field("comm_group_size").empty()) return OkStatus();
    const std::optional<double> size = NumberOf(Field("comm_group_size"));
    if (!size || *size < 1 || *size > 1e7 || *size != std::floor(*size)) {
      return Bad("'comm_group_size' is a number of ranks");
    }
    int& largest = file_.sizes[static_cast<size_t>(row->span)];
    const int members = static_cast<int>(*size);
    if (largest != 0 && members != largest) ++file_.other_sizes;
    if (members <= largest) return OkStatus();
    largest = members;
    file_.stated_at[static_cast<size_t>(row->span)] = number_;
    return OkStatus();
  }

  const std::string& text_;
  const std::string path_;
  std::string line_;
  int number_ = 0;
  size_t rows_ = 0;
  std::map<std::string, size_t> columns_;
  std::vector<std::string> fields_;
  std::optional<Section> section_;
  std::vector<std::vector<Row>> iterations_;
  AicbFile file_;
};

// Who is in which group. AICB numbers ranks as Megatron does: by tensor, context, data (expert
// within it), pipeline.
class Layout {
 public:
  static Result<Layout> Of(const AicbFile& file, int world, const std::string& path) {
    Layout l;
    const auto size = [&](Span span) { return std::max(1, file.sizes[static_cast<size_t>(span)]); };
    l.world = world;
    l.tensor = size(Span::kTensor);
    l.expert = size(Span::kExpert);
    l.pipeline =
        file.sections.size() > 1 ? static_cast<int>(file.sections.size()) : size(Span::kPipeline);
    const auto fail = [&](const std::string& message, Span span) {
      return Error(message, {path, file.stated_at[static_cast<size_t>(span)], 0});
    };
    if (world % (l.tensor * l.pipeline) != 0) {
      return fail(fmt::format("{} ranks do not divide into {} stages of groups of {}", world,
                              l.pipeline, l.tensor),
                  Span::kTensor);
    }
    const int rest = world / l.tensor / l.pipeline;
    l.data = file.sizes[static_cast<size_t>(Span::kData)];
    if (l.data == 0) l.data = rest;
    if (rest % l.data != 0) {
      return fail(fmt::format("dp_group has {} members, which does not divide {}, the number of "
                              "ranks over those of tp_group and the stages",
                              l.data, rest),
                  Span::kData);
    }
    l.context = rest / l.data;
    if (l.data % l.expert != 0) {
      return fail(fmt::format("ep_group has {} members, which does not divide the {} of dp_group",
                              l.expert, l.data),
                  Span::kExpert);
    }
    return l;
  }

  // Returns the ranks of a rank's group.
  std::vector<int> Members(Span span, int rank) const {
    const int shards = tensor * context, stage = world / pipeline;
    switch (span) {
      case Span::kTensor:
        return Strided(rank, 1, tensor);
      case Span::kData:
        return Strided(rank, shards, data);
      case Span::kPipeline:
        return Strided(rank, stage, pipeline);
      case Span::kExpert:
        return Strided(rank, shards, expert);
      case Span::kExpertData:
        return Strided(rank, shards * expert, data / expert);
      case Span::kExpertTensor: {
        std::vector<int> ranks;
        for (const int first : Strided(rank, shards, expert)) {
          for (const int member : Strided(first, 1, tensor)) ranks.push_back(member);
        }
        return ranks;
      }
      case Span::kEnds: {  // the first and the last stage
        const std::vector<int> ranks = Strided(rank, stage, pipeline);
        return pipeline == 1 ? ranks : std::vector<int>{ranks.front(), ranks.back()};
      }
      case Span::kAll:
        return Strided(rank, 1, world);
    }
    return {};
  }

  int world = 1, tensor = 1, context = 1, data = 1, expert = 1, pipeline = 1;

 private:
  // The group of `size` ranks, `stride` apart, that has `rank`.
  static std::vector<int> Strided(int rank, int stride, int size) {
    const int first = rank - rank / stride % size * stride;
    std::vector<int> ranks;
    for (int m = 0; m < size; ++m) ranks.push_back(first + m * stride);
    return ranks;
  }
};

// Each rank waits for each row before it begins the next, as AICB does. Messages in consecutive
// rows start together, as Megatron's exchanges with both neighbors: AICB runs them one after
// another, but writes pipelines that would not end so.
class Builder {
 public:
  Builder(const AicbFile& file, const Layout& layout, const ForeignOptions& options)
      : file_(file), layout_(layout), options_(options) {}

  ForeignJob Build() {
    job_.ranks.resize(static_cast<size_t>(layout_.world));
    for (const Section& section : file_.sections) {
      for (int r = 0; r < layout_.world; ++r) {
        if (!section.ranks.empty() &&
            !std::binary_search(section.ranks.begin(), section.ranks.end(), r)) {
          continue;
        }
        front_.clear();
        before_messages_.reset();
        for (const Row& row : section.rows) Add(row, r);
      }
    }
    return std::move(job_);
  }

  size_t empty() const { return empty_; }
  size_t alone() const { return alone_; }
  bool computes() const { return computes_; }

 private:
  void Add(const Row& row, int rank) {
    ForeignOp op;
    op.phase = PhaseOf(row);
    if (row.kind == Kind::kProduct) {
      op.block = BlockOf(row);
      computes_ = true;
    } else if (row.bytes == 0) {
      ++empty_;
      return;
    } else if (row.kind == Kind::kCollective) {
      const std::vector<int> members = layout_.Members(row.span, rank);
      if (members.size() == 1) {
        ++alone_;
        return;
      }
      if (std::find(members.begin(), members.end(), rank) == members.end()) return;
      op.kind = OpKind::kCollective;
      op.collective = row.collective;
      op.group = GroupOf(members);
      op.bytes = row.bytes;
    } else {
      const int stage = layout_.world / layout_.pipeline;
      op.kind = row.kind == Kind::kSend ? OpKind::kSend : OpKind::kRecv;
      op.peer = rank + (row.next ? stage : -stage);
      op.bytes = row.bytes;
      if (op.peer < 0 || op.peer >= layout_.world) return;  // no such stage
    }
    Append(op, &job_.ranks[static_cast<size_t>(rank)]);
  }

  void Append(ForeignOp op, ForeignRank* rank) {
    const bool is_message = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
    if (!is_message) before_messages_.reset();
    const bool joins = before_messages_.has_value();
    const std::vector<uint32_t> after = joins ? *before_messages_ : front_;
    if (is_message && !joins) before_messages_ = front_;
    const auto index = static_cast<uint32_t>(rank->ops.size());
    op.id = index;
    rank->ops.push_back(op);
    rank->dependency.insert(rank->dependency.end(), after.begin(), after.end());
    rank->dependency_begin.push_back(static_cast<uint32_t>(rank->dependency.size()));
    if (!joins) front_.clear();
    front_.push_back(index);
  }

  // A log measures milliseconds; a workload with AIOB's times has nanoseconds.
  uint32_t BlockOf(const Row& row) {
    const std::string name = row.stage.empty() ? "computation" : row.stage;
    if (row.elapsed >= 0) {
      const double ps = std::min(row.elapsed * (file_.is_log ? 1e9 : 1e3),
                                 static_cast<double>(submodule::kLongestFixedDuration.ps()));
      return job_.tables.FixedDuration(name, Time::Ps(std::llround(ps)));
    }
    const double bytes = row.elements * static_cast<double>(SizeOf(options_.type).count());
    return job_.tables.FlopsAndBytes(name, row.flops, Bytes(std::llround(bytes)), options_.type);
  }

  static Phase PhaseOf(const Row& row) {
    if (row.stage.starts_with("forward")) return Phase::kForward;
    if (row.stage.starts_with("backward")) return Phase::kBackward;
    if (!row.stage.starts_with("step")) return Phase::kOther;
    const bool gradients = row.kind == Kind::kCollective && Reduces(row.collective) &&
                           (row.span == Span::kData || row.span == Span::kExpertData);
    return gradients ? Phase::kGradientSync : Phase::kOptimizer;
  }

  int32_t GroupOf(const std::vector<int>& members) {
    const auto [entry, added] =
        known_groups_.emplace(members, static_cast<int32_t>(job_.groups.size()));
    if (added) job_.groups.push_back(Group{members});
    return entry->second;
  }

  const AicbFile& file_;
  const Layout& layout_;
  const ForeignOptions& options_;
  ForeignJob job_;
  std::map<std::vector<int>, int32_t> known_groups_;
  std::vector<uint32_t> front_;  // the next op of the rank waits for these
  // Those that the messages of the last rows wait for, if the last rows are messages.
  std::optional<std::vector<uint32_t>> before_messages_;
  size_t empty_ = 0, alone_ = 0;
  bool computes_ = false;
};

// Returns the number of ranks, and sorts those of each section. Ranks are numbered from 0, and each
// is in one section.
Result<int> CountRanks(AicbFile* file, int gpus, const std::string& path) {
  if (file->sections.size() == 1 && file->sections[0].ranks.empty()) return gpus;
  std::set<int> seen;
  for (Section& section : file->sections) {
    std::sort(section.ranks.begin(), section.ranks.end());
    const auto fail = [&](const std::string& what) { return Error(what, {path, section.line, 0}); };
    if (section.ranks.empty()) return fail("this part names no ranks");
    for (const int rank : section.ranks) {
      if (!seen.insert(rank).second) return fail(fmt::format("rank {} has two parts", rank));
    }
  }
  if (*seen.rbegin() + 1 != static_cast<int>(seen.size())) {
    return Error(fmt::format("the ranks are not all of 0 to {}", *seen.rbegin()), {path, 1, 0});
  }
  return static_cast<int>(seen.size());
}

// AICB writes the rows of the first stage alone unless it writes a part for each.
Status CheckStages(const AicbFile& file, const std::string& path) {
  if (file.sections.size() > 1) return OkStatus();
  for (const Row& row : file.sections[0].rows) {
    if (row.kind != Kind::kSend && row.kind != Kind::kReceive) continue;
    return Error(
        "the file has the messages of one pipeline stage only; AICB's other stages belong into it "
        "as parts that begin with '[ pp_stage1: [rank16, rank17, ...] ]'",
        {path, row.line, 0});
  }
  return OkStatus();
}

}  // namespace

Result<Imported> ImportAicb(const ImportInput& input, const Topology& topology,
                            const ForeignOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(input.place));
  ASSIGN_OR_RETURN(AicbFile file, Parser(text, input.place).Parse());
  ASSIGN_OR_RETURN(const int world, CountRanks(&file, topology.gpu_count(), input.place));
  RETURN_IF_ERROR(CheckStages(file, input.place));
  ASSIGN_OR_RETURN(const Layout layout, Layout::Of(file, world, input.place));
  size_t ops = 0;
  for (const Section& section : file.sections) {
    const size_t ranks = section.ranks.empty() ? static_cast<size_t>(world) : section.ranks.size();
    ops += ranks * section.rows.size();
  }
  if (ops > kMaxForeignOps) {
    return Error(fmt::format("the ranks have more than {} ops", kMaxForeignOps),
                 {input.place, 1, 0});
  }
  Builder builder(file, layout, options);
  ForeignJob job = builder.Build();
  const bool is_empty = std::all_of(job.ranks.begin(), job.ranks.end(),
                                    [](const ForeignRank& rank) { return rank.ops.empty(); });
  if (is_empty) {
    return Error(
        "every call has 0 bytes or is in a group of one rank; a row's comm_group_size is "
        "the number of its group's ranks",
        {input.place, file.sections[0].rows[0].line, 0});
  }
  job.name = BaseName(input.place);
  job.format = "AICB";
  ASSIGN_OR_RETURN(Imported imported, AssembleWorkload(std::move(job), topology, options));
  std::vector<std::string>& warnings = imported.warnings;
  if (file.iterations > 1) {
    warnings.push_back(
        fmt::format("the last of {} is imported", Plural(file.iterations, "iteration")));
  }
  if (file.set_up > 0) {
    warnings.push_back(fmt::format("left out: {} of set-up", Plural(file.set_up, "row")));
  }
  if (!builder.computes()) {
    warnings.push_back("there is no computation in the file: the time is that of communication");
  }
  if (file.is_log) {
    warnings.push_back("the measured times of communication are left out");
  }
  if (file.other_sizes > 0) {
    warnings.push_back(
        fmt::format("{} state another size of their group than the largest, which "
                    "counts",
                    Plural(file.other_sizes, "row")));
  }
  if (builder.empty() > 0) {
    warnings.push_back(fmt::format("left out: {} of 0 bytes", Plural(builder.empty(), "call")));
  }
  if (builder.alone() > 0) {
    warnings.push_back(
        fmt::format("left out: {} in groups of one rank", Plural(builder.alone(), "call")));
  }
  return imported;
}

}  // namespace drydock
