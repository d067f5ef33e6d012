import Crypto
import SQLite
import System

/// Owns the table `serverKeys`: the public keys that check the signatures of server programs.
package struct ServerKeyTable: Sendable {
    let file: ControlFile

    /// Adds a public key that checks the signatures of one of the developer's programs.
    ///
    /// - Parameters:
    ///   - publicKey: DER of a SubjectPublicKeyInfo on the curve P-256.
    ///   - makesContainer: True to add a missing container.
    /// - Throws: `ControlError.badName`, `ControlError.badKey`, `ControlError.keyExists`,
    ///   `ControlError.isBeingRemoved`, `ControlError.noSuchContainer`, `CloudStoreError`.
    @discardableResult
    package func add(
        container: String, environment: String, name: String, publicKey: [UInt8],
        makesContainer: Bool = true
    ) throws -> ControlServerKey {
        try ControlNames.checkContainer(container)
        try ControlNames.checkEnvironment(environment)
        try ControlNames.checkKey(name)
        guard let checked = try? P256PublicKey(der: publicKey) else { throw ControlError.badKey }
        let id = try ControlSecret.randomToken()
        return try file.write { connection in
            let now = file.clock.nowMilliseconds()
            if makesContainer { try ContainerTables.add(container, at: now, connection) }
            try ContainerTables.checkIsServed(container, environment, connection)
            let sql = """
                INSERT OR IGNORE INTO serverKeys
                (id, container, environment, name, publicKey, createdMilliseconds) VALUES (?, ?, ?, ?, ?, ?)
                """
            try connection.run(sql) { statement in
                try statement.bind(id, container, environment, name, at: 1)
                try statement.bind(checked.der, now, at: 5)
            }
            guard connection.changesCount == 1, let kept = try find(id, connection) else {
                throw ControlError.keyExists(name: name, container: container, environment: environment)
            }
            return kept
        }
    }

    /// Returns the keys of a container, or of all, sorted by container, environment and name.
    ///
    /// - Throws: `CloudStoreError`.
    package func list(container: String? = nil) throws -> [ControlServerKey] {
        try file.read { connection in
            let sql = """
                SELECT \(Self.columns) FROM serverKeys WHERE ?1 IS NULL OR container = ?1
                ORDER BY container, environment, name
                """
            return try connection.withStatement(sql) { statement in
                try statement.bind(container, at: 1)
                return try statement.rows { try key(in: $0) }
            }
        }
    }

    /// Returns the key with this ID, or nil if there is none. Cached for up to `ControlStore.freshMilliseconds`.
    ///
    /// - Throws: `CloudStoreError`.
    package func find(id: String) throws -> ControlServerKey? {
        try file.lookUp {
            $0.serverKeys[id]
        } load: { connection in
            try find(id, connection)
        } keep: { cache, key in
            cache.keep(key)
        }
    }

    /// Revokes a key: requests that it signs are rejected.
    ///
    /// - Returns: False if the key doesn't exist.
    /// - Throws: `CloudStoreError`.
    package func revoke(container: String, environment: String, name: String) throws -> Bool {
        try file.write { connection in
            let sql = "DELETE FROM serverKeys WHERE container = ? AND environment = ? AND name = ?"
            try connection.run(sql) { try $0.bind(container, environment, name, at: 1) }
            return connection.changesCount == 1
        }
    }

    /// Removes all keys of an environment, in the transaction of `connection`.
    static func removeAll(
        ofContainer container: String, _ environment: String, _ connection: Connection
    ) throws {
        try connection.run("DELETE FROM serverKeys WHERE container = ? AND environment = ?") {
            try $0.bind(container, environment, at: 1)
        }
    }

    private static let columns = "id, container, environment, name, createdMilliseconds, publicKey"

    private func find(_ id: String, _ connection: Connection) throws -> ControlServerKey? {
        try connection.withStatement("SELECT \(Self.columns) FROM serverKeys WHERE id = ?") { statement in
            try statement.bind(id, at: 1)
            return try statement.step() ? try key(in: statement) : nil
        }
    }

    private func key(in statement: borrowing Statement) throws -> ControlServerKey {
        let (id, container) = (statement.text(at: 0), statement.text(at: 1))
        return ControlServerKey(
            id: id, container: container, environment: statement.text(at: 2), name: statement.text(at: 3),
            createdMilliseconds: statement.int64(at: 4), publicKey: statement.bytes(at: 5),
            userRecordName: try file.secret.userRecordName(
                key: Array("server key \(id)".utf8), container: container))
    }
}
