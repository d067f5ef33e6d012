import SQLite
import System

/// The recent failed sign-ins of one account or from one address.
package struct ControlTry: Hashable, Sendable {
    /// Digest of the account's name or the address, as `SignInTryTable.digest(of:)` makes it.
    package var digest: [UInt8]
    /// Number of failed sign-ins.
    package var failuresCount: Int
    /// Time since the last failure, in milliseconds.
    package var ageMilliseconds: Int64
    /// Time until the next sign-in is allowed, in milliseconds.
    package var waitMilliseconds: Int64

    /// Makes a count.
    package init(digest: [UInt8], failuresCount: Int, ageMilliseconds: Int64, waitMilliseconds: Int64) {
        self.digest = digest
        self.failuresCount = failuresCount
        self.ageMilliseconds = ageMilliseconds
        self.waitMilliseconds = waitMilliseconds
    }
}

/// Owns the table `signInTries`.
package struct SignInTryTable: Sendable {
    /// Maximum number of counts. The least recent one is removed first.
    package static let countMax = 20_000
    /// Time without a failure after which a count is removed, in milliseconds.
    package static let lifeMilliseconds: Int64 = 3_600_000

    let file: ControlFile

    /// Returns the digest that is stored for an account's name or an address. The text itself isn't stored: people
    /// type passwords in the field of the name.
    ///
    /// - Throws: `CryptoError`.
    package func digest(of text: String) throws -> [UInt8] {
        try file.secret.code(of: text, purpose: .signInTry)
    }

    /// Returns the current counts, most recent first.
    ///
    /// - Throws: `CloudStoreError`.
    package func list() throws -> [ControlTry] {
        let now = file.clock.nowMilliseconds()
        return try file.read { connection in
            let sql = """
                SELECT digest, failures, lastMilliseconds, openMilliseconds FROM signInTries
                WHERE lastMilliseconds > ? ORDER BY lastMilliseconds DESC LIMIT ?
                """
            return try connection.withStatement(sql) { statement in
                try statement.bind(now - Self.lifeMilliseconds, Self.countMax, at: 1)
                return try statement.rows {
                    let (last, open) = ($0.int64(at: 2), $0.int64(at: 3))
                    return ControlTry(
                        digest: $0.bytes(at: 0), failuresCount: Int($0.int64(at: 1)),
                        // A clock that was set back must not lengthen the wait.
                        ageMilliseconds: max(0, now - last),
                        waitMilliseconds: max(0, min(open - now, open - last)))
                }
            }
        }
    }

    /// Stores counts. Each replaces the count with the same digest. A count without failures is removed.
    ///
    /// - Throws: `CloudStoreError`.
    package func save(_ tries: [ControlTry]) throws {
        let now = file.clock.nowMilliseconds()
        try file.write { connection in
            for one in tries { try Self.save(one, at: now, connection) }
            let old = "DELETE FROM signInTries WHERE lastMilliseconds <= ?"
            try connection.run(old) { try $0.bind(now - Self.lifeMilliseconds, at: 1) }
            let beyond = """
                DELETE FROM signInTries WHERE digest IN (SELECT digest FROM signInTries
                ORDER BY lastMilliseconds DESC, digest LIMIT -1 OFFSET ?)
                """
            try connection.run(beyond) { try $0.bind(Self.countMax, at: 1) }
        }
    }

    private static func save(_ one: ControlTry, at now: Int64, _ connection: Connection) throws {
        guard one.failuresCount > 0 else {
            return try connection.run("DELETE FROM signInTries WHERE digest = ?") {
                try $0.bind(one.digest, at: 1)
            }
        }
        let sql = "INSERT OR REPLACE INTO signInTries VALUES (?, ?, ?, ?)"
        try connection.run(sql) { statement in
            try statement.bind(one.digest, one.failuresCount, now - one.ageMilliseconds, at: 1)
            try statement.bind(now + one.waitMilliseconds, at: 4)
        }
    }
}
