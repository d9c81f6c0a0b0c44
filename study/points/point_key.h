// What decides a point, as a hash. Equal hashes have equal results.
#ifndef DRYDOCK_STUDY_POINTS_POINT_KEY_H_
#define DRYDOCK_STUDY_POINTS_POINT_KEY_H_

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "study/evaluate/evaluator.h"

namespace drydock {

class PointKeys {
 public:
  // Reads what all points share: this program, NCCL, the files of assumptions, GPU profiles.
  static Result<PointKeys> Make(const EvaluatorOptions& options);

  // 16 hexadecimal digits. Reads the files that the values name.
  std::string KeyOf(const std::vector<std::string>& assignments);

 private:
  explicit PointKeys(EvaluatorOptions options) : options_(std::move(options)) {}
  const std::string& ClusterText(const std::vector<std::string>& overrides);

  EvaluatorOptions options_;
  std::string common_;
  std::map<std::vector<std::string>, std::string> clusters_;
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_POINTS_POINT_KEY_H_
