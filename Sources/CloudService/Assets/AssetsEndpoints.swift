import CloudStore
import CloudWire
import System

/// The endpoints about files.
struct AssetsEndpoints: Sendable {
    let limits: ServiceLimits
    let clock: any TimeSource
    let random: any RandomSource
    let schemas: Schemas
    let tickets: AssetTickets

    /// `assets/upload`: issues upload addresses. Writes nothing.
    func upload(_ body: [UInt8], _ caller: ServiceCaller, _ address: AssetAddress) throws -> ServiceWork {
        guard let user = caller.assetUser else { throw ServiceError.authenticationRequired }
        let request = try AssetsUploadRequest(request: body)
        try limits.check(count: request.tokens.count, caller)
        let zone = try caller.key(of: request.zoneID)
        let secret = try tickets.secret.value()
        let expires = clock.nowMilliseconds() + limits.assets.uploadMilliseconds
        let tokens = try request.tokens.map { token -> AssetsUploadResponse.Token in
            try ModifyBatch.checkName(token.fieldName, of: "fieldName", limits)
            if let name = token.recordName { try ModifyBatch.checkName(name, of: "recordName", limits) }
            if let type = token.recordType { try ModifyBatch.checkName(type, of: "recordType", limits) }
            var claims = AssetClaims(.upload, database: zone.database, expiresMilliseconds: expires)
            claims.zoneName = zone.zoneName
            // A generated name isn't binding, because the two files of a record would get different names.
            claims.recordName = token.recordName ?? ""
            claims.recordType = token.recordType ?? ""
            claims.fieldName = token.fieldName
            claims.user = user
            return AssetsUploadResponse.Token(
                recordName: token.recordName ?? random.nextUUID().lowercased(), fieldName: token.fieldName,
                url: address.upload(try claims.signed(secret)))
        }
        return .answer(.message(AssetsUploadResponse(tokens: tokens)))
    }

    /// `assets/rereference`: issues receipts for files that the caller can read, so that another record may
    /// hold them too.
    func rereference(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.assetUser else { throw ServiceError.authenticationRequired }
        let request = try AssetsRereferenceRequest(request: body)
        try limits.check(count: request.assets.count, caller)
        let source = try caller.key(of: request.zoneID)
        let target = try caller.key(of: request.targetZoneID ?? request.zoneID)
        let secret = try tickets.secret.value()
        return .read { reader in
            var wanted = StoreLoad()
            wanted.bytesMax = self.limits.answerBytesMax
            wanted.records = Set(request.assets.map(\.recordName)).sorted()
                .map { RecordKey(zone: source, recordName: $0) }
            let loaded = try reader.load(wanted)
            guard !loaded.isCutShort else {
                throw ServiceError.limitExceeded("the records are too large together")
            }
            let schema = try self.schemas.schema(in: reader)
            let access = try self.schemas.access(of: caller, schema: schema, in: reader)
            let items = request.assets
            var results = [AssetsRereferenceResponse.Result?](repeating: nil, count: items.count)
            // Each record is decoded once for all of its requested files, one record at a time.
            let places = Dictionary(grouping: items.indices) { items[$0].recordName }
            for (name, places) in places.sorted(by: { $0.key < $1.key }) {
                let row = loaded.records[RecordKey(zone: source, recordName: name)]
                // Without read permission the record is reported as missing, as by a lookup.
                guard let row, !row.isDeleted, access.permissions(row).contains(.read) else {
                    for place in places { results[place] = .error(ServiceError.recordNotFound.named(name)) }
                    continue
                }
                let fields = (try? FieldsBinary.decode(row.fields)) ?? [:]
                for place in places {
                    let fieldName = items[place].fieldName
                    guard let file = self.file(in: fields[fieldName]) else {
                        let error = ServiceError.badRequest("field '\(fieldName)' holds no file")
                        results[place] = .error(error.named(name))
                        continue
                    }
                    var asset = file.told(in: target.database.scope)
                    asset.receipt = try self.tickets.receipt(for: file, in: target, user: user).signed(secret)
                    results[place] = .asset(asset)
                }
            }
            return .message(AssetsRereferenceResponse(assets: results.compactMap(\.self)))
        }
    }

    /// Returns the file of a field, protected from the collection from now on, or nil if there is none.
    private func file(in field: Field?) -> StoredAsset? {
        guard case .asset(let kept) = field?.value, let file = StoredAsset(kept),
            (try? tickets.files.renew(file.digest)) == true
        else { return nil }
        return file
    }
}
