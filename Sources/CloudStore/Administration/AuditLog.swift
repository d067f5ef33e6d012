import SQLite
import System

/// A line of the audit log: an action of an administrator. It has no field values.
package struct AuditLine: Hashable, Sendable {
    /// The kind of an action.
    package enum Action: String, Hashable, Sendable {
        /// A sign-in with a password or a link.
        case signIn = "sign-in"
        /// A sign-in with a wrong name, password or link.
        case signInRefused = "sign-in refused"
        /// A change that the administrator's role doesn't allow.
        case refused
        /// The administrator's own session was ended.
        case signOut = "sign-out"
        /// The administrator's own password was changed.
        case password
        /// An administrator was added.
        case administratorAdded = "administrator added"
        /// An administrator was removed.
        case administratorRemoved = "administrator removed"
        /// The role of an administrator was changed.
        case roleChanged = "role changed"
        /// A link was made that signs an administrator in once.
        case linkMade = "link made"
        /// A session was ended.
        case sessionEnded = "session ended"
        /// Data was read as a user of an app.
        case lookAsUser = "look as user"
        /// Records were created, changed or deleted.
        case recordsChanged = "records changed"
        /// Zones were created or deleted.
        case zonesChanged = "zones changed"
        /// A container was added.
        case containerAdded = "container added"
        /// A token of an app was made.
        case tokenMade = "token made"
        /// The environments of a token were changed.
        case tokenChanged = "token changed"
        /// A token was revoked.
        case tokenRevoked = "token revoked"
        /// A server-to-server key was added.
        case keyAdded = "key added"
        /// A key was revoked.
        case keyRevoked = "key revoked"
        /// A webhook was removed.
        case webhookRemoved = "webhook removed"
        /// An account was added.
        case accountMade = "account made"
        /// The person of an account was changed, or whether the account is a developer.
        case accountChanged = "account changed"
        /// An account was disabled.
        case accountDisabled = "account disabled"
        /// An account was enabled again.
        case accountEnabled = "account enabled"
        /// The password of an account was changed.
        case accountPassword = "account password"
        /// An account was removed.
        case accountDeleted = "account deleted"
        /// Sessions of an account were ended.
        case accountSessionEnded = "account session ended"
        /// The schema of development was changed.
        case schemaChanged = "schema changed"
        /// The schema of development was deployed to production.
        case schemaDeployed = "schema deployed"
        /// Development was erased and reset to the schema of production.
        case schemaReset = "schema reset"
        /// Upload URLs for files of records were made.
        case filesSent = "files sent"
    }

    /// The result of an action.
    package enum Outcome: String, Hashable, Sendable {
        /// The action has started. If this stays, the server ended before the action was finished.
        case begun
        /// The action was done, except for what `note` names.
        case done
        /// The action was rejected.
        case refused
        /// The action failed on the server.
        case failed
    }

    /// Maximum number of names in a line.
    package static let namesMax = 10

    /// Number of the line, or 0 until it is written.
    package internal(set) var number: Int64 = 0
    /// Time, in milliseconds since 1970.
    package internal(set) var timeMilliseconds: Int64 = 0
    /// Name of the administrator, or the name that was typed.
    package let administrator: String
    /// Role of the administrator at that time.
    package let role: String
    /// IP address of the request.
    package let address: String
    /// Kind of the action.
    package let action: Action
    /// Result of the action.
    package var outcome: Outcome
    /// Container, or nil if the action concerns none.
    package var container: String?
    /// Environment, or nil if the action concerns none.
    package var environment: String?
    /// `public` or `private`, or nil if the action concerns no database.
    package var database: String?
    /// Record name of the user that the administrator acted as.
    package var user: String?
    /// Zone, or nil if the changes are in several zones.
    package var zone: String?
    /// Names of the first records, zones or administrators that the action concerns.
    package var names: [String] = []
    /// Number of records, zones or administrators that the action concerns.
    package var count = 0
    /// ID of the request.
    package var requestID: String?
    /// More information, for example the code of an error.
    package var note: String?

    /// Makes a line before an action of an administrator.
    package init(
        administrator: String, role: String, address: String, action: Action, outcome: Outcome = .begun
    ) {
        self.administrator = Self.cut(administrator, bytesMax: 100)
        self.role = role
        self.address = Self.cut(address, bytesMax: 64)
        self.action = action
        self.outcome = outcome
    }

    /// Returns the start of a text that a client sent. A single character can have any number of bytes.
    static func cut(_ text: String, bytesMax: Int) -> String {
        text.utf8.count <= bytesMax ? text : String(decoding: text.utf8.prefix(bytesMax), as: UTF8.self)
    }
}

/// Owns the table `audit` of the control file: lines are added, and their outcome is set once. No call changes or
/// removes a line. If there are more than `linesMax`, the oldest are removed.
package struct AuditLog: Sendable {
    /// Maximum number of lines.
    package static let linesMax: Int64 = 100_000

    let file: ControlFile

    /// Adds a line. It is on disk when this returns.
    ///
    /// - Returns: The number of the line, for `finish`.
    /// - Throws: `CloudStoreError`.
    @discardableResult
    package func add(_ line: AuditLine) throws -> Int64 {
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

    /// Sets the result of the line with this number, unless it is set already.
    ///
    /// - Throws: `CloudStoreError`.
    package func finish(_ number: Int64, outcome: AuditLine.Outcome, note: String? = nil) throws {
        try file.write { connection in
            let sql = "UPDATE audit SET outcome = ?, note = ? WHERE number = ? AND outcome = 'begun'"
            let note = note.map { AuditLine.cut($0, bytesMax: 255) }
            try connection.run(sql) { try $0.bind(outcome.rawValue, note, number, at: 1) }
        }
    }

    /// Returns lines, newest first.
    ///
    /// - Parameters:
    ///   - before: Number before which the lines start, or nil to start with the newest.
    ///   - linesMax: Maximum number of lines.
    ///   - administrator: Name of the administrator, or nil for all.
    ///   - container: Container of the lines, or nil for all.
    /// - Throws: `CloudStoreError`.
    package func lines(
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

    /// Returns true if the log has a sign-in of an administrator from an IP address.
    ///
    /// - Throws: `CloudStoreError`.
    package func hasSignedIn(_ administrator: String, from address: String) throws -> Bool {
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

    /// Returns nil for a line of a later version with an unknown action.
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

    /// Encodes the names, each followed by a NUL. Names of records and zones contain none.
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
