internal import CloudWire

/// How an operation that fetches records handles a file of a record.
package enum AssetHandling: Sendable {
    /// Fetches the file. If that fails, the record fails.
    case required
    /// Fetches the file. If the server can't send it, the record comes with an asset without a file.
    case optional
    /// Doesn't fetch the file: the record comes with an asset without a file.
    case left
}

/// Decides how one file of a fetched record is handled. Files of servers that aren't ours are always required, because
/// nothing else identifies them.
package typealias AssetHandlingRule =
    @Sendable (_ recordID: CKRecordID, _ recordType: String, _ key: String, _ asset: CKAsset) -> AssetHandling

extension CKAsset {
    /// An asset that a field of a record has on the server, without its file. A save with it keeps the file there.
    package convenience init(
        serverChecksum: String, sizeBytes: Int64, ofRecord recordID: CKRecordID, key: String
    ) {
        let asset = Asset(fileChecksum: serverChecksum, size: sizeBytes)
        self.init(FetchedAsset(asset: asset, recordID: recordID, key: key))
    }

    /// Checksum and size in bytes of the server's file, of an asset that was fetched with a record from a server of
    /// ours. Nil for other servers: their checksums can't be compared with a file.
    package var serverFile: (checksum: String, sizeBytes: Int64)? {
        guard let fetched, !fetched.hasForeignChecksum, let checksum = fetched.asset.fileChecksum,
            let size = fetched.asset.size
        else { return nil }
        return (checksum, size)
    }
}
