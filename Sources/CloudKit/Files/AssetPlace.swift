internal import CloudWire

/// Where in a record an asset is.
struct AssetPlace: Hashable, Sendable {
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
}

/// What became of the files that a save sends first.
struct AssetUploads: Sendable {
    private var results: [AssetPlace: Result<Asset, CKError>] = [:]

    subscript(place: AssetPlace) -> Result<Asset, CKError>? {
        get { results[place] }
        set { results[place] = newValue }
    }

    /// What the field is set to.
    /// - Throws: why there is nothing that it could be set to.
    func wire(_ asset: CKAsset, at place: AssetPlace) throws(CKError) -> Asset {
        if let kept = asset.kept(at: place) { return kept }
        guard let result = results[place] else {
            throw CKError(.assetNotAvailable, "The asset has no file to send.")
        }
        return try result.get()
    }
}

extension CKAsset {
    /// What is sent for a file that this very field had when it was fetched.
    func kept(at place: AssetPlace) -> Asset? {
        guard let fetched, fetched.recordID == place.recordID, fetched.key == place.key else { return nil }
        var asset = fetched.asset
        asset.downloadURL = nil
        asset.downloadedData = nil
        return asset
    }
}

extension RecordState {
    /// The assets among the fields that a save sends.
    func assets(for policy: CKModifyRecordsOperation.RecordSavePolicy) -> [(
        place: AssetPlace, asset: CKAsset
    )] {
        let keys = policy == .allKeys ? plain.changedKeys.union(plain.values.keys) : plain.changedKeys
        return keys.sorted().flatMap { key -> [(AssetPlace, CKAsset)] in
            let place = AssetPlace(recordID: recordID, key: key)
            switch plain.values[key] {
            case .asset(let asset): return [(place, asset)]
            case .list(let values):
                return values.enumerated().compactMap { index, value in
                    guard case .asset(let asset) = value else { return nil }
                    return (AssetPlace(recordID: recordID, key: key, index: index), asset)
                }
            default: return []
            }
        }
    }
}
