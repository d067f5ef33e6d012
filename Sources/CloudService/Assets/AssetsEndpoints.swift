import CloudStore
import CloudWire
import Seams

extension CloudService {
    /// `assets/upload`: addresses to which files may be sent. Nothing is written.
    func assetsUpload(_ body: [UInt8], _ caller: ServiceCaller, _ address: AssetAddress) throws -> ServiceWork
    {
        guard let user = caller.assetUser else { throw ServiceError.authenticationRequired }
        let request = try AssetsUploadRequest(request: body)
        try limits.check(count: request.tokens.count, caller)
        let zone = try caller.key(of: request.zoneID)
        let secret = try assetSecret()
        let expires = clock.nowMilliseconds() + limits.assets.uploadMilliseconds
        let tokens = try request.tokens.map { token -> AssetsUploadResponse.Token in
            try ModifyBatch.checkName(token.fieldName, of: "fieldName", limits)
            if let name = token.recordName { try ModifyBatch.checkName(name, of: "recordName", limits) }
            if let type = token.recordType { try ModifyBatch.checkName(type, of: "recordType", limits) }
            var claims = AssetClaims(.upload, database: zone.database, expiresMilliseconds: expires)
            claims.zoneName = zone.zoneName
            // A name that is made here binds nobody: a record with two files gets two.
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

    /// `assets/rereference`: receipts for files that the caller can read, so that another record may hold them too.
    func assetsRereference(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.assetUser else { throw ServiceError.authenticationRequired }
        let request = try AssetsRereferenceRequest(request: body)
        try limits.check(count: request.assets.count, caller)
        let source = try caller.key(of: request.zoneID)
        let target = try caller.key(of: request.targetZoneID ?? request.zoneID)
        let secret = try assetSecret()
        return .read { reader in
            var wanted = StoreLoad()
            wanted.bytesMax = self.limits.answerBytesMax
            wanted.records = Set(request.assets.map(\.recordName)).sorted()
                .map { RecordKey(zone: source, recordName: $0) }
            let loaded = try reader.load(wanted)
            guard !loaded.isCutShort else {
                throw ServiceError.limitExceeded("the records are too large together")
            }
            let schema = try self.schema(in: reader)
            let access = try self.access(of: caller, schema: schema, in: reader)
            let results = try request.assets.map { item -> AssetsRereferenceResponse.Result in
                let row = loaded.records[RecordKey(zone: source, recordName: item.recordName)]
                // Who may not read it isn't told that it is there, as by a lookup.
                guard let row, !row.isDeleted, access.permissions(row).contains(.read) else {
                    return .error(ServiceError.recordNotFound.named(item.recordName))
                }
                guard case .asset(let kept) = (try? FieldsBinary.decode(row.fields))?[item.fieldName]?.value,
                    let file = StoredAsset(kept), (try? self.assetFiles.renew(file.digest)) == true
                else {
                    let error = ServiceError.badRequest("field '\(item.fieldName)' holds no file")
                    return .error(error.named(item.recordName))
                }
                var claims = self.receipt(for: file, in: target, user: user)
                claims.user = user
                var asset = file.told(in: target.database.scope)
                asset.receipt = try claims.signed(secret)
                return .asset(asset)
            }
            return .message(AssetsRereferenceResponse(assets: results))
        }
    }

    /// What an upload, or another record, is good for from now on.
    func receipt(for file: StoredAsset, in zone: ZoneKey, user: String) -> AssetClaims {
        var claims = AssetClaims(
            .receipt, database: zone.database,
            expiresMilliseconds: clock.nowMilliseconds() + limits.assets.receiptMilliseconds)
        claims.zoneName = zone.zoneName
        claims.user = user
        claims.file = file
        return claims
    }
}
