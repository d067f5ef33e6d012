import Foundation

extension CKModifyRecordZonesOperation: LongLivedOperation {
    static let kind = "modifyRecordZones"

    func encodeInputs(with coder: NSCoder) {
        coder.encode(list: recordZonesToSave, forKey: "RecordZonesToSave")
        coder.encode(list: recordZoneIDsToDelete, forKey: "RecordZoneIDsToDelete")
    }

    func takeInputs(from coder: NSCoder) {
        recordZonesToSave = coder.list(of: CKRecordZone.self, forKey: "RecordZonesToSave")
        recordZoneIDsToDelete = coder.list(of: CKRecordZone.ID.self, forKey: "RecordZoneIDsToDelete")
    }
}

extension CKFetchRecordZonesOperation: LongLivedOperation {
    static let kind = "fetchRecordZones"

    func encodeInputs(with coder: NSCoder) { coder.encode(list: recordZoneIDs, forKey: "RecordZoneIDs") }

    func takeInputs(from coder: NSCoder) {
        recordZoneIDs = coder.list(of: CKRecordZone.ID.self, forKey: "RecordZoneIDs")
    }
}

extension CKModifySubscriptionsOperation: LongLivedOperation {
    static let kind = "modifySubscriptions"

    func encodeInputs(with coder: NSCoder) {
        coder.encode(list: subscriptionsToSave, forKey: "SubscriptionsToSave")
        coder.encode(strings: subscriptionIDsToDelete, forKey: "SubscriptionIDsToDelete")
    }

    func takeInputs(from coder: NSCoder) {
        let classes: [AnyClass] = [
            NSArray.self, CKQuerySubscription.self, CKRecordZoneSubscription.self,
            CKDatabaseSubscription.self,
        ]
        subscriptionsToSave =
            coder.object(ofAny: classes, forKey: "SubscriptionsToSave") as? [CKSubscription]
        subscriptionIDsToDelete = coder.strings(forKey: "SubscriptionIDsToDelete")
    }
}

extension CKFetchSubscriptionsOperation: LongLivedOperation {
    static let kind = "fetchSubscriptions"

    func encodeInputs(with coder: NSCoder) {
        coder.encode(strings: subscriptionIDs, forKey: "SubscriptionIDs")
    }

    func takeInputs(from coder: NSCoder) { subscriptionIDs = coder.strings(forKey: "SubscriptionIDs") }
}
