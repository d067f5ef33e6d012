internal import CloudKit
internal import CloudWire

/// Pending changes that can't be sent because they name `CloudFile`s without bytes on this device.
///
/// Such a change waits until the app has fetched the file. What may delete the file on the server meanwhile waits too:
/// all deletions, because what they delete isn't always known, and changes that take the file out of another record.
struct MissingFiles {
    static let quarantineCode = Int64(CKError.Code.assetFileNotFound.rawValue)

    private var files: Set<CloudFile> = []
    private var changes: Set<Int64> = []
    /// Fields of changes that later changes of this device replace: the changes go without them.
    private var superseded: [Int64: Set<String>] = [:]
    /// Changes of records without an object: they go without the field.
    private var orphaned: Set<Int64> = []

    var isEmpty: Bool { files.isEmpty }

    /// - Parameter later: The changes of the same incarnation of the record that follow.
    mutating func add(_ file: CloudFile, of change: ChangeRow, later: ArraySlice<ChangeRow>) {
        let keys = change.fields.filter { $0.value.files.contains(file) }.keys
        let replaced = later.reduce(into: Set<String>()) { $0.formUnion($1.fields.keys) }
        guard !later.contains(where: { $0.kind == .delete }), !replaced.isSuperset(of: keys) else {
            superseded[change.id, default: []].formUnion(keys)
            return
        }
        files.insert(file)
        changes.insert(change.id)
    }

    /// Allows a change to be sent without its file. Its object was removed together with the other objects of its user,
    /// and did not come back with that user, so the server has deleted the record meanwhile and responds with that.
    mutating func addOrphan(_ change: Int64) { orphaned.insert(change) }

    /// Returns true if the change is sent without the field while files of the field are missing.
    func leavesOut(_ name: String, of change: ChangeRow) -> Bool {
        orphaned.contains(change.id) || superseded[change.id]?.contains(name) ?? false
    }

    /// Returns true if the change has to wait for a file.
    func hold(_ change: ChangeRow) -> Bool {
        guard !isEmpty else { return false }
        if change.kind == .delete || changes.contains(change.id) { return true }
        return change.originals.contains { name, field in
            field.files.contains { file in
                files.contains(file) && !(change.fields[name]?.files.contains(file) ?? false)
            }
        }
    }
}

extension CloudFilePaths {
    /// Returns true if the field names a `CloudFile` without bytes on this device.
    func lacks(_ field: Field) -> Bool {
        field.files.contains { !contain($0) }
    }

    /// Returns the field with only the files that have bytes on this device.
    func withoutMissing(_ field: Field) -> Field {
        guard case .list(let type, let elements) = field.value else { return .cleared }
        let present = elements.filter { !lacks(Field($0)) }
        return present.isEmpty ? .cleared : Field(.list(type, present))
    }
}
