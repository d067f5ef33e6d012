import SQLite
import System

/// How often a sign-in failed lately, for an account or from an address.
public struct ControlTry: Hashable, Sendable {
    /// What it is counted for, as `signInTryDigest(of:)` makes it.
    public var digest: [UInt8]
    /// How many tries failed.
    public var failuresCount: Int
    /// How long ago the last one was, in milliseconds.
    public var ageMilliseconds: Int64
    /// How long the next one has to wait, in milliseconds.
    public var waitMilliseconds: Int64

    /// Makes a count.
    public init(digest: [UInt8], failuresCount: Int, ageMilliseconds: Int64, waitMilliseconds: Int64) {
        self.digest = digest
        self.failuresCount = failuresCount
        self.ageMilliseconds = ageMilliseconds
        self.waitMilliseconds = waitMilliseconds
    }
}

extension ControlStore {
    /// So many counts are kept; of more, those that failed longest ago go.
    public static let signInTriesMax = 20_000
    /// A count that nothing was added to for so long is forgotten.
    public static let signInTryMilliseconds: Int64 = 3_600_000

    /// What the file keeps instead of an account's name, where people type passwords too, and of an address.
    public func signInTryDigest(of text: String) throws -> [UInt8] {
        try code(of: text, purpose: .signInTry)
    }

    /// The counts that are not forgotten, the latest first.
    public func signInTries() throws -> [ControlTry] {
        let now = clock.nowMilliseconds()
        return try read { connection in
            let sql = """
                SELECT digest, failures, lastMilliseconds, openMilliseconds FROM signInTries
                WHERE lastMilliseconds > ? ORDER BY lastMilliseconds DESC LIMIT ?
                """
            return try connection.withStatement(sql) { statement in
                try statement.bind(now - Self.signInTryMilliseconds, Self.signInTriesMax, at: 1)
                return try statement.rows {
                    ControlTry(
                        digest: $0.bytes(at: 0), failuresCount: Int($0.int64(at: 1)),
                        // A clock that was set back makes nobody wait for longer.
                        ageMilliseconds: max(0, now - $0.int64(at: 2)),
                        waitMilliseconds: max(
                            0,
                            min(
                                $0.int64(at: 3) - now,
                                $0.int64(at: 3) - $0.int64(at: 2))))
                }
            }
        }
    }

    /// Keeps counts in place of those with their digests; one without failures goes.
    public func saveSignInTries(_ tries: [ControlTry]) throws {
        let now = clock.nowMilliseconds()
        try write { connection in
            for one in tries { try save(one, at: now, connection) }
            let old = "DELETE FROM signInTries WHERE lastMilliseconds <= ?"
            try connection.withStatement(old) { statement in
                try statement.bind(now - Self.signInTryMilliseconds, at: 1)
                try statement.run()
            }
            let beyond = """
                DELETE FROM signInTries WHERE digest IN (SELECT digest FROM signInTries
                ORDER BY lastMilliseconds DESC, digest LIMIT -1 OFFSET ?)
                """
            try connection.withStatement(beyond) { statement in
                try statement.bind(Self.signInTriesMax, at: 1)
                try statement.run()
            }
        }
    }

    private func save(_ one: ControlTry, at now: Int64, _ connection: Connection) throws {
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
