import CloudStore
import CloudWire
import System

/// Signs addresses and receipts of files, and checks them when clients send them back.
struct AssetTickets: Sendable {
    /// Expiry times of downloads are rounded up to this, so that a record fetched again soon has the same
    /// address, which caches recognize.
    private static let expiryStepMilliseconds: Int64 = 3_600_000

    let secret: StoreSecret
    let clock: any TimeSource
    let files: any AssetStore
    let limits: AssetLimits

    /// Returns the claims of a ticket, or nil if this service hasn't issued it or it has expired. Must not be
    /// called in a transaction.
    func checked(_ ticket: String, for purpose: AssetClaims.Purpose) throws -> AssetClaims? {
        try AssetClaims.checked(
            ticket, for: purpose, secret: secret.value(), nowMilliseconds: clock.nowMilliseconds())
    }

    /// Returns the form of files in the response to a request: each has a download address that is valid for some
    /// hours.
    func form(for request: PreparedRequest) -> AssetForm? {
        guard let address = request.assets else { return nil }
        let step = Self.expiryStepMilliseconds
        let expires = (clock.nowMilliseconds() + limits.downloadMilliseconds + step - 1) / step * step
        return AssetForm { kept, zoneID in
            guard let file = StoredAsset(kept) else { return kept }
            let owner = zoneID?.ownerRecordName
            let database = owner.map { StoredDatabaseKey.privateDatabase(of: $0) } ?? .publicDatabase
            var told = file.told(in: database.scope)
            var claims = AssetClaims(.download, database: database, expiresMilliseconds: expires)
            claims.file = file
            // Without a secret, as on a full disk, the record has no download address.
            told.downloadURL = (try? claims.signed(secret.value())).map { address.download(file, $0) }
            return told
        }
    }

    /// Reads the receipts of a batch, and checks that their files exist. Must not be called in a transaction.
    func receipts(of batch: ModifyBatch) throws -> AssetReceipts {
        var receipts = AssetReceipts()
        let texts = Set(
            batch.operations.flatMap { $0.record.fields.values.compactMap(\.value).flatMap(\.receipts) })
        guard !texts.isEmpty, let user = batch.caller.assetUser else { return receipts }
        let secret = try secret.value()
        let now = clock.nowMilliseconds()
        for text in texts {
            guard
                let claims = try AssetClaims.checked(
                    text, for: .receipt, secret: secret, nowMilliseconds: now),
                claims.user == user, let file = claims.file
            else { continue }
            receipts.claims[text] = claims
            if try files.open(file.digest) == nil { receipts.missing.insert(file.digest) }
        }
        return receipts
    }

    /// Returns the claims of a receipt for an upload, or for a file of another record.
    func receipt(for file: StoredAsset, in zone: ZoneKey, user: String) -> AssetClaims {
        var claims = AssetClaims(
            .receipt, database: zone.database,
            expiresMilliseconds: clock.nowMilliseconds() + limits.receiptMilliseconds)
        claims.zoneName = zone.zoneName
        claims.user = user
        claims.file = file
        return claims
    }
}
