internal import CloudKit
internal import CloudWire
internal import SQLite
internal import Yap

/// The pending changes that can't be sent because they name `CloudFile`s whose bytes aren't on this device.
///
/// Such a change waits until the app has fetched the file. What would delete the file on the server meanwhile waits
/// too: a deletion of the record, in any zone, and a change that takes the file out of another record.
struct MissingFiles {
    static let refusal = Int64(CKError.Code.assetFileNotFound.rawValue)

    private var files: Set<CloudFile> = []
    private var changes: Set<Int64> = []
    private var recordNames: Set<String> = []

    mutating func add(_ file: CloudFile, of change: Int64, recordName: String) {
        files.insert(file)
        changes.insert(change)
        recordNames.insert(recordName)
    }

    /// Whether the change has to wait for a file.
    func hold(_ change: ChangeRow, of row: RecordRow) -> Bool {
        guard !files.isEmpty else { return false }
        if changes.contains(change.id) { return true }
        if change.kind == .delete {
            return recordNames.contains(row.recordID.recordName)
                || takes(change.fields.merging(change.originals) { $1 }, [:])
        }
        return takes(change.originals, change.fields)
    }

    /// Whether a file that another change needs is in the former values alone.
    private func takes(_ former: [String: Field], _ new: [String: Field]) -> Bool {
        former.contains { name, field in
            field.files.contains { files.contains($0) && !(new[name]?.files.contains($0) ?? false) }
        }
    }
}

extension CloudKitTables {
    private var folder: FileFolder.Place { FileFolder.Place(database: sqlite.path, registeredName: name) }

    /// The files that a field needs and that can't be sent: neither are their bytes here, nor has the record them in
    /// this field on the server.
    private func missingFiles(
        in field: Field, _ original: Field?, of record: Int64
    ) throws -> [CloudFile] {
        let folder = folder
        let absent = field.files.filter { !folder.contains($0) }
        guard !absent.isEmpty else { return [] }
        guard try self.record(id: record)?.changeTag != nil, FileOnServer.canBeNamed else { return absent }
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
            for file in try missingFiles(in: field, originals[name], of: record) {
                try noteAsset(file.text, of: change)
            }
        }
    }

    /// What waits for files in a database.
    func missingFiles(_ database: DatabaseKey) throws -> MissingFiles {
        let folder = folder
        var missing = MissingFiles()
        let noted = try rows(
            """
            SELECT a.name, a.change, r.record_name FROM \(table("asset")) AS a
            JOIN \(table("change")) AS c ON c.id = a.change JOIN \(table("record")) AS r ON r.id = c.record
            WHERE a.name >= ?1 AND a.name < ?2 AND r.database = ?3
            """, [.text(CloudFile.scheme), .text(CloudFile.scheme + "~"), .text(database.column)]
        ) { (name: $0.text(at: 0), change: $0.int64(at: 1), recordName: $0.text(at: 2)) }
        for (name, change, recordName) in noted {
            guard let file = CloudFile(text: name), !folder.contains(file) else { continue }
            missing.add(file, of: change, recordName: recordName)
        }
        return missing
    }

    /// The records whose changes wait for a file, or would take it from the server.
    /// - Parameter name: A record that needs the file: a deletion of its name may be in another zone.
    func recordsWaiting(
        for file: CloudFile, named name: String = "", _ database: DatabaseKey
    ) throws -> [CKRecord.ID] {
        try rows(
            """
            SELECT DISTINCT r.zone_owner, r.zone_name, r.record_name FROM \(table("change")) AS c
            JOIN \(table("record")) AS r ON r.id = c.record WHERE c.refusal = ?1 AND r.database = ?2
            AND (instr(c.fields, ?3) > 0 OR instr(c.originals, ?3) > 0 OR r.record_name = ?4)
            """,
            [
                .integer(MissingFiles.refusal), .text(database.column), .blob(Array(file.text.utf8)),
                .text(name),
            ]
        ) {
            let zoneID = CKRecordZone.ID(zoneName: $0.text(at: 1), ownerName: $0.text(at: 0))
            return CKRecord.ID(recordName: $0.text(at: 2), zoneID: zoneID)
        }
    }
}

extension YapDatabaseCloudKitTransaction {
    /// Notes that a change which waits for a file left the queue or changed: the others are looked at again.
    func noteChangeOfRefused(_ change: ChangeRow) {
        if change.refusal == MissingFiles.refusal { liftsMissingFiles = true }
    }

    /// Gives a record the values of a change, with the paths of the files. A file that isn't here is named as the one
    /// that the record has on the server.
    func setFields(of change: ChangeRow, on record: CKRecord, of row: RecordRow) {
        record.setFields(change.fields)
        for (name, field) in change.fields {
            let assets = field.files.map { file in
                let isHere = fileFolder.contains(file)
                let named = isHere ? nil : FileOnServer.asset(file, of: row.recordID, name)
                return named ?? CKAsset(fileURL: fileFolder.url(of: file))
            }
            record.replaceAssets(with: assets, forKey: name)
        }
    }

    /// Whether the field names a `CloudFile` whose bytes aren't on this device.
    func lacksFile(_ field: Field) -> Bool {
        field.files.contains { !fileFolder.contains($0) }
    }

    /// The field without the files whose bytes aren't on this device.
    func withoutMissingFiles(_ field: Field) -> Field {
        guard case .list(let type, let elements) = field.value else { return .cleared }
        let present = elements.filter { !lacksFile(Field($0)) }
        return present.isEmpty ? .cleared : Field(.list(type, present))
    }
}
