import CloudKit
import Foundation

/// Recipes and their ingredients, many at a time: the app's longer work, in operations.
final class Pantry: @unchecked Sendable {
    // Constants only, but for the queue, which locks for itself.

    let database: CKDatabase
    let zone: CKRecordZone
    /// A queue of the app's own, so that all of it can be held back.
    let queue = OperationQueue()

    init(container: CKContainer = .default(), zoneName: String = "pantry") {
        database = container.privateCloudDatabase
        zone = CKRecordZone(zoneName: zoneName)
        queue.maxConcurrentOperationCount = 1
    }

    func recordID(_ name: String) -> CKRecordID { CKRecordID(recordName: name, zoneID: zone.zoneID) }

    func recipe(_ name: String, title: String) -> CKRecord {
        let record = CKRecord(recordType: "recipe", recordID: recordID(name))
        record["title"] = title
        return record
    }

    /// An ingredient points at its recipe, and goes with it.
    func ingredient(_ name: String, of recipe: CKRecord) -> CKRecord {
        let record = CKRecord(recordType: "ingredient", recordID: recordID(name))
        record["name"] = name
        record["recipe"] = CKReference(record: recipe, action: .deleteSelf)
        return record
    }

    // MARK: On a queue of one's own

    /// Fetches a record, and saves it once `change` has changed it: the second waits for the first.
    func change(
        _ name: String, _ change: @escaping @Sendable (CKRecord) -> Void,
        completion: @escaping @Sendable (Error?) -> Void
    ) {
        let fetch = CKFetchRecordsOperation(recordIDs: [recordID(name)])
        let save = CKModifyRecordsOperation()
        fetch.database = database
        save.database = database
        fetch.qualityOfService = .userInitiated
        fetch.queuePriority = .veryHigh
        fetch.perRecordCompletionBlock = { record, _, _ in
            guard let record = record else { return }
            change(record)
            save.recordsToSave = [record]
        }
        save.modifyRecordsCompletionBlock = { _, _, error in completion(error) }
        save.addDependency(fetch)
        queue.addOperation(save)
        queue.addOperation(fetch)
    }

    func hold() { queue.isSuspended = true }
    func goOn() { queue.isSuspended = false }
    func cancelAll() { queue.cancelAllOperations() }

    // MARK: Batches

    /// Saves all or nothing, and tells of each record how far it is.
    func saveTogether(
        _ records: [CKRecord], progress: @escaping @Sendable (CKRecord, Double) -> Void,
        each: @escaping @Sendable (CKRecord, Error?) -> Void,
        completion: @escaping @Sendable ([CKRecord]?, Error?) -> Void
    ) {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: nil)
        operation.isAtomic = true
        operation.perRecordProgressBlock = progress
        operation.perRecordCompletionBlock = each
        operation.modifyRecordsCompletionBlock = { saved, _, error in completion(saved, error) }
        database.add(operation)
    }

    /// Saves what it can of `records`, as `policy` says.
    func save(
        _ records: [CKRecord], policy: CKRecordSavePolicy,
        completion: @escaping @Sendable ([CKRecord]?, Error?) -> Void
    ) {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: nil)
        operation.savePolicy = policy
        operation.isAtomic = false
        operation.modifyRecordsCompletionBlock = { saved, _, error in completion(saved, error) }
        database.add(operation)
    }

    /// Fetches only `keys` of some records.
    func peek(
        _ names: [String], keys: [String], progress: @escaping @Sendable (CKRecordID, Double) -> Void,
        completion: @escaping @Sendable ([CKRecordID: CKRecord]?, Error?) -> Void
    ) {
        let operation = CKFetchRecordsOperation(recordIDs: names.map(recordID))
        operation.desiredKeys = keys
        operation.perRecordProgressBlock = progress
        operation.fetchRecordsCompletionBlock = completion
        database.add(operation)
    }

    // MARK: Children

    /// Finds the ingredients that point at a recipe, page by page.
    func ingredients(
        ofRecipe name: String, pageSize: Int, found: @escaping @Sendable (CKRecord) -> Void,
        completion: @escaping @Sendable (Error?) -> Void
    ) {
        let owner = CKReference(recordID: recordID(name), action: .deleteSelf)
        let query = CKQuery(recordType: "ingredient", predicate: NSPredicate(format: "recipe = %@", owner))
        query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        run(CKQueryOperation(query: query), pageSize, found, completion)
    }

    private func run(
        _ operation: CKQueryOperation, _ pageSize: Int, _ found: @escaping @Sendable (CKRecord) -> Void,
        _ completion: @escaping @Sendable (Error?) -> Void
    ) {
        operation.zoneID = zone.zoneID
        operation.resultsLimit = pageSize
        operation.recordFetchedBlock = found
        operation.queryCompletionBlock = { cursor, error in
            guard let cursor = cursor else { return completion(error) }
            self.run(CKQueryOperation(cursor: cursor), pageSize, found, completion)
        }
        database.add(operation)
    }

    // MARK: Changes

    /// Fetches what changed in the zone since `token`, as apps did before one operation fetched several zones.
    func changes(
        since token: CKServerChangeToken?, changed: @escaping @Sendable (CKRecord) -> Void,
        deleted: @escaping @Sendable (CKRecordID) -> Void,
        completion: @escaping @Sendable (CKServerChangeToken?, Error?) -> Void
    ) {
        let operation = CKFetchRecordChangesOperation(
            recordZoneID: zone.zoneID, previousServerChangeToken: token)
        operation.recordChangedBlock = changed
        operation.recordWithIDWasDeletedBlock = deleted
        operation.fetchRecordChangesCompletionBlock = { [unowned operation] newToken, _, error in
            if error == nil, operation.moreComing {
                self.changes(since: newToken, changed: changed, deleted: deleted, completion: completion)
            } else {
                completion(newToken, error)
            }
        }
        database.add(operation)
    }

    /// Asks to be told when anything in the zone changes.
    func followZone(completion: @escaping @Sendable (Error?) -> Void) {
        let subscription = CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "pantry-zone")
        let info = CKNotificationInfo()
        info.alertBody = "The pantry changed"
        info.soundName = "default"
        info.shouldBadge = true
        subscription.notificationInfo = info
        database.save(subscription) { _, error in completion(error) }
    }

    /// Asks to be told when anything in the database changes.
    func followDatabase(completion: @escaping @Sendable (Error?) -> Void) {
        let subscription = CKDatabaseSubscription(subscriptionID: "pantry-all")
        let info = CKNotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [subscription], subscriptionIDsToDelete: nil)
        operation.modifySubscriptionsCompletionBlock = { _, _, error in completion(error) }
        database.add(operation)
    }

    // MARK: Zones and subscriptions there are

    func zones(completion: @escaping @Sendable ([CKRecordZoneID]) -> Void) {
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        operation.fetchRecordZonesCompletionBlock = { zones, _ in
            completion((zones ?? [:]).keys.sorted { $0.zoneName < $1.zoneName })
        }
        database.add(operation)
    }

    func subscriptions(completion: @escaping @Sendable ([String]) -> Void) {
        let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        operation.fetchSubscriptionCompletionBlock = { subscriptions, _ in
            completion((subscriptions ?? [:]).keys.sorted())
        }
        database.add(operation)
    }
}
