internal import CloudWire

/// The field of a record that has an asset.
struct AssetLocation: Hashable, Sendable {
    var recordID: CKRecordID
    var key: String
    /// The index in a list; otherwise 0.
    var index = 0
}

/// A file as the server has described it, and its field.
struct FetchedAsset: Hashable, Sendable {
    var asset: Asset
    var recordID: CKRecordID
    var key: String
    /// True if the checksum is another server's: it has the same form, but another function.
    var hasForeignChecksum = false
}

/// The results of the uploads that precede a save.
struct AssetUploads: Sendable {
    private var results: [AssetLocation: Result<Asset, CKError>] = [:]

    subscript(place: AssetLocation) -> Result<Asset, CKError>? {
        get { results[place] }
        set { results[place] = newValue }
    }

    /// Returns the value of the field in the save.
    /// - Throws: the error of the upload.
    func wire(at place: AssetLocation) throws(CKError) -> Asset {
        guard let result = results[place] else {
            throw CKError(.assetNotAvailable, "The asset has no file to send.")
        }
        return try result.get()
    }
}

extension RecordState {
    /// Returns the wire form of a file that the server already has in this field, according to the record, or nil
    /// if the file must be uploaded. An older file of the field is uploaded again, because the server keeps a
    /// record's current files only.
    func kept(_ asset: CKAsset, in key: String) -> Asset? {
        guard let fetched = asset.fetched, fetched.recordID == recordID, fetched.key == key else {
            return nil
        }
        let isHad = plain.originals[key]?.assets.contains {
            $0.fetched?.asset.fileChecksum == fetched.asset.fileChecksum
        }
        guard asset.fileURL == nil || isHad == true else { return nil }
        var kept = fetched.asset
        kept.downloadURL = nil
        kept.downloadedData = nil
        return kept
    }

    /// Returns the assets to upload before a save.
    func files(for policy: CKModifyRecordsOperation.RecordSavePolicy) -> [(
        place: AssetLocation, asset: CKAsset
    )] {
        guard plain.hasAssets else { return [] }
        return plain.sentKeys(policy).sorted().flatMap { key -> [(AssetLocation, CKAsset)] in
            plain.values[key]?.assets.enumerated().compactMap { index, asset in
                guard asset.fileURL != nil, kept(asset, in: key) == nil else { return nil }
                return (AssetLocation(recordID: recordID, key: key, index: index), asset)
            } ?? []
        }
    }
}
