import CloudKit
import CloudWire
import Foundation
import System
import Testing

@testable import CloudKit

/// What goes out to Apple's servers.
@Suite struct AppleRequestTests {
    /// Keys that Apple's reference, or its own client, has in the bodies of requests.
    private static let bodyKeys: [String: Set<String>] = [
        "records/modify": ["operations", "zoneID", "atomic", "desiredKeys", "numbersAsStrings"],
        "records/lookup": ["records", "zoneID", "desiredKeys", "numbersAsStrings"],
        "records/query": [
            "query", "zoneID", "zoneWide", "resultsLimit", "continuationMarker", "desiredKeys",
            "numbersAsStrings",
        ],
        "changes/zone": ["zones", "resultsLimit", "desiredKeys", "desiredRecordTypes", "reverse"],
        "changes/database": ["syncToken", "resultsLimit"], "zones/list": [], "zones/lookup": ["zones"],
        "zones/modify": ["operations"], "subscriptions/list": [], "subscriptions/lookup": ["subscriptions"],
        "subscriptions/modify": ["operations"], "users/caller": [], "users/discover": ["lookupInfos"],
        "assets/upload": ["zoneID", "tokens"],
    ]
    private static let recordKeys: Set = ["recordName", "recordType", "recordChangeTag", "fields", "parent"]
    private static let gets: Set = ["users/caller", "users/discover"]

    private func sent(_ body: (CKContainer) -> Void) -> [WireRequest] {
        let line = Line()
        body(
            appleContainer(
                line,
                account: FixedAccount(CloudCredential(webAuthToken: "u", apiToken: "a", deviceID: "d")),
                timers: line.timers))
        return line.requests.all
    }

