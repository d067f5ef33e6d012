import CloudStore
import CloudWire

/// Names of users in an export. A user has another record name on each server.
public struct ExportNames: Sendable {
    private let names: [String: String]
    private let users: [String: String]

    /// - Parameter accounts: the export name of each user's record name. Other names are kept. Each export
    ///   name may occur once.
    public init(accounts: [String: String]) {
        names = accounts
        users = Dictionary(accounts.map { ($0.value, $0.key) }) { first, _ in first }
    }

    /// Prefix of account names in an export. No user's record name has it.
    public static let accountPrefix = "account:"
    /// The name of the user in an export of one user's data.
    public static let owner = ServiceCaller.ownName

    /// Returns the name in an export.
    func name(ofUser user: String) -> String { names[user] ?? user }

    /// Returns the user's record name on this server.
    ///
    /// - Throws: `ExportError.unknownAccount`.
    func user(named name: String) throws -> String {
        if let user = users[name] { return user }
        if name.hasPrefix(Self.accountPrefix) {
            throw ExportError.unknownAccount(name: String(name.dropFirst(Self.accountPrefix.count)))
        }
        guard name != Self.owner else { throw ExportError.unknownAccount(name: name) }
        return name
    }
}

extension WireRecord {
    /// Returns the record with users renamed: in its stamps, in the zones that it references, and as its own name
    /// if it is a user record.
    func renamingUsers(_ rename: (String) throws -> String) rethrows -> WireRecord {
        var record = self
        record.created?.userRecordName = try created?.userRecordName.map(rename)
        record.modified?.userRecordName = try modified?.userRecordName.map(rename)
        if recordType == Schema.usersTypeName { record.recordName = try recordName.map(rename) }
        record.fields = try fields.mapValues { field in
            var field = field
            field.value = try field.value?.renamingUsers(rename)
            return field
        }
        return record
    }
}

extension FieldValue {
    fileprivate func renamingUsers(_ rename: (String) throws -> String) rethrows -> FieldValue {
        switch self {
        case .reference(var reference):
            guard let owner = reference.zoneID?.ownerRecordName, !owner.isEmpty else { return self }
            reference.zoneID?.ownerRecordName = try rename(owner)
            return .reference(reference)
        case .list(let type, let elements):
            return .list(type, try elements.map { try $0.renamingUsers(rename) })
        default: return self
        }
    }
}

/// Errors of an export or import.
public enum ExportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A line is invalid.
    case line(number: Int, reason: String)
    /// The import's destination has data already.
    case notEmpty
    /// An account of the export doesn't exist on this server.
    case unknownAccount(name: String)
    /// A record's file is missing or doesn't match the record.
    case asset(digest: String, reason: String)
    /// The schemas conflict.
    case schema(reason: String)

    /// A human-readable description of the error and its remedy.
    public var description: String {
        switch self {
        case .line(let number, let reason): "line \(number): \(reason). Nothing after it was imported."
        case .notEmpty:
            "There is data already. Import into an empty place, or with --merge, which overwrites records of the "
                + "same name."
        case .unknownAccount(let name):
            "The export has data of the account \(name), which isn't here. Make it with: yap account create \(name)"
        case .asset(let digest, let reason): "the file \(digest) \(reason)"
        case .schema(let reason): "the schema can't be imported: \(reason)"
        }
    }
}

/// The contents of an export.
public struct ExportSummary: Hashable, Sendable {
    /// Records.
    public var records: Int64 = 0
    /// Number of files. Each is counted once.
    public var assets: Int64 = 0
    /// Bytes of the lines.
    public var bytes: Int64 = 0
}

/// The source of an export, or the destination of an import.
public enum ExportScope: Hashable, Sendable {
    /// The private database of the user with this record name.
    case user(String)
    /// All databases of the environment, and its schema.
    case container

    var word: String { self == .container ? "container" : "user" }
}

/// The authors and times of a record's creation and last change, as exported.
struct RecordStamps {
    let created: StoreStamp
    let modified: StoreStamp
}
