import CloudStore
import CloudWire

/// How users are named in an export: a user's record name is another one on each server.
public struct ExportNames: Sendable {
    private let names: [String: String]
    private let users: [String: String]

    /// - Parameter accounts: the name in an export for each user's record name. Names that are not in it stay as
    ///   they are; each export name may stand there once.
    public init(accounts: [String: String]) {
        names = accounts
        users = Dictionary(accounts.map { ($0.value, $0.key) }) { first, _ in first }
    }

    /// The prefix by which an account is known in an export: no record name of a user has it.
    public static let accountPrefix = "account:"
    /// The user of an export of one user's data.
    public static let owner = ServiceCaller.ownName

    /// The name in an export.
    func name(ofUser user: String) -> String { names[user] ?? user }

    /// The user's record name on this server.
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
    /// The record with other names for users: in its stamps, in zones that it refers to, and as its own name when it
    /// is a user's.
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

/// Why an export can't be written or read.
public enum ExportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A line is not what it should be.
    case line(number: Int, reason: String)
    /// The place to import into has data already.
    case notEmpty
    /// An account of the export doesn't exist.
    case unknownAccount(name: String)
    /// A file that a record holds is missing, or isn't what the record says.
    case asset(digest: String, reason: String)
    /// The schemas contradict each other.
    case schema(reason: String)

    /// What happened and what to do, for a person.
    public var description: String {
        switch self {
        case .line(let number, let reason): "line \(number): \(reason). Nothing behind it was imported."
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

/// What an export holds.
public struct ExportSummary: Hashable, Sendable {
    /// Records.
    public var records: Int64 = 0
    /// Files, each once.
    public var assets: Int64 = 0
    /// Bytes of the lines.
    public var bytes: Int64 = 0
}

/// What is exported, or where to an export goes.
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
