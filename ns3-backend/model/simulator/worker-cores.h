#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WORKER_CORES_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WORKER_CORES_H_

#include <atomic>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief Keeps the threads of a run on different cores, where there are as many.
 *
 * The kernel wakes a thread on the core of the one that woke it, or lets two share a core while
 * another is free, for milliseconds: then a window takes twice as long. A thread that finds
 * itself on the core of another one moves to a core that none of them is on. It is not bound there:
 * on a busy machine, or beside other processes of the run, the kernel knows better.
 */
class WorkerCores
{
  public:
    explicit WorkerCores(uint32_t threads)
        : m_cores(threads)
    {
    }

    /// Called by thread \p index every now and then: looks where it is, and moves if another thread
    /// with a lower index was last seen there. It costs little when there is nothing to do.
    void KeepApart(uint32_t index);

  private:
    static constexpr int NOWHERE = -1;

    struct alignas(64) Core
    {
        std::atomic<int> number{NOWHERE}; //!< as the kernel counts; written by its thread alone
    };

    void MoveAway() const;

    std::vector<Core> m_cores; //!< by thread
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WORKER_CORES_H_
