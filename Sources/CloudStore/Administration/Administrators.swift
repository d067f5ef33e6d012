import Crypto
import SQLite
import System

/// Owns the tables `administrators` and `administratorLinks` of the control file.
///
///     try control.administrators.add("maria", role: .administer)
///     let link = try control.administrators.makeLink(for: "maria")
///
/// All calls may block on the file. Several processes may have it open; each sees another's writes at once.
package struct Administrators: Sendable {
    /// Lifetime of a link, in milliseconds.
    package static let linkMilliseconds: Int64 = 600_000
    /// Minimum length of a password in characters.
    package static let passwordCharactersMin = 10
    /// Maximum number of administrators.
    package static let countMax = 1_000

    let file: ControlFile

    /// Returns all administrators, sorted by name.
    ///
    /// - Throws: `CloudStoreError`.
    package func list() throws -> [AdministratorEntry] {
        let sql = """
            SELECT \(Self.columns), \(AdministratorSessions.selectOpen("count(*)", of: "a.id")),
                \(AdministratorSessions.selectOpen("max(s.lastMilliseconds)", of: "a.id"))
            FROM administrators a ORDER BY a.name
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try AdministratorSessions.bind(file.clock.nowMilliseconds(), to: statement)
                return try statement.rows {
                    AdministratorEntry(
                        administrator: try Self.administrator(in: $0),
                        sessionsCount: Int($0.int64(at: 5)),
                        lastMilliseconds: $0.isNull(at: 6) ? nil : $0.int64(at: 6))
                }
            }
        }
    }

    /// Returns the administrator of this name, in upper or lower case, or nil if there is none.
    ///
    /// - Throws: `CloudStoreError`.
    package func administrator(named name: String) throws -> Administrator? {
        try file.read { try Self.administrator(named: name, $0) }
    }

    /// Returns true if any administrator can sign in with a password.
    ///
    /// - Throws: `CloudStoreError`.
    package func anyHasPassword() throws -> Bool {
        try file.read { try ControlFormat.value(of: Self.anyPassword, $0) == 1 }
    }

    private static let anyPassword =
        "SELECT EXISTS (SELECT 1 FROM administrators WHERE passwordHash IS NOT NULL)"

    /// Adds an administrator without a password.
    ///
    /// - Throws: `ControlError.badName`, `ControlError.administratorExists`, `ControlError.tooManyAdministrators`,
    ///   `CloudStoreError`.
    @discardableResult
    package func add(_ name: String, role: AdministratorRole) throws -> Administrator {
        try ControlNames.checkAdministrator(name)
        return try file.write { try add(name, role: role, $0) }
    }

    /// Adds an administrator, and makes a link that signs in.
    ///
    /// - Throws: As `add`.
    package func addWithLink(
        _ name: String, role: AdministratorRole
    ) throws -> (administrator: Administrator, secret: String, expiresMilliseconds: Int64) {
        try ControlNames.checkAdministrator(name)
        return try file.write { connection in
            let administrator = try add(name, role: role, connection)
            let link = try makeLink(for: administrator, connection)
            return (administrator, link.secret, link.expiresMilliseconds)
        }
    }

    /// Changes the role of an administrator.
    ///
    /// - Throws: `ControlError.noSuchAdministrator`; `ControlError.lastAdministrator` if no other administrator has the
    ///   role `administer`; `CloudStoreError`.
    package func setRole(_ role: AdministratorRole, of name: String) throws -> Administrator {
        try file.write { connection in
            let administrator = try Self.existing(name, connection)
            if role < .administer { try Self.checkIsNotLast(administrator, connection) }
            try connection.run("UPDATE administrators SET role = ? WHERE id = ?") {
                try $0.bind(role.rawValue, administrator.id, at: 1)
            }
            return try Self.existing(name, connection)
        }
    }

    /// Removes an administrator with all sessions and links.
    ///
    /// - Throws: As `setRole`.
    package func remove(_ name: String) throws {
        try file.write { connection in
            let administrator = try Self.existing(name, connection)
            try Self.checkIsNotLast(administrator, connection)
            try AdministratorSessions.removeAll(of: administrator, connection)
            try Self.removeLink(of: administrator, connection)
            try connection.run("DELETE FROM administrators WHERE id = ?") {
                try $0.bind(administrator.id, at: 1)
            }
        }
    }

    /// Sets the password of an administrator, and ends the existing sessions and the link.
    ///
    /// - Parameter hash: Hash of the password. `checkPassword` checks the password itself.
    /// - Throws: `ControlError.noSuchAdministrator`, `CloudStoreError`.
    package func setPassword(_ hash: PasswordHash, of name: String) throws {
        try file.write { try setPassword(hash, of: Self.existing(name, $0), $0) }
    }

    /// Sets the password of a session's administrator as `setPassword(_:of:)` does, unless the session has ended.
    ///
    /// - Returns: False if the session has ended.
    /// - Throws: `CloudStoreError`.
    package func setPassword(_ hash: PasswordHash, by session: AdministratorSession) throws -> Bool {
        try file.write { connection in
            guard try AdministratorSessions.exists(session, connection) else { return false }
            try setPassword(hash, of: session.administrator, connection)
            return true
        }
    }

    private func setPassword(
        _ hash: PasswordHash, of administrator: Administrator, _ connection: Connection
    ) throws {
        try AdministratorSessions.removeAll(of: administrator, connection)
        try Self.removeLink(of: administrator, connection)
        try connection.run("UPDATE administrators SET passwordHash = ? WHERE id = ?") {
            try $0.bind(hash.text, administrator.id, at: 1)
        }
    }

    /// Rejects a password that is too short or too long.
    ///
    /// - Throws: `ControlError.badPassword`.
    package static func checkPassword(_ password: String) throws {
        guard password.count >= passwordCharactersMin,
            password.utf8.count <= PasswordHash.passwordBytesMax
        else {
            throw ControlError.badPassword(
                rule:
                    "Use \(passwordCharactersMin) characters at least, and \(PasswordHash.passwordBytesMax) bytes "
                    + "at most.")
        }
    }

    // MARK: Links

    /// Makes the secret of a link, which signs an administrator in once. It replaces the previous link.
    ///
    /// - Returns: The secret, and when it expires, in milliseconds since 1970. The file has only the secret's digest.
    /// - Throws: `ControlError.noSuchAdministrator`, `CloudStoreError`.
    package func makeLink(for name: String) throws -> (secret: String, expiresMilliseconds: Int64) {
        try file.write { try makeLink(for: Self.existing(name, $0), $0) }
    }

    /// Makes a link for the first administrator. Adds the administrator if there is none.
    ///
    /// - Returns: Nil if any administrator has a password, so no link is needed.
    /// - Throws: `CloudStoreError`.
    package func makeFirstLink() throws -> String? {
        try file.write { connection in
            guard try ControlFormat.value(of: Self.anyPassword, connection) == 0 else { return nil }
            let sql = """
                SELECT \(Self.columns) FROM administrators a WHERE role = 'administer' ORDER BY id LIMIT 1
                """
            let found = try connection.withStatement(sql) { statement in
                try statement.step() ? try Self.administrator(in: statement) : nil
            }
            return try makeLink(for: found ?? addFirst(connection), connection).secret
        }
    }

    /// Adds the first administrator as `admin`, or as `admin2` and so on if an administrator with a lesser role has
    /// that name.
    private func addFirst(_ connection: Connection) throws -> Administrator {
        var name = "admin"
        for number in 2... {
            guard try Self.administrator(named: name, connection) != nil else { break }
            name = "admin\(number)"
        }
        return try add(name, role: .administer, connection)
    }

    private func makeLink(
        for administrator: Administrator, _ connection: Connection
    ) throws -> (secret: String, expiresMilliseconds: Int64) {
        let secret = try ControlSecret.randomToken()
        let expires = file.clock.nowMilliseconds() + Self.linkMilliseconds
        let sql = "INSERT OR REPLACE INTO administratorLinks VALUES (?, ?, ?)"
        try connection.run(sql) { try $0.bind(administrator.id, SHA256.hash(secret), expires, at: 1) }
        return (secret, expires)
    }

    // MARK: For transactions of other owners

    /// Returns the administrator of a link that hasn't expired, or nil if there is none.
    static func find(link digest: [UInt8], at now: Int64, _ connection: Connection) throws -> Administrator? {
        let sql = """
            SELECT \(columns) FROM administratorLinks l \(join(on: "l.administrator"))
            WHERE l.digest = ? AND l.expiresMilliseconds > ?
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(digest, now, at: 1)
            return try statement.step() ? try administrator(in: statement) : nil
        }
    }

    /// Removes a link and returns its administrator, or nil if the link doesn't exist or has expired.
    static func take(link digest: [UInt8], at now: Int64, _ connection: Connection) throws -> Administrator? {
        guard let found = try find(link: digest, at: now, connection) else { return nil }
        try connection.run("DELETE FROM administratorLinks WHERE digest = ?") { try $0.bind(digest, at: 1) }
        return found
    }

    /// Joins each row of another table with its administrator `a`, for `columns`.
    ///
    /// - Parameter column: The other table's column with the administrator's id.
    static func join(on column: String) -> String { "JOIN administrators a ON a.id = \(column)" }

    // MARK: Rows

    /// Columns that `administrator(in:)` reads, of a table called `a`.
    static let columns = "a.id, a.name, a.role, a.passwordHash, a.createdMilliseconds"

    /// Reads the columns of `columns`, which come first in the row.
    static func administrator(in statement: borrowing Statement) throws -> Administrator {
        Administrator(
            id: statement.int64(at: 0), name: statement.text(at: 1),
            // An unknown role of a later version gets the least permissions.
            role: AdministratorRole(rawValue: statement.text(at: 2)) ?? .look,
            passwordHash: statement.optionalText(at: 3), createdMilliseconds: statement.int64(at: 4))
    }

    private func add(
        _ name: String, role: AdministratorRole, _ connection: Connection
    ) throws -> Administrator {
        let count = try ControlFormat.value(of: "SELECT count(*) FROM administrators", connection)
        guard count < Self.countMax else { throw ControlError.tooManyAdministrators(countMax: Self.countMax) }
        guard try Self.administrator(named: name, connection) == nil else {
            throw ControlError.administratorExists(name: name)
        }
        let sql = "INSERT INTO administrators (name, role, createdMilliseconds) VALUES (?, ?, ?)"
        try connection.run(sql) { try $0.bind(name, role.rawValue, file.clock.nowMilliseconds(), at: 1) }
        return try Self.existing(name, connection)
    }

    static func existing(_ name: String, _ connection: Connection) throws -> Administrator {
        guard let administrator = try administrator(named: name, connection) else {
            throw ControlError.noSuchAdministrator(name: name)
        }
        return administrator
    }

    private static func administrator(named name: String, _ connection: Connection) throws -> Administrator? {
        let sql = "SELECT \(columns) FROM administrators a WHERE a.name = ?"
        return try connection.withStatement(sql) { statement in
            try statement.bind(name, at: 1)
            return try statement.step() ? try administrator(in: statement) : nil
        }
    }

    private static func checkIsNotLast(_ administrator: Administrator, _ connection: Connection) throws {
        guard administrator.role == .administer else { return }
        let sql = "SELECT count(*) FROM administrators WHERE role = 'administer'"
        guard try ControlFormat.value(of: sql, connection) > 1 else {
            throw ControlError.lastAdministrator(name: administrator.name)
        }
    }

    private static func removeLink(of administrator: Administrator, _ connection: Connection) throws {
        try connection.run("DELETE FROM administratorLinks WHERE administrator = ?") {
            try $0.bind(administrator.id, at: 1)
        }
    }
}
