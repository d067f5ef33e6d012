import Crypto
import SQLite
import System

/// Tokens of sessions: finding their session, and replacing them.
extension SessionTable {
    /// Returns the session of a web auth token, or nil if the token is unknown or has expired. This counts as a use of
    /// the token.
    ///
    /// - Throws: `CloudStoreError`.
    package func find(token: String) throws -> ControlSession? {
        if case .user(let session, _) = try signIn(token: token) { session } else { nil }
    }

    /// Returns the session of a web auth token, and the token that replaces it. This counts as a use of the token.
    ///
    /// Cached for up to `ControlStore.freshMilliseconds`; otherwise it reads the file on the calling thread.
    /// A token that was replaced longer than `SessionRotation.graceMilliseconds` ago ends its session,
    /// because another client has a copy of it.
    ///
    /// - Throws: `CloudStoreError`.
    package func signIn(token text: String) throws -> ControlSignIn {
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

    /// Returns the latest possible end of a device's session, in milliseconds since 1970.
    package func lastEndMilliseconds(of session: ControlSession) -> Int64 {
        lengths.lastEnd(createdAt: session.createdMilliseconds)
    }

    /// Sets the closure that is called when a session ends because a replaced token of it was used. It runs on the
    /// thread of the request and must not block.
    ///
    /// - Parameter listener: Replaces the previous one. Nil for none.
    package func setReplayListener(_ listener: (@Sendable (ControlSession) -> Void)?) {
        // The previous one is released after the lock: it retains the listening object.
        _ = replayListener.withLock { current in
            defer { current = listener }
            return current
        }
    }

    func token(secret: String, step: Int64) throws -> String {
        let code = try file.secret.code(of: "\(secret)-\(step)", purpose: .sessionStep)
        return SessionToken(secret: secret, step: step, code: Hex.text(Array(code.prefix(16)))).text
    }

    private func session(digest: [UInt8]) throws -> ControlSession? {
        try file.lookUp {
            $0.sessions[digest]
        } load: { connection in
            try connection.withStatement("SELECT \(Self.columns) WHERE s.digest = ?") { statement in
                try statement.bind(digest, at: 1)
                return try statement.step() ? try session(in: statement) : nil
            }
        } keep: { cache, session in
            cache.keep(session, digest: digest)
        }
    }

    /// Uses a token that is replaced by each response.
    private func use(
        step: Int64, of session: ControlSession, life: Int64, secret: String
    ) throws -> ControlSignIn {
        let now = file.clock.nowMilliseconds()
        switch rotations.withLock({ $0.use(step: step, of: session, life: life, at: now) }) {
        case .over:
            return .ended
        case .replayed:
            try end(digest: session.digest)
            replayListener.withLock { $0 }?(session)
            return .ended
        case .counts(let newest, let rotation, let wantsSaving):
            if wantsSaving { try save(rotation, of: session, life: life) }
            return .user(session, replacement: try token(secret: secret, step: newest + 1))
        }
    }

    /// Uses a token that stays. The use postpones the end of its session; the file is updated once a day.
    ///
    /// - Returns: False if the session has ended.
    private func use(_ session: ControlSession) throws -> Bool {
        let now = file.clock.nowMilliseconds()
        guard now < min(session.expiresMilliseconds, lastEndMilliseconds(of: session)) else { return false }
        let end = lengths.end(usedAt: now, createdAt: session.createdMilliseconds)
        guard end - session.expiresMilliseconds >= SignInLengths.stepMilliseconds else { return true }
        try file.write { connection in
            let sql = "UPDATE sessions SET expiresMilliseconds = ? WHERE digest = ?"
            try connection.run(sql) { try $0.bind(end, session.digest, at: 1) }
        }
        return true
    }

    private func save(_ rotation: SessionRotation, of session: ControlSession, life: Int64) throws {
        try file.write { connection in
            let sql = "UPDATE sessions SET step = ?, expiresMilliseconds = ? WHERE digest = ?"
            try connection.run(sql) {
                try $0.bind(rotation.floor, rotation.usedMilliseconds + life, session.digest, at: 1)
            }
        }
    }
}
