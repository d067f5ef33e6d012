import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// A class of operations with what its blocks say. What an app that sets both styles hears is what one hears that sets
/// the new one.
struct OperationCase: Sendable, CustomTestStringConvertible {
    var name: String
    /// What it asks first; nil when it asks nothing.
    var kind: RequestKind?
    var make: @Sendable (TwoDevices) throws -> CKOperation
    var new: [String]
    var old: [String]
    /// What the old style hears last when all of it fails, without the code.
    var oldFailure: String
    var hasNewStyle = true

    var testDescription: String { name }

    func says(_ style: BlockStyle) -> [String] { style == .old || !hasNewStyle ? old : new }

    /// What is heard when all of it fails.
    func failure(_ style: BlockStyle, _ code: Int) -> [String] {
        [style == .old || !hasNewStyle ? "\(oldFailure) \(code)" : "result \(code)", "completion"]
    }
}

/// Every class of operations over a zone `todos` with the records 1 and 2, a zone `other`, and
/// a subscription `all`.
enum OperationTable {
    static func fill(_ devices: TwoDevices) async throws {
        for name in ["1", "2"] { try await devices.phone.save(devices.record(name, title: "t" + name)) }
        try await devices.phone.save(CKRecordZone(zoneName: "other"))
        try await devices.phone.save(CKDatabaseSubscription(subscriptionID: "all"))
    }

    private static let nowhere = CKRecordZone.ID(zoneName: "nowhere")
    private static let other = CKRecordZone.ID(zoneName: "other")

