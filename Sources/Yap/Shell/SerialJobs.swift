import System

/// Asynchronous reads of one connection. Run one at a time, in the order in which they were queued.
final class SerialJobs: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var jobs = FirstInFirstOut<Job>()
        var isScheduled = false
    }

    private let state = Lock(State())

    /// Adds a job. Returns true if the caller must schedule `runNext`.
    func add(_ job: @escaping Job) -> Bool {
        state.withLock { state in
            state.jobs.append(job)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
    }

    /// Runs the first job. Returns true if more jobs are queued.
    func runNext() -> Bool {
        let job = state.withLock { $0.jobs.popFirst() }
        job?()
        return state.withLock { state in
            state.isScheduled = state.jobs.count > 0
            return state.isScheduled
        }
    }
}
