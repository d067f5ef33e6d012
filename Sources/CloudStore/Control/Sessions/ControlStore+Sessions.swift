import Crypto
import SQLite
import System

extension ControlStore {
    /// Signs an account in: makes a web auth token for it.
    ///
    /// Sessions that have run out are dropped on this occasion, and the oldest of an account that has too many.
    /// - Parameters:
    ///   - lifeMilliseconds: each answer brings a new token, and one that isn't used for so long ends the session; nil:
    ///     the token stays, for as long as `SignInLengths` says.
    ///   - place: from where; nil: nobody knows, and it is no news.
    /// - Returns: the token, which can't be read again, what it stands for, and what was known of the account before.
    /// - Throws: `ControlError.noSuchContainer`, `ControlError.isBeingRemoved`; `ControlError.noSuchAccount` for an
    ///   account that was removed, was disabled or got another password meanwhile; `CloudStoreError`.
    public func makeSession(
        of account: ControlAccount, container: String, environment: String, lifeMilliseconds: Int64? = nil,
        from place: ControlSignInPlace? = nil
    ) throws -> (token: String, session: ControlSession, history: ControlSignInHistory) {
        let secret = try Self.newToken()
        let now = clock.nowMilliseconds()
        let digest = try SHA256.hash(secret)
        let session = ControlSession(
            container: container, environment: environment,
            userRecordName: try userRecordName(of: account, container: container),
            givenName: account.givenName, familyName: account.familyName,
            expiresMilliseconds: lifeMilliseconds.map { now + $0 }
                ?? signInLengths.end(usedAt: now, createdAt: now), account: account.name,
            id: Self.sessionID(digest), createdMilliseconds: now, lifeMilliseconds: lifeMilliseconds,
            address: place?.address, client: place?.client, digest: digest, step: 0)
        let history = try write { connection in
            try Self.checkIsServed(container, environment, connection)
            // The password was checked before, and may have been replaced meanwhile.
            guard try Self.account(named: account.name, connection)?.isSame(as: account) ?? false else {
                throw ControlError.noSuchAccount(name: account.name)
            }
            // For sessions whose tokens are replaced, the file may be behind.
            let over = """
                DELETE FROM sessions WHERE expiresMilliseconds <= ?1 AND lifeMilliseconds IS NULL
                OR expiresMilliseconds <= ?1 - ?2
                """
            try connection.withStatement(over) { statement in
                try statement.bind(now, SessionRotations.lagMilliseconds, at: 1)
                try statement.run()
            }
            let oldest = """
                DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions WHERE account = ?
                ORDER BY createdMilliseconds DESC LIMIT -1 OFFSET ?)
                """
            try connection.withStatement(oldest) { statement in
                try statement.bind(account.id, Self.sessionsMaxOfAccount - 1, at: 1)
                try statement.run()
            }
            try insert(session, account: account.id, connection)
            guard let place else { return ControlSignInHistory() }
            return try noteSignIn(of: account.id, from: place, at: now, connection)
        }
        let token = try lifeMilliseconds == nil ? secret : self.token(secret: secret, step: 0)
        return (token, session, history)
    }

