internal import CloudKit
internal import CloudWire
internal import SQLite
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

extension CloudKitTables {
    /// The files of a field that can't be sent: their bytes aren't on this device, and the record doesn't have them in
    /// this field on the server.
    private func missingFiles(
        in field: Field, named name: String, _ original: Field?, of record: Int64
    ) throws -> [CloudFile] {
        let absent = field.files.filter { !files.contain($0) }
        guard !absent.isEmpty else { return [] }
        guard let row = try self.record(id: record), row.changeTag != nil,
            absent.allSatisfy({ FileOnServer.asset($0, of: row.recordID, name) != nil })
        else { return absent }
        // Of an unknown original the server decides.
        guard let original else { return [] }
        return absent.filter { !original.files.contains($0) }
    }

    /// Notes the files that a change can't be sent without.
    func noteMissingFiles(
        of change: Int64, _ fields: [String: Field], originals: [String: Field], of record: Int64
    ) throws {
        guard fields.hasAssets else { return }
        for (name, field) in fields {
            for file in try missingFiles(in: field, named: name, originals[name], of: record) {
                try noteAsset(file.text, of: change)
            }
        }
    }

    /// What waits for files in a database.
    func missingFiles(_ database: DatabaseKey) throws -> MissingFiles {
        var missing = MissingFiles()
        let noted = try rows(
            """
            SELECT a.name, a.change, c.record FROM \(table("asset")) AS a
            JOIN \(table("change")) AS c ON c.id = a.change JOIN \(table("record")) AS r ON r.id = c.record
            WHERE a.name >= ?1 AND a.name < ?2 AND r.database = ?3
            """, [.text(CloudFile.scheme), .text(CloudFile.scheme + "~"), .text(database.column)]
        ) { (name: $0.text(at: 0), change: $0.int64(at: 1), record: $0.int64(at: 2)) }
        for note in noted {
            guard let file = CloudFile(text: note.name), !files.contain(file) else { continue }
            guard try !isOrphan(note.record) else {
                missing.addOrphan(note.change)
                continue
            }
            let changes = try changes(of: note.record)
            guard let index = changes.firstIndex(where: { $0.id == note.change }) else { continue }
            missing.add(file, of: changes[index], later: changes[(index + 1)...])
        }
        return missing
    }

    /// Whether the server had a record that no object on this device belongs to. Of a type that this version of the app
    /// doesn't know, the object isn't tied to its record, and a fetched record is in the stash.
    private func isOrphan(_ record: Int64) throws -> Bool {
        guard let row = try self.record(id: record), row.ownerCount == 0, row.changeTag != nil else {
            return false
        }
        let key = RecordNames.key(forName: row.recordID.recordName)
        return try first(
            """
            SELECT 1 FROM database2 WHERE key = ?5 UNION ALL SELECT 1 FROM \(table("stash"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name = ?4 LIMIT 1
            """,
            zone(row.recordID.zoneID, row.database) + [.text(row.recordID.recordName), .text(key)]
        ) { _ in true } == nil
    }

    /// Whether a change waits for a file, or has waited for one.
    func hasMissingFiles(_ change: Int64) throws -> Bool {
        try first(
            "SELECT 1 FROM \(table("asset")) WHERE change = ?1 AND name >= ?2 AND name < ?3",
            [.integer(change), .text(CloudFile.scheme), .text(CloudFile.scheme + "~")]
        ) { _ in true } ?? false
    }

    /// Forgets files that changes waited for and that are on this device now. Returns whether there was one. Looks at
    /// up to 100 files.
    func takeArrivedFiles() throws -> Bool {
        let names = try rows(
            "SELECT DISTINCT name FROM \(table("asset")) WHERE name >= ?1 AND name < ?2 LIMIT 100",
            [.text(CloudFile.scheme), .text(CloudFile.scheme + "~")]
        ) { $0.text(at: 0) }
        let arrived = names.filter { CloudFile(text: $0).map { files.contain($0) } ?? true }
        for name in arrived { try run("DELETE FROM \(table("asset")) WHERE name = ?1", [.text(name)]) }
        return !arrived.isEmpty
    }

