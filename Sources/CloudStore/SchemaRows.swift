/// The schema of a store's environment; there is one row, or none while nothing was ever saved.
public struct SchemaRow: Hashable, Sendable {
    /// 64 random bits, others after each change. Not a count: a rolled back change must not share its number with
    /// the next one, or what is remembered by it would be wrong.
    public var version: UInt64
    /// The schema as the service keeps it; the store doesn't look inside.
    public var content: [UInt8]

    /// Makes a row.
    public init(version: UInt64, content: [UInt8]) {
        self.version = version
        self.content = content
    }
}

/// The custom roles of a user in the public database.
public struct UserRolesRow: Hashable, Sendable {
    /// The record name of the user.
    public let user: String
    /// The names of the roles, sorted; none removes the row.
    public var roles: [String]

    /// Makes a row.
    public init(user: String, roles: [String]) {
        self.user = user
        self.roles = roles
    }
}
