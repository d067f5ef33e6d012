import Crypto
import SQLite
import System

/// Owns the table `administratorSessions` of the control file. All calls may block on the file.
package struct AdministratorSessions: Sendable {
    /// Time without a request after which a session ends, in milliseconds.
    package static let idleMilliseconds: Int64 = 12 * 3_600_000
    /// Time after the sign-in after which a session ends, in milliseconds.
    package static let lifeMilliseconds: Int64 = 30 * 86_400_000
    /// Maximum number of sessions of an administrator. A further sign-in ends the oldest.
    package static let countMax = 100
    /// Precision of the time of the last request: each update costs a commit.
    private static let stepMilliseconds: Int64 = 60_000

    let file: ControlFile

    /// Signs in with the secret of a link, which can't be used again.
    ///
    /// - Returns: The session and its token, or nil if the link was used, replaced or has expired. The file has only
    ///   the token's digest.
    /// - Throws: `CloudStoreError`.
    package func make(
        link secret: String, address: String, client: String?
    ) throws -> (token: String, session: AdministratorSession)? {
        let digest = try SHA256.hash(secret)
        let now = file.clock.nowMilliseconds()
        // A wrong link must not take the writer.
        guard try file.read({ try Administrators.find(link: digest, at: now, $0) }) != nil else { return nil }
        return try file.write { connection in
            guard let found = try Administrators.take(link: digest, at: now, connection) else { return nil }
            return try insert(for: found, beganWithLink: true, address, client, connection)
        }
    }

    /// Signs in an administrator after the password was checked.
    ///
    /// - Parameter administrator: As read before the password was checked.
    /// - Returns: The session and its token. The file has only the token's digest.
    /// - Throws: `ControlError.noSuchAdministrator` if the administrator was removed or got another password since,
    ///   `CloudStoreError`.
    package func make(
        for administrator: Administrator, address: String, client: String?
    ) throws -> (token: String, session: AdministratorSession) {
        try file.write { connection in
            let now = try Administrators.existing(administrator.name, connection)
            guard now.id == administrator.id, now.passwordHash == administrator.passwordHash else {
                throw ControlError.noSuchAdministrator(name: administrator.name)
            }
            return try insert(for: now, beganWithLink: false, address, client, connection)
        }
    }

    /// Returns the session of a token, or nil if there is none or it has ended. This counts as a use of the session.
    ///
    /// - Throws: `CloudStoreError`.
    package func session(token: String) throws -> AdministratorSession? {
        let now = file.clock.nowMilliseconds()
        let digest = try SHA256.hash(token)
        let sql = "\(Self.selection) WHERE s.digest = ?4 AND \(Self.isOpen)"
        let found = try file.read { connection in
            try connection.withStatement(sql) { statement -> AdministratorSession? in
                try Self.bind(now, to: statement)
                try statement.bind(digest, at: 4)
                return try statement.step() ? try Self.session(in: statement) : nil
            }
        }
        if let found, now - found.lastMilliseconds >= Self.stepMilliseconds {
            try file.write { connection in
                let sql = "UPDATE administratorSessions SET lastMilliseconds = ? WHERE digest = ?"
                try connection.run(sql) { try $0.bind(now, digest, at: 1) }
            }
        }
        return found
    }

    /// Returns the open sessions, newest first.
    ///
    /// - Parameter id: The administrator's id, or nil for all administrators.
    /// - Throws: `CloudStoreError`.
    package func list(ofAdministrator id: Int64? = nil) throws -> [AdministratorSession] {
        let sql = """
            \(Self.selection) WHERE (?4 IS NULL OR s.administrator = ?4) AND \(Self.isOpen)
            ORDER BY s.createdMilliseconds DESC, s.digest LIMIT 1000
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try Self.bind(file.clock.nowMilliseconds(), to: statement)
                if let id { try statement.bind(id, at: 4) }
                return try statement.rows { try Self.session(in: $0) }
            }
        }
    }

    /// Ends a session.
    ///
    /// - Throws: `CloudStoreError`.
    package func end(_ session: AdministratorSession) throws {
        try file.write { connection in
            try connection.run("DELETE FROM administratorSessions WHERE digest = ?") {
                try $0.bind(session.digest, at: 1)
            }
        }
    }

    // MARK: - For transactions of other owners

    /// Returns a subquery over the open sessions `s` of one administrator, with the parameters of `bind`.
    ///
    /// - Parameters:
    ///   - value: The value that it selects.
    ///   - column: The other table's column with the administrator's id.
    static func selectOpen(_ value: String, of column: String) -> String {
        "(SELECT \(value) FROM administratorSessions s WHERE s.administrator = \(column) AND \(isOpen))"
    }

    /// Returns true if the session exists and belongs to the same administrator.
    static func exists(_ session: AdministratorSession, _ connection: Connection) throws -> Bool {
        let sql = "SELECT 1 FROM administratorSessions WHERE digest = ? AND administrator = ?"
        return try connection.withStatement(sql) { statement in
            try statement.bind(session.digest, session.administrator.id, at: 1)
            return try statement.step()
        }
    }

    /// Ends all sessions of an administrator.
    static func removeAll(of administrator: Administrator, _ connection: Connection) throws {
        try connection.run("DELETE FROM administratorSessions WHERE administrator = ?") {
            try $0.bind(administrator.id, at: 1)
        }
    }

    // MARK: - Rows

    /// Condition that a session `s` is open at the times that `bind` sets.
    private static let isOpen = """
        (s.lastMilliseconds > ?1 AND s.createdMilliseconds > ?2 AND s.createdMilliseconds <= ?3)
        """

    /// Binds the parameters of `isOpen`. A session from the future was made before the clock was set back.
    static func bind(_ now: Int64, to statement: borrowing Statement) throws {
        try statement.bind(now - idleMilliseconds, now - lifeMilliseconds, now + 86_400_000, at: 1)
    }

    private static let selection = """
        SELECT \(Administrators.columns), s.digest, s.beganWithLink, s.createdMilliseconds, s.lastMilliseconds,
        s.address, s.client FROM administratorSessions s \(Administrators.join(on: "s.administrator"))
        """

    private static func session(in statement: borrowing Statement) throws -> AdministratorSession {
        let digest = statement.bytes(at: 5)
        return AdministratorSession(
            id: Hex.text(Array(digest.prefix(8))),
            administrator: try Administrators.administrator(in: statement),
            beganWithLink: statement.int64(at: 6) != 0, createdMilliseconds: statement.int64(at: 7),
            lastMilliseconds: statement.int64(at: 8), address: statement.text(at: 9),
            client: statement.optionalText(at: 10), digest: digest)
    }

    private func insert(
        for administrator: Administrator, beganWithLink: Bool, _ address: String, _ client: String?,
        _ connection: Connection
    ) throws -> (token: String, session: AdministratorSession) {
        let token = try ControlSecret.randomToken()
        let place = ControlSignInPlace(network: "", address: address, client: client)
        let now = file.clock.nowMilliseconds()
        let session = AdministratorSession(
            id: Hex.text(Array(try SHA256.hash(token).prefix(8))), administrator: administrator,
            beganWithLink: beganWithLink, createdMilliseconds: now, lastMilliseconds: now,
            address: place.address, client: place.client, digest: try SHA256.hash(token))
        try deleteOld(of: administrator, now, connection)
        let sql = "INSERT INTO administratorSessions VALUES (?, ?, ?, ?, ?, ?, ?)"
        try connection.withStatement(sql) { statement in
            try statement.bind(session.digest, administrator.id, beganWithLink, now, at: 1)
            try statement.bind(now, session.address, at: 5)
            if let client = session.client { try statement.bind(client, at: 7) }
            try statement.run()
        }
        return (token, session)
    }

    /// Deletes ended sessions, and the oldest of an administrator with too many.
    private func deleteOld(of administrator: Administrator, _ now: Int64, _ connection: Connection) throws {
        let over = """
            DELETE FROM administratorSessions WHERE lastMilliseconds <= ? OR createdMilliseconds <= ?
            """
        try connection.withStatement(over) { statement in
            try statement.bind(now - Self.idleMilliseconds, now - Self.lifeMilliseconds, at: 1)
            try statement.run()
        }
        let oldest = """
            DELETE FROM administratorSessions WHERE digest IN (SELECT digest FROM administratorSessions
            WHERE administrator = ? ORDER BY createdMilliseconds DESC LIMIT -1 OFFSET ?)
            """
        try connection.withStatement(oldest) { statement in
            try statement.bind(administrator.id, Self.countMax - 1, at: 1)
            try statement.run()
        }
    }
}
