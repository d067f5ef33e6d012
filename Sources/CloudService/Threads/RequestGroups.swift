import CloudStore
import CloudWire
import System

/// Identifies a request that waits for a group commit.
public struct ServiceTicket: Hashable, Comparable, Sendable {
    let number: UInt64

    /// Orders by the time of `begin`.
    public static func < (left: ServiceTicket, right: ServiceTicket) -> Bool { left.number < right.number }
}

/// The requests that wait for a group commit.
private struct WaitingRequests {
    var lastNumber: UInt64 = 0
    /// Total bytes of their bodies.
    var bytes = 0
    var requests: [(ticket: ServiceTicket, request: PreparedRequest)] = []
}

/// The requests that wait for a group commit, and their shared transactions. Pending requests are kept in
/// memory.
final class RequestGroups: Sendable {
    private let store: any CloudStore
    private let clock: any TimeSource
    private let groupLimits: GroupLimits
    private let pushes: PushDelivery
    private let responses: Responses
    private let waiting = Lock(WaitingRequests())

    init(
        store: any CloudStore, clock: any TimeSource, limits: GroupLimits, pushes: PushDelivery,
        responses: Responses
    ) {
        (self.store, self.clock) = (store, clock)
        groupLimits = limits
        (self.pushes, self.responses) = (pushes, responses)
    }

    /// Adds a prepared request.
    func begin(_ prepared: PreparedRequest) -> ServiceTicket {
        var prepared = prepared
        return waiting.withLock { waiting in
            waiting.lastNumber += 1
            let ticket = ServiceTicket(number: waiting.lastNumber)
            if waiting.requests.count >= groupLimits.waitingRequestsMax
                || waiting.bytes >= groupLimits.waitingBytesMax
            {
                let error = ServiceError.tryAgainLater(
                    "too many requests are pending", retryAfterSeconds: ServiceFailure.retryAfterSeconds)
                prepared = PreparedRequest(
                    work: .answer(.error(error)), bytes: 0, wantsExtras: prepared.wantsExtras,
                    requestID: prepared.requestID)
            }
            waiting.requests.append((ticket, prepared))
            waiting.bytes += prepared.bytes
            return ticket
        }
    }

    /// Executes pending requests within the limits of a group, oldest first. The others stay pending.
    func commit() -> [(ticket: ServiceTicket, response: WireResponse)] {
        let group = takeGroup()
        let writes = group.compactMap { if case .write(let body) = $0.1.work { body } else { nil } }
        var written = write(writes)[...]
        var answered: [(ServiceTicket, WireResponse)] = []
        var postponed: [(ServiceTicket, PreparedRequest)] = []
        for (ticket, prepared) in group {
            let answer: ServiceAnswer? =
                if case .write = prepared.work { written.removeFirst() } else {
                    prepared.work.answerAlone(in: store)
                }
            if let answer {
                answered.append((ticket, responses.response(to: prepared, answer: answer)))
            } else {
                postponed.append((ticket, prepared))
            }
        }
        waiting.withLock { waiting in
            waiting.requests.insert(contentsOf: postponed, at: 0)
            waiting.bytes += postponed.reduce(0) { $0 + $1.1.bytes }
        }
        return answered
    }

    /// The group's transaction was rolled back, with all writes of its members.
    private struct GroupLost: Error {}

    private func takeGroup() -> [(ServiceTicket, PreparedRequest)] {
        waiting.withLock { waiting in
            var bytes = 0
            var count = 0
            for (_, request) in waiting.requests.prefix(groupLimits.requestsMax)
            where bytes < groupLimits.bytesMax {
                bytes += request.bytes
                count += 1
            }
            let group = waiting.requests.prefix(count).map { ($0.ticket, $0.request) }
            waiting.requests.removeFirst(count)
            waiting.bytes -= bytes
            return group
        }
    }

    /// Executes the writes in one transaction, or each alone if that fails. The writes are durable when this
    /// returns. A write that is left for the next group has no response.
    ///
    /// With `preparesPushes`, a step of the pushes runs in the same transaction, which saves one. A group
    /// ends after `milliseconds` (nil: the maximum), so that another owner's first write doesn't wait long.
    /// `done` is called after each write.
    func write(
        _ writes: [ServiceWork.Write], milliseconds: Int64? = nil, preparesPushes: Bool = false,
        done: (Int) -> Void = { _ in }
    ) -> [ServiceAnswer?] {
        if writes.count > 1 || preparesPushes {
            let milliseconds = milliseconds ?? groupLimits.milliseconds
            if let written = try? writeTogether(
                writes, milliseconds: milliseconds, preparesPushes: preparesPushes, done: done)
            {
                pushes.announce(written.tokens)
                return written.answers
            }
            if preparesPushes { pushes.noteTasks() }
        }
        return writes.enumerated().map { number, body in
            defer { done(number) }
            return ServiceWork.write(body).answerAlone(in: store)
        }
    }

    private func writeTogether(
        _ writes: [ServiceWork.Write], milliseconds: Int64, preparesPushes: Bool, done: (Int) -> Void
    ) throws -> (answers: [ServiceAnswer?], tokens: [String]) {
        let deadline = clock.nowMilliseconds() + milliseconds
        return try store.write { writer in
            // A single write needs no savepoint. Its error is thrown again when it is retried outside of the
            // group.
            var answers: [ServiceAnswer?] = writes.count == 1 ? [try writes[0](writer)] : []
            if writes.count == 1 { done(0) }
            for (number, body) in writes.enumerated().dropFirst(answers.count) {
                guard answers.isEmpty || clock.nowMilliseconds() < deadline else {
                    answers.append(nil)
                    continue
                }
                defer { done(number) }
                do {
                    answers.append(try writer.member { try body(writer) })
                } catch {
                    guard writer.isInTransaction else { throw GroupLost() }
                    answers.append(.error(ServiceFailure.wireError(error)))
                }
            }
            return (answers, preparesPushes ? try pushStepAsMember(writer) : [])
        }
    }

    /// The push step of a group. Its failure doesn't affect the writes before it.
    private func pushStepAsMember(_ writer: any CloudStoreWriter) throws -> [String] {
        guard pushes.tasksMayWait else { return [] }
        do {
            return try writer.member { try pushes.step(writer) }
        } catch {
            guard writer.isInTransaction else { throw GroupLost() }
            pushes.noteTasks()
            return []
        }
    }
}
