import CloudStore
import CloudWire

/// What a caller may do with records: roles decide in the public database, and in a private one its owner.
struct Access: Sendable {
    private let schema: Schema
    /// Nil allows everything.
    private let roles: Set<String>?
    let user: String?

    /// All that a caller needs to be known by.
    init(_ caller: ServiceCaller, schema: Schema, customRoles: [String] = []) {
        self.schema = schema
        user = caller.user?.userRecordName
        guard caller.scope == .public, !caller.isServerKey else {
            roles = nil
            return
        }
        var roles: Set<String> = [SystemRole.world]
        if user != nil {
            roles.insert(SystemRole.signedIn)
            // A role that the schema no longer has gives nothing.
            roles.formUnion(schema.roles.intersection(customRoles))
        }
        self.roles = roles
    }

    /// The access of a subscriber to the public database, without a request.
    init(subscriber user: String, schema: Schema, customRoles: [String]) {
        self.schema = schema
        self.user = user
        roles = schema.roles.intersection(customRoles).union([SystemRole.world, SystemRole.signedIn])
    }

    /// Returns the caller's permissions on records of a type.
    ///
    /// - Parameter creator: the creator of the record, or nil for another user.
    func permissions(_ recordType: String, creator: String?) -> Permissions {
        guard let roles else { return .all }
        let grants = schema.recordTypes[recordType]?.grants ?? RecordType.usualGrants
        var permissions: Permissions = []
        for (role, granted) in grants where roles.contains(role) { permissions.formUnion(granted) }
        if let user, user == creator, let own = grants[SystemRole.creator] { permissions.formUnion(own) }
        return permissions
    }

    /// True if anything can be refused.
    var decides: Bool { roles != nil }

    /// What the caller may do with a record.
    func permissions(_ row: StoredRecord) -> Permissions {
        permissions(row.recordType, creator: row.maker)
    }

    /// What the caller may do with the records of a type that they make themselves: CREATE counts, and what comes
    /// after it.
    func permissionsForOwn(_ recordType: String) -> Permissions {
        permissions(recordType, creator: user ?? "")
    }
}

extension Permissions {
    /// Reading, making and changing.
    static let all: Permissions = [.read, .create, .write]
}

extension StoredRecord {
    /// The owner of the record. A user record always belongs to its user.
    var maker: String {
        recordType == Schema.usersTypeName && key.zone.database == .publicDatabase
            ? key.recordName : created.userRecordName
    }
}

extension ServiceError {
    /// In Apple's words.
    static func notPermitted(_ permission: Permissions) -> WireError {
        WireError(.accessDenied, reason: "\(permission.text) operation not permitted", ckErrorCode: 10)
    }
}
