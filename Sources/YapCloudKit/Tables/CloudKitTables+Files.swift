internal import CloudKit
internal import CloudWire
internal import SQLite

/// The files that rows and changes name.
extension CloudKitTables {
    /// Files that the app's rows and the queue name. A search for the beginning of their text finds them in every
    /// object and property.
    func usedFiles() throws -> Set<CloudFile> {
        var files: Set<CloudFile> = []
        for (table, column) in [
            ("database2", "data"), ("database2", "metadata"), (table("change"), "fields"),
            (table("change"), "originals"), (table("stash"), "fields"),
        ] {
            try sqlite.withStatement("SELECT \(column) FROM \(table) WHERE instr(\(column), ?1) > 0") {
                try $0.bind(Array(CloudFile.scheme.utf8), at: 1)
                while try $0.step() { files.formUnion(CloudFile.named(in: $0.bytes(at: 0))) }
            }
        }
        return files
    }

    /// Changes of a database that are pending because of missing files.
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
            let changes = try queue.changes(of: note.record)
            guard let index = changes.firstIndex(where: { $0.id == note.change }) else { continue }
            missing.add(file, of: changes[index], later: changes[(index + 1)...])
        }
        return missing
    }

    /// Whether the server had a record, and no object on this device belongs to it. If this version of the app doesn't
    /// know the record's type, the object isn't associated with the record, and a fetched record is in the stash.
    private func isOrphan(_ record: Int64) throws -> Bool {
        guard let row = try records.record(id: record), row.ownerCount == 0, row.changeTag != nil else {
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

    /// Returns records that may have a file on the server: those of rows that have it, and those of changes that name
    /// it.
    ///
    /// - Parameter name: A record that needs the file. A deletion of this name may be in another zone.
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

    /// Maximum number of records that are searched for a file. Nearly always the first one has it.
    private static let recordsWithFileMax = 100
}
