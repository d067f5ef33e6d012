import Dispatch
import System

/// An object with threads of its own, which a server starts together.
protocol ThreadOwner: Sendable {
    /// Starts the threads.
    ///
    /// - Throws: `SystemThread.NotStarted`. Those that were started before are taken back by `start`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted)
}

/// A thread for blocking calls. Jobs run one after the other, and their queue is limited.
final class Worker: ThreadOwner {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isEnding = false
    }

    private let jobsMax: Int
    private let state = Lock(State())
    private let work = DispatchSemaphore(value: 0)
    private let thread = OwnedThread(name: "yap worker")

    /// Makes a worker whose jobs wait until `start`.
    init(jobsMax: Int) { self.jobsMax = jobsMax }

    /// Starts the thread. It lives until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try thread.start(start) { [self] in run() }
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
        thread.waitForEnd()
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
            if isEnding { return }
        }
    }
}
