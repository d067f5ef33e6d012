import CloudStore

/// Checks that a subscriber may read a record of the public database. Without permission there is no notification.
struct SubscriberAccess {
    let schema: Schema
    let reader: any CloudStoreReader
    private var known: [String: Access] = [:]

    init(schema: Schema, reader: any CloudStoreReader) {
        self.schema = schema
        self.reader = reader
    }

    mutating func mayRead(_ row: StoredRecord, _ user: String) throws -> Bool {
        guard row.key.zone.database == .publicDatabase else { return true }
        let grants = schema.recordTypes[row.recordType]?.grants ?? RecordType.usualGrants
        // Subscribers are signed in, so the roles of a single user rarely matter.
        let ofAll = [SystemRole.world, SystemRole.signedIn].compactMap { grants[$0] }
        if ofAll.contains(where: { $0.contains(.read) }) { return true }
        if let access = known[user] { return access.permissions(row).contains(.read) }
        var roles: [String] = []
        if !schema.roles.isEmpty {
            var wanted = StoreLoad()
            wanted.rolesOf = [user]
            roles = try reader.load(wanted).roles[user]?.roles ?? []
        }
        let access = Access(subscriber: user, schema: schema, customRoles: roles)
        known[user] = access
        return access.permissions(row).contains(.read)
    }
}
