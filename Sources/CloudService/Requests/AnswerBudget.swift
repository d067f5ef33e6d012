import CloudStore
import CloudWire

/// The remaining records, bytes and rows of one request. All parts of a request share it, so ten queries of a
/// batch cost no more than one.
struct AnswerBudget: Sendable {
    /// Records that may still be returned.
    var records: Int
    /// Bytes of records' fields, as stored, that may still be returned. The record that exceeds it is the
    /// last.
    var bytes: Int
    /// Rows that may still be read.
    var rows: Int

    /// Index positions that may still be read before a search begins.
    var probes: Int

    /// True if nothing more can be returned.
    var isSpent: Bool { records <= 0 || bytes <= 0 || rows <= 0 }

    /// Gives the next of `count` remaining parts an equal share. The unused part stays in the budget.
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

/// Maximum stored bytes that a page loads. JSON is larger than the stored form: up to six times for text, and
/// more for lists of small values. If a page's JSON doesn't fit, a smaller page is made.
enum PageSize: CaseIterable {
    case whole
    case reduced
    /// One record, of any size as JSON.
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
    /// Returns the budget of a page.
    func budget(records: Int, _ size: PageSize = .whole) -> AnswerBudget {
        AnswerBudget(
            records: records, bytes: size.bytes(of: self), rows: queryRowsExaminedMax,
            probes: queryProbesMax)
    }

    /// Reads a page within a budget, and a smaller one if its JSON exceeds the maximum of a response.
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

    /// Returns the maximum items of a page: the client's limit, up to the service's.
    func pageMax(_ resultsLimit: Int64?, _ caller: ServiceCaller) throws -> Int {
        guard let resultsLimit else { return itemsMax }
        guard resultsLimit > 0 else { throw ServiceError.badRequest("resultsLimit must be above 0") }
        return Int(min(resultsLimit, Int64(itemsMax(for: caller))))
    }

    /// Loads the rows that a request needs, up to the memory limit of one request. `dependantsCount` were
    /// loaded before.
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
