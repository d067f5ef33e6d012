import CloudKit
import System

/// A page of a zone's changes, as an app fetches it.
package struct FetchedPage: Sendable {
    package var changed: [CKRecord] = []
    package var deleted: [CKRecord.ID] = []
    package var token: CKServerChangeToken?
    package var moreComing = false
    package var error: CKError?

    /// Fetches a page from a cloud that answers inline.
    package static func fetch(
        from database: CKDatabase, _ zoneID: CKRecordZone.ID, since token: CKServerChangeToken?
    ) -> FetchedPage {
        let page = Lock(FetchedPage(error: CKError(.serverResponseLost, "no answer")))
        fetch(from: database, zoneID, since: token) { fetched in page.withLock { $0 = fetched } }
        return page.withLock { $0 }
    }

    /// Fetches a page, and calls `completion` once.
    package static func fetch(
        from database: CKDatabase, _ zoneID: CKRecordZone.ID, since token: CKServerChangeToken?,
        completion: @escaping @Sendable (FetchedPage) -> Void
    ) {
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID],
            configurationsByRecordZoneID: [
                zoneID: CKFetchRecordZoneChangesOperation.ZoneConfiguration(previousServerChangeToken: token)
            ])
        operation.fetchAllChanges = false
        let page = Lock(FetchedPage(error: CKError(.serverResponseLost, "no answer")))
        operation.recordWasChangedBlock = { _, result in
            if case .success(let record) = result { page.withLock { $0.changed.append(record) } }
        }
        operation.recordWithIDWasDeletedBlock = { recordID, _ in
            page.withLock { $0.deleted.append(recordID) }
        }
        operation.recordZoneFetchResultBlock = { _, result in
            page.withLock { page in
                switch result {
                case .success(let end):
                    page.token = end.serverChangeToken
                    page.moreComing = end.moreComing
                    page.error = nil
                case .failure(let error): page.error = error as? CKError
                }
            }
        }
        operation.fetchRecordZoneChangesResultBlock = { result in
            if case .failure(let error) = result {
                page.withLock { page in
                    let isUnexplained = page.error == nil || page.error?.code == .serverResponseLost
                    if isUnexplained { page.error = error as? CKError }
                }
            }
            completion(page.withLock { $0 })
        }
        database.add(operation)
    }
}
