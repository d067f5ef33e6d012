import CloudStore
import CloudWire

/// A user's data in an environment that belongs to the account.
package enum AccountTraces {
    /// Returns true if the user has devices, records or zones in the environment.
    ///
    /// - Throws: `CloudStoreError`.
    package static func isAny(of user: String, _ reader: any CloudStoreReader) throws -> Bool {
        var wanted = StoreLoad()
        wanted.devicesOf = [user]
        if try reader.load(wanted).devices[user]?.isEmpty == false { return true }
        return try !page(of: user, after: nil, recordsMax: 1, reader).isEmpty
    }

    /// A page of the contents of the user's private database.
    struct Page: Sendable {
        /// Custom zones with their number of records.
        var zones: [(name: String, recordsCount: Int64)] = []
        /// Names of records in the default zone.
        var records: [String] = []

        var isEmpty: Bool { zones.isEmpty && records.isEmpty }
    }

    private static let zonesMax = 50
    private static let bytesMax = 4 << 20

    /// - Parameter after: the last record of the previous page.
    static func page(
        of user: String, after: String?, recordsMax: Int, _ reader: any CloudStoreReader
    ) throws -> Page {
        let database = StoredDatabaseKey.privateDatabase(of: user)
        var page = Page()
        page.zones = try reader.changedZones(
            in: database, after: 0, deletedAfter: .max, zonesMax: zonesMax
        ).rows.filter { $0.key.zoneName != ZoneID.defaultZoneName && !$0.isDeleted }
            .map { ($0.key.zoneName, $0.size.records) }
        let zone = ZoneKey(database: database, zoneName: ZoneID.defaultZoneName)
        page.records = try reader.records(
            in: zone, after: after, recordsMax: recordsMax, bytesMax: bytesMax
        ).rows.map(\.key.recordName)
        return page
    }
}

/// Deletes the contents of a user's private database in steps between the writes of others: whole custom
/// zones, and a few records of the default zone at a time. The steps run as the user's own requests.
package final class AccountErasing: Sendable {
    private static let recordsMax = 200

    private let thread: CloudServiceThread
    private let container: CloudService.Container
    private let user: String
    private let completion: @Sendable (Result<Int64, WireError>) -> Void

    private init(
        _ thread: CloudServiceThread, _ container: CloudService.Container, _ user: String,
        _ completion: @escaping @Sendable (Result<Int64, WireError>) -> Void
    ) {
        self.thread = thread
        self.container = container
        self.user = user
        self.completion = completion
    }

    /// Starts the deletion. `completion` receives the number of deleted records, or the error that stopped
    /// it. Earlier deletions are kept.
    package static func run(
        _ thread: CloudServiceThread, _ container: CloudService.Container, user: String,
        completion: @escaping @Sendable (Result<Int64, WireError>) -> Void
    ) {
        AccountErasing(thread, container, user, completion).step(after: nil, count: 0)
    }

    private func step(after: String?, count: Int64) {
        let user = user
        thread.run { service in
            let recordsMax = min(Self.recordsMax, service.limits.itemsMax)
            return .read { try AccountTraces.page(of: user, after: after, recordsMax: recordsMax, $0) }
        } completion: { [self] (result: Result<AccountTraces.Page, WireError>) in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let page) where page.isEmpty:
                // A request admitted before the account was closed may have written behind the position that
                // was read.
                if after == nil { completion(.success(count)) } else { step(after: nil, count: count) }
            case .success(let page): delete(page, count)
            }
        }
    }

    private func delete(_ page: AccountTraces.Page, _ count: Int64) {
        let zones = page.zones.map {
            ZoneOperation(operationType: .delete, zone: WireZone(zoneID: ZoneID(zoneName: $0.name)))
        }
        let records = page.records.map {
            RecordOperation(operationType: .forceDelete, record: WireRecord(recordName: $0))
        }
        let zonesCount = page.zones.reduce(0) { $0 + $1.recordsCount }
        deleteZones(zones) { [self] in
            deleteRecords(records) { [self] in
                step(after: page.records.last, count: count + zonesCount + Int64(records.count))
            }
        }
    }

    private func deleteZones(_ operations: [ZoneOperation], then next: @escaping @Sendable () -> Void) {
        guard !operations.isEmpty else { return next() }
        ask("zones/modify", ZonesModifyRequest(operations: operations)) { body in
            for case .error(let error) in try ZonesModifyResponse(json: body).zones
            // The zone was deleted by another request.
            where error.serverErrorCode != .zoneNotFound { throw error }
        } then: {
            next()
        }
    }

    private func deleteRecords(_ operations: [RecordOperation], then next: @escaping @Sendable () -> Void) {
        guard !operations.isEmpty else { return next() }
        let zone = ZoneID(zoneName: ZoneID.defaultZoneName)
        ask("records/modify", RecordsModifyRequest(operations: operations, zoneID: zone, atomic: false)) {
            body in
            for case .error(let error) in try RecordsModifyResponse(json: body).records { throw error }
        } then: {
            next()
        }
    }

    /// Sends a request as the user. An error thrown by `check` stops the deletion.
    private func ask(
        _ endpoint: String, _ message: some JSONMessage, check: @escaping @Sendable ([UInt8]) throws -> Void,
        then next: @escaping @Sendable () -> Void
    ) {
        do {
            let path = "/database/1/\(container.identifier)/\(container.environment)/private/\(endpoint)"
            let request = WireRequest(
                path: path, query: [], headers: [(WireHeader.client, "1")],
                body: try message.json(extras: true))
            thread.send(
                request, for: OperatorCaller(userRecordName: user), cancellation: ServiceCancellation()
            ) { [self] response in
                do {
                    guard response.status == 200 else { throw try WireError(json: response.body) }
                    try check(response.body)
                    next()
                } catch {
                    completion(.failure(ServiceFailure.wireError(error)))
                }
            }
        } catch {
            completion(.failure(ServiceFailure.wireError(error)))
        }
    }
}
