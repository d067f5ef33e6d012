import SQLite
import System

/// A line of the audit log: what an administrator did. It holds no field values.
public struct AuditLine: Hashable, Sendable {
    /// What was done.
    public enum Action: String, Hashable, Sendable {
        /// A sign-in with a password or a link.
        case signIn = "sign-in"
        /// A sign-in with a wrong name, password or link.
        case signInRefused = "sign-in refused"
        /// A change that the role of its administrator doesn't allow.
        case refused
        /// The end of the own session.
        case signOut = "sign-out"
        /// Another password of one's own.
        case password
        /// Another administrator.
        case administratorAdded = "administrator added"
        /// One administrator fewer.
        case administratorRemoved = "administrator removed"
        /// Another role of an administrator.
        case roleChanged = "role changed"
        /// A link that signs an administrator in once.
        case linkMade = "link made"
        /// The end of a session.
        case sessionEnded = "session ended"
        /// Reading as a user of an app.
        case lookAsUser = "look as user"
        /// Records created, changed or deleted.
        case recordsChanged = "records changed"
        /// Zones created or deleted.
        case zonesChanged = "zones changed"
        /// Another container.
        case containerAdded = "container added"
        /// Another token of an app.
        case tokenMade = "token made"
        /// A token that is good in other environments.
        case tokenChanged = "token changed"
        /// The end of a token.
        case tokenRevoked = "token revoked"
        /// Another server-to-server key.
        case keyAdded = "key added"
        /// The end of a key.
        case keyRevoked = "key revoked"
        /// The end of a webhook.
        case webhookRemoved = "webhook removed"
        /// Another account.
        case accountMade = "account made"
        /// Something else told of an account's person, or a developer more or less.
        case accountChanged = "account changed"
        /// An account with which nobody can sign in.
        case accountDisabled = "account disabled"
        /// An account that was disabled, and is no longer.
        case accountEnabled = "account enabled"
        /// Another password of an account.
        case accountPassword = "account password"
        /// One account fewer.
        case accountDeleted = "account deleted"
        /// The end of sessions of an account.
        case accountSessionEnded = "account session ended"
        /// Another schema in development.
        case schemaChanged = "schema changed"
        /// Development's schema carried to production.
        case schemaDeployed = "schema deployed"
        /// Development emptied, with production's schema.
        case schemaReset = "schema reset"
        /// Addresses made to which files of records may be sent.
        case filesSent = "files sent"
    }

    /// What came of it.
    public enum Outcome: String, Hashable, Sendable {
        /// The line was written before the change, and no outcome after it: the server ended in between.
        case begun
        /// It was done, as far as `note` doesn't name what was refused.
        case done
        /// It was refused.
        case refused
        /// The server could not do it.
        case failed
    }

    /// Maximum number of names in a line.
    public static let namesMax = 10

    /// The line's number; 0 until it is written.
    public internal(set) var number: Int64 = 0
    /// The time, in milliseconds since 1970.
    public internal(set) var timeMilliseconds: Int64 = 0
    /// The administrator's name, or what was typed as one.
    public let administrator: String
    /// The administrator's role then.
    public let role: String
    /// The address of the request.
    public let address: String
    /// What was done.
    public let action: Action
    /// What came of it.
    public var outcome: Outcome
    /// The container, where there is one.
    public var container: String?
    /// The environment, where there is one.
    public var environment: String?
    /// `public` or `private`, where there is a database.
    public var database: String?
    /// The record name of the user as whom the administrator acted.
    public var user: String?
    /// The zone, where all changes are in one.
    public var zone: String?
    /// Names of the first records, zones or administrators that it is about.
    public var names: [String] = []
    /// How many there are.
    public var count = 0
    /// The request's ID.
    public var requestID: String?
    /// What should be known besides, as the code of an error.
    public var note: String?

    /// Makes a line about what an administrator is about to do.
    public init(
        administrator: String, role: String, address: String, action: Action, outcome: Outcome = .begun
    ) {
        self.administrator = Self.cut(administrator, bytesMax: 100)
        self.role = role
        self.address = Self.cut(address, bytesMax: 64)
        self.action = action
        self.outcome = outcome
    }

    /// The beginning of a text that comes from outside. A character can have any number of bytes.
    static func cut(_ text: String, bytesMax: Int) -> String {
        text.utf8.count <= bytesMax ? text : String(decoding: text.utf8.prefix(bytesMax), as: UTF8.self)
    }
}

/// Owns the table `audit` of the control file: lines are added, and their outcome is set once. No call changes or
/// removes a line. If there are more than `linesMax`, the oldest are removed.
public struct AuditLog: Sendable {
    /// Maximum number of lines.
    public static let linesMax: Int64 = 100_000

    let file: ControlFile

