/// Limits of files, and quotas of users.
public struct AssetLimits: Hashable, Sendable {
    /// Maximum bytes of a file.
    public var fileBytesMax: Int64 = 50 << 20
    /// Milliseconds for which an address of `assets/upload` is valid. Until then an upload can be repeated, as after a
    /// broken connection.
    public var uploadMilliseconds: Int64 = 15 * 60_000
    /// Milliseconds for which the receipt of an upload is valid.
    public var receiptMilliseconds: Int64 = 86_400_000
    /// Minimum milliseconds for which the download address in a fetched record is valid.
    public var downloadMilliseconds: Int64 = 4 * 3_600_000
    /// Maximum bytes that a user has uploaded and not saved in a record, since the process started.
    public var unsavedBytesMax: Int64 = 2 << 30
    /// Maximum number of such files.
    public var unsavedFilesMax = 10_000
    /// Milliseconds for which an unused file is kept after its receipt has expired.
    public var unusedMilliseconds: Int64 = 3_600_000
    /// Milliseconds between two searches for unused files.
    public var collectionMilliseconds: Int64 = 3_600_000

    /// Maximum bytes of records and files in a user's private database.
    public var privateBytesMax: Int64 = 5 << 30
    /// Maximum bytes of records and files in the public database without users.
    public var publicBytesBase: Int64 = 10 << 30
    /// Bytes that each user of the container adds to the maximum of the public database.
    public var publicBytesPerUser: Int64 = 250 << 20

    /// Maximum bytes of records and files that one user created in the public database.
    public var publicBytesOfUserMax: Int64 = 1 << 30
    /// Bytes counted for each record, tombstone and zone beside fields and files, for names and indexes.
    public var rowBytes: Int64 = 2_048
    /// Maximum zones in a user's private database. Deleted ones count until their rows are discarded.
    public var privateZonesMax = 10_000
    /// Maximum records in a user's private database. Deleted ones count until their tombstones are discarded.
    public var privateRecordsMax: Int64 = 10_000_000

    /// Makes Apple's published limits, and ours where Apple has none.
    public init() {}

    /// Returns the maximum bytes of the public database of a container with this number of users.
    package func publicBytesMax(users: Int64) -> Int64 {
        let (perUsers, overflows) = publicBytesPerUser.multipliedReportingOverflow(by: users)
        let (sum, overflowsToo) = publicBytesBase.addingReportingOverflow(perUsers)
        return overflows || overflowsToo ? .max : sum
    }
}
