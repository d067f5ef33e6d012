import Foundation

/// Why a call on the extension failed.
public enum YapDatabaseCloudKitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call writes, and the transaction only reads. Call it inside `readWrite`.
    case readOnlyTransaction
    /// The tables were written by a later version of this library. Open the file with that version.
    case unsupportedFormat(classVersion: Int)
    /// A table has content that this library didn't write. Keep the file for inspection.
    case damaged(String)
    /// The field map is invalid. Change the map.
    case fieldMap(String)

    /// A record can't have this name, so the row can't be synced: a name has 1 to 255 printable ASCII characters. With
    /// `CloudSync` the name is the row's key, percent-encoded where it has others. Use a shorter key.
    case recordName(String, bytesCount: Int)

    /// Devices that were synced in turn still exchanged records in the last allowed round. Their merges may never
    /// settle, or another program writes meanwhile.
    case notQuiet(rounds: Int)

    /// The extension is not registered in a database that is open. Register it first.
    case notRegistered

    /// A file to add can't be read. `errno` is the system's error number.
    case fileUnreadable(path: String, errno: Int32)
    /// A file can't be written beside the database: the disk is full or read-only. `errno` is the system's number.
    case fileNotWritten(path: String, errno: Int32)

    /// What went wrong and what to do.
    public var description: String {
        switch self {
        case .readOnlyTransaction: "the call writes: call it inside readWrite"
        case .unsupportedFormat(let version):
            "the sync tables have version \(version), which is newer than this library: use a newer one"
        case .damaged(let what): "the sync tables are damaged: \(what); keep the file for inspection"
        case .fileUnreadable(let path, let errno):
            "the file \(path) can't be read: \(Self.text(errno)); add one that can"
        case .fileNotWritten(let path, let errno):
            "\(path) can't be written: \(Self.text(errno)); free some space, and try again"
        case .notRegistered: "the extension is not registered in an open database: register it first"
        case .recordName(let name, let bytesCount):
            "no record can be named \"\(Self.shortened(name))\" (\(bytesCount) bytes): a name has 1 to "
                + "\(RecordNames.bytesMax) printable ASCII characters; use a shorter key, or of a key that is "
                + "a text of any length its hash"
        case .notQuiet(let rounds):
            "the devices still exchange records after \(rounds) rounds: look at the merge rules, and at what else "
                + "writes"
        case .fieldMap(let what): "the field map is wrong: \(what)"
        }
    }

    private static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }

    init(_ error: AssetFileError) {
        self =
            switch error {
            case .unreadable(let path, let errno): .fileUnreadable(path: path, errno: errno)
            case .notWritten(let path, let errno): .fileNotWritten(path: path, errno: errno)
            }
    }

    /// Returns a name, or the beginning of a long one.
    private static func shortened(_ name: String) -> String {
        name.count > 60 ? name.prefix(40) + "..." : name
    }
}
