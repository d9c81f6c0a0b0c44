// The points of a study on disk: STUDY/points/ID/, ID being a hash of all that decides the point.
// A folder appears as a whole, so a study that is killed loses the points in flight and no other.
#ifndef DRYDOCK_STUDY_POINTS_POINT_STORE_H_
#define DRYDOCK_STUDY_POINTS_POINT_STORE_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "study/evaluate/evaluation.h"
#include "study/points/metric.h"

namespace drydock {

// "done", "does not fit", "refused".
const std::string& StateName(PointState state);

struct PointRecord {
  std::vector<std::string> assignments;  // those of the study, then the point's own
  PointState state = PointState::kDone;
  std::string reason;
  MetricValues metrics;
};

class PointStore {
 public:
  // `study`: the directory of the study.
  explicit PointStore(std::string study) : study_(std::move(study)) {}

  // The folder of a point, relative to the study.
  static std::string FolderOf(const std::string& id);

  // The record of a point; nothing if it is missing or damaged.
  std::optional<PointRecord> Read(const std::string& id) const;

  // Removes what writers that were killed have left. REQUIRES: nobody writes points now.
  void RemoveUnfinished() const;

  // Writes point.json and, of a point that was simulated, summary.json, summary.txt and, with
  // `page`, report.html.
  Status Write(const std::string& id, const std::vector<std::string>& assignments,
               const Evaluation& evaluation, bool page) const;

 private:
  std::string study_;
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_POINTS_POINT_STORE_H_
