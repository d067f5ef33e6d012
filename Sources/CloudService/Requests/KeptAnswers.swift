import CloudStore
import CloudWire
import System

/// The answers that are kept for a time, by which a write is done once. How many were discarded before their time is
/// counted until the upkeep takes the count.
final class KeptAnswers: Sendable {
    private let clock: any TimeSource
    private let limits: ServiceLimits
    private let trimmed = Lock(0)

    init(clock: any TimeSource, limits: ServiceLimits) {
        (self.clock, self.limits) = (clock, limits)
    }

    /// A write that is done once: its answer is kept in its own transaction, and a repeated one gets that answer.
    ///
    /// What fails as a whole has written nothing and keeps nothing; it is tried again when it comes again.
    func once<Form: KeptForm>(
        _ operation: OperationID?, _ form: Form,
        _ body: @escaping @Sendable (any CloudStoreWriter) throws -> Form.Answer
    ) -> ServiceWork {
        .write { writer in
            guard let operation else { return try form.told(try body(writer)) }
            if let kept = try self.keptAnswer(operation, writer) {
                return try form.told(try form.decode(kept))
            }
            let answer = try body(writer)
            var changes = StoreChanges()
            changes.answers = [
                KeptAnswerRow(
                    key: operation.key, requestHash: operation.requestHash,
                    atMilliseconds: self.clock.nowMilliseconds(), answer: try form.encode(answer))
            ]
            try writer.apply(changes)
            try self.trim(changes.answers, writer)
            return try form.told(answer)
        }
    }

    /// Discards the oldest answers of users beyond the maximum.
    func trim(_ added: [KeptAnswerRow], _ writer: any CloudStoreWriter) throws {
        // Nobody's are the signed changes of servers' keys, which must not be taken twice.
        for user in Set(added.map(\.key.user)).sorted() where !user.isEmpty {
            let count = try writer.trimAnswers(
                of: user, rowsMax: Int64(limits.answersMax), bytesMax: limits.answersBytesMax)
            if count > 0 { trimmed.withLock { $0 += count } }
        }
    }

    /// True if discarded answers were not reported yet.
    var hasTrimmed: Bool { trimmed.withLock { $0 > 0 } }

    /// How many were discarded since the last call.
    func takeTrimmedCount() -> Int {
        trimmed.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    private func keptAnswer(_ operation: OperationID, _ reader: any CloudStoreReader) throws -> [UInt8]? {
        var wanted = StoreLoad()
        wanted.answers = [operation.key]
        guard let row = try reader.load(wanted).answers[operation.key],
            row.atMilliseconds >= clock.nowMilliseconds() - limits.answerMilliseconds
        else { return nil }
        guard row.requestHash == operation.requestHash else {
            throw ServiceError.badRequest("\(WireHeader.operation) names another request")
        }
        return row.answer
    }
}
