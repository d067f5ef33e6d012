// swift-format-ignore-file: NeverForceUnwrap

import CloudKit
import Foundation

// As an app of 2016 looks: one manager, Objective-C's names, NSError, nothing said of threads.

class BookmarkManager: NSObject {

    let container: CKContainer
    let privateDB: CKDatabase
    var bookmarks = [CKRecordID: CKRecord]()
    var lastError: NSError?
    private var cursor: CKQueryCursor?

    override init() {
        container = CKContainer.default()
        privateDB = container.privateCloudDatabase
        super.init()
    }

    func saveBookmark(title: String, url: String, rank: Int, completionHandler: @escaping (_ ok: Bool) -> ())
    {
        let record = CKRecord(recordType: "Bookmark", recordID: CKRecordID(recordName: UUID().uuidString))
        record["title"] = title as CKRecordValue?
        record["rank"] = rank as CKRecordValue
        record.setObject(url as CKRecordValue?, forKey: "url")
        record.setValue(["new", "unread"], forKey: "tags")
        privateDB.save(
            record,
            completionHandler: { (savedRecord, error) -> Void in
                if let error = error as NSError? {
                    self.lastError = error
                    completionHandler(false)
                    return
                }
                self.bookmarks[savedRecord!.recordID] = savedRecord
                completionHandler(true)
            })
    }

    func fetchFirst(_ count: Int, completionHandler: @escaping (_ titles: [String]) -> ()) {
        let predicate = NSPredicate(format: "rank > %d AND tags CONTAINS %@", 0, "unread")
        let query = CKQuery(recordType: "Bookmark", predicate: predicate)
        query.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: false)]
        start(CKQueryOperation(query: query), count, completionHandler)
    }

    /// Nil when there is no next page.
    func fetchNext(_ count: Int, completionHandler: @escaping (_ titles: [String]) -> ()) -> CKQueryOperation?
    {
        guard let cursor = cursor else { return nil }
        let operation = CKQueryOperation(cursor: cursor)
        start(operation, count, completionHandler)
        return operation
    }

    private func start(_ operation: CKQueryOperation, _ count: Int, _ done: @escaping ([String]) -> ()) {
        var titles = [String]()
        operation.resultsLimit = count
        operation.recordFetchedBlock = { (record: CKRecord!) in
            titles.append(record.object(forKey: "title") as! String)
        }
        operation.queryCompletionBlock = { [weak self] (cursor: CKQueryCursor?, error: Error?) in
            self?.cursor = cursor
            self?.lastError = error as NSError?
            done(titles)
        }
        privateDB.add(operation)
    }

    func subscribe(_ completionHandler: @escaping (NSError?) -> ()) {
        let subscription = CKQuerySubscription(
            recordType: "Bookmark", predicate: NSPredicate(format: "TRUEPREDICATE"),
            options: CKQuerySubscriptionOptions.firesOnRecordCreation)
        let info = CKNotificationInfo()
        info.alertLocalizationKey = "NEW_BOOKMARK"
        info.alertLocalizationArgs = ["title"]
        info.desiredKeys = ["title", "rank"]
        info.soundName = "default"
        subscription.notificationInfo = info
        privateDB.save(subscription) { (_, error) in completionHandler(error as NSError?) }
    }

    /// What the application delegate calls.
    func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) -> String? {
        let dict = userInfo as! [String: NSObject]
        let notification = CKNotification(fromRemoteNotificationDictionary: dict)
        if notification?.notificationType == CKNotificationType.query {
            let queryNotification = notification as! CKQueryNotification
            guard queryNotification.queryNotificationReason == .recordCreated else { return nil }
            return queryNotification.recordFields?["title"] as? String
        }
        return nil
    }

    /// Seconds to wait, or nil when the user has to do something.
    func retryDelay(_ error: NSError) -> Double? {
        switch CKErrorCode(rawValue: error.code)! {
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited:
            return error.userInfo[CKErrorRetryAfterKey] as? Double ?? 3.0
        case .notAuthenticated, .quotaExceeded:
            return nil
        default:
            return error.code == CKError.zoneBusy.rawValue ? 1 : nil
        }
    }
}
