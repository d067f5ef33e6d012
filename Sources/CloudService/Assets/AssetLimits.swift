/// The limits on files, and on how much users may have.
public struct AssetLimits: Hashable, Sendable {
    /// Bytes of a file.
    public var fileBytesMax: Int64 = 50 << 20
    /// Milliseconds in which a file can be sent to the address that `assets/upload` answered. Until then it can be sent
    /// again, as after a broken connection.
    public var uploadMilliseconds: Int64 = 15 * 60_000
    /// Milliseconds in which a record can be saved with the receipt of an upload.
    public var receiptMilliseconds: Int64 = 86_400_000
    /// Milliseconds for which the address in a fetched record leads to its file, at least.
    public var downloadMilliseconds: Int64 = 4 * 3_600_000
    /// Bytes that a user may have uploaded and not saved, as far as this process knows.
    public var unsavedBytesMax: Int64 = 2 << 30
    /// Files of which that is so.
    public var unsavedFilesMax = 10_000
    /// Milliseconds that a file which no record holds is kept beyond the time of its receipt.
    public var unusedMilliseconds: Int64 = 3_600_000
    /// Milliseconds between two looks for files that no record holds.
    public var collectionMilliseconds: Int64 = 3_600_000

    /// Bytes of records and files in a user's private database.
    public var privateBytesMax: Int64 = 5 << 30
    /// Bytes of records and files in the public database while it has no users.
    public var publicBytesBase: Int64 = 10 << 30
    /// Bytes by which each user of the container lets the public database grow.
    public var publicBytesPerUser: Int64 = 250 << 20

    /// Bytes of records and files that one user may have made in the public database.
    public var publicBytesOfUserMax: Int64 = 1 << 30
    /// Bytes that a record, a tombstone and a zone count beside fields and files: their names, and what finds them.
    public var rowBytes: Int64 = 2_048
    /// Zones in a user's private database; deleted ones count until they are forgotten.
    public var privateZonesMax = 10_000
    /// Records in a user's private database; deleted ones count until they are forgotten.
    public var privateRecordsMax: Int64 = 10_000_000

    /// The limits that Apple published, and ours where Apple has none.
    public init() {}

    /// Bytes of the public database of a container with so many users.
    package func publicBytesMax(users: Int64) -> Int64 {
        let (perUsers, overflows) = publicBytesPerUser.multipliedReportingOverflow(by: users)
        let (sum, overflowsToo) = publicBytesBase.addingReportingOverflow(perUsers)
        return overflows || overflowsToo ? .max : sum
    }
}