    /// Adds a line. It is on disk when this returns.
    ///
    /// - Returns: the number of the line, for `finish`.
    /// - Throws: `CloudStoreError`.
    @discardableResult
    public func add(_ line: AuditLine) throws -> Int64 {
        try file.write { connection in
            let sql = """
                INSERT INTO audit (timeMilliseconds, administrator, role, address, action, outcome, names, count,
                container, environment, database, user, zone, requestID, note)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            try connection.withStatement(sql) { statement in
                try statement.bind(file.clock.nowMilliseconds(), line.administrator, line.role, at: 1)
                try statement.bind(line.address, line.action.rawValue, line.outcome.rawValue, at: 4)
                try statement.bind(Self.bytes(of: line.names), line.count, at: 7)
                let texts = [
                    line.container, line.environment, line.database, line.user, line.zone, line.requestID,
                    line.note,
                ]
                for (index, text) in zip(Int32(9)..., texts) {
                    if let text { try statement.bind(AuditLine.cut(text, bytesMax: 255), at: index) }
                }
                try statement.run()
            }
            let number = connection.lastInsertRowID
            try connection.run("DELETE FROM audit WHERE number <= ?") {
                try $0.bind(number - Self.linesMax, at: 1)
            }
            return number
        }
    }

    /// Sets what came of the line with this number, unless that was set already.
    ///
    /// - Throws: `CloudStoreError`.
    public func finish(_ number: Int64, outcome: AuditLine.Outcome, note: String? = nil) throws {
        try file.write { connection in
            let sql = "UPDATE audit SET outcome = ?, note = ? WHERE number = ? AND outcome = 'begun'"
            let note = note.map { AuditLine.cut($0, bytesMax: 255) }
            try connection.run(sql) { try $0.bind(outcome.rawValue, note, number, at: 1) }
        }
    }

    /// Lines, newest first.
    ///
    /// - Parameters:
    ///   - before: only lines with a smaller number; nil: from the newest on.
    ///   - linesMax: maximum number of lines.
    ///   - administrator: only lines of this one; nil: all.
    ///   - container: only lines about this one; nil: all.
    /// - Throws: `CloudStoreError`.
    public func lines(
        before: Int64? = nil, linesMax: Int, administrator: String? = nil, container: String? = nil
    ) throws -> [AuditLine] {
        let sql = """
            SELECT number, timeMilliseconds, administrator, role, address, action, outcome, names, count, container,
            environment, database, user, zone, requestID, note FROM audit
            WHERE number < ?1 \(administrator == nil ? "" : "AND administrator = ?3 COLLATE NOCASE")
            \(container == nil ? "" : "AND container = ?4")
            ORDER BY number DESC LIMIT ?2
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(before ?? .max, linesMax, at: 1)
                if let administrator { try statement.bind(administrator, at: 3) }
                if let container { try statement.bind(container, at: 4) }
                var lines: [AuditLine] = []
                while try statement.step() {
                    if let line = Self.line(in: statement) { lines.append(line) }
                }
                return lines
            }
        }
    }

    /// Whether an administrator has signed in from an address, as far as the log goes back.
    ///
    /// - Throws: `CloudStoreError`.
    public func hasSignedIn(_ administrator: String, from address: String) throws -> Bool {
        let sql = """
            SELECT 1 FROM audit WHERE action = 'sign-in' AND administrator = ? COLLATE NOCASE AND address = ? LIMIT 1
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(administrator, AuditLine.cut(address, bytesMax: 64), at: 1)
                return try statement.step()
            }
        }
    }

    /// Nil for a line of a later version, whose action isn't known here.
    private static func line(in statement: borrowing Statement) -> AuditLine? {
        guard let action = AuditLine.Action(rawValue: statement.text(at: 5)),
            let outcome = AuditLine.Outcome(rawValue: statement.text(at: 6))
        else { return nil }
        var line = AuditLine(
            administrator: statement.text(at: 2), role: statement.text(at: 3), address: statement.text(at: 4),
            action: action, outcome: outcome)
        line.number = statement.int64(at: 0)
        line.timeMilliseconds = statement.int64(at: 1)
        line.names = names(in: statement.bytes(at: 7))
        line.count = Int(clamping: statement.int64(at: 8))
        line.container = statement.optionalText(at: 9)
        line.environment = statement.optionalText(at: 10)
        line.database = statement.optionalText(at: 11)
        line.user = statement.optionalText(at: 12)
        line.zone = statement.optionalText(at: 13)
        line.requestID = statement.optionalText(at: 14)
        line.note = statement.optionalText(at: 15)
        return line
    }

    /// The names with a NUL behind each, which no name of a record or a zone holds.
    private static func bytes(of names: [String]) -> [UInt8] {
        names.prefix(AuditLine.namesMax).flatMap { name in
            Array(name.utf8.filter { $0 != 0 }.prefix(255)) + [0]
        }
    }

    private static func names(in bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
