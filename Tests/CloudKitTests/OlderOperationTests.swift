import CloudKit
import CloudKitAdditions
import CloudKitTesting
import Foundation
import Testing

/// Operations of older systems. Who uses them is warned, and they work.
@Suite struct OlderOperationTests {
    private let older: any OlderCalls = DeprecatedCalls()

    @Test(arguments: Cloud.allCases) func aZonesChangesAreFetchedPageByPage(way: Cloud) async throws {
        try await older.zoneChanges(way)
    }

    @Test func aMissingZoneIsTheOperationsError() async throws { try await older.missingZone() }

    @Test func theCollectionHasAllNotificationsAndWhichAreRead() async throws {
        try await older.collection()
    }

    @Test func whatWasSetOnTheOperationItselfIsInItsConfiguration() { older.configuration() }
    @Test func aBadgeIsSetWithoutARequest() { older.badge() }
}

@Suite struct WebAuthTokenTests {
    @available(*, deprecated) @Test func aWebAuthTokenIsTheSessionsAndNeedsAnAPIToken() {
        let cloud = TestCloud()
        let tokens = Collected<String?>()
        let codes = Collected<CKError.Code?>()
        for apiToken in ["key", ""] {
            let operation = CKFetchWebAuthTokenOperation(apiToken: apiToken)
            operation.fetchWebAuthTokenCompletionBlock = { token, error in
                tokens.append(token)
                codes.append((error as? CKError)?.code)
            }
            cloud.device(user: "ada").container.privateCloudDatabase.add(operation)
        }
        #expect(tokens.all == [cloud.token(of: "ada"), nil] && codes.all == [nil, .invalidArguments])
    }
}

/// Through a protocol a deprecated method can be called without a warning.
private protocol OlderCalls: Sendable {
    func zoneChanges(_ way: Cloud) async throws
    func missingZone() async throws
    func collection() async throws
    func configuration()
    func badge()
}

private struct DeprecatedCalls: OlderCalls {
    @available(*, deprecated) func zoneChanges(_ way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let records = (0..<5).map { devices.record("\($0)", title: "t\($0)") }
        _ = try await devices.phone.modifyRecords(saving: records, deleting: [])
        try await devices.phone.deleteRecord(withID: devices.id("4"))
        var token: CKServerChangeToken?
        let names = Collected<String>()
        var pages = 0
        while true {
            let operation = CKFetchRecordChangesOperation(
                recordZoneID: devices.zoneID, previousServerChangeToken: token)
            operation.resultsLimit = 2
            operation.recordChangedBlock = { names.append($0.recordID.recordName) }
            operation.recordWithIDWasDeletedBlock = { names.append("-" + $0.recordName) }
            let end = Collected<CKServerChangeToken?>()
            operation.fetchRecordChangesCompletionBlock = { token, data, error in
                #expect(error == nil && data == nil)
                end.append(token)
            }
            devices.laptop.add(operation)
            token = try #require(end.all.first ?? nil)
            pages += 1
            if operation.moreComing { continue }
            guard !names.all.contains("-0") else { break }
            #expect(Set(names.all) == ["0", "1", "2", "3"] && pages >= 2)
            try await devices.phone.deleteRecord(withID: devices.id("0"))
        }
        #expect(names.all.last == "-0" && names.all.count == 5)
        // The newer operation goes on from the same token.
        let rest = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: token)
        #expect(rest.modificationResultsByID.isEmpty && rest.deletions.isEmpty)
    }

    @available(*, deprecated) func missingZone() async throws {
        let devices = try await TwoDevices()
        let operation = CKFetchRecordChangesOperation(
            recordZoneID: CKRecordZone.ID(zoneName: "none"), previousServerChangeToken: nil)
        let codes = Collected<CKError.Code?>()
        operation.fetchRecordChangesCompletionBlock = { codes.append(($2 as? CKError)?.code) }
        devices.laptop.add(operation)
        #expect(codes.all == [.zoneNotFound])
    }

    @available(*, deprecated) func collection() async throws {
        let devices = try await TwoDevices(TestCloud(execution: .threads))
        let watcher = devices.cloud.device(user: "ada").container
        try await devices.phone.save(devices.record("first", title: "x"))
        let subscription = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(value: true), subscriptionID: "all")
        try await watcher.privateCloudDatabase.save(subscription)
        var events = watcher.notifications().makeAsyncIterator()
        _ = await events.next()
        try await devices.phone.save(devices.record("second", title: "y"))
        _ = await events.next()

        let first = try await collection(watcher, since: nil)
        #expect(first.notifications.map(\.notificationType) == [.query] && !first.moreComing)
        let name = try #require(first.notifications.first?.notificationID)
        let marked = try await withCheckedThrowingContinuation { continuation in
            let operation = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [name])
            operation.markNotificationsReadCompletionBlock = { names, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(names))
            }
            watcher.add(operation)
        }
        #expect(marked == [name])
        let second = try await collection(watcher, since: first.token)
        #expect(second.notifications.map(\.notificationType) == [.readNotification])
        #expect(second.notifications.first?.notificationID == name)
    }

    private struct Page: Sendable {
        var notifications: [CKNotification]
        var token: CKServerChangeToken?
        var moreComing: Bool
    }

    @available(*, deprecated) private func collection(
        _ container: CKContainer, since token: CKServerChangeToken?
    ) async throws -> Page {
        try await withCheckedThrowingContinuation { continuation in
            let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
            let found = Collected<CKNotification>()
            operation.notificationChangedBlock = { found.append($0) }
            operation.fetchNotificationChangesCompletionBlock = { [unowned operation] token, error in
                let page = Page(notifications: found.all, token: token, moreComing: operation.moreComing)
                continuation.resume(with: error.map { .failure($0) } ?? .success(page))
            }
            container.add(operation)
        }
    }

    @available(*, deprecated) func configuration() {
        let operation = CKFetchRecordsOperation(recordIDs: [])
        operation.allowsCellularAccess = false
        operation.timeoutIntervalForRequest = 9
        operation.timeoutIntervalForResource = 90
        operation.isLongLived = true
        #expect(!operation.configuration.allowsCellularAccess && operation.configuration.isLongLived)
        #expect(
            operation.configuration.timeoutIntervalForRequest == 9
                && operation.timeoutIntervalForResource == 90)
        let container = TestCloud().device(user: "ada").container
        operation.container = container
        #expect(operation.configuration.container === container)
    }

    @available(*, deprecated) func badge() {
        let cloud = TestCloud()
        let ended = Collected<Bool>()
        let operation = CKModifyBadgeOperation(badgeValue: 3)
        operation.modifyBadgeCompletionBlock = { ended.append($0 == nil) }
        cloud.device(user: "ada").container.add(operation)
        #expect(ended.all == [true] && cloud.requestCount() == 0)
    }
}
