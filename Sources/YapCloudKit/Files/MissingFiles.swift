internal import CloudKit
internal import CloudWire
internal import Yap

/// The pending changes that can't be sent because they name `CloudFile`s whose bytes aren't on this device.
///
/// Such a change waits until the app has fetched the file. What may delete the file on the server meanwhile waits too:
/// all deletions, because what they delete isn't always known, and changes that take the file out of another record.
struct MissingFiles {
    static let refusal = Int64(CKError.Code.assetFileNotFound.rawValue)

    private var files: Set<CloudFile> = []
    private var changes: Set<Int64> = []
    /// Fields of changes that later changes of this device replace: the changes go without them.
    private var superseded: [Int64: Set<String>] = [:]
    /// Changes of records without an object: they go without the field.
    private var orphaned: Set<Int64> = []

    var isEmpty: Bool { files.isEmpty }

    /// - Parameter later: The changes of the same life of the record that follow.
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

    /// Lets a change be sent without its file. Its object was removed together with the other objects of its user, and
    /// did not come back with that user: the server has deleted the record meanwhile, and answers the change so.
    mutating func addOrphan(_ change: Int64) { orphaned.insert(change) }

    /// Whether the change goes without the field, as long as files of it are missing.
    func leavesOut(_ name: String, of change: ChangeRow) -> Bool {
        orphaned.contains(change.id) || superseded[change.id]?.contains(name) ?? false
    }

    /// Whether the change has to wait for a file.
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

extension YapDatabaseCloudKitTransaction {
    /// Notes that a change left the queue or is rewritten. If it waited for a file, what waited with it is looked at
    /// again.
    func noteChange(of change: ChangeRow) throws {
        if change.refusal == MissingFiles.refusal {
            liftsMissingFiles = true
        } else if change.fields.hasAssets, try tables.queuedFiles.hasMissingFiles(change.id) {
            liftsMissingFiles = true
        }
    }

    /// Lets the changes go that waited for files, if one of these arrived or a change that waited is another one now.
    func liftMissingFiles() throws {
        guard isQueueTouched || isByEngine else { return }
        if try tables.queuedFiles.takeArrivedFiles() { liftsMissingFiles = true }
        guard liftsMissingFiles else { return }
        liftsMissingFiles = false
        try tables.queue.liftRefusals(code: MissingFiles.refusal)
        // The engine counted before that.
        (isQueueTouched, isByEngine) = (true, false)
    }

    /// Whether a change has to wait for a file, or for a former life of its record that waits.
    func holds(_ change: ChangeRow, of row: RecordRow, _ missing: MissingFiles) throws -> Bool {
        guard !missing.isEmpty else { return false }
        if missing.hold(change) { return true }
        let lives = try tables.records.records(row.recordID, row.database)
        return try lives.contains { try $0.id < row.id && tables.queue.hasChanges($0.id) }
    }

    /// Gives a record the values of a change, with the paths of the files. A file that the record has on the server is
    /// named, and not sent again.
    func setFields(of change: ChangeRow, on record: CKRecord, of row: RecordRow, _ missing: MissingFiles) {
        let fields = change.fields.filter { !missing.leavesOut($0.key, of: change) || !lacksFile($0.value) }
        record.setFields(fields)
        guard fields.hasAssets else { return }
        for (name, field) in fields {
            let files = field.files
            guard !files.isEmpty else { continue }
            let assets = files.map { file in
                let isKnown =
                    change.originals[name].map { $0.files.contains(file) } ?? !tables.files.contain(file)
                let named =
                    row.changeTag != nil && isKnown
                    ? FileOnServer.asset(file, of: row.recordID, name) : nil
                return named ?? CKAsset(fileURL: tables.files.url(of: file))
            }
            record.replaceAssets(with: assets, forKey: name)
        }
    }

    /// Logs the fields that a change was sent without, mostly because a later change of this device replaces them. The
    /// server has what it had before, which is what the later change replaces.
    func finishFilesLeftOut(of change: ChangeRow, _ saved: CKRecord) throws {
        guard change.fields.hasAssets, let row = try tables.records.record(id: change.record) else { return }
        var later = try tables.queue.changes(of: row.id).filter { $0.sequence > change.sequence }
        for (name, field) in change.fields.sorted(by: { $0.key < $1.key })
        where !field.files.isEmpty && saved.object(forKey: name) == nil {
            let isReplaced = later.contains { $0.kind == .delete || $0.keys.contains(name) }
            logDrop(
                row, name, .superseded, kind: isReplaced ? .superseded : .lost, dropped: field, kept: nil)
            guard let next = later.firstIndex(where: { $0.keys.contains(name) }) else { continue }
            later[next].originals[name] =
                change.originals[name] ?? (row.changeTag == nil ? .cleared : nil)
            try tables.queue.updateChange(later[next])
        }
    }

    /// Whether the field names a `CloudFile` whose bytes aren't on this device.
    func lacksFile(_ field: Field) -> Bool {
        field.files.contains { !tables.files.contain($0) }
    }

    /// The field without the files whose bytes aren't on this device.
    func withoutMissingFiles(_ field: Field) -> Field {
        guard case .list(let type, let elements) = field.value else { return .cleared }
        let present = elements.filter { !lacksFile(Field($0)) }
        return present.isEmpty ? .cleared : Field(.list(type, present))
    }
}
