import Crypto
import SQLite
import System

/// Owns the table `apiTokens`: the tokens by which apps use a container.
package struct TokenTable: Sendable {
    let file: ControlFile

    /// Makes a token by which an app can use the container.
    ///
    /// - Parameters:
    ///   - environments: Environments that the token is valid in.
    ///   - origins: Origins of the pages that may use the token, as `https://example.com`. Empty for any.
    ///   - callback: Address to which the sign-in page redirects with the user's token, or nil to post a message to the
    ///     page's opener.
    ///   - notes: The operator's notes.
    ///   - makesContainer: True to add a missing container.
    /// - Returns: The token. It can't be read again: the file has only its digest.
    /// - Throws: `ControlError.badName`, `ControlError.badOrigin`, `ControlError.badCallback`,
    ///   `ControlError.tokenExists`, `ControlError.isBeingRemoved`, `ControlError.noSuchContainer`, `CloudStoreError`.
    package func make(
        container: String, name: String, environments: TokenEnvironments = .both, origins: [String] = [],
        callback: String? = nil, notes: String? = nil, makesContainer: Bool = true
    ) throws -> String {
        try ControlNames.checkContainer(container)
        try ControlNames.checkToken(name)
        try ControlNames.checkNotes(notes)
        let origins = try ControlOrigins.checked(origins)
        if let callback { try ControlOrigins.checkCallback(callback) }
        let token = try ControlSecret.randomToken()
        let digest = try SHA256.hash(token)
        return try file.write { connection in
            let now = file.clock.nowMilliseconds()
            if makesContainer { try ContainerTables.add(container, at: now, connection) }
            try ContainerTables.checkIsServed(container, nil, connection)
            let sql = """
                INSERT OR IGNORE INTO apiTokens
                (digest, container, name, createdMilliseconds, origins, callback, notes, environments)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
            let origins = origins.isEmpty ? nil : origins.joined(separator: "\n")
            try connection.run(sql) { statement in
                try statement.bind(digest, container, name, now, at: 1)
                try statement.bind(origins, callback, notes, environments.rawValue, at: 5)
            }
            guard connection.changesCount == 1 else {
                throw ControlError.tokenExists(name: name, container: container)
            }
            return token
        }
    }

    /// Returns the tokens of a container, or of all, sorted by container and name.
    ///
    /// - Throws: `CloudStoreError`.
    package func list(container: String? = nil) throws -> [ControlToken] {
        let sql = """
            SELECT container, name, createdMilliseconds, origins, callback, notes, environments FROM apiTokens
            WHERE ?1 IS NULL OR container = ?1 ORDER BY container, name
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(container, at: 1)
                return try statement.rows {
                    ControlToken(
                        container: $0.text(at: 0), name: $0.text(at: 1),
                        createdMilliseconds: $0.int64(at: 2),
                        environments: try environments($0.text(at: 6)),
                        origins: ControlOrigins.list($0.optionalText(at: 3)) ?? [],
                        callback: $0.optionalText(at: 4), notes: $0.optionalText(at: 5))
                }
            }
        }
    }

    /// Returns the app of an API token, or nil if the token doesn't exist or was revoked. Cached for up to
    /// `ControlStore.freshMilliseconds`.
    ///
    /// - Throws: `CloudStoreError`.
    package func app(apiToken: String) throws -> ControlApp? {
        try app(digest: SHA256.hash(apiToken))
    }

    /// Returns the app of the API token with this digest.
    func app(digest: [UInt8]) throws -> ControlApp? {
        try file.lookUp {
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

    /// Changes the environments that a token is valid in.
    ///
    /// - Returns: False if the token doesn't exist.
    /// - Throws: `CloudStoreError`.
    package func setEnvironments(
        _ environments: TokenEnvironments, ofToken name: String, container: String
    ) throws -> Bool {
        try file.write { connection in
            let sql = "UPDATE apiTokens SET environments = ? WHERE container = ? AND name = ?"
            try connection.run(sql) { try $0.bind(environments.rawValue, container, name, at: 1) }
            return connection.changesCount == 1
        }
    }

    /// Revokes a token: requests that send it are rejected.
    ///
    /// - Returns: False if the token doesn't exist.
    /// - Throws: `CloudStoreError`.
    package func revoke(container: String, name: String) throws -> Bool {
        try file.write { connection in
            let sql = "DELETE FROM apiTokens WHERE container = ? AND name = ?"
            try connection.run(sql) { try $0.bind(container, name, at: 1) }
            return connection.changesCount == 1
        }
    }

    /// Removes all tokens of a container, in the transaction of `connection`.
    static func removeAll(ofContainer container: String, _ connection: Connection) throws {
        try connection.run("DELETE FROM apiTokens WHERE container = ?") { try $0.bind(container, at: 1) }
    }

    private func environments(_ text: String) throws -> TokenEnvironments {
        guard let environments = TokenEnvironments(rawValue: text) else {
            throw CloudStoreError.damaged(path: file.path, reason: "a token is for \(text)")
        }
        return environments
    }
}
