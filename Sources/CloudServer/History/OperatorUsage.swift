import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The endpoints for each user's usage of the quota.
struct OperatorUsage: Sendable {
    static let usersMax = 50
    /// Maximum number of users that are compared. With more users, only the largest of these are listed.
    private static let lookedAtMax = 100_000
    private static let zonesMax = 1_000

    let stores: HistoryStores
    let limits: AssetLimits

    /// Responds with the users by usage, the largest first.
    func sendUsers(of container: CloudService.Container, _ request: OperatorRequest) throws {
        guard let file = try stores.file(of: container) else {
            return request.reply.send(
                JSONValue.object([
                    "users": .array([]), "public": JSONValue(StoredSize(), limits, bytesMax: nil),
                    "after": .null,
                ]))
        }
        let found = try file.largestUsers(
            rowBytes: limits.rowBytes, after: try Self.after(request.head), usersMax: Self.usersMax + 1,
            lookedAtMax: Self.lookedAtMax)
        let page = found.prefix(Self.usersMax)
        let accounts = try stores.accountNames(
            of: Set(page.map(\.row.key.user)), in: container.identifier)
        let users = page.map { row, _ in
            JSONValue(row.size, limits, bytesMax: limits.privateBytesMax).with([
                "userRecordName": .string(row.key.user), "account": .text(accounts[row.key.user]),
            ])
        }
        let last = found.count > Self.usersMax ? page.last : nil
        request.reply.send(
            JSONValue.object([
                "users": .array(users), "public": try publicDatabase(file),
                "after": last.map { .string("\($0.bytes):\($0.row.key.user)") } ?? .null,
            ]))
    }

    /// Responds with a user's usage in each zone, the largest first.
    func sendZones(
        of user: String, in container: CloudService.Container, _ request: OperatorRequest
    ) throws {
        guard let file = try stores.file(of: container) else {
            return request.reply.send(JSONValue.object(["zones": .array([])]))
        }
        let zones = try file.zones(of: .privateDatabase(of: user), max: Self.zonesMax)
        var rest = try file.usage(of: UsageKey(scope: .privateDatabase, user: user))
        for zone in zones {
            rest.records -= zone.size.records
            rest.recordBytes -= zone.size.recordBytes
            rest.assetBytes -= zone.size.assetBytes
            rest.indexBytes -= zone.size.indexBytes
            rest.tombstones -= zone.size.tombstones
        }
        rest.zones = 0
        let sizes = zones.map { ($0.key.zoneName, $0.size) } + [(ZoneID.defaultZoneName, rest)]
        request.reply.send(
            JSONValue.object([
                "zones": .array(
                    sizes.sorted { ($1.1.bytes, $0.0) < ($0.1.bytes, $1.0) }.map { name, size in
                        JSONValue(size, limits, bytesMax: nil).with(["zone": .string(name)])
                    })
            ]))
    }

    private func publicDatabase(_ file: StoreFile) throws -> JSONValue {
        let size = try file.usage(of: UsageKey(scope: .publicDatabase, user: ""))
        return JSONValue(size, limits, bytesMax: limits.publicBytesMax(users: try file.privateUsersCount()))
    }

    private static func after(_ head: HTTPRequestHead) throws(WireError) -> (bytes: Int64, user: String)? {
        guard let text = head.queryValue("after"), !text.isEmpty else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let bytes = Int64(parts[0]) else {
            throw Refusal.badRequest("after must be the value in the previous page")
        }
        return (bytes, String(parts[1]))
    }
}

extension JSONValue {
    fileprivate init(_ size: StoredSize, _ limits: AssetLimits, bytesMax: Int64?) {
        self = .members([
            "records": .integer(size.records),
            "bytes": .integer(size.quotaBytes(rowBytes: limits.rowBytes)),
            "bytesMax": bytesMax.map { .integer($0) }, "assetBytes": .integer(size.assetBytes),
            "tombstones": .integer(size.tombstones), "zones": .integer(size.zones),
        ])
    }

    fileprivate func with(_ more: [String: JSONValue?]) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.merging(more.compactMapValues(\.self)) { $1 })
    }
}
