import Crypto
import SQLite

/// The identity of a data folder, and a number that grows when a server starts, runs and stops. A folder that was
/// restored from a copy has a smaller number than its witness.
package struct FolderMark: Hashable, Sendable {
    /// Random number, drawn when the folder is made, restored or renewed.
    package var id: UInt64
    /// Number of times that the folder was marked.
    package var number: Int64

    /// Makes a mark.
    package init(id: UInt64, number: Int64) {
        self.id = id
        self.number = number
    }
}

/// Owns the table `folder`.
package struct FolderMarkTable: Sendable {
    let file: ControlFile

    /// Returns the folder's mark, or nil if no server of this version has served the folder.
    ///
    /// - Throws: `CloudStoreError`.
    package func current() throws -> FolderMark? {
        try file.read { try Self.current($0) }
    }

    /// Increments the number of the mark.
    ///
    /// - Returns: The mark that is on disk now.
    /// - Throws: `CloudStoreError`; `CryptoError` if the system has no randomness.
    package func advance() throws -> FolderMark {
        try file.write { connection in
            if try Self.current(connection) == nil { try Self.begin(connection) }
            try connection.execute("UPDATE folder SET mark = mark + 1")
            guard let mark = try Self.current(connection) else {
                throw CloudStoreError.damaged(path: file.path, reason: "its mark is missing")
            }
            return mark
        }
    }

    /// Gives the folder a new identity, which no witness has seen.
    ///
    /// - Throws: `CloudStoreError`; `CryptoError` if the system has no randomness.
    package func renew() throws {
        try file.write { try Self.begin($0) }
    }

    /// Gives a new identity to the control file at `path`, which no process has open.
    static func renew(path: String) throws {
        try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path)
            try connection.transaction(.immediate) {
                try connection.execute(ControlFormat.folderTable)
                try begin(connection)
            }
            try connection.close()
        }
    }

    /// Writes a new identity with the number 0.
    static func begin(_ connection: Connection) throws {
        let id = try RandomBytes.make(count: 8).reduce(0) { $0 << 8 | UInt64($1) }
        try connection.execute("DELETE FROM folder")
        try connection.run("INSERT INTO folder VALUES (?, 0)") { try $0.bind(Int64(bitPattern: id), at: 1) }
    }

    private static func current(_ connection: Connection) throws -> FolderMark? {
        try connection.withStatement("SELECT id, mark FROM folder") { statement in
            guard try statement.step() else { return nil }
            return FolderMark(id: UInt64(bitPattern: statement.int64(at: 0)), number: statement.int64(at: 1))
        }
    }
}
