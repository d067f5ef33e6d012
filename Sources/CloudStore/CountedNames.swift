extension RecordKey {
    /// Number of copies of a record's key on the disk: in its row, in the zone's change log, and in the type's list of
    /// records. The third copy of a tombstone is in the index by age.
    private static let copiesCount = 3
    /// Bytes of a file's SHA-256.
    private static let digestBytes = 32

    private var nameBytes: Int {
        zone.database.owner.utf8.count + zone.zoneName.utf8.count + recordName.utf8.count
    }

    /// Bytes of a record's or tombstone's names in the usage of its user. They depend on the key and the type only, so
    /// changes of the record don't change them, and a tombstone has as many as its record.
    package func countedNameBytes(recordType: String) -> Int64 {
        Int64(Self.copiesCount * nameBytes + recordType.utf8.count)
    }

    /// Bytes of the rows of a record's file in the usage of its user, without the file's own bytes: two rows, each with
    /// the record's key and the file's SHA-256.
    package var countedFileBytes: Int64 {
        Int64(2 * (nameBytes + Self.digestBytes) + StoredIndexEntry.rowBytes)
    }
}
