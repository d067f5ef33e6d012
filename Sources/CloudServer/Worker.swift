import Dispatch
import System

/// A thread of its own for calls that block: jobs run one after the other, and only so many wait.
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

    /// Runs `job` on the thread. False when too many wait, or after `stop`: then it never runs.
    ///
    /// - Parameter isOwed: the job is taken even when too many wait, because something else bounds such jobs.
    func submit(isOwed: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isEnding, isOwed || state.jobs.count < jobsMax else { return false }
            state.jobs.append(job)
            return true
        }
        if isTaken { work.signal() }
        return isTaken
    }

    /// Runs what waits, and returns when the thread has ended. Must not be called in a job.
    func stop() {
        state.withLock { $0.isEnding = true }
        work.signal()
        ended.wait()
        // A second wait returns too.
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

/// Runs `body` on a new thread, for initializers, which can't throw: a server without its own threads can't serve.
func startThread(_ body: @escaping @Sendable () -> Void) {
    do {
        try SystemThread.detach(name: "yap server", body)
    } catch {
        preconditionFailure("\(error)")
    }
}
