import CloudService
import System

/// A thread of its own for calls that block. Addresses take turns on it, and one address can't fill all places: else a
/// flood from one would keep all others out.
final class FairWorker: Sendable {
    private struct Waiting {
        var places: FairCount
        var jobs = FairQueue<(owner: String, run: @Sendable () -> Void)>()
    }

    private let waiting: Lock<Waiting>
    private let worker: Worker

    /// - Parameters:
    ///   - jobsMax: so many jobs wait.
    ///   - sharesCount: an address has this part of the places that are left; with 1, half of all at most.
    init(jobsMax: Int, sharesCount: Int = 1) {
        waiting = Lock(Waiting(places: FairCount(max: jobsMax, sharesCount: sharesCount)))
        worker = Worker(jobsMax: jobsMax)
    }

    /// Runs `job` on the thread when its address's turn has come. False when too many wait, or after `stop`: then it
    /// never runs.
    ///
    /// - Parameter address: of the client; of IPv6 its network counts. Empty: the server itself.
    func submit(of address: String, _ job: @escaping @Sendable () -> Void) -> Bool {
        let owner = AttemptLimiter.key(address: address)
        let isTaken = waiting.withLock { waiting in
            guard waiting.places.begin(owner) else { return false }
            waiting.jobs.append((owner, job), of: owner, bytes: 0)
            return true
        }
        // The places bound what waits.
        return isTaken && worker.submit(isOwed: true) { [self] in runNext() }
    }

    /// Runs `job` on the thread, for the server itself: something else bounds such jobs. False after `stop`.
    func submitOwed(_ job: @escaping @Sendable () -> Void) -> Bool { worker.submit(isOwed: true, job) }

    /// Runs what waits, and returns when the thread has ended.
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
