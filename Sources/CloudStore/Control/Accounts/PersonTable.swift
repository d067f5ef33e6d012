import SQLite

/// A person as other users of a container can find them.
package struct ControlPerson: Hashable, Sendable {
    /// Record name of the user in the container.
    package let userRecordName: String
    /// Given name, or nil if the account has none.
    package let givenName: String?
    /// Family name, or nil if the account has none.
    package let familyName: String?
    /// Email address of the account, or nil if it has none.
    package let email: String?
}

/// A user's choice how other users of a container can find their name.
package struct ControlDiscoverability: Hashable, Sendable {
    /// True if the name is found by the user's email address or record name.
    package var isDiscoverable: Bool
    /// True if the user is listed among all people of the container.
    package var isListed: Bool

    /// Makes a choice.
    package init(isDiscoverable: Bool = false, isListed: Bool = false) {
        self.isDiscoverable = isDiscoverable
        self.isListed = isListed
    }
}

/// Owns the table `discoverable`: the users that other users of a container can find. Nothing is cached.
package struct PersonTable: Sendable {
    let file: ControlFile

    /// Returns the choice of a session's user.
    ///
    /// - Throws: `CloudStoreError`.
    package func discoverability(of session: ControlSession) throws -> ControlDiscoverability {
        let sql = "SELECT isListed FROM discoverable WHERE container = ? AND user = ?"
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(session.container, session.userRecordName, at: 1)
                guard try statement.step() else { return ControlDiscoverability() }
                return ControlDiscoverability(isDiscoverable: true, isListed: statement.int64(at: 0) != 0)
            }
        }
    }

    /// Sets the choice of a session's user.
    ///
    /// - Throws: `ControlError.noSuchAccount`, `ControlError.noSuchContainer`, `ControlError.isBeingRemoved`,
    ///   `CloudStoreError`.
    package func setDiscoverability(_ choice: ControlDiscoverability, of session: ControlSession) throws {
        let sql =
            choice.isDiscoverable
            ? "INSERT OR REPLACE INTO discoverable (container, user, account, isListed) VALUES (?, ?, ?, ?)"
            : "DELETE FROM discoverable WHERE container = ? AND user = ?"
        try file.write { connection in
            let account = try AccountTables.existing(session.account, connection)
            try ContainerTables.checkIsServed(session.container, session.environment, connection)
            try connection.run(sql) { statement in
                try statement.bind(session.container, session.userRecordName, at: 1)
                if choice.isDiscoverable {
                    try statement.bind(account.id, choice.isListed ? 1 : 0, at: 3)
                }
            }
        }
    }

    /// Returns the person with this email address, in upper or lower case, or nil if there is none or it can't be
    /// found by other users of the container.
    ///
    /// - Throws: `CloudStoreError`.
    package func find(email: String, container: String) throws -> ControlPerson? {
        try people("d.container = ? AND a.email = ?", [container, email], countMax: 1).first
    }

    /// Returns the person with this user record name, or nil if there is none or it can't be found by other users of
    /// the container.
    ///
    /// - Throws: `CloudStoreError`.
    package func find(userRecordName: String, container: String) throws -> ControlPerson? {
        try people("d.container = ? AND d.user = ?", [container, userRecordName], countMax: 1).first
    }

    /// Returns the listed people of the container, sorted by user record name.
    ///
    /// - Parameter countMax: Maximum number of people.
    /// - Throws: `CloudStoreError`.
    package func list(container: String, countMax: Int) throws -> [ControlPerson] {
        try people("d.container = ? AND d.isListed = 1", [container], countMax: countMax)
    }

    private func people(_ condition: String, _ values: [String], countMax: Int) throws -> [ControlPerson] {
        let sql = """
            SELECT d.user, a.givenName, a.familyName, a.email
            FROM discoverable d \(AccountTables.join(on: "d.account")) WHERE \(condition) ORDER BY d.user LIMIT ?
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                for (index, value) in values.enumerated() {
                    try statement.bind(value, at: Int32(index + 1))
                }
                try statement.bind(Int64(countMax), at: Int32(values.count + 1))
                return try statement.rows {
                    ControlPerson(
                        userRecordName: $0.text(at: 0), givenName: $0.optionalText(at: 1),
                        familyName: $0.optionalText(at: 2), email: $0.optionalText(at: 3))
                }
            }
        }
    }

    // MARK: - Removing

    /// Removes one step of the choices in a container that is being removed.
    ///
    /// - Returns: True if more are left.
    func remove(in removal: ControlRemoval) throws -> Bool {
        // A choice is for the container, and stays when one environment is removed.
        guard removal.environment == nil else { return false }
        return try file.write { connection in
            guard try ContainerTables.isBegun(removal, connection) else { return false }
            let sql = """
                DELETE FROM discoverable WHERE container = ?1 AND user IN
                (SELECT user FROM discoverable WHERE container = ?1 LIMIT ?2)
                """
            try connection.run(sql) {
                try $0.bind(removal.container, ContainerTables.removalRowsMax, at: 1)
            }
            return connection.changesCount == ContainerTables.removalRowsMax
        }
    }

    /// Removes the choices of an account in all containers.
    static func removeAll(ofAccount account: Int64, _ connection: Connection) throws {
        try connection.run("DELETE FROM discoverable WHERE account = ?") { try $0.bind(account, at: 1) }
    }
}