    private static func save(_ names: [String], _ devices: TwoDevices) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(
            recordsToSave: names.map { devices.record($0, title: "new") },
            recordIDsToDelete: [devices.id("2")])
        operation.isAtomic = false
        return operation
    }

    private static func query() -> CKQueryOperation {
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(value: true))
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return CKQueryOperation(query: query)
    }

    /// Nothing goes wrong.
    static let successes: [OperationCase] = [
        OperationCase(
            name: "modify records", kind: .modifyRecords, make: { save(["4", "5"], $0) },
            new: [
                "progress 4 1.0", "save 4 0", "progress 5 1.0", "save 5 0", "delete 2 0", "result 0",
                "completion",
            ],
            old: [
                "progress 4 1.0", "old save 4 0", "progress 5 1.0", "old save 5 0", "delete 2 0",
                "old result 2 1 0",
                "completion",
            ], oldFailure: "old result 0 0"),
        OperationCase(
            name: "fetch records", kind: .fetchRecords,
            make: { CKFetchRecordsOperation(recordIDs: [$0.id("1"), $0.id("2")]) },
            new: ["progress 1 1.0", "record 1 0", "progress 2 1.0", "record 2 0", "result 0", "completion"],
            old: [
                "progress 1 1.0", "old record 1 true 0", "progress 2 1.0", "old record 2 true 0",
                "old result 2 0",
                "completion",
            ], oldFailure: "old result 0"),
        OperationCase(
            name: "query", kind: .queryRecords, make: { _ in query() },
            new: ["record 1 0", "record 2 0", "result 0", "completion"],
            old: ["old record 1", "old record 2", "old result false 0", "completion"],
            oldFailure: "old result false"),
        OperationCase(
            name: "zone changes", kind: .fetchRecordZoneChanges,
            make: { CKFetchRecordZoneChangesOperation(recordZoneIDs: [$0.zoneID]) },
            new: ["changed 1 0", "changed 2 0", "zone todos 0", "result 0", "completion"],
            old: [
                "old changed 1", "old changed 2", "old zone todos true false 0", "old result 0",
                "completion",
            ], oldFailure: "old result"),
        OperationCase(
            name: "database changes", kind: .fetchDatabaseChanges,
            make: { _ in CKFetchDatabaseChangesOperation(previousServerChangeToken: nil) },
            new: ["changed todos", "changed other", "result 0", "completion"],
            old: ["changed todos", "changed other", "old result true false 0", "completion"],
            oldFailure: "old result false false"),
        OperationCase(
            name: "modify zones", kind: .modifyRecordZones,
            make: { _ in
                CKModifyRecordZonesOperation(
                    recordZonesToSave: [CKRecordZone(zoneName: "b")], recordZoneIDsToDelete: [other])
            },
            new: ["save b 0", "delete other 0", "result 0", "completion"],
            old: ["old result 1 1 0", "completion"],
            oldFailure: "old result 0 0"),
        OperationCase(
            name: "fetch zones", kind: .fetchRecordZones,
            make: { CKFetchRecordZonesOperation(recordZoneIDs: [$0.zoneID, other]) },
            new: ["zone todos 0", "zone other 0", "result 0", "completion"],
            old: ["old result 2 0", "completion"],
            oldFailure: "old result 0"),
        OperationCase(
            name: "modify subscriptions", kind: .modifySubscriptions,
            make: { devices in
                CKModifySubscriptionsOperation(
                    subscriptionsToSave: [
                        CKRecordZoneSubscription(zoneID: devices.zoneID, subscriptionID: "z")
                    ],
                    subscriptionIDsToDelete: ["all"])
            },
            new: ["save z 0", "delete all 0", "result 0", "completion"],
            old: ["old result 1 1 0", "completion"],
            oldFailure: "old result 0 0"),
        OperationCase(
            name: "fetch subscriptions", kind: .fetchSubscriptions,
            make: { _ in CKFetchSubscriptionsOperation(subscriptionIDs: ["all"]) },
            new: ["subscription all 0", "result 0", "completion"], old: ["old result 1 0", "completion"],
            oldFailure: "old result 0"),
    ]

    /// One item goes wrong.
    static let partialFailures: [OperationCase] = [
        OperationCase(
            name: "modify records", kind: .modifyRecords, make: { save(["4", "1", "5"], $0) },
            new: [
                "progress 4 1.0", "save 4 0", "progress 1 1.0", "save 1 14", "progress 5 1.0", "save 5 0",
                "delete 2 0", "result 0", "completion",
            ],
            old: [
                "progress 4 1.0", "old save 4 0", "progress 1 1.0", "old save 1 14", "progress 5 1.0",
                "old save 5 0", "delete 2 0", "old result 2 1 2", "completion",
            ], oldFailure: ""),
        OperationCase(
            name: "fetch records", kind: .fetchRecords,
            make: { CKFetchRecordsOperation(recordIDs: [$0.id("1"), $0.id("9")]) },
            new: ["progress 1 1.0", "record 1 0", "progress 9 1.0", "record 9 11", "result 0", "completion"],
            old: [
                "progress 1 1.0", "old record 1 true 0", "progress 9 1.0", "old record 9 false 11",
                "old result 1 2",
                "completion",
            ], oldFailure: ""),
        OperationCase(
            name: "zone changes", kind: .fetchRecordZoneChanges,
            make: { CKFetchRecordZoneChangesOperation(recordZoneIDs: [$0.zoneID, nowhere]) },
            new: [
                "changed 1 0", "changed 2 0", "zone todos 0", "zone nowhere 26", "result 0", "completion",
            ],
            old: [
                "old changed 1", "old changed 2", "old zone todos true false 0",
                "old zone nowhere false false 26", "old result 2", "completion",
            ], oldFailure: ""),
        OperationCase(
            name: "modify zones", kind: .modifyRecordZones,
            make: { _ in
                CKModifyRecordZonesOperation(
                    recordZonesToSave: [CKRecordZone(zoneName: "b")], recordZoneIDsToDelete: [.default])
            },
            new: ["save b 0", "delete _defaultZone 12", "result 0", "completion"],
            old: ["old result 1 0 2", "completion"], oldFailure: ""),
        OperationCase(
            name: "fetch zones", kind: .fetchRecordZones,
            make: { CKFetchRecordZonesOperation(recordZoneIDs: [nowhere, $0.zoneID]) },
            new: ["zone nowhere 26", "zone todos 0", "result 0", "completion"],
            old: ["old result 1 2", "completion"],
            oldFailure: ""),
        OperationCase(
            name: "modify subscriptions", kind: .modifySubscriptions,
            make: { _ in
                CKModifySubscriptionsOperation(
                    subscriptionsToSave: [CKRecordZoneSubscription(zoneID: nowhere, subscriptionID: "z")],
                    subscriptionIDsToDelete: ["all"])
            },
            new: ["save z 26", "delete all 0", "result 0", "completion"],
            old: ["old result 0 1 2", "completion"],
            oldFailure: ""),
        OperationCase(
            name: "fetch subscriptions", kind: .fetchSubscriptions,
            make: { _ in CKFetchSubscriptionsOperation(subscriptionIDs: ["none", "all"]) },
            new: ["subscription none 11", "subscription all 0", "result 0", "completion"],
            old: ["old result 1 2", "completion"], oldFailure: ""),
    ]

    /// Classes without a database, and those of older systems.
    static let others: [OperationCase] = [
        OperationCase(
            name: "discover", kind: nil,
            make: { _ in
                CKDiscoverUserIdentitiesOperation(
                    userIdentityLookupInfos: [CKUserIdentity.LookupInfo(emailAddress: "a@example.com")])
            }, new: ["result 0", "completion"], old: ["old result 0", "completion"], oldFailure: "old result"),
        OperationCase(
            name: "discover all", kind: nil, make: { _ in CKDiscoverAllUserIdentitiesOperation() },
            new: ["result 0", "completion"], old: ["old result 0", "completion"], oldFailure: "old result"),
        OperationCase(
            name: "web auth token", kind: nil, make: { _ in CKFetchWebAuthTokenOperation(apiToken: "key") },
            new: ["result 0", "completion"], old: ["old result true 0", "completion"],
            oldFailure: "old result false"),
        OperationCase(
            name: "record changes", kind: .fetchRecordZoneChanges, make: { older.recordChanges($0.zoneID) },
            new: [],
            old: ["old changed 1", "old changed 2", "old result true 0", "completion"],
            oldFailure: "old result false", hasNewStyle: false),
        OperationCase(
            name: "notification changes", kind: nil, make: { _ in older.notificationChanges() }, new: [],
            old: ["old result true 0", "completion"], oldFailure: "old result false", hasNewStyle: false),
        OperationCase(
            name: "mark as read", kind: nil, make: { _ in older.markRead() }, new: [],
            old: ["old result 0 0", "completion"], oldFailure: "old result -1", hasNewStyle: false),
        OperationCase(
            name: "badge", kind: nil, make: { _ in older.badge() }, new: [],
            old: ["old result 0", "completion"],
            oldFailure: "old result", hasNewStyle: false),
    ]

    private static let older: any OlderOperations = DeprecatedOperations()
}

/// Through a protocol a deprecated class can be used without a warning.
private protocol OlderOperations: Sendable {
    func recordChanges(_ zoneID: CKRecordZone.ID) -> CKOperation
    func notificationChanges() -> CKOperation
    func markRead() -> CKOperation
    func badge() -> CKOperation
}

private struct DeprecatedOperations: OlderOperations {
    @available(*, deprecated) func recordChanges(_ zoneID: CKRecordZone.ID) -> CKOperation {
        CKFetchRecordChangesOperation(recordZoneID: zoneID, previousServerChangeToken: nil)
    }
    @available(*, deprecated) func notificationChanges() -> CKOperation {
        CKFetchNotificationChangesOperation(previousServerChangeToken: nil)
    }
    @available(*, deprecated) func markRead() -> CKOperation {
        CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [])
    }
    @available(*, deprecated) func badge() -> CKOperation { CKModifyBadgeOperation(badgeValue: 1) }
}
