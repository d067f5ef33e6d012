import CloudStore
import CloudWire

/// What one request may still load, look at and answer. It is passed in and counted down by all that the request asks
/// for, so ten queries of a batch cost no more than one.
struct AnswerBudget: Sendable {
    /// Records that may still be answered.
    var records: Int
    /// Bytes of records' fields, as stored, that may still be answered. The record that crosses it is the last.
    var bytes: Int
    /// Rows that may still be looked at.
    var rows: Int

    /// Places in indexes that may still be looked at before a search begins.
    var probes: Int

    /// True if nothing more can be answered.
    var isSpent: Bool { records <= 0 || bytes <= 0 || rows <= 0 }

    /// Gives the next of `count` that are still to come an equal part. What it leaves is theirs.
    mutating func withShare<Result>(
        of count: Int, _ body: (inout AnswerBudget) throws -> Result
    ) rethrows -> Result {
        var share = self
        if count > 1, !isSpent {
            share.bytes = max(1, bytes / count)
            share.rows = max(1, rows / count)
        }
        var left = share
        let result = try body(&left)
        bytes -= share.bytes - left.bytes
        rows -= share.rows - left.rows
        probes -= share.probes - left.probes
        return result
    }
}

/// How much of its stored bytes a page may load. JSON is larger than what is stored: up to six times for text, and more
/// for lists of small values. If a page's JSON doesn't fit, a smaller page is made.
enum PageSize: CaseIterable {
    case whole
    case reduced
    /// One record, however large it is as JSON.
    case single

    var smaller: PageSize? {
        switch self {
        case .whole: .reduced
        case .reduced: .single
        case .single: nil
        }
    }

    func bytes(of limits: ServiceLimits) -> Int {
        switch self {
        case .whole: limits.answerBytesMax
        case .reduced: max(1, limits.answerBytesMax / 16)
        case .single: 1
        }
    }
}

extension ServiceLimits {
    /// What a page may load and look at.
    func budget(records: Int, _ size: PageSize = .whole) -> AnswerBudget {
        AnswerBudget(
            records: records, bytes: size.bytes(of: self), rows: queryRowsExaminedMax,
            probes: queryProbesMax)
    }

    /// Reads a page within a budget, and a smaller one where its JSON has more bytes than a response may have.
    func page(
        recordsMax: Int = .max, numbersAsStrings: Bool? = nil,
        _ body: @escaping @Sendable (any CloudStoreReader, inout AnswerBudget) throws -> any JSONMessage
    ) -> ServiceWork {
        @Sendable func read(_ size: PageSize) -> ServiceWork.Read {
            { reader in
                var budget = self.budget(records: recordsMax, size)
                return .message(
                    try body(reader, &budget), numbersAsStrings: numbersAsStrings ?? false,
                    ifTooLarge: size.smaller.map { .ask(read($0)) } ?? .send)
            }
        }
        return .read(read(.whole))
    }

    /// How many items a page may have: what the client asks for, and not more than there may be.
    func pageMax(_ resultsLimit: Int64?, _ caller: ServiceCaller) throws -> Int {
        guard let resultsLimit else { return itemsMax }
        guard resultsLimit > 0 else { throw ServiceError.badRequest("resultsLimit must be above 0") }
        return Int(min(resultsLimit, Int64(itemsMax(for: caller))))
    }

    /// Loads what a request needs, but not more than may be in memory for one; `dependantsCount` were loaded before.
    func load(
        _ wanted: StoreLoad, _ reader: any CloudStoreReader, besides dependantsCount: Int = 0
    ) throws -> StoreLoaded {
        var wanted = wanted
        wanted.bytesMax = answerBytesMax
        wanted.dependantsMax = max(0, dependantsMax - dependantsCount)
        wanted.deleteSelfCountsMax = referencesCountedMax
        let loaded = try reader.load(wanted)
        guard !loaded.isCutShort else {
            throw ServiceError.limitExceeded(
                "the records of the request have more than \(answerBytesMax) bytes, or others refer to them "
                    + "more than \(dependantsMax) times, or to what they hang on more than "
                    + "\(referencesCountedMax) times; ask for fewer")
        }
        return loaded
    }
}
