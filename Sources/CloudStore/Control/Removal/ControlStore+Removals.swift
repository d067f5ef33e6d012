import SQLite
import System

/// A container, or one environment of it, that is being removed: nobody gets at it any more.
public struct ControlRemoval: Hashable, Sendable {
    /// Another one for each removal: what was begun for one does nothing to a container that was made again.
    let number: Int64
    /// The container's identifier.
    public let container: String
    /// The one environment that goes; nil: the whole container.
    public let environment: String?

    /// The environments that go.
    public var environments: [String] { environment.map { [$0] } ?? ["development", "production"] }

    /// Whether it takes this environment along.
    public func covers(_ container: String, _ environment: String) -> Bool {
        container == self.container && environments.contains(environment)
    }
}

extension ControlStore {
    /// So many rows are looked at in a transaction that removes.
    static let removalRowsMax = 1_000

    /// Marks a container, or one environment of it, as being removed: from now on nobody gets at it. What is marked
    /// already stays so.
    ///
    /// - Throws: `ControlError.noSuchContainer`, `ControlError.badName`, `CloudStoreError`.
    public func beginRemoval(container: String, environment: String? = nil) throws -> ControlRemoval {
        if let environment { try ControlNames.checkEnvironment(environment) }
        return try write { connection in
            if let whole = try Self.removal(container, nil, connection) { return whole }
            if let environment, let begun = try Self.removal(container, environment, connection) {
                return begun
            }
            guard try Self.hasContainer(container, connection) else {
                throw ControlError.noSuchContainer(container)
            }
            if environment == nil {
                // It takes along what was begun of it.
                for sql in [
                    "DELETE FROM containers WHERE identifier = ?", "DELETE FROM removals WHERE container = ?",
                ] {
                    try connection.run(sql) { try $0.bind(container, at: 1) }
                }
            }
            let sql = "INSERT INTO removals (container, environment, startedMilliseconds) VALUES (?, ?, ?)"
            try connection.run(sql) {
                try $0.bind(container, environment ?? "", clock.nowMilliseconds(), at: 1)
            }
            guard let removal = try Self.removal(container, environment, connection) else {
                throw ControlError.noSuchContainer(container)
            }
            return removal
        }
    }

    /// What is being removed, in the order in which it was begun. Asks the file.
    public func removals() throws -> [ControlRemoval] {
        try read { try Self.removals($0) }
    }

    /// The same of a control file that needn't be there, nor have been upgraded.
    static func removals(inFileAt path: String) throws -> [ControlRemoval] {
        guard !isAbsent(path) else { return [] }
        var options = OpenOptions()
        options.readOnly = true
        return try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path, options: options)
            let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'removals'"
            return try ControlFormat.value(of: sql, connection) == 0 ? [] : removals(connection)
        }
    }

    /// Whether the container is there, and this environment of it isn't being removed. Asks the file.
    public func serves(container: String, environment: String) throws -> Bool {
        try read { connection in
            try Self.hasContainer(container, connection)
                && Self.removal(container, environment, connection) == nil
        }
    }

    /// Whether a removal that was begun is still to be done. Asks the file.
    func isBegun(_ removal: ControlRemoval) throws -> Bool {
        try read { try Self.isBegun(removal, $0) }
    }

    /// Removes some of the sessions in what is being removed, and of the choices of people in it.
    ///
    /// - Parameter after: what the call before gave; nil at first.
    /// - Returns: where to go on; nil when none is left.
    func removeSessions(of removal: ControlRemoval, after: [UInt8]?) throws -> [UInt8]? {
        try write { connection in
            guard try Self.isBegun(removal, connection) else { return nil }
            var (found, last): ([[UInt8]], [UInt8]?) = ([], nil)
            let sql = """
                SELECT digest, container, environment FROM sessions WHERE digest > ? ORDER BY digest LIMIT ?
                """
            var count = 0
            try connection.withStatement(sql) { statement in
                try statement.bind(after ?? [0], Self.removalRowsMax, at: 1)
                while try statement.step() {
                    count += 1
                    last = statement.bytes(at: 0)
                    guard removal.covers(statement.text(at: 1), statement.text(at: 2)) else { continue }
                    found.append(statement.bytes(at: 0))
                }
            }
            for digest in found {
                try connection.run("DELETE FROM sessions WHERE digest = ?") { try $0.bind(digest, at: 1) }
            }
            return count < Self.removalRowsMax ? nil : last
        }
    }

    /// Forgets some of those who let others of the container find them.
    ///
    /// - Returns: whether more are left.
    func removeDiscoverable(of removal: ControlRemoval) throws -> Bool {
        // A person's choice is for the container, and stays when one environment goes.
        guard removal.environment == nil else { return false }
        return try write { connection in
            guard try Self.isBegun(removal, connection) else { return false }
            let sql = """
                DELETE FROM discoverable WHERE container = ?1 AND user IN
                (SELECT user FROM discoverable WHERE container = ?1 LIMIT ?2)
                """
            try connection.run(sql) { try $0.bind(removal.container, Self.removalRowsMax, at: 1) }
            return connection.changesCount == Self.removalRowsMax
        }
    }

    /// Ends a removal of which nothing is left: its tokens and keys go with the mark.
    func endRemoval(_ removal: ControlRemoval) throws {
        try write { connection in
            guard try Self.isBegun(removal, connection) else { return }
            if removal.environment == nil {
                try connection.run("DELETE FROM apiTokens WHERE container = ?") {
                    try $0.bind(removal.container, at: 1)
                }
            }
            for environment in removal.environments {
                let keys = "DELETE FROM serverKeys WHERE container = ? AND environment = ?"
                try connection.withStatement(keys) { statement in
                    try statement.bind(removal.container, environment, at: 1)
                    try statement.run()
                }
            }
            try connection.run("DELETE FROM removals WHERE number = ?") { try $0.bind(removal.number, at: 1) }
        }
    }

    // MARK: -

    /// Refuses what would outlive a container that is gone, or about to go.
    static func checkIsServed(
        _ container: String, _ environment: String?, _ connection: Connection
    ) throws {
        if let removal = try removal(container, environment, connection) {
            throw ControlError.isBeingRemoved(container: container, environment: removal.environment)
        }
        guard try hasContainer(container, connection) else { throw ControlError.noSuchContainer(container) }
    }

    /// The removal that takes an environment along, or without one the whole container.
    static func removal(
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

    private static func isBegun(_ removal: ControlRemoval, _ connection: Connection) throws -> Bool {
        try connection.withStatement("SELECT 1 FROM removals WHERE number = ?") { statement in
            try statement.bind(removal.number, at: 1)
            return try statement.step()
        }
    }

    private static func hasContainer(_ container: String, _ connection: Connection) throws -> Bool {
        try connection.withStatement("SELECT 1 FROM containers WHERE identifier = ?") { statement in
            try statement.bind(container, at: 1)
            return try statement.step()
        }
    }
}
