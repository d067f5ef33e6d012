import CloudStore
import CloudWire

extension CloudService {
    /// Maximum number of records that are counted.
    static let recordsCountMax = 10_000
    /// Records that are found at a time.
    private static let countedAtOnce: Int64 = 200

    /// The number of records that a query finds, with the caller's rights. Counting stops at `recordsCountMax`, or when
    /// as many rows were looked at as one request of an app may look at.
    func recordsCount(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        var request = try RecordsQueryRequest(request: body)
        // An order would be made for nothing.
        request.query?.sortBy = nil
        request.continuationMarker = nil
        request.desiredKeys = nil
        request.resultsLimit = Self.countedAtOnce
        let asked = request
        return .read { reader in
            var request = asked
            var budget = self.limits.budget(records: .max)
            var (count, isCapped) = (0, false)
            repeat {
                // Each page is let go before the next, so its bytes don't add up.
                budget.bytes = PageSize.whole.bytes(of: self.limits)
                let page = try self.recordsQuery(request, caller)(reader, &budget)
                count += page.records.count
                request.continuationMarker = page.continuationMarker
                isCapped = page.continuationMarker != nil && (budget.isSpent || count >= Self.recordsCountMax)
            } while request.continuationMarker != nil && !isCapped
            return .message(
                JSONValue.object(["count": .integer(Int64(count)), "isCapped": .bool(isCapped)]))
        }
    }
}
