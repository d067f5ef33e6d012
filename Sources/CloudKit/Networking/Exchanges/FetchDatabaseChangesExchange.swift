internal import CloudWire

/// Fetches the zones that have changed since a token, page by page.
struct FetchDatabaseChangesExchange: OperationExchange {
    enum Event: Sendable {
        case changed(CKRecordZoneID)
        case deleted(CKRecordZoneID, CKDatabase.DatabaseChange.Deletion.Reason)
        /// A page was read. This exchange fetches more.
        case tokenUpdated(CKServerChangeToken)
    }

    struct Output: Sendable {
        var token: CKServerChangeToken
        var moreComing: Bool
    }

    private let address: RequestAddress
    private let resultsLimit: Int?
    private let fetchesAllChanges: Bool
    private var token: CKServerChangeToken?
    private var end: Result<Output, CKError>?

    init(
        since token: CKServerChangeToken?, resultsLimit: Int?, fetchesAllChanges: Bool,
        address: RequestAddress
    ) {
        self.address = address
        self.token = token
        self.resultsLimit = resultsLimit
        self.fetchesAllChanges = fetchesAllChanges
        if address.scope == .public {
            end = .failure(CKError(.badDatabase, "The public database has no change feed; query it."))
        }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Output> {
        if let end { return .finished(try end.get()) }
        let message = ChangesDatabaseRequest(
            syncToken: token?.token, resultsLimit: resultsLimit.map { Int64($0) })
        return .send(try address.request("changes/database", message: message))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try ResponseDecoder.decode(ChangesDatabaseResponse.self, from: reply)
            guard let newToken = response.syncToken.map({ CKServerChangeToken(token: $0) }) else {
                throw CKError.unreadable("a database's changes without a token")
            }
            let moreComing = response.moreComing ?? false
            if moreComing, newToken == token {
                throw CKError.unreadable("more changes are coming, but the token doesn't change")
            }
            token = newToken
            var events = response.zones.compactMap { result in event(for: result) }
            if moreComing, fetchesAllChanges {
                events.append(.tokenUpdated(newToken))
            } else {
                end = .success(Output(token: newToken, moreComing: moreComing))
            }
            return events
        } catch {
            end = .failure(error)
            return []
        }
    }

    private func event(for result: ZoneResult) -> Event? {
        guard case .zone(let zone) = result else { return nil }
        let zoneID = address.zoneID(zone.zoneID)
        guard zone.deleted == true else { return .changed(zoneID) }
        switch zone.deletionReason {
        case .purged: return .deleted(zoneID, .purged)
        case .encryptedDataReset: return .deleted(zoneID, .encryptedDataReset)
        case .deleted, nil: return .deleted(zoneID, .deleted)
        }
    }
}
