import SQLite
import System

/// Owns the tables `containers` and `removals`.
package struct ContainerTables: Sendable {
    /// Maximum number of rows that one transaction of a removal reads or deletes.
    static let removalRowsMax = 1_000

    let file: ControlFile

    /// Adds a container.
    ///
    /// - Returns: False if it exists already.
    /// - Throws: `ControlError.badName`, `ControlError.isBeingRemoved`, `CloudStoreError`.
    @discardableResult
    package func add(_ identifier: String) throws -> Bool {
        try ControlNames.checkContainer(identifier)
        return try file.write { try Self.add(identifier, at: file.clock.nowMilliseconds(), $0) }
    }

    /// Returns all containers, sorted by identifier.
    ///
    /// - Throws: `CloudStoreError`.
    package func list() throws -> [ControlContainer] {
        try file.read { connection in
            try connection.withStatement("SELECT * FROM containers ORDER BY identifier") { statement in
                try statement.rows {
                    ControlContainer(identifier: $0.text(at: 0), createdMilliseconds: $0.int64(at: 1))
                }
            }
        }
    }

    /// Returns true if the container exists. Cached for up to `ControlStore.freshMilliseconds`.
    ///
    /// - Throws: `CloudStoreError`.
    package func exists(_ identifier: String) throws -> Bool {
        let found = try file.lookUp {
            $0.containers.contains(identifier) ? true : nil
        } load: { connection in
            try Self.exists(identifier, connection) ? true : nil
        } keep: { cache, _ in
            cache.keep(container: identifier)
        }
        return found ?? false
    }

    /// Returns true if the container exists and this environment of it isn't being removed. Not cached.
    ///
    /// - Throws: `CloudStoreError`.
    package func serves(container: String, environment: String) throws -> Bool {
        try file.read { connection in
            try Self.exists(container, connection)
                && Self.removal(container, environment, connection) == nil
        }
    }

    // MARK: - Removals

    /// Marks a container, or one environment of it, as being removed. Requests to it are rejected from now on. An
    /// existing mark stays.
    ///
    /// - Parameter environment: The environment to remove, or nil for the whole container.
    /// - Throws: `ControlError.noSuchContainer`, `ControlError.badName`, `CloudStoreError`.
    package func beginRemoval(container: String, environment: String? = nil) throws -> ControlRemoval {
        if let environment { try ControlNames.checkEnvironment(environment) }
        return try file.write { connection in
            if let whole = try Self.removal(container, nil, connection) { return whole }
            if let environment, let begun = try Self.removal(container, environment, connection) {
                return begun
            }
            guard try Self.exists(container, connection) else {
                throw ControlError.noSuchContainer(container)
            }
            if environment == nil {
                // Removing the container includes the removals of its environments.
                for sql in [
                    "DELETE FROM containers WHERE identifier = ?", "DELETE FROM removals WHERE container = ?",
                ] {
                    try connection.run(sql) { try $0.bind(container, at: 1) }
                }
            }
            let sql = "INSERT INTO removals (container, environment, startedMilliseconds) VALUES (?, ?, ?)"
            try connection.run(sql) {
                try $0.bind(container, environment ?? "", file.clock.nowMilliseconds(), at: 1)
            }
            guard let removal = try Self.removal(container, environment, connection) else {
                throw ControlError.noSuchContainer(container)
            }
            return removal
        }
    }

    /// Returns the removals in progress, oldest first. Not cached.
    ///
    /// - Throws: `CloudStoreError`.
    package func removals() throws -> [ControlRemoval] {
        try file.read { try Self.removals($0) }
    }

    /// Returns the removals of a control file that may be missing or of an earlier version.
    static func removals(inFileAt path: String) throws -> [ControlRemoval] {
        guard !ControlStore.isAbsent(path) else { return [] }
        var options = OpenOptions()
        options.readOnly = true
        return try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path, options: options)
            let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'removals'"
            return try ControlFormat.value(of: sql, connection) == 0 ? [] : removals(connection)
        }
    }

    /// Returns true if a removal hasn't ended yet. Not cached.
    func isBegun(_ removal: ControlRemoval) throws -> Bool {
        try file.read { try Self.isBegun(removal, $0) }
    }

    /// Ends a removal after everything else was removed: deletes its tokens, its keys and its mark.
    func endRemoval(_ removal: ControlRemoval) throws {
        try file.write { connection in
            guard try Self.isBegun(removal, connection) else { return }
            if removal.environment == nil {
                try TokenTable.removeAll(ofContainer: removal.container, connection)
            }
            for environment in removal.environments {
                try ServerKeyTable.removeAll(ofContainer: removal.container, environment, connection)
            }
            try connection.run("DELETE FROM removals WHERE number = ?") { try $0.bind(removal.number, at: 1) }
        }
    }

    // MARK: - For transactions of other owners

    /// Adds a container.
    ///
    /// - Returns: False if it exists already.
    /// - Throws: `ControlError.isBeingRemoved`.
    @discardableResult
    static func add(_ identifier: String, at now: Int64, _ connection: Connection) throws -> Bool {
        guard try removal(identifier, nil, connection) == nil else {
            throw ControlError.isBeingRemoved(container: identifier, environment: nil)
        }
        try connection.run("INSERT OR IGNORE INTO containers VALUES (?, ?)") {
            try $0.bind(identifier, now, at: 1)
        }
        return connection.changesCount == 1
    }

    /// Rejects new rows for a container that doesn't exist or is being removed.
    ///
    /// - Parameter environment: The environment that the row belongs to, or nil for all of the container.
    /// - Throws: `ControlError.isBeingRemoved`, `ControlError.noSuchContainer`.
    static func checkIsServed(
        _ container: String, _ environment: String?, _ connection: Connection
    ) throws {
        if let removal = try removal(container, environment, connection) {
            throw ControlError.isBeingRemoved(container: container, environment: removal.environment)
        }
        guard try exists(container, connection) else { throw ControlError.noSuchContainer(container) }
    }

    /// Returns true if a removal hasn't ended yet.
    static func isBegun(_ removal: ControlRemoval, _ connection: Connection) throws -> Bool {
        try connection.withStatement("SELECT 1 FROM removals WHERE number = ?") { statement in
            try statement.bind(removal.number, at: 1)
            return try statement.step()
        }
    }

    // MARK: - Rows

    private static func exists(_ container: String, _ connection: Connection) throws -> Bool {
        try connection.withStatement("SELECT 1 FROM containers WHERE identifier = ?") { statement in
            try statement.bind(container, at: 1)
            return try statement.step()
        }
    }

    /// Returns the removal that includes the environment, or, for nil, the removal of the whole container.
    private static func removal(
        _ container: String, _ environment: String?, _ connection: Connection
    ) throws -> ControlRemoval? {
        let sql = """
            SELECT number, container, environment FROM removals
            WHERE container = ? AND environment IN ('', ?) ORDER BY environment
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(container, environment ?? "", at: 1)
            return try statement.step() ? removal(in: statement) : nil
        }
    }

    private static func removals(_ connection: Connection) throws -> [ControlRemoval] {
        try connection.withStatement("SELECT number, container, environment FROM removals ORDER BY number") {
            try $0.rows { removal(in: $0) }
        }
    }

    private static func removal(in statement: borrowing Statement) -> ControlRemoval {
        let environment = statement.text(at: 2)
        return ControlRemoval(
            number: statement.int64(at: 0), container: statement.text(at: 1),
            environment: environment.isEmpty ? nil : environment)
    }
}
