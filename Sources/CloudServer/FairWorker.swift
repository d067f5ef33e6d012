import CloudService
import System

/// A thread for blocking calls. Addresses take turns on it, and one address can't use all places, so that a
/// flood from one doesn't block the others.
final class FairWorker: ThreadOwner {
    private struct Waiting {
        var places: FairCount
        var jobs = FairQueue<(owner: String, run: @Sendable () -> Void)>()
    }

    private let waiting: Lock<Waiting>
    private let worker: Worker

    /// - Parameters:
    ///   - jobsMax: maximum queued jobs.
    ///   - sharesCount: an address may take the free places divided by this number. With 1, it has up to a
    ///     half of all places.
    init(jobsMax: Int, sharesCount: Int = 1) {
        waiting = Lock(Waiting(places: FairCount(max: jobsMax, sharesCount: sharesCount)))
        worker = Worker(jobsMax: jobsMax)
    }

    /// Starts the thread. It lives until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) { try worker.start(start) }

    /// Runs `job` on the thread in its address's turn. Returns false if the queue is full, or after `stop`;
    /// then it never runs.
    ///
    /// - Parameter address: the client's address, of which only the network counts for IPv6. Empty for the
    ///   server itself.
    func submit(of address: String, _ job: @escaping @Sendable () -> Void) -> Bool {
        let owner = AttemptLimiter.key(address: address)
        let isTaken = waiting.withLock { waiting in
            guard waiting.places.begin(owner) else { return false }
            waiting.jobs.append((owner, job), of: owner, bytes: 0)
            return true
        }
        // The places limit the number of queued jobs.
        return isTaken && worker.submit(isOwed: true) { [self] in runNext() }
    }

    /// Runs `job` on the thread, for jobs of the server itself, which are limited elsewhere. Returns false
    /// after `stop`.
    func submitOwed(_ job: @escaping @Sendable () -> Void) -> Bool { worker.submit(isOwed: true, job) }

    /// Runs the queued jobs, and waits until the thread has ended.
    func stop() { worker.stop() }

    private func runNext() {
        let next = waiting.withLock { waiting in
            let next = waiting.jobs.popFirst()
            if let next { waiting.places.end(next.owner) }
            return next
        }
        next?.run()
    }
}
