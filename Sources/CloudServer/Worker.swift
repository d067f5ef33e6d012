import Dispatch
import System

/// A thread for blocking calls. Jobs run one after the other, and their queue is limited.
final class Worker: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isEnding = false
    }

    private let jobsMax: Int
    private let state = Lock(State())
    private let work = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the thread. It lives until `stop`.
    init(jobsMax: Int) {
        self.jobsMax = jobsMax
        startThread { [self] in run() }
    }

    /// Runs `job` on the thread. Returns false if the queue is full, or after `stop`; then it never runs.
    ///
    /// - Parameter isOwed: the job is accepted even if the queue is full, because such jobs are limited
    ///   elsewhere.
    func submit(isOwed: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isEnding, isOwed || state.jobs.count < jobsMax else { return false }
            state.jobs.append(job)
            return true
        }
        if isTaken { work.signal() }
        return isTaken
    }

    /// Runs the queued jobs, and waits until the thread has ended. Must not be called in a job.
    func stop() {
        state.withLock { $0.isEnding = true }
        work.signal()
        ended.wait()
        // So that a second wait returns too.
        ended.signal()
    }

    private func run() {
        while true {
            work.wait()
            let (jobs, isEnding) = state.withLock { state in
                let jobs = state.jobs
                state.jobs = []
                return (jobs, state.isEnding)
            }
            for job in jobs { job() }
            if isEnding { break }
        }
        ended.signal()
    }
}

/// Runs `body` on a new thread, for initializers, which can't throw: a server can't work without its threads.
func startThread(_ body: @escaping @Sendable () -> Void) {
    do {
        try SystemThread.detach(name: "yap server", body)
    } catch {
        preconditionFailure("\(error)")
    }
}
