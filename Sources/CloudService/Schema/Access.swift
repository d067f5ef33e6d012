import CloudStore
import CloudWire

/// A caller's permissions on records. In the public database they come from roles; in a private database the
/// owner has all of them.
struct Access: Sendable {
    private let schema: Schema
    /// The caller's roles, or nil if everything is allowed.
    private let roles: Set<String>?
    let user: String?

    /// The access of a request's caller.
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
            // A role that was removed from the schema grants nothing.
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

    /// True if anything can be denied.
    var decides: Bool { roles != nil }

    /// Returns the caller's permissions on a record.
    func permissions(_ row: StoredRecord) -> Permissions {
        permissions(row.recordType, creator: row.maker)
    }

    /// Returns the caller's permissions on their own records of a type: CREATE, and the permissions after the
    /// creation.
    func permissionsForOwn(_ recordType: String) -> Permissions {
        permissions(recordType, creator: user ?? "")
    }
}

extension Permissions {
    /// All permissions.
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
    /// Returns the error in Apple's words.
    static func notPermitted(_ permission: Permissions) -> WireError {
        WireError(.accessDenied, reason: "\(permission.text) operation not permitted", ckErrorCode: 10)
    }
}
