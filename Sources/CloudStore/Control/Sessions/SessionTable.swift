import Crypto
import SQLite
import System

/// Owns the table `sessions`, and the rotations of tokens that aren't written to it yet.
package struct SessionTable: Sendable {
    /// Maximum lifetime of a session that was opened on the server's sign-in page, in milliseconds.
    package static let lifeMilliseconds: Int64 = 365 * 86_400_000
    /// Maximum number of sessions of an account. A further sign-in ends the oldest.
    package static let sessionsMaxOfAccount = 1000

    let file: ControlFile
    let lengths: SignInLengths
    let rotations = Lock(SessionRotations())
    let replayListener = Lock<(@Sendable (ControlSession) -> Void)?>(nil)

    /// Signs an account in: makes a web auth token for it.
    ///
    /// Deletes expired sessions, and the oldest sessions of an account that has too many.
    ///
    /// - Parameters:
    ///   - lifeMilliseconds: Time without a request after which the session ends; each response brings a new token. Nil
    ///     for a token that stays, for the time in `SignInLengths`.
    ///   - place: Place of the client, or nil if it is unknown.
    /// - Returns: The token, which can't be read again, its session, and the earlier sign-ins of the account.
    /// - Throws: `ControlError.noSuchContainer`, `ControlError.isBeingRemoved`; `ControlError.noSuchAccount` for an
    ///   account that was removed, disabled or given another password since it was read; `CloudStoreError`.
    package func make(
        of account: ControlAccount, container: String, environment: String, lifeMilliseconds: Int64? = nil,
        from place: ControlSignInPlace? = nil
    ) throws -> (token: String, session: ControlSession, history: ControlSignInHistory) {
        let secret = try ControlSecret.randomToken()
        let now = file.clock.nowMilliseconds()
        let digest = try SHA256.hash(secret)
        let session = ControlSession(
            container: container, environment: environment,
            userRecordName: try file.secret.userRecordName(key: account.key, container: container),
            givenName: account.givenName, familyName: account.familyName,
            expiresMilliseconds: lifeMilliseconds.map { now + $0 }
                ?? lengths.end(usedAt: now, createdAt: now), account: account.name,
            id: Self.id(digest), createdMilliseconds: now, lifeMilliseconds: lifeMilliseconds,
            address: place?.address, client: place?.client, digest: digest, step: 0)
        let history = try file.write { connection in
            try ContainerTables.checkIsServed(container, environment, connection)
            // The password was checked before this transaction, and may have been replaced since.
            guard try AccountTables.find(named: account.name, connection)?.isSame(as: account) ?? false else {
                throw ControlError.noSuchAccount(name: account.name)
            }
            try Self.makeRoom(ofAccount: account.id, at: now, connection)
            try Self.insert(session, account: account.id, connection)
            guard let place else { return ControlSignInHistory() }
            return try SignInPlaceTable.note(place, ofAccount: account.id, at: now, connection)
        }
        let token = try lifeMilliseconds == nil ? secret : self.token(secret: secret, step: 0)
        return (token, session, history)
    }

    /// Returns the sessions of an account, or of all, that haven't expired, sorted by account and time.
    ///
    /// - Throws: `CloudStoreError`.
    package func list(account: String? = nil) throws -> [ControlSession] {
        let sql = """
            SELECT \(Self.columns) WHERE (?1 IS NULL OR a.name = ?1) AND s.expiresMilliseconds > ?2
            ORDER BY a.name, s.createdMilliseconds, s.digest
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(account, file.clock.nowMilliseconds(), at: 1)
                return try statement.rows { try session(in: $0) }
            }
        }
    }

    /// Returns the number of sessions of an account that haven't expired.
    ///
    /// - Throws: `CloudStoreError`.
    package func count(of account: ControlAccount) throws -> Int {
        let sql = "SELECT count(*) FROM sessions WHERE account = ? AND expiresMilliseconds > ?"
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(account.id, file.clock.nowMilliseconds(), at: 1)
                return Int(try statement.firstInt64())
            }
        }
    }

    // MARK: - Ending

    /// Ends the session of a token.
    ///
    /// - Returns: False if there is none.
    /// - Throws: `CloudStoreError`.
    @discardableResult
    package func end(token: String) throws -> Bool {
        guard case .user(let session, _) = try signIn(token: token) else { return false }
        return try end(digest: session.digest)
    }

    /// Ends the session with this `id`.
    ///
    /// - Parameter account: Account of the session, or nil for any account.
    /// - Returns: False if there is none.
    /// - Throws: `CloudStoreError`.
    package func end(id: String, ofAccount account: String? = nil) throws -> Bool {
        guard let session = try list(account: account).first(where: { $0.id == id }) else { return false }
        return try end(digest: session.digest)
    }

    /// Ends all sessions of an account.
    ///
    /// - Returns: The number of sessions that were ended.
    /// - Throws: `ControlError.noSuchAccount`, `CloudStoreError`.
    package func endAll(ofAccount name: String) throws -> Int {
        try file.write { connection in
            try Self.removeAll(ofAccount: AccountTables.existing(name, connection).id, connection)
            return connection.changesCount
        }
    }

    @discardableResult
    func end(digest: [UInt8]) throws -> Bool {
        rotations.withLock { $0.forget(digest) }
        return try file.write { connection in
            try Self.remove(digest, connection)
            return connection.changesCount == 1
        }
    }

    /// Removes one step of the sessions in a container or environment that is being removed.
    ///
    /// - Parameter after: The result of the previous call, or nil for the first.
    /// - Returns: Where the next call continues, or nil if no session is left.
    func remove(in removal: ControlRemoval, after: [UInt8]?) throws -> [UInt8]? {
        try file.write { connection in
            guard try ContainerTables.isBegun(removal, connection) else { return nil }
            let sql = """
                SELECT digest, container, environment FROM sessions WHERE digest > ? ORDER BY digest LIMIT ?
                """
            let rows = try connection.withStatement(sql) { statement in
                try statement.bind(after ?? [0], ContainerTables.removalRowsMax, at: 1)
                return try statement.rows {
                    (digest: $0.bytes(at: 0), isRemoved: removal.covers($0.text(at: 1), $0.text(at: 2)))
                }
            }
            for row in rows where row.isRemoved { try Self.remove(row.digest, connection) }
            return rows.count < ContainerTables.removalRowsMax ? nil : rows.last?.digest
        }
    }

    /// Ends all sessions of an account, in the transaction of `connection`.
    static func removeAll(ofAccount account: Int64, _ connection: Connection) throws {
        try connection.run("DELETE FROM sessions WHERE account = ?") { try $0.bind(account, at: 1) }
    }

    private static func remove(_ digest: [UInt8], _ connection: Connection) throws {
        try connection.run("DELETE FROM sessions WHERE digest = ?") { try $0.bind(digest, at: 1) }
    }

    // MARK: - Rows

    private static func makeRoom(
        ofAccount account: Int64, at now: Int64, _ connection: Connection
    ) throws {
        // The rows of sessions with rotating tokens may be behind by `lagMilliseconds`.
        let expired = """
            DELETE FROM sessions WHERE expiresMilliseconds <= ?1 AND lifeMilliseconds IS NULL
            OR expiresMilliseconds <= ?1 - ?2
            """
        try connection.run(expired) { try $0.bind(now, SessionRotations.lagMilliseconds, at: 1) }
        let oldest = """
            DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions WHERE account = ?
            ORDER BY createdMilliseconds DESC LIMIT -1 OFFSET ?)
            """
        try connection.run(oldest) { try $0.bind(account, sessionsMaxOfAccount - 1, at: 1) }
    }

    private static func insert(
        _ session: ControlSession, account: Int64, _ connection: Connection
    ) throws {
        let sql = """
            INSERT INTO sessions (digest, account, container, environment, createdMilliseconds,
            expiresMilliseconds, lifeMilliseconds, address, client) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try connection.run(sql) { statement in
            try statement.bind(session.digest, account, session.container, session.environment, at: 1)
            try statement.bind(session.createdMilliseconds, session.expiresMilliseconds, at: 5)
            try statement.bind(session.lifeMilliseconds, session.address, session.client, at: 7)
        }
    }

    /// Returns a session's `id`: a few digits of its digest, too few to look it up, and none of the token's.
    private static func id(_ digest: [UInt8]) -> String { Hex.text(Array(digest.prefix(8))) }

    static let columns = """
        s.container, s.environment, a.key, a.givenName, a.familyName, s.expiresMilliseconds, a.name, s.digest,
        s.createdMilliseconds, s.lifeMilliseconds, s.step, s.address, s.client
        FROM sessions s \(AccountTables.join(on: "s.account"))
        """

    func session(in statement: borrowing Statement) throws -> ControlSession {
        let container = statement.text(at: 0)
        let digest = statement.bytes(at: 7)
        return ControlSession(
            container: container, environment: statement.text(at: 1),
            userRecordName: try file.secret.userRecordName(key: statement.bytes(at: 2), container: container),
            givenName: statement.optionalText(at: 3), familyName: statement.optionalText(at: 4),
            expiresMilliseconds: statement.int64(at: 5), account: statement.text(at: 6),
            id: Self.id(digest), createdMilliseconds: statement.int64(at: 8),
            lifeMilliseconds: statement.isNull(at: 9) ? nil : statement.int64(at: 9),
            address: statement.optionalText(at: 11), client: statement.optionalText(at: 12), digest: digest,
            step: statement.int64(at: 10))
    }
}
