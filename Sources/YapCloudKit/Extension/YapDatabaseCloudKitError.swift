/// Why a call on the extension failed.
public enum YapDatabaseCloudKitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call writes, and the transaction only reads. Call it inside `readWrite`.
    case readOnlyTransaction
    /// The tables were written by a later version of this library. Open the file with that version.
    case unsupportedFormat(classVersion: Int)
    /// A table holds what this library didn't write. Keep the file for inspection.
    case damaged(String)
    /// The field map can't do what it is asked. Change the map.
    case fieldMap(String)

    /// The extension is not registered in a database that is open. Register it first.
    case notRegistered

    /// What went wrong and what to do.
    public var description: String {
        switch self {
        case .readOnlyTransaction: "the call writes: call it inside readWrite"
        case .unsupportedFormat(let version):
            "the sync tables have version \(version), which is newer than this library: use a newer one"
        case .damaged(let what): "the sync tables are damaged: \(what); keep the file for inspection"
        case .notRegistered: "the extension is not registered in an open database: register it first"
        case .fieldMap(let what): "the field map is wrong: \(what)"
        }
    }
}
