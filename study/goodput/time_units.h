// Units of time longer than a second, in seconds.
#ifndef DRYDOCK_STUDY_GOODPUT_TIME_UNITS_H_
#define DRYDOCK_STUDY_GOODPUT_TIME_UNITS_H_

namespace drydock {

inline constexpr double kSecondsOfHour = 3600;
inline constexpr double kSecondsOfDay = 24 * kSecondsOfHour;
inline constexpr double kSecondsOfYear = 365.25 * kSecondsOfDay;

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_TIME_UNITS_H_