    private var record: CKRecord {
        let record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "1", zoneID: zoneID))
        record["title"] = "milk"
        record["count"] = 3
        record.encryptedValues["note"] = "secret"
        record.setParent(CKRecord.ID(recordName: "list", zoneID: zoneID))
        return record
    }
    private let zoneID = CKRecordZone.ID(zoneName: "todos")

    /// An operation of each kind.
    private var operations: [CKDatabaseOperation] {
        var old = RecordState(recordType: "todo", recordID: CKRecord.ID(recordName: "2", zoneID: zoneID))
        old.changeTag = "e"
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "title = %@", "milk"))
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        let asked = CKQueryOperation(query: query)
        asked.resultsLimit = 10
        asked.desiredKeys = ["title"]
        let changes = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID])
        changes.configurationsByRecordZoneID = [
            zoneID: .init(
                previousServerChangeToken: CKServerChangeToken(token: "AQ=="), resultsLimit: 5,
                desiredKeys: [])
        ]
        let saved = CKModifyRecordsOperation(
            recordsToSave: [record, CKRecord(state: old)],
            recordIDsToDelete: [CKRecord.ID(recordName: "3", zoneID: zoneID)])
        let forced = CKModifyRecordsOperation(recordsToSave: [record])
        forced.savePolicy = .allKeys
        let fetched = CKFetchRecordsOperation(recordIDs: [record.recordID])
        fetched.desiredKeys = []
        return [
            saved, forced, fetched, asked, changes,
            CKFetchDatabaseChangesOperation(previousServerChangeToken: CKServerChangeToken(token: "AQ==")),
            CKModifyRecordZonesOperation(
                recordZonesToSave: [CKRecordZone(zoneID: zoneID)], recordZoneIDsToDelete: [.default]),
            CKFetchRecordZonesOperation(recordZoneIDs: [zoneID]),
            CKFetchRecordZonesOperation.fetchAllRecordZonesOperation(),
            CKModifySubscriptionsOperation(
                subscriptionsToSave: [CKRecordZoneSubscription(zoneID: zoneID)],
                subscriptionIDsToDelete: ["old"]),
            CKFetchSubscriptionsOperation(subscriptionIDs: ["a"]),
            CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation(),
        ]
    }

    @Test func ourExtraKeysAreNotSent() throws {
        var endpoints = Set<String>()
        let requests = sent { container in
            for operation in operations { container.privateCloudDatabase.add(operation) }
            container.fetchUserRecordID { _, _ in }
            container.add(CKDiscoverAllUserIdentitiesOperation())
            container.add(
                CKDiscoverUserIdentitiesOperation(
                    userIdentityLookupInfos: [CKUserIdentity.LookupInfo(emailAddress: "a@b.c")]))
        }
        // Apple's servers take a user's token once: the first is never answered, so no other goes out.
        #expect(requests.count == 1)
        let all = [
            requests,
            operations.flatMap { operation in sent { $0.privateCloudDatabase.add(operation) } },
            sent { $0.fetchUserRecordID { _, _ in } },
            sent { $0.add(CKDiscoverAllUserIdentitiesOperation()) },
            sent {
                $0.add(
                    CKDiscoverUserIdentitiesOperation(
                        userIdentityLookupInfos: [CKUserIdentity.LookupInfo(emailAddress: "a@b.c")]))
            },
        ].flatMap { $0 }
        for request in all {
            let endpoint = request.endpoint
            endpoints.insert(endpoint)
            let isOfUsers = endpoint.hasPrefix("users/")
            #expect(
                request.path
                    == "/database/1/iCloud.com.example.todo/development/\(isOfUsers ? "public" : "private")/\(endpoint)"
            )
            #expect(request.headers.map(\.name) == ["Content-Type"], "\(endpoint)")
            #expect(request.query.map(\.name) == ["ckAPIToken", "ckWebAuthToken", "clientId"])
            let isGet = Self.gets.contains(endpoint) && request.body.isEmpty
            #expect(request.method == (isGet ? "GET" : "POST"), "\(endpoint)")
            let known = try #require(Self.bodyKeys[endpoint], "\(endpoint)")
            let keys = try request.json().keys.sorted()
            #expect(known.isSuperset(of: keys), "\(endpoint): \(keys)")
            #expect(!request.wantsExtras)
        }
        #expect(endpoints == Set(Self.bodyKeys.keys).subtracting(["assets/upload"]))
    }

    @Test func aSaveIsWrittenAsApplesReferenceHasIt() throws {
        let requests = sent { $0.privateCloudDatabase.add(operations[0]) }
        let body = try #require(try requests.first?.json())
        #expect(body["atomic"] as? Bool == true)
        #expect((body["zoneID"] as? [String: Any])?["zoneName"] as? String == "todos")
        let written = try #require(body["operations"] as? [[String: Any]])
        #expect(written.map { $0["operationType"] as? String } == ["create", "update", "forceDelete"])
        let records = try written.map { try #require($0["record"] as? [String: Any]) }
        for record in records { #expect(Self.recordKeys.isSuperset(of: record.keys)) }
        #expect(records[1]["recordChangeTag"] as? String == "e" && records[0]["recordChangeTag"] == nil)
        #expect((records[0]["parent"] as? [String: Any])?["recordName"] as? String == "list")
        let fields = try #require(records[0]["fields"] as? [String: [String: Any]])
        #expect(fields["title"]?["value"] as? String == "milk" && fields["count"]?["value"] as? Int == 3)
        #expect(fields["note"]?["isEncrypted"] as? Bool == true)
        for field in fields.values {
            #expect(Set(["value", "type", "isEncrypted"]).isSuperset(of: field.keys))
        }
    }

    @Test func whatApplesServersDoNotHaveIsRefusedHere() async throws {
        let line = Line()
        let container = appleContainer(line, timers: line.timers)
        #expect(
            await codeThrown { try await container.requestApplicationPermission(.userDiscoverability) }
                == .serverRejectedRequest)
        #expect(line.requests.all.isEmpty)
    }

    // MARK: 200 items a request

    /// Answers each request with as many results as it has items.
    private final class Counting: Transport {
        let counts = Collected<Int>()

        func send(
            _ request: WireRequest, timeouts: RequestTimeouts,
            completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
        ) -> TransportCancel {
            let body = (try? request.json()) ?? [:]
            let list =
                ["operations", "records", "zones", "subscriptions", "lookupInfos"]
                .firstNonNil { body[$0] as? [Any] } ?? []
            counts.append(list.count)
            let (name, item) =
                switch request.endpoint {
                case "records/modify": ("records", #"{"recordName":"1","deleted":true}"#)
                case "records/lookup":
                    ("records", #"{"recordName":"1","serverErrorCode":"NOT_FOUND","reason":"gone"}"#)
                case "users/discover":
                    ("users", #"{"userRecordName":"_u","lookupInfo":{"emailAddress":"7@example.com"}}"#)
                case "zones/modify", "zones/lookup": ("zones", #"{"zoneID":{"zoneName":"z"}}"#)
                default: ("subscriptions", #"{"subscriptionID":"s","subscriptionType":"database"}"#)
                }
            let items = Array(repeating: item, count: list.count).joined(separator: ",")
            completion(.success(WireResponse(status: 200, body: Array(#"{"\#(name)":[\#(items)]}"#.utf8))))
            return {}
        }
    }

    @Test func noRequestHasMoreThan200Items() async throws {
        let transport = Counting()
        let container = appleContainer(transport)
        let database = container.privateCloudDatabase
        let ids = (0..<400).map { CKRecord.ID(recordName: "\($0)") }
        let saved = try await database.modifyRecords(saving: [], deleting: ids)
        #expect(saved.deleteResults.count == 400 && transport.counts.all == [200, 200])
        let looked = try await database.records(for: ids)
        #expect(looked.count == 400 && transport.counts.all.suffix(2) == [200, 200])

        let zones = (0..<201).map { CKRecordZone.ID(zoneName: "\($0)") }
        let deleted = try await database.modifyRecordZones(
            saving: [CKRecordZone(zoneName: "a")], deleting: zones)
        #expect(deleted.deleteResults.count == 201 && deleted.saveResults.count == 1)
        #expect(transport.counts.all.suffix(3) == [1, 200, 1])
        #expect(try await database.recordZones(for: zones).count == 201)
        #expect(transport.counts.all.suffix(2) == [200, 1])

        let subscriptions = (0..<250).map { "\($0)" }
        #expect(
            try await database.modifySubscriptions(saving: [], deleting: subscriptions).deleteResults.count
                == 250)
        #expect(try await database.subscriptions(for: subscriptions).count == 250)
        #expect(transport.counts.all.suffix(4) == [200, 50, 200, 50])

        let found = Collected<String?>()
        let discovery = CKDiscoverUserIdentitiesOperation(
            userIdentityLookupInfos: (0..<401).map { .init(emailAddress: "\($0)@example.com") })
        discovery.userIdentityDiscoveredBlock = { found.append($1.emailAddress) }
        discovery.discoverUserIdentitiesResultBlock = { found.append("end \($0.isSuccess)") }
        container.add(discovery)
        #expect(transport.counts.all.suffix(3) == [200, 200, 1])
        #expect(found.all.count == 402 && found.all.first == "7@example.com" && found.all.last == "end true")
    }

    @Test func anAtomicZoneThatIsTooLargeIsRefusedBeforeItIsSent() async throws {
        let transport = Counting()
        let database = appleContainer(transport).privateCloudDatabase
        let ids = (0..<201).map { CKRecord.ID(recordName: "\($0)", zoneID: zoneID) }
        let other = CKRecord.ID(recordName: "1")
        #expect(
            await codeThrown { try await database.modifyRecords(saving: [], deleting: [other] + ids) }
                == .limitExceeded)
        #expect(transport.counts.all.isEmpty)
        let each = try await database.modifyRecords(saving: [], deleting: ids, atomically: false)
        #expect(each.deleteResults.count == 201 && transport.counts.all == [200, 1])
        _ = try await database.modifyRecords(saving: [], deleting: Array(ids.prefix(200)))
        #expect(transport.counts.all == [200, 1, 200])
    }
}

extension Sequence {
    fileprivate func firstNonNil<T>(_ transform: (Element) -> T?) -> T? {
        for element in self { if let value = transform(element) { return value } }
        return nil
    }
}
