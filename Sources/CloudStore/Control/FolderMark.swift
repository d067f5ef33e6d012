import Crypto
import SQLite

/// Which folder this is, and how far it has come. The number grows when a server begins to serve the folder, while it
/// does, and when it ends; so a folder that was put back has a smaller one than its witness has seen.
public struct FolderMark: Hashable, Sendable {
    /// Drawn when the folder is made, restored or renewed.
    public var id: UInt64
    /// How often it was marked.
    public var number: Int64

    /// Makes a mark.
    public init(id: UInt64, number: Int64) {
        self.id = id
        self.number = number
    }
}

extension ControlStore {
    /// The folder's mark; nil in a folder that no server of this version has served.
    public func mark() throws -> FolderMark? {
        try read { try Self.mark($0) }
    }

    /// Marks the folder once more.
    ///
    /// - Returns: what is on the disk now.
    /// - Throws: `CloudStoreError`; `CryptoError` when the system gives no randomness.
    public func advanceMark() throws -> FolderMark {
        try write { connection in
            if try Self.mark(connection) == nil { try Self.beginMarks(connection) }
            try connection.execute("UPDATE folder SET mark = mark + 1")
            guard let mark = try Self.mark(connection) else {
                throw CloudStoreError.damaged(path: path, reason: "its mark is missing")
            }
            return mark
        }
    }

    /// Gives the folder another identity, which no witness has seen.
    public func renewMark() throws {
        try write { try Self.beginMarks($0) }
    }

    /// Does what `renewMark` does to the control file at `path`, which nobody has open.
    static func renewMark(path: String) throws {
        try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path)
            try connection.transaction(.immediate) {
                try connection.execute(ControlFormat.folderTable)
                try beginMarks(connection)
            }
            try connection.close()
        }
    }

    static func beginMarks(_ connection: Connection) throws {
        let id = try RandomBytes.make(count: 8).reduce(0) { $0 << 8 | UInt64($1) }
        try connection.execute("DELETE FROM folder")
        try connection.run("INSERT INTO folder VALUES (?, 0)") { try $0.bind(Int64(bitPattern: id), at: 1) }
    }

    private static func mark(_ connection: Connection) throws -> FolderMark? {
        try connection.withStatement("SELECT id, mark FROM folder") { statement in
            guard try statement.step() else { return nil }
            return FolderMark(id: UInt64(bitPattern: statement.int64(at: 0)), number: statement.int64(at: 1))
        }
    }
}
