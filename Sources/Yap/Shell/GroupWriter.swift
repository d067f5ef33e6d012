/// Group commit: runs all pending writes in one SQLite transaction, each in a savepoint, so that they share one
/// COMMIT and one wait for the disk.
final class GroupWriter: Sendable {
    /// Maximum writes in one transaction.
    static let groupRequestsMax = 256

    private let queue: WorkQueue<any WriteRequest>
    private let writer: Writer
    private let pending: PendingCount

    init(queue: WorkQueue<any WriteRequest>, writer: Writer, pending: PendingCount = PendingCount()) {
        self.queue = queue
        self.writer = writer
        self.pending = pending
    }

    /// Serves writes until the queue is closed and empty.
    func run() {
        while let requests = queue.take(max: Self.groupRequestsMax) { serve(requests) }
    }

    /// Serves the pending writes, and those that arrive in the meantime.
    func runOnce() {
        while true {
            let requests = queue.takeWithoutWaiting(max: .max)
            if requests.isEmpty { return }
            serve(requests)
        }
    }

    private func serve(_ requests: [any WriteRequest]) {
        var waiting = requests[...]
        while let first = waiting.first {
            if first.isExclusive {
                waiting.removeFirst()
                serveExclusive(first)
            } else {
                let members = waiting.prefix { !$0.isExclusive }
                waiting = waiting.dropFirst(members.count)
                let unrun = serveGroup(Array(members), mayJoin: waiting.isEmpty)
                waiting = unrun[...] + waiting
            }
        }
    }

    private func serveExclusive(_ request: any WriteRequest) {
        do {
            try writer.withCore { request.run(in: $0) }
        } catch {
            request.fail(error)
        }
        answer(request)
    }

    private func answer(_ request: any WriteRequest) {
        pending.end()
        request.resume()
    }

    /// Runs a group and resumes its callers. Returns the writes that haven't run because an earlier one rolled the
    /// transaction back.
    private func serveGroup(_ requests: [any WriteRequest], mayJoin: Bool) -> [any WriteRequest] {
        var members = requests
        var runCount = 0
        do {
            try writer.withCore { core in
                try core.begin()
                do {
                    try runAll(&members, &runCount, core, mayJoin: mayJoin)
                    try core.commit()
                } catch {
                    core.abandon()
                    throw error
                }
            }
        } catch {
            // If BEGIN failed, trying the next one is pointless.
            if runCount == 0 { runCount = members.count }
            for member in members[..<runCount] { member.fail(error) }
        }
        for member in members[..<runCount] { answer(member) }
        return Array(members[runCount...])
    }

    private func runAll(
        _ members: inout [any WriteRequest], _ runCount: inout Int, _ core: WriterCore, mayJoin: Bool
    ) throws {
        repeat {
            while runCount < members.count {
                runCount += 1
                members[runCount - 1].run(in: core)
                if !core.isAlive { throw core.lostTransaction }
            }
            if mayJoin { members += lateMembers(max: Self.groupRequestsMax - members.count) }
        } while runCount < members.count
    }

    /// Returns the writes that arrived while the group ran, up to the first that needs its own transaction.
    private func lateMembers(max: Int) -> [any WriteRequest] {
        guard max > 0 else { return [] }
        let late = queue.takeWithoutWaiting(max: max)
        let members = late.prefix { !$0.isExclusive }
        queue.putBack(Array(late.dropFirst(members.count)))
        return Array(members)
    }
}
