internal import CloudKit
internal import System
internal import Yap

extension SyncRunner {
    /// What follows from the page's checksum, decided in the transaction that applied the page.
    func verdict(
        on page: SyncPage, _ ext: YapDatabaseCloudKitTransaction, _ key: DatabaseKey
    ) throws -> ZoneVerdict {
        guard let comparison = ext.comparison else { return .nothing }
        return try ext.settle(comparison, page.zoneID, key, now: environment.clock.nowMilliseconds())
    }

    /// Says that a zone differs: to the app, and in what `yap sync inspect` shows.
    func tell(_ verdict: ZoneVerdict, of zoneID: CKRecordZone.ID, _ key: DatabaseKey) {
        let text: String
        switch verdict {
        case .nothing: return
        case .fetchesAnew(let difference):
            text = "zone \(zoneID.zoneName): \(difference); it is fetched anew"
        case .stillDiffers(let difference):
            text =
                "zone \(zoneID.zoneName): \(difference), also after it was fetched anew; it is tried again later"
        }
        let error = CKError.saying(.internalError, text)
        keep(error, key)
        environment.errorBlock(key.identifier, error)
    }
}

extension ZoneVerdict {
    var isFetchedAnew: Bool { if case .fetchesAnew = self { true } else { false } }
}
