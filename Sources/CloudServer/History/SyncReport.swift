import CloudService
import CloudStore
import CloudWire

/// The position of each of a user's devices in each zone, and its errors, in the form of
/// `docs/OPERATOR_API.md`.
package struct SyncReport: Sendable {
    static let usersMax = 50
    /// Maximum rows of the history that one request reads.
    static let rowsMax = 2_000
    private static let zonesMax = 200
    /// Maximum changes that are counted after a position, and after all positions of one request.
    fileprivate static let behindMax = 10_000
    private static let countedMax = 100_000

    private let stores: HistoryStores

    /// Reads stores of `folder` separately from the service, and the names of accounts in `control`.
    package init(_ control: ControlStore, _ folder: DataFolder) {
        stores = HistoryStores(control: control, folder: folder)
    }

    init(_ stores: HistoryStores) { self.stores = stores }

    /// Returns the users ordered by their devices' last requests, from `file`.
    ///
    /// - Throws: `SQLiteError` if the file can't be read, `CloudStoreError`.
    package func users(of container: CloudService.Container, in file: HistoryFile) throws -> JSONValue {
        try users(Self.userRows(of: container, before: .max, file), of: container)
    }

    /// Returns the devices of a user, and the zones.
    ///
    /// - Throws: `SQLiteError` if the file can't be read, `CloudStoreError`.
    package func devices(
        of user: String, in container: CloudService.Container, _ file: HistoryFile
    ) throws -> JSONValue {
        try devices(Self.deviceRows(of: user, in: container, file), of: user, in: container)
    }

    /// Returns the devices of all users, most recently active first.
    static func userRows(
        of container: CloudService.Container, before milliseconds: Int64, _ file: HistoryFile
    ) throws -> [(user: String, lastMilliseconds: Int64)] {
        try file.syncUsers(
            container: container.identifier, environment: container.environment,
            beforeMilliseconds: milliseconds, rowsMax: rowsMax)
    }

    /// Returns the rows of a user's devices.
    static func deviceRows(
        of user: String, in container: CloudService.Container, _ file: HistoryFile
    ) throws -> [HistorySync] {
        try file.sync(
            container: container.identifier, environment: container.environment, user: user, rowsMax: rowsMax)
    }

    /// Returns the users ordered by their devices' last requests.
    func users(
        _ rows: [(user: String, lastMilliseconds: Int64)], of container: CloudService.Container
    ) throws -> JSONValue {
        var users: [(user: String, lastMilliseconds: Int64, devicesCount: Int)] = []
        var last: Int64?
        for row in rows {
            if let index = users.firstIndex(where: { $0.user == row.user }) {
                users[index].devicesCount += 1
            } else if users.count < Self.usersMax {
                users.append((row.user, row.lastMilliseconds, 1))
            } else {
                break
            }
            last = row.lastMilliseconds
        }
        let isWhole = users.count < Self.usersMax && rows.count < Self.rowsMax
        let accounts = try stores.accountNames(of: Set(users.map(\.user)), in: container.identifier)
        return .object([
            "users": .array(
                users.map { user in
                    .members([
                        "userRecordName": .string(user.user), "account": .text(accounts[user.user]),
                        "lastMilliseconds": .integer(user.lastMilliseconds),
                        "devicesCount": .count(user.devicesCount),
                    ])
                }),
            "after": isWhole ? .null : last.map { .string("\($0)") } ?? .null,
        ])
    }

    /// Returns the devices of a user, and the zones.
    func devices(
        _ rows: [HistorySync], of user: String, in container: CloudService.Container
    ) throws -> JSONValue {
        let file = try stores.file(of: container)
        let database = StoredDatabaseKey.privateDatabase(of: user)
        let zones = try file?.zones(of: database, max: Self.zonesMax) ?? []
        var counts = BehindCounts(file: file, left: Self.countedMax)
        let devices = try Dictionary(grouping: rows, by: \.key.session).map { session, rows in
            (rows.map(\.lastMilliseconds).max() ?? 0, try json(session, rows, zones, user, file, &counts))
        }
        return .object([
            "devices": .array(devices.sorted { $0.0 > $1.0 }.map(\.1)),
            "zones": .array(zones.map { JSONValue($0) }),
        ])
    }

    private func json(
        _ session: String, _ rows: [HistorySync], _ zones: [ZoneRow], _ user: String, _ file: StoreFile?,
        _ counts: inout BehindCounts
    ) throws -> JSONValue {
        let device = rows.first { $0.key.zone.isEmpty }
        var parts: [JSONValue] = []
        for zone in zones {
            let row = rows.first { $0.key.database == "private" && $0.key.zone == zone.key.zoneName }
            parts.append(try json(zone, row, &counts))
        }
        // Default zones, and those of the public database, have no feed.
        for row in rows where row.key.zone == ZoneID.defaultZoneName { parts.append(json(withoutFeed: row)) }
        let pushes = try device?.device.flatMap { name in
            try file?.pushesCount(of: DeviceKey(user: user, device: name))
        }
        return .members([
            "session": session.isEmpty ? nil : .string(session), "client": .text(device?.client),
            "address": .text(device?.address),
            "lastMilliseconds": .integer(rows.map(\.lastMilliseconds).max() ?? 0),
            "lastError": device?.errorCode.map { code in
                .members([
                    "code": .string(code), "requestID": .text(device?.errorID),
                    "timeMilliseconds": device?.errorMilliseconds.map { .integer($0) },
                ])
            },
            "pushesWaiting": pushes.map { .count($0) }, "zones": .array(parts),
        ])
    }

    private func json(_ zone: ZoneRow, _ row: HistorySync?, _ counts: inout BehindCounts) throws -> JSONValue
    {
        let isRefused =
            row.map { ["expired", "reset"].contains($0.fetchCode) || $0.fetchedTo ?? 0 > zone.counter }
            ?? false
        let behind = try counts.count(zone, after: isRefused ? 0 : row?.fetchedTo ?? 0)
        let state =
            isRefused
            ? "token expired"
            : row?.fetchedTo == nil ? "never fetched" : behind.count > 0 ? "behind" : "up to date"
        return .members(
            [
                "database": .string("private"), "zone": .string(zone.key.zoneName),
                "lastFetchMilliseconds": row?.fetchMilliseconds.map { .integer($0) },
                "fetchedToChange": row?.fetchedTo.map { .integer($0) }, "behindCount": .count(behind.count),
                "behindIsCapped": .bool(behind.isCapped), "state": .string(state),
            ].merging(Self.save(row)) { $1 })
    }

    private func json(withoutFeed row: HistorySync) -> JSONValue {
        .members(
            [
                "database": .string(row.key.database), "zone": .string(row.key.zone),
                "behindCount": .count(0),
                "behindIsCapped": .bool(false), "state": .string("no feed"),
            ].merging(Self.save(row)) { $1 })
    }

    private static func save(_ row: HistorySync?) -> [String: JSONValue?] {
        [
            "lastSaveMilliseconds": row?.saveMilliseconds.map { .integer($0) },
            "lastSaveCount": row?.saveCount.map { .integer($0) }, "lastSaveRequestID": .text(row?.saveID),
        ]
    }

    /// Counts each position once, up to the maximum of one request for all together.
    private struct BehindCounts {
        struct Key: Hashable {
            let zone: ZoneKey
            let counter: Int64
        }

        let file: StoreFile?
        var left: Int
        var known: [Key: (count: Int, isCapped: Bool)] = [:]

        init(file: StoreFile?, left: Int) {
            (self.file, self.left) = (file, left)
        }

        mutating func count(_ zone: ZoneRow, after counter: Int64) throws -> (count: Int, isCapped: Bool) {
            guard counter < zone.counter else { return (0, false) }
            let key = Key(zone: zone.key, counter: counter)
            if let found = known[key] { return found }
            let max = min(SyncReport.behindMax, left)
            guard max > 0 else { return (0, true) }
            let count = try file?.changesCount(in: zone.key, after: counter, max: max) ?? 0
            left -= count
            known[key] = (count, count == max)
            return (count, count == max)
        }
    }
}

extension JSONValue {
    fileprivate init(_ zone: ZoneRow) {
        self = .members([
            "zone": .string(zone.key.zoneName), "newestChange": .integer(zone.counter),
            "recordsCount": .integer(zone.size.records), "checksum": .text(zone.toldChecksum?.text),
        ])
    }
}
