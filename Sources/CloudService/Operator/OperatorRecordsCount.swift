import CloudStore
import CloudWire

extension QueryEndpoints {
    /// Records that are found at a time.
    private static let countedAtOnce: Int64 = 200

    /// The number of records that a query finds, with the caller's rights, in the form of `docs/OPERATOR_API.md`. What
    /// it examines has the bound of one request of an app.
    func count(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        var request = try RecordsQueryRequest(request: body)
        // An order would be made for nothing.
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

/// A count over the pages of a query.
private struct RecordsCount {
    /// Maximum number of records that are counted.
    private static let recordsMax = 10_000
    /// Maximum number of bytes of records that are read for a count: the rows of a search come with their fields.
    private static let bytesMax = 64 << 20

    private let limits: ServiceLimits
    private var budget: AnswerBudget
    private var bytesLeft = Self.bytesMax
    private var count = 0
    /// What ended the count before the query's end.
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
            // Rows are counted over all pages. Each page is let go before the next, and looks for its values anew.
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
