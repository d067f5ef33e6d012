import CloudStore
import CloudWire

/// The receipts of a batch, decoded before the store is used, and the files that they allow its records to hold. Pure.
struct AssetReceipts: Sendable {
    /// The claims of each valid receipt, by its text.
    var claims: [String: AssetClaims] = [:]
    /// Digests of missing files.
    var missing: Set<[UInt8]> = []

    /// Returns the fields in stored form, with each file in its stored form.
    ///
    /// A file must have the receipt of an upload for this record, or be in the same field of the record
    /// already.
    ///
    /// - Throws: a `WireError` that names the field.
    func settled(
        _ fields: [String: Field], of key: RecordKey, recordType: String, old: [String: Field]
    ) throws(WireError) -> [String: Field] {
        var settled = fields
        for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
            guard let value = field.value, value.holdsAssets else { continue }
            let place = Place(
                key: key, recordType: recordType, fieldName: name, kept: old[name]?.value?.storedAssets ?? [])
            settled[name]?.value = try self.settled(value, at: place)
        }
        return settled
    }

    private struct Place {
        let key: RecordKey
        let recordType: String
        let fieldName: String
        /// The files of the stored field.
        let kept: [StoredAsset]
    }

    private func settled(_ value: FieldValue, at place: Place) throws(WireError) -> FieldValue {
        switch value {
        case .asset(let asset): return .asset(try file(asset, at: place).kept)
        case .list(let type, let elements):
            var settled: [FieldValue] = []
            for element in elements { settled.append(try self.settled(element, at: place)) }
            return .list(type, settled)
        default: return value
        }
    }

    private func file(_ asset: Asset, at place: Place) throws(WireError) -> StoredAsset {
        let field = place.fieldName
        if let claims = asset.receipt.flatMap({ claims[$0] }), let file = claims.file {
            guard asset.describes(file) else {
                throw ServiceError.badRequest(
                    "field '\(field)': checksum or size are not those of the receipt")
            }
            guard claims.fits(place.key, recordType: place.recordType, fieldName: field) else {
                throw ServiceError.badRequest(
                    "field '\(field)': the file was uploaded for another field or record")
            }
            guard !missing.contains(file.digest) else { throw ServiceError.assetGone(field: field) }
            return file
        }
        if asset.fileChecksum != nil, let kept = place.kept.first(where: { asset.describes($0) }) {
            return kept
        }
        throw ServiceError.badRequest(
            "field '\(field)': a file needs the receipt of an upload for this record, no older than a day")
    }
}

extension AssetClaims {
    fileprivate func fits(_ key: RecordKey, recordType: String, fieldName: String) -> Bool {
        database == key.zone.database && zoneName == key.zone.zoneName
            && (self.recordName.isEmpty || self.recordName == key.recordName)
            && (self.recordType.isEmpty || self.recordType == recordType)
            && (self.fieldName.isEmpty || self.fieldName == fieldName)
    }
}

extension Asset {
    /// Returns true if the value's members match `file`.
    fileprivate func describes(_ file: StoredAsset) -> Bool {
        (fileChecksum.map { $0 == file.fileChecksum } ?? true) && (size.map { $0 == file.bytes } ?? true)
    }
}

extension FieldValue {
    fileprivate var holdsAssets: Bool {
        switch self {
        case .asset: true
        case .list(_, let elements): elements.contains { if case .asset = $0 { true } else { false } }
        default: false
        }
    }

    /// The files of a stored value.
    fileprivate var storedAssets: [StoredAsset] {
        switch self {
        case .asset(let asset): StoredAsset(asset).map { [$0] } ?? []
        case .list(_, let elements): elements.flatMap(\.storedAssets)
        default: []
        }
    }

    /// The receipts in a client's value.
    var receipts: [String] {
        switch self {
        case .asset(let asset): asset.receipt.map { [$0] } ?? []
        case .list(_, let elements): elements.flatMap(\.receipts)
        default: []
        }
    }
}

extension ServiceCaller {
    /// The owner that the caller's uploads count for.
    var assetUser: String? { user?.userRecordName ?? (isServerKey ? "" : nil) }
}

extension ServiceError {
    static func assetGone(field: String) -> WireError {
        WireError(
            .badRequest,
            reason: "BadRequestException: field '\(field)': the uploaded file was deleted, upload it again",
            ckErrorCode: 35)
    }

    static let noSuchUpload = WireError(
        .notFound, reason: "the upload address is unknown or has expired: request another from assets/upload",
        ckErrorCode: 11)

    static let noSuchFile = WireError(
        .notFound, reason: "the file doesn't exist, or its address has expired: fetch the record again",
        ckErrorCode: 11
    )

    static func fileTooLarge(bytesMax: Int64) -> WireError {
        WireError(
            .badRequest, reason: "LimitExceeded: the file has more than \(bytesMax) bytes", ckErrorCode: 27)
    }

    static let tooMuchUnsaved = WireError(
        .quotaExceeded, reason: "Quota exceeded: too many uploaded files wait to be saved in records",
        ckErrorCode: 25)

    static let quotaExceeded = WireError(.quotaExceeded, reason: "Quota exceeded", ckErrorCode: 25)
}
