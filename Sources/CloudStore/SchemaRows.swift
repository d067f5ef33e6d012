/// The schema of an environment. One row, or none until something is saved.
package struct SchemaRow: Hashable, Sendable {
    /// 64 random bits, new after each change. Not a counter: a change that was rolled back would share its number with
    /// the next one, and caches by version would be wrong.
    package var version: UInt64
    /// The schema in the service's encoding. The store doesn't read it.
    package var content: [UInt8]

    /// Makes a row.
    package init(version: UInt64, content: [UInt8]) {
        self.version = version
        self.content = content
    }
}

/// The custom roles of a user in the public database.
package struct UserRolesRow: Hashable, Sendable {
    /// Record name of the user.
    package let user: String
    /// Names of the roles, sorted. An empty array deletes the row.
    package var roles: [String]

    /// Makes a row.
    package init(user: String, roles: [String]) {
        self.user = user
        self.roles = roles
    }
}
