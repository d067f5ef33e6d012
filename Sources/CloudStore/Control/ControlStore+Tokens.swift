import Crypto
import SQLite
import System

extension ControlStore {
    /// Makes a container.
    ///
    /// - Returns: false when it was there already.
    /// - Throws: `ControlError.badName`, `ControlError.isBeingRemoved`, `CloudStoreError`.
    @discardableResult
    public func addContainer(_ identifier: String) throws -> Bool {
        try ControlNames.checkContainer(identifier)
        return try write { try addContainer(identifier, $0) }
    }

    func addContainer(_ identifier: String, _ connection: Connection) throws -> Bool {
        guard try Self.removal(identifier, nil, connection) == nil else {
            throw ControlError.isBeingRemoved(container: identifier, environment: nil)
        }
        try connection.run("INSERT OR IGNORE INTO containers VALUES (?, ?)") {
            try $0.bind(identifier, clock.nowMilliseconds(), at: 1)
        }
        return connection.changesCount == 1
    }

    /// All containers, by identifier.
    public func containers() throws -> [ControlContainer] {
        try read { connection in
            try connection.withStatement("SELECT * FROM containers ORDER BY identifier") { statement in
                return try statement.rows {
                    ControlContainer(
                        identifier: $0.text(at: 0), createdMilliseconds: $0.int64(at: 1))
                }
            }
        }
    }

    /// Makes a token by which an app may use the container, and the container when there is none.
    ///
    /// - Parameters:
    ///   - environments: those that it is good in.
    ///   - origins: the origins whose pages may use it, as `https://example.com`; empty: any.
    ///   - callback: where the sign-in page leads with the user's token; nil: it posts a message to its opener.
    ///   - notes: what the operator wants to remember.
    ///   - makesContainer: whether a container that isn't there is made.
    /// - Returns: the token. It can't be read again: the file keeps its digest.
    /// - Throws: `ControlError.badName`, `ControlError.tokenExists`, `ControlError.isBeingRemoved`,
    ///   `ControlError.noSuchContainer`, `CloudStoreError`.
    public func makeToken(
        container: String, name: String, environments: TokenEnvironments = .both, origins: [String] = [],
        callback: String? = nil, notes: String? = nil, makesContainer: Bool = true
    ) throws -> String {
        try ControlNames.checkContainer(container)
        try ControlNames.checkToken(name)
        try ControlNames.checkNotes(notes)
        let origins = try ControlOrigins.checked(origins)
        if let callback { try ControlOrigins.checkCallback(callback) }
        let token = try Self.newToken()
        let digest = try SHA256.hash(token)
        return try write { connection in
            if makesContainer { _ = try addContainer(container, connection) }
            try Self.checkIsServed(container, nil, connection)
            let sql = """
                INSERT OR IGNORE INTO apiTokens
                (digest, container, name, createdMilliseconds, origins, callback, notes, environments)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
            let origins = origins.isEmpty ? nil : origins.joined(separator: "\n")
            try connection.run(sql) { statement in
                try statement.bind(digest, container, name, clock.nowMilliseconds(), at: 1)
                try statement.bind(origins, callback, notes, environments.rawValue, at: 5)
            }
            guard connection.changesCount == 1 else {
                throw ControlError.tokenExists(name: name, container: container)
            }
            return token
        }
    }

    /// The tokens of one container or of all, by container and name.
    public func tokens(container: String? = nil) throws -> [ControlToken] {
        let sql = """
            SELECT container, name, createdMilliseconds, origins, callback, notes, environments FROM apiTokens
            WHERE ?1 IS NULL OR container = ?1 ORDER BY container, name
            """
        return try read { connection in
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

    /// Changes in which environments a token is good.
    ///
    /// - Returns: false when there is no such token.
    public func setEnvironments(
        _ environments: TokenEnvironments, ofToken name: String, container: String
    ) throws -> Bool {
        try write { connection in
            let sql = "UPDATE apiTokens SET environments = ? WHERE container = ? AND name = ?"
            try connection.run(sql) { try $0.bind(environments.rawValue, container, name, at: 1) }
            return connection.changesCount == 1
        }
    }

    /// What the file says of a token's environments.
    func environments(_ text: String) throws -> TokenEnvironments {
        guard let environments = TokenEnvironments(rawValue: text) else {
            throw CloudStoreError.damaged(path: path, reason: "a token is for \(text)")
        }
        return environments
    }

    /// Ends a token: apps that send it are refused.
    ///
    /// - Returns: false when there is no such token.
    public func revokeToken(container: String, name: String) throws -> Bool {
        try write { connection in
            let sql = "DELETE FROM apiTokens WHERE container = ? AND name = ?"
            try connection.run(sql) { try $0.bind(container, name, at: 1) }
            return connection.changesCount == 1
        }
    }

    static func newToken() throws -> String {
        Hex.text(try RandomBytes.make(count: 32))
    }
}
