// PyTorch profiler traces: {"traceEvents": [...]}. A kernel names the operator that launched it by
// "External id"; with record_shapes the operator has "Input Dims" and "Input type". The time of an
// operator is the sum of the times of its own kernels.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compute-sim/import/import.h"
#include "compute-sim/import/traced_op.h"
#include "core/schema/foreign/unpack.h"

namespace drydock {
namespace {

using Json = nlohmann::json;

struct TracedOp {
  std::string name;
  std::optional<Kernel> kernel;
  double us = 0;
};

std::optional<DataType> TypeOf(const Json& types) {
  static const std::map<std::string, DataType> known = {{"c10::BFloat16", DataType::kBf16},
                                                        {"c10::Half", DataType::kFp16},
                                                        {"c10::Float8_e4m3fn", DataType::kFp8},
                                                        {"float", DataType::kFp32}};
  if (!types.is_array()) return std::nullopt;
  for (const Json& type : types) {
    const auto found = type.is_string() ? known.find(type.get<std::string>()) : known.end();
    if (found != known.end()) return found->second;
  }
  return std::nullopt;
}

std::optional<TensorShapes> ShapesOf(const Json& dims) {
  if (!dims.is_array()) return std::nullopt;
  TensorShapes shapes;
  for (const Json& tensor : dims) {
    std::vector<int64_t>& shape = shapes.emplace_back();
    if (!tensor.is_array()) continue;
    for (const Json& extent : tensor) {
      if (!extent.is_number_integer()) return std::nullopt;  // a list of tensors
      shape.push_back(extent.get<int64_t>());
    }
  }
  return shapes;
}

// The value of attention's causal argument; nullopt if the trace does not record values.
std::optional<bool> IsCausal(const std::string& op, const Json& args) {
  const std::optional<size_t> place = CausalArgumentOf(op);
  const Json values = args.value("Concrete Inputs", Json::array());
  if (!place.has_value() || !values.is_array() || values.size() <= *place) return std::nullopt;
  if (values[*place] == "True") return true;
  if (values[*place] == "False") return false;
  return std::nullopt;
}

// The external id of an operator and of the kernels that it launched. Before PyTorch 1.13, some
// components wrote the key in lower case.
Json ExternalId(const Json& args) {
  return args.contains("External id") ? args["External id"] : args.value("external id", Json());
}

TracedOp OpOf(const Json& event, const Json& args) {
  TracedOp op{event.value("name", ""), std::nullopt, 0};
  const auto shapes = ShapesOf(args.value("Input Dims", Json()));
  const auto type = TypeOf(args.value("Input type", Json()));
  if (shapes.has_value() && type.has_value()) {
    op.kernel = KernelOfOp(op.name, *shapes, *type, IsCausal(op.name, args));
  }
  return op;
}

// Returns true if there are operators, and none states its shapes.
bool LacksShapes(const Json& events) {
  bool has_ops = false;
  for (const Json& event : events) {
    if (!event.is_object() || event.value("cat", "") != "cpu_op") continue;
    has_ops = true;
    if (event.contains("args") && event["args"].is_object() &&
        event["args"].contains("Input Dims")) {
      return false;
    }
  }
  return has_ops;
}

ImportedTimes Collect(const Json& events) {
  ImportedTimes out;
  std::map<int64_t, TracedOp> ops;
  for (const int pass : {0, 1}) {  // operators first: a kernel may come before its operator
    for (const Json& event : events) {
      if (!event.is_object() || !event.contains("args") || !event["args"].is_object()) continue;
      const Json& args = event["args"];
      const Json id = ExternalId(args);
      const std::string category = event.value("cat", "");
      const bool known = id.is_number_integer();
      if (pass == 0 && category == "cpu_op" && known) {
        ops.emplace(id.get<int64_t>(), OpOf(event, args));
      }
      if (pass == 0 || category != "kernel") continue;
      const auto op = known ? ops.find(id.get<int64_t>()) : ops.end();
      const Json duration = event.value("dur", Json());
      if (!duration.is_number() || !(duration.get<double>() > 0)) {
        // The time of this kernel's operator is unknown too.
        ++out.left_out["kernel without a duration"];
        if (op != ops.end()) op->second.kernel.reset();
      } else if (op == ops.end()) {
        ++out.left_out["kernel without an operator"];
      } else {
        op->second.us += duration.get<double>();
      }
    }
  }
  for (const auto& [id, op] : ops) {
    if (!(op.us > 0)) continue;
    if (op.kernel.has_value())
      out.Add(*op.kernel, op.us);
    else
      ++out.left_out[op.name];
  }
  return out;
}

}  // namespace

Result<ImportedTimes> ReadKineto(const std::string& path, const ImportOptions&) {
  ASSIGN_OR_RETURN(const std::string text, ReadUnpacked(path));
  const Json trace = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (trace.is_discarded()) {
    return Error("this is not JSON, and not JSON that is packed with gzip", {path, 0, 0});
  }
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) {
    return Error("this trace has no list 'traceEvents'", {path, 0, 0});
  }
  try {
    if (LacksShapes(trace["traceEvents"])) {
      return Error(
          "its operators state no shapes; record the trace with "
          "torch.profiler.profile(..., record_shapes=True)",
          {path, 0, 0});
    }
    return Collect(trace["traceEvents"]);
  } catch (const Json::exception& e) {  // a field has a type that no trace has
    return Error(fmt::format("this is not a trace of PyTorch's profiler: {}", e.what()),
                 {path, 0, 0});
  }
}

}  // namespace drydock
