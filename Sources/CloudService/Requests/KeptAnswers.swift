import CloudStore
import CloudWire
import System

/// Stored responses, so that a repeated write isn't executed twice. Responses that were discarded early are
/// counted until the upkeep takes the count.
final class KeptAnswers: Sendable {
    private let clock: any TimeSource
    private let limits: ServiceLimits
    private let trimmed = Lock(0)

    init(clock: any TimeSource, limits: ServiceLimits) {
        (self.clock, self.limits) = (clock, limits)
    }

    /// Executes a write once: its response is stored in the same transaction, and a repeated request receives
    /// that response.
    ///
    /// A write that fails as a whole stores nothing, and is executed again when it is repeated.
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
        // Rows without a user are the signed changes of server keys, which must not be accepted twice.
        for user in Set(added.map(\.key.user)).sorted() where !user.isEmpty {
            let count = try writer.trimAnswers(
                of: user, rowsMax: Int64(limits.answersMax), bytesMax: limits.answersBytesMax)
            if count > 0 { trimmed.withLock { $0 += count } }
        }
    }

    /// True if discarded answers were not reported yet.
    var hasTrimmed: Bool { trimmed.withLock { $0 > 0 } }

    /// Returns the number of responses discarded since the last call.
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
