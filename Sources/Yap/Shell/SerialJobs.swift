import System

/// The asynchronous reads of one connection: first come, first served, one at a time.
final class SerialJobs: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var jobs = FirstInFirstOut<Job>()
        var isScheduled = false
    }

    private let state = Lock(State())

    /// Adds a job. Returns whether someone must call `runNext`.
    func add(_ job: @escaping Job) -> Bool {
        state.withLock { state in
            state.jobs.append(job)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
    }

    /// Runs the first job. Returns whether someone must call this again.
    func runNext() -> Bool {
        let job = state.withLock { $0.jobs.popFirst() }
        job?()
        return state.withLock { state in
            state.isScheduled = state.jobs.count > 0
            return state.isScheduled
        }
    }
}
