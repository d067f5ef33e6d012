import Crypto
import SQLite
import System

extension ControlStore {
    /// What the API token stands for; nil when there is none, or it was revoked. From memory as `session(token:)`.
    public func app(apiToken: String) throws -> ControlApp? {
        try app(digest: SHA256.hash(apiToken))
    }

    /// What the API token with this digest stands for.
    func app(digest: [UInt8]) throws -> ControlApp? {
        try lookUp {
            $0.apps[digest]
        } load: { connection in
            let sql =
                "SELECT container, name, origins, callback, environments FROM apiTokens WHERE digest = ?"
            return try connection.withStatement(sql) { statement in
                try statement.bind(digest, at: 1)
                guard try statement.step() else { return nil }
                return ControlApp(
                    container: statement.text(at: 0), name: statement.text(at: 1),
                    environments: try environments(statement.text(at: 4)),
                    origins: ControlOrigins.list(statement.optionalText(at: 2)),
                    callback: statement.optionalText(at: 3))
            }
        } keep: { cache, app in
            cache.keep(app, digest: digest)
        }
    }

    /// Keeps a public key by which a program of the developer signs.
    ///
    /// - Parameter makesContainer: whether a container that isn't there is made.
    /// - Throws: `ControlError.badName`, `ControlError.badKey`, `ControlError.keyExists`,
    ///   `ControlError.isBeingRemoved`, `ControlError.noSuchContainer`, `CloudStoreError`.
    @discardableResult
    public func addServerKey(
        container: String, environment: String, name: String, publicKey: [UInt8],
        makesContainer: Bool = true
    ) throws -> ControlServerKey {
        try ControlNames.checkContainer(container)
        try ControlNames.checkEnvironment(environment)
        try ControlNames.checkKey(name)
        guard let checked = try? P256PublicKey(der: publicKey) else { throw ControlError.badKey }
        let key = ControlServerKey(
            id: try Self.newToken(), container: container, environment: environment, name: name,
            createdMilliseconds: clock.nowMilliseconds(), publicKey: checked.der, userRecordName: "")
        return try write { connection in
            if makesContainer { _ = try addContainer(container, connection) }
            try Self.checkIsServed(container, environment, connection)
            let sql = """
                INSERT OR IGNORE INTO serverKeys
                (id, container, environment, name, publicKey, createdMilliseconds) VALUES (?, ?, ?, ?, ?, ?)
                """
            try connection.run(sql) { statement in
                try statement.bind(key.id, container, environment, name, at: 1)
                try statement.bind(key.publicKey, key.createdMilliseconds, at: 5)
            }
            guard connection.changesCount == 1, let kept = try loadKey(key.id, connection) else {
                throw ControlError.keyExists(name: name, container: container, environment: environment)
            }
            return kept
        }
    }

    /// The keys of one container or of all, by container, environment and name.
    public func serverKeys(container: String? = nil) throws -> [ControlServerKey] {
        try read { connection in
            let sql = """
                SELECT \(Self.keyColumns) FROM serverKeys WHERE ?1 IS NULL OR container = ?1
                ORDER BY container, environment, name
                """
            return try connection.withStatement(sql) { statement in
                if let container { try statement.bind(container, at: 1) }
                return try statement.rows { try key(in: $0) }
            }
        }
    }

    /// Ends a key: what it signs is refused.
    ///
    /// - Returns: false when there is no such key.
    public func revokeServerKey(container: String, environment: String, name: String) throws -> Bool {
        try write { connection in
            let sql = "DELETE FROM serverKeys WHERE container = ? AND environment = ? AND name = ?"
            try connection.run(sql) { try $0.bind(container, environment, name, at: 1) }
            return connection.changesCount == 1
        }
    }

    /// The key with this name on the wire; nil when there is none. From memory as `session(token:)`.
    public func serverKey(id: String) throws -> ControlServerKey? {
        try lookUp {
            $0.serverKeys[id]
        } load: { connection in
            try loadKey(id, connection)
        } keep: { cache, key in
            cache.keep(key)
        }
    }

    private static let keyColumns = "id, container, environment, name, createdMilliseconds, publicKey"

    private func loadKey(_ id: String, _ connection: Connection) throws -> ControlServerKey? {
        let sql = "SELECT \(Self.keyColumns) FROM serverKeys WHERE id = ?"
        return try connection.withStatement(sql) { statement in
            try statement.bind(id, at: 1)
            return try statement.step() ? try key(in: statement) : nil
        }
    }

    private func key(in statement: borrowing Statement) throws -> ControlServerKey {
        let (id, container) = (statement.text(at: 0), statement.text(at: 1))
        return ControlServerKey(
            id: id, container: container, environment: statement.text(at: 2), name: statement.text(at: 3),
            createdMilliseconds: statement.int64(at: 4), publicKey: statement.bytes(at: 5),
            userRecordName: try userRecordName(key: Array("server key \(id)".utf8), container: container))
    }
}
