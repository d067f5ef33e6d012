import CloudKit
import Foundation

/// The same in calls that make their operations themselves, and in Swift's own concurrency.
struct RecipeDesk: Sendable {
    let container: CKContainer
    let zoneID: CKRecordZone.ID

    init(container: CKContainer = .default(), zoneName: String = "recipes") {
        self.container = container
        zoneID = CKRecordZone.ID(zoneName: zoneName, ownerName: CKCurrentUserDefaultName)
    }

    private var database: CKDatabase { container.database(with: .private) }

    // MARK: With completion handlers

    func title(of name: String, completion: @escaping @Sendable (String?, Error?) -> Void) {
        database.fetch(withRecordID: CKRecord.ID(recordName: name, zoneID: zoneID)) { record, error in
            completion(record?["title"], error)
        }
    }

    func rename(_ name: String, to title: String, completion: @escaping @Sendable (Error?) -> Void) {
        database.fetch(withRecordID: CKRecord.ID(recordName: name, zoneID: zoneID)) { record, error in
            guard let record = record else { return completion(error) }
            record["title"] = title
            database.save(record) { _, error in completion(error) }
        }
    }

    func discard(_ name: String, completion: @escaping @Sendable (CKRecord.ID?, Error?) -> Void) {
        let recordID = CKRecord.ID(recordName: name, zoneID: zoneID)
        database.delete(withRecordID: recordID, completionHandler: completion)
    }

    /// The recipes that everybody may read: the public database has one zone only.
    func published(completion: @escaping @Sendable ([CKRecord]?, Error?) -> Void) {
        let query = CKQuery(recordType: "recipe", predicate: NSPredicate(value: true))
        container.publicCloudDatabase.perform(
            query, inZoneWith: CKRecordZone.default().zoneID, completionHandler: completion)
    }

    func publish(_ title: String, completion: @escaping @Sendable (CKRecord?, Error?) -> Void) {
        let record = CKRecord(recordType: "recipe")
        record.setObject(title as NSString, forKey: "title")
        container.publicCloudDatabase.save(record, completionHandler: completion)
    }

    // MARK: With async and await

    func prepare() async throws {
        try await database.save(CKRecordZone(zoneID: zoneID))
        let subscription = CKDatabaseSubscription(subscriptionID: "desk")
        subscription.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
        try await database.save(subscription)
    }

    func add(_ titles: [String: String]) async throws -> [CKRecord] {
        let records = titles.sorted { $0.key < $1.key }.map { name, title in
            let record = CKRecord(
                recordType: "recipe", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
            record["title"] = title
            return record
        }
        let (saved, _) = try await database.modifyRecords(saving: records, deleting: [])
        return try records.compactMap { try saved[$0.recordID]?.get() }
    }

    /// The titles that begin with `start`, in order.
    func titles(beginning start: String) async throws -> [String] {
        let query = CKQuery(
            recordType: "recipe", predicate: NSPredicate(format: "title BEGINSWITH %@", start))
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        var (matches, cursor) = try await database.records(
            matching: query, inZoneWith: zoneID, desiredKeys: ["title"], resultsLimit: 2)
        while let next = cursor {
            let page = try await database.records(continuingMatchFrom: next, resultsLimit: 2)
            matches += page.matchResults
            cursor = page.queryCursor
        }
        return matches.compactMap { try? $0.1.get()["title"] }
    }

    /// Everything that changed since `token`, and the token to go on from.
    func changes(since token: CKServerChangeToken?) async throws -> (
        titles: [String], deleted: [String], token: CKServerChangeToken?
    ) {
        var (titles, deleted, token) = ([String](), [String](), token)
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            titles += page.modificationResultsByID.values.compactMap { try? $0.get().record["title"] }
            deleted += page.deletions.map(\.recordID.recordName)
            token = page.changeToken
            guard page.moreComing else { return (titles.sorted(), deleted, token) }
        }
    }
}