    /// Records that may have a file on the server: of rows that have it, and of changes that name it.
    ///
    /// - Parameter name: A record that needs the file: a deletion of its name may be in another zone.
    func recordsWithFile(
        _ file: CloudFile, named name: String, _ database: DatabaseKey
    ) throws -> [CKRecord.ID] {
        try rows(
            """
            SELECT zone_owner, zone_name, record_name FROM \(table("record")) WHERE database = ?1 AND id IN (
                SELECT m.record FROM \(table("mapping")) AS m JOIN database2 AS d ON d.rowid = m.rowid
                WHERE instr(d.data, ?2) > 0
                UNION SELECT c.record FROM \(table("change")) AS c
                WHERE instr(c.fields, ?2) > 0 OR instr(c.originals, ?2) > 0
                UNION SELECT c.record FROM \(table("change")) AS c JOIN \(table("record")) AS r ON r.id = c.record
                WHERE r.record_name = ?3)
            GROUP BY zone_owner, zone_name, record_name LIMIT \(Self.recordsWithFileMax)
            """, [.text(database.column), .blob(Array(file.text.utf8)), .text(name)]
        ) {
            let zoneID = CKRecordZone.ID(zoneName: $0.text(at: 1), ownerName: $0.text(at: 0))
            return CKRecord.ID(recordName: $0.text(at: 2), zoneID: zoneID)
        }
    }

    /// Maximum number of records that are searched for a file: one of them is enough, nearly always.
    private static let recordsWithFileMax = 100
}

extension YapDatabaseCloudKitTransaction {
    /// Notes that a change left the queue or is rewritten. If it waited for a file, what waited with it is looked at
    /// again.
    func noteChange(of change: ChangeRow) throws {
        if change.refusal == MissingFiles.refusal {
            liftsMissingFiles = true
        } else if change.fields.hasAssets, try tables.hasMissingFiles(change.id) {
            liftsMissingFiles = true
        }
    }

    /// Lets the changes go that waited for files, if one of these arrived or a change that waited is another one now.
    func liftMissingFiles() throws {
        guard isQueueTouched || isByEngine else { return }
        if try tables.takeArrivedFiles() { liftsMissingFiles = true }
        guard liftsMissingFiles else { return }
        liftsMissingFiles = false
        try tables.liftRefusals(code: MissingFiles.refusal)
        // The engine counted before that.
        (isQueueTouched, isByEngine) = (true, false)
    }

    /// Whether a change has to wait for a file, or for a former life of its record that waits.
    func holds(_ change: ChangeRow, of row: RecordRow, _ missing: MissingFiles) throws -> Bool {
        guard !missing.isEmpty else { return false }
        if missing.hold(change) { return true }
        let lives = try tables.records(row.recordID, row.database)
        return try lives.contains { try $0.id < row.id && tables.hasChanges($0.id) }
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
        guard change.fields.hasAssets, let row = try tables.record(id: change.record) else { return }
        var later = try tables.changes(of: row.id).filter { $0.sequence > change.sequence }
        for (name, field) in change.fields.sorted(by: { $0.key < $1.key })
        where !field.files.isEmpty && saved.object(forKey: name) == nil {
            let isReplaced = later.contains { $0.kind == .delete || $0.keys.contains(name) }
            logDrop(
                row, name, .superseded, kind: isReplaced ? .superseded : .lost, dropped: field, kept: nil)
            guard let next = later.firstIndex(where: { $0.keys.contains(name) }) else { continue }
            later[next].originals[name] =
                change.originals[name] ?? (row.changeTag == nil ? .cleared : nil)
            try tables.updateChange(later[next])
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
