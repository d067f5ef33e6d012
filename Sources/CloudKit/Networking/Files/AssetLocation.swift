internal import CloudWire

/// Where in a record an asset is.
struct AssetLocation: Hashable, Sendable {
    var recordID: CKRecordID
    var key: String
    /// In a list its index, else 0.
    var index = 0
}

/// A file as the server told of it, and of which field.
struct FetchedAsset: Hashable, Sendable {
    var asset: Asset
    var recordID: CKRecordID
    var key: String
    /// Whether the checksum is another server's: in the form of ours, and of another function.
    var hasForeignChecksum = false
}

/// What became of the files that a save sends first.
struct AssetUploads: Sendable {
    private var results: [AssetLocation: Result<Asset, CKError>] = [:]

    subscript(place: AssetLocation) -> Result<Asset, CKError>? {
        get { results[place] }
        set { results[place] = newValue }
    }

    /// What the field is set to.
    /// - Throws: why there is nothing that it could be set to.
    func wire(at place: AssetLocation) throws(CKError) -> Asset {
        guard let result = results[place] else {
            throw CKError(.assetNotAvailable, "The asset has no file to send.")
        }
        return try result.get()
    }
}

extension RecordState {
    /// What is sent for a file that the server has in this very field, as far as the record knows. An older file of the
    /// field is sent anew: the server keeps only what a record has.
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

    /// The assets among the fields that a save sends whose files go before.
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