    private func insert(_ session: ControlSession, account: Int64, _ connection: Connection) throws {
        let sql = """
            INSERT INTO sessions (digest, account, container, environment, createdMilliseconds,
            expiresMilliseconds, lifeMilliseconds, address, client) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(session.digest, account, session.container, session.environment, at: 1)
            try statement.bind(session.createdMilliseconds, session.expiresMilliseconds, at: 5)
            if let life = session.lifeMilliseconds { try statement.bind(life, at: 7) }
            if let address = session.address { try statement.bind(address, at: 8) }
            if let client = session.client { try statement.bind(client, at: 9) }
            try statement.run()
        }
    }

    /// What the web auth token stands for; nil when there is no such token or it has run out.
    public func session(token: String) throws -> ControlSession? {
        if case .user(let session, _) = try signIn(token: token) { session } else { nil }
    }

    /// What the web auth token stands for, and the token that takes its place. It is used by this.
    ///
    /// From memory when the token is known there; else it asks the file, on the calling thread. A token that was
    /// replaced longer than a grace ago ends its session: somebody has it who shouldn't.
    public func signIn(token text: String) throws -> ControlSignIn {
        guard let token = SessionToken(text) else { return .unknown }
        let session = try session(digest: SHA256.hash(token.secret))
        guard let step = token.step else {
            guard let session, session.lifeMilliseconds == nil, try use(session) else { return .unknown }
            return .user(session, replacement: nil)
        }
        guard
            ConstantTime.equal(
                Array(token.text.utf8), Array(try self.token(secret: token.secret, step: step).utf8))
        else { return .unknown }
        guard let session, let life = session.lifeMilliseconds else { return .ended }
        return try use(step: step, of: session, life: life, secret: token.secret)
    }

    private func use(
        step: Int64, of session: ControlSession, life: Int64, secret: String
    ) throws -> ControlSignIn {
        let now = clock.nowMilliseconds()
        switch rotations.withLock({ $0.use(step: step, of: session, life: life, at: now) }) {
        case .over:
            return .ended
        case .replayed:
            try endSession(digest: session.digest)
            replayListener.withLock { $0 }?(session)
            return .ended
        case .counts(let newest, let rotation, let wantsSaving):
            if wantsSaving { try save(rotation, of: session, life: life) }
            return .user(session, replacement: try token(secret: secret, step: newest + 1))
        }
    }

    /// When a device's session ends at the latest, in milliseconds since 1970.
    public func lastEndMilliseconds(of session: ControlSession) -> Int64 {
        signInLengths.lastEnd(createdAt: session.createdMilliseconds)
    }

    /// Uses a session whose token stays: it ends later by that, which the file is told once a day. False: it is over.
    private func use(_ session: ControlSession) throws -> Bool {
        let now = clock.nowMilliseconds()
        guard now < min(session.expiresMilliseconds, lastEndMilliseconds(of: session)) else { return false }
        let end = signInLengths.end(usedAt: now, createdAt: session.createdMilliseconds)
        guard end - session.expiresMilliseconds >= SignInLengths.stepMilliseconds else { return true }
        try write { connection in
            let sql = "UPDATE sessions SET expiresMilliseconds = ? WHERE digest = ?"
            try connection.run(sql) { try $0.bind(end, session.digest, at: 1) }
        }
        return true
    }

    private func save(_ rotation: SessionRotation, of session: ControlSession, life: Int64) throws {
        try write { connection in
            let sql = "UPDATE sessions SET step = ?, expiresMilliseconds = ? WHERE digest = ?"
            try connection.run(sql) {
                try $0.bind(rotation.floor, rotation.usedMilliseconds + life, session.digest, at: 1)
            }
        }
    }

    /// Ends the session of a token.
    ///
    /// - Returns: false when there is none.
    @discardableResult
    public func endSession(token: String) throws -> Bool {
        guard case .user(let session, _) = try signIn(token: token) else { return false }
        return try endSession(digest: session.digest)
    }

    /// Ends the session that the operator names by its `id`.
    ///
    /// - Parameter account: whose it is; nil: anybody's.
    /// - Returns: false when there is none.
    public func endSession(id: String, ofAccount account: String? = nil) throws -> Bool {
        guard let session = try sessions(account: account).first(where: { $0.id == id }) else { return false }
        return try endSession(digest: session.digest)
    }

    /// Ends all sessions of an account.
    ///
    /// - Returns: how many there were.
    /// - Throws: `ControlError.noSuchAccount`, `CloudStoreError`.
    public func endSessions(ofAccount name: String) throws -> Int {
        guard let account = try account(named: name) else { throw ControlError.noSuchAccount(name: name) }
        return try write { connection in
            try connection.run("DELETE FROM sessions WHERE account = ?") { try $0.bind(account.id, at: 1) }
            return connection.changesCount
        }
    }

    @discardableResult
    private func endSession(digest: [UInt8]) throws -> Bool {
        rotations.withLock { $0.forget(digest) }
        return try write { connection in
            try connection.run("DELETE FROM sessions WHERE digest = ?") { try $0.bind(digest, at: 1) }
            return connection.changesCount == 1
        }
    }

    /// The sessions of one account or of all that have not run out, by account and time.
    public func sessions(account: String? = nil) throws -> [ControlSession] {
        let sql = """
            SELECT \(Self.sessionColumns) WHERE (?1 IS NULL OR a.name = ?1) AND s.expiresMilliseconds > ?2
            ORDER BY a.name, s.createdMilliseconds, s.digest
            """
        return try read { connection in
            try connection.withStatement(sql) { statement in
                if let account { try statement.bind(account, at: 1) }
                try statement.bind(clock.nowMilliseconds(), at: 2)
                return try statement.rows { try session(in: $0) }
            }
        }
    }

    /// How many sessions of an account have not run out.
    ///
    /// - Throws: `CloudStoreError`.
    public func sessionsCount(of account: ControlAccount) throws -> Int {
        let sql = "SELECT count(*) FROM sessions WHERE account = ? AND expiresMilliseconds > ?"
        return try read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(account.id, clock.nowMilliseconds(), at: 1)
                return try statement.step() ? Int(statement.int64(at: 0)) : 0
            }
        }
    }

    // MARK: -

    private func token(secret: String, step: Int64) throws -> String {
        let code = try code(of: "\(secret)-\(step)", purpose: .sessionStep)
        return SessionToken(secret: secret, step: step, code: Hex.text(Array(code.prefix(16)))).text
    }

    /// A few digits of the digest: too few to be found by, and none of the token's.
    private static func sessionID(_ digest: [UInt8]) -> String { Hex.text(Array(digest.prefix(8))) }

    private func session(digest: [UInt8]) throws -> ControlSession? {
        try lookUp {
            $0.sessions[digest]
        } load: { connection in
            try connection.withStatement("SELECT \(Self.sessionColumns) WHERE s.digest = ?") { statement in
                try statement.bind(digest, at: 1)
                return try statement.step() ? try session(in: statement) : nil
            }
        } keep: { cache, session in
            cache.keep(session, digest: digest)
        }
    }

    private static let sessionColumns = """
        s.container, s.environment, a.key, a.givenName, a.familyName, s.expiresMilliseconds, a.name, s.digest,
        s.createdMilliseconds, s.lifeMilliseconds, s.step, s.address, s.client
        FROM sessions s JOIN accounts a ON a.id = s.account
        """

    private func session(in statement: borrowing Statement) throws -> ControlSession {
        let container = statement.text(at: 0)
        let digest = statement.bytes(at: 7)
        return ControlSession(
            container: container, environment: statement.text(at: 1),
            userRecordName: try userRecordName(key: statement.bytes(at: 2), container: container),
            givenName: statement.optionalText(at: 3), familyName: statement.optionalText(at: 4),
            expiresMilliseconds: statement.int64(at: 5), account: statement.text(at: 6),
            id: Self.sessionID(digest), createdMilliseconds: statement.int64(at: 8),
            lifeMilliseconds: statement.isNull(at: 9) ? nil : statement.int64(at: 9),
            address: statement.optionalText(at: 11), client: statement.optionalText(at: 12), digest: digest,
            step: statement.int64(at: 10))
    }
}
