import CloudKit
import Foundation

/// Hears what other devices changed.
protocol RecipeCloudDelegate: AnyObject, Sendable {
    func recipeChanged(_ record: CKRecord)
    func recipeDeleted(_ recordID: CKRecordID)
}

/// The app's way to the cloud, in operations with completion blocks.
final class RecipeCloud: @unchecked Sendable {
    // Everything is set before the first call; the defaults lock for themselves.

    let container: CKContainer
    let zoneID: CKRecordZoneID
    let subscriptionID = "recipes-of-mine"
    weak var delegate: RecipeCloudDelegate?
    /// Whether a pull waits for the network, or says at once that there is none.
    var isPatient = true
    private let defaults: UserDefaults
    private let subscribedKey = "recipes.subscribed"
    private let tokenKey = "recipes.token"

    private var database: CKDatabase { container.privateCloudDatabase }

    init(container: CKContainer = CKContainer.default(), defaults: UserDefaults = .standard) {
        self.container = container
        self.defaults = defaults
        zoneID = CKRecordZone(zoneName: "recipes").zoneID
    }

    // MARK: What is made once

    func makeZone(completion: @escaping @Sendable (Error?) -> Void) {
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneID: zoneID)], recordZoneIDsToDelete: nil)
        operation.modifyRecordZonesCompletionBlock = { _, _, error in completion(error) }
        operation.qualityOfService = .utility
        database.add(operation)
    }

    func subscribe(completion: @escaping @Sendable (Error?) -> Void) {
        guard !defaults.bool(forKey: subscribedKey) else { return completion(nil) }
        let subscription = CKQuerySubscription(
            recordType: Recipe.recordType, predicate: NSPredicate(value: true),
            subscriptionID: subscriptionID,
            options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
        // Without a text, a sound or a badge the user sees nothing of it.
        let info = CKNotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [subscription], subscriptionIDsToDelete: [])
        operation.modifySubscriptionsCompletionBlock = { _, _, error in
            if error == nil { self.defaults.set(true, forKey: self.subscribedKey) }
            completion(error)
        }
        operation.qualityOfService = .utility
        database.add(operation)
    }

    // MARK: One record

    func load(_ name: String, completion: @escaping @Sendable (CKRecord?, Error?) -> Void) {
        let recordID = CKRecordID(recordName: name, zoneID: zoneID)
        let operation = CKFetchRecordsOperation(recordIDs: [recordID])
        operation.fetchRecordsCompletionBlock = { records, error in
            if let record = records?[recordID] {
                completion(record, nil)
            } else {
                completion(nil, error ?? CKError(.unknownItem))
            }
        }
        operation.qualityOfService = .utility
        database.add(operation)
    }

    /// Saves `record`; the first one makes the zone, and asks to be told of other devices.
    func store(_ record: CKRecord, completion: @escaping @Sendable (Error?) -> Void) {
        let operation = CKModifyRecordsOperation(recordsToSave: [record], recordIDsToDelete: [])
        operation.modifyRecordsCompletionBlock = { _, _, error in
            guard let error = error else { return self.subscribe { _ in completion(nil) } }
            guard let problem = error as? CKError, problem.isZoneMissing else { return completion(error) }
            self.makeZone { error in
                if let error = error { return completion(error) }
                self.store(record, completion: completion)
            }
        }
        operation.qualityOfService = .utility
        database.add(operation)
    }

    func remove(_ name: String, completion: @escaping @Sendable (Error?) -> Void) {
        database.delete(withRecordID: CKRecordID(recordName: name, zoneID: zoneID)) { _, error in
            completion(error)
        }
    }

    // MARK: What other devices did

    /// The place up to which this device knows the zone.
    var token: CKServerChangeToken? {
        get {
            guard let data = defaults.data(forKey: tokenKey) else { return nil }
            return NSKeyedUnarchiver.unarchiveObject(with: data) as? CKServerChangeToken
        }
        set {
            let data = newValue.map { NSKeyedArchiver.archivedData(withRootObject: $0) }
            defaults.set(data, forKey: tokenKey)
        }
    }

    func pull(completion: @escaping @Sendable (Error?) -> Void) {
        let options = CKFetchRecordZoneChangesOptions()
        options.previousServerChangeToken = token
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], optionsByRecordZoneID: [zoneID: options])
        operation.fetchAllChanges = true
        operation.recordChangedBlock = { record in self.delegate?.recipeChanged(record) }
        operation.recordWithIDWasDeletedBlock = { recordID, _ in self.delegate?.recipeDeleted(recordID) }
        operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in
            if let token = token { self.token = token }
        }
        operation.recordZoneFetchCompletionBlock = { _, token, _, _, error in
            if error == nil, let token = token { self.token = token }
        }
        operation.fetchRecordZoneChangesCompletionBlock = { error in
            if let problem = error as? CKError, problem.involves(.changeTokenExpired) {
                self.token = nil
                return self.pull(completion: completion)
            }
            completion(error)
        }
        operation.qualityOfService = isPatient ? .utility : .userInitiated
        database.add(operation)
    }

    /// Takes a push as the application delegate gets it.
    /// - Returns: Whether it was one of ours.
    func receive(
        _ userInfo: [AnyHashable: Any], completion: @escaping @Sendable (Error?) -> Void
    ) -> Bool {
        guard let push = CKNotification(fromRemoteNotificationDictionary: userInfo),
            push.subscriptionID == subscriptionID
        else { return false }
        pull(completion: completion)
        return true
    }
}
