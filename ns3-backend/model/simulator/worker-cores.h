#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WORKER_CORES_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WORKER_CORES_H_

#include <atomic>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief Keeps the threads of a run on different cores, if the machine has enough cores.
 *
 * The kernel may wake a thread on the core of the thread that woke it, or let two threads share a
 * core while another core is free, for milliseconds. A window then takes twice as long. A thread
 * that finds itself on the core of another thread moves to a core without one. It is not bound
 * there: on a busy machine, or with other processes of the run, the kernel schedules better.
 */
class WorkerCores
{
  public:
    explicit WorkerCores(uint32_t threads)
        : m_cores(threads)
    {
    }

    /// Called by thread \p index regularly. Moves the thread if a thread with a lower index was
    /// last seen on its core. Cheap if the thread need not move.
    void KeepApart(uint32_t index);

  private:
    static constexpr int NOWHERE = -1;

    struct alignas(64) Core
    {
        std::atomic<int> number{NOWHERE}; //!< as the kernel counts; only its thread writes it
    };

    void MoveAway() const;

    std::vector<Core> m_cores; //!< by thread
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WORKER_CORES_H_
