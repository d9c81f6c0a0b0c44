// The points of a sweep side by side: sweep.csv, a table for a terminal, the Pareto front. Pure
// functions; the same points give the same bytes.
#ifndef DRYDOCK_STUDY_TABLE_SWEEP_TABLE_H_
#define DRYDOCK_STUDY_TABLE_SWEEP_TABLE_H_

#include <string>
#include <vector>

#include "study/points/point_store.h"

namespace drydock {

struct SweepRow {
  std::string id;
  std::vector<std::string> values;  // by axis
  PointRecord record;
};

struct SweepTable {
  std::string model, cluster, network;
  std::vector<std::string> set;      // values of --set that all points have
  std::vector<std::string> axes;     // keys
  std::vector<std::string> metrics;  // names; the first one ranks
  bool pages = true;                 // points that were simulated have a report.html
  std::vector<SweepRow> rows;        // in the order of the axes
};

// All rows with all metrics: the point's ID, the axes, state, reason, metrics. A text that a
// spreadsheet would take for a formula begins with an apostrophe.
std::string CsvOf(const SweepTable& table);

// Done rows, the best of the first metric first; rows of equal value stay in order.
std::vector<const SweepRow*> Ranked(const SweepTable& table);

// Done rows that no other row beats in both metrics (and equals or beats in one), in order. A
// metric without a better direction counts as equal.
std::vector<const SweepRow*> ParetoFront(const SweepTable& table, const std::string& first,
                                         const std::string& second);

// The best `most` rows, and how many points are in each state.
std::string TextOf(const SweepTable& table, size_t most);

// A line for each metric of the table that no done point has, if it is known why.
std::vector<std::string> MissingMetrics(const SweepTable& table);

// "24 points: 18 done, 4 do not fit, 2 refused".
std::string CountsText(const SweepTable& table);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_TABLE_SWEEP_TABLE_H_
