extension RecordKey {
    /// Copies of a record's key on the disk: its row, the zone's change log, and the type's list of records. A
    /// tombstone's third copy is in the index by age.
    private static let copiesCount = 3
    /// Bytes of a file's SHA-256.
    private static let digestBytes = 32

    private var nameBytes: Int {
        zone.database.owner.utf8.count + zone.zoneName.utf8.count + recordName.utf8.count
    }

    /// Bytes that the names of a record or a tombstone count as in its user's usage. They depend on the key and the
    /// type alone, so no change of a record changes them, and a tombstone counts as many as its record did.
    public func countedNameBytes(recordType: String) -> Int64 {
        Int64(Self.copiesCount * nameBytes + recordType.utf8.count)
    }

    /// Bytes that the rows of a file which the record holds count as, beside the file's own bytes: two rows, each with
    /// the record's key and the file's SHA-256.
    public var countedFileBytes: Int64 {
        Int64(2 * (nameBytes + Self.digestBytes) + StoredIndexEntry.rowBytes)
    }
}
