import CloudStore
import CloudWire

extension QueryEndpoints {
    /// Records found at a time.
    private static let countedAtOnce: Int64 = 200

    /// Returns the number of records that a query matches, with the caller's permissions, in the form of
    /// `docs/OPERATOR_API.md`. It may examine as much as one request of an app.
    func count(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        var request = try RecordsQueryRequest(request: body)
        // Sorting isn't needed for a count.
        request.query?.sortBy = nil
        request.continuationMarker = nil
        request.desiredKeys = nil
        request.resultsLimit = Self.countedAtOnce
        let asked = request
        return .read { reader in
            var count = RecordsCount(self.limits)
            try count.run(asked) { try self.pages($0, caller)(reader, &$1) }
            return .message(count.message)
        }
    }
}

/// A count over all pages of a query.
private struct RecordsCount {
    /// Maximum number of records that are counted.
    private static let recordsMax = 10_000
    /// Maximum bytes of records read for a count. The search reads rows with their fields.
    private static let bytesMax = 64 << 20

    private let limits: ServiceLimits
    private var budget: AnswerBudget
    private var bytesLeft = Self.bytesMax
    private var count = 0
    /// The reason that the count stopped before the query's end.
    private var stoppedBy: String?

    init(_ limits: ServiceLimits) {
        self.limits = limits
        budget = limits.budget(records: .max)
    }

    var message: JSONValue {
        var members: [String: JSONValue] = [
            "count": .integer(Int64(count)), "isCapped": .bool(stoppedBy != nil),
        ]
        if let stoppedBy { members["stoppedBy"] = .string(stoppedBy) }
        return .object(members)
    }

    mutating func run(
        _ asked: RecordsQueryRequest,
        _ page: (RecordsQueryRequest, inout AnswerBudget) throws -> RecordsQueryResponse
    ) throws {
        var request = asked
        repeat {
            // Rows are counted across pages. Each page is released before the next one is read.
            let bytes = min(bytesLeft, PageSize.whole.bytes(of: limits))
            (budget.bytes, budget.probes) = (bytes, limits.queryProbesMax)
            let found = try page(request, &budget)
            bytesLeft -= bytes - budget.bytes
            count += found.records.count
            request.continuationMarker = found.continuationMarker
            guard request.continuationMarker != nil else { return }
            stoppedBy =
                count >= Self.recordsMax
                ? "records" : budget.rows <= 0 ? "rows" : bytesLeft <= 0 ? "bytes" : nil
        } while stoppedBy == nil
    }
}
