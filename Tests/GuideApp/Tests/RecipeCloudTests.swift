import CloudKit
import CloudKitAdditions
import CloudKitTesting
import Foundation
import Testing

/// The app's lower half: zone, subscription, record, changes, pushes.
@Suite struct RecipeCloudTests {
    private let home: Home

    init() throws { home = try Home() }

    private func record(_ cloud: RecipeCloud, _ name: String, title: String) -> CKRecord {
        let record = CKRecord(
            recordType: "recipe", recordID: CKRecordID(recordName: name, zoneID: cloud.zoneID))
        record["title"] = title
        return record
    }

    @Test func theDefaultContainersAreTheUsersDatabases() throws {
        let cloud = try home.recipes(home.phone)
        #expect(cloud.container === home.phone.container)
        #expect(cloud.container.privateCloudDatabase.databaseScope == CKDatabaseScope.private)
        #expect(cloud.container.publicCloudDatabase.databaseScope == .public)
        #expect(cloud.container.sharedCloudDatabase.databaseScope == .shared)
        #expect(cloud.container.database(with: .shared) === cloud.container.sharedCloudDatabase)
        let other = home.phone.asDefault { CKContainer(identifier: "iCloud.com.example.other") }
        #expect(other.containerIdentifier == "iCloud.com.example.other" && other !== cloud.container)
    }

    @Test func theFirstSaveCreatesTheZoneAndSubscribesOnce() async throws {
        let phone = try home.recipes(home.phone)
        #expect(phone.zoneID == CKRecordZoneID(zoneName: "recipes", ownerName: CKOwnerDefaultName))
        #expect(await outcome { phone.store(record(phone, "soup", title: "Soup"), completion: $0) } == nil)
        #expect(await outcome { phone.store(record(phone, "rice", title: "Rice"), completion: $0) } == nil)
        #expect(home.cloud.requestCount(.modifyRecordZones) == 1)
        #expect(home.cloud.requestCount(.modifySubscriptions) == 1)
        let kept = try await home.laptop.container.privateCloudDatabase.subscription(for: "recipes-of-mine")
        let query = try #require(kept as? CKQuerySubscription)
        #expect(query.recordType == "recipe" && query.notificationInfo?.shouldSendContentAvailable == true)
        #expect(
            query.querySubscriptionOptions == [
                .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
            ])
        #expect(query.notificationInfo?.shouldBadge == false && query.notificationInfo?.soundName == nil)
    }

    @Test func aZoneThatCanNotBeMadeIsTheSavesError() async throws {
        let phone = try home.recipes(home.phone)
        home.cloud.fail(.modifyRecordZones, with: .quotaExceeded)
        let error = await outcome { phone.store(record(phone, "soup", title: "Soup"), completion: $0) }
        #expect(error?.code == .quotaExceeded || error?.involves(.quotaExceeded) == true)
        #expect(home.cloud.requestCount(.modifyRecords) == 1)
    }

    @Test func aRecordComesByItsName() async throws {
        let (phone, laptop) = (try home.recipes(home.phone), try home.recipes(home.laptop))
        let zoneless: CKError? = await heard { done in laptop.load("soup") { done($1 as? CKError) } }
        #expect(zoneless?.isMissing == true && zoneless?.isZoneMissing == true)
        #expect(zoneless?.code == .partialFailure, "the older block gets the whole operation's error")
        _ = await outcome { phone.store(record(phone, "soup", title: "Soup"), completion: $0) }
        let title: String? = await heard { done in
            laptop.load("soup") { record, _ in done(record?["title"] as? String) }
        }
        #expect(title == "Soup")
        let missing: CKError? = await heard { done in laptop.load("cake") { done($1 as? CKError) } }
        #expect(missing?.isMissing == true && missing?.isZoneMissing == false)
        #expect(missing?.involves(.unknownItem) == true)
    }

    @Test func aPullBringsWhatChangedSinceTheLastOne() async throws {
        let (phone, laptop) = (try home.recipes(home.phone), try home.recipes(home.laptop))
        let listener = Listener()
        laptop.delegate = listener
        for name in ["soup", "rice"] {
            _ = await outcome { phone.store(record(phone, name, title: name), completion: $0) }
        }
        #expect(laptop.token == nil)
        #expect(await outcome { laptop.pull(completion: $0) } == nil)
        #expect(listener.heard.all.sorted() == ["rice", "soup"])
        let first = try #require(laptop.token)
        #expect(await outcome { laptop.pull(completion: $0) } == nil)
        #expect(listener.heard.all.count == 2, "nothing new")
        #expect(await outcome { phone.remove("rice", completion: $0) } == nil)
        #expect(await outcome { laptop.pull(completion: $0) } == nil)
        #expect(listener.heard.all.last == "-rice")
        #expect(laptop.token != first, "the token that was kept is a newer one")
    }

    @Test func aPullOfManyPagesKeepsATokenAfterEach() async throws {
        let (phone, laptop) = (try home.recipes(home.phone), try home.recipes(home.laptop))
        let listener = Listener()
        laptop.delegate = listener
        #expect(await outcome { phone.makeZone(completion: $0) } == nil)
        for batch in 0..<3 {
            let records = (0..<150).map { record(phone, "\(batch) \($0)", title: "x") }
            _ = try await phone.container.privateCloudDatabase.modifyRecords(saving: records, deleting: [])
        }
        // The second page is lost on its way.
        home.cloud.loseReplies(.fetchRecordZoneChanges, after: 1)
        laptop.isPatient = false
        let error = await outcome { laptop.pull(completion: $0) }
        let first = listener.heard.all.count
        #expect(error != nil && first > 0 && first < 450 && laptop.token != nil)
        #expect(await outcome { laptop.pull(completion: $0) } == nil)
        #expect(listener.heard.all.count == 450, "it goes on where the last page ended")
    }

    @Test func aTokenThatIsTooOldBeginsAnew() async throws {
        let (phone, laptop) = (try home.recipes(home.phone), try home.recipes(home.laptop))
        let listener = Listener()
        laptop.delegate = listener
        _ = await outcome { phone.store(record(phone, "soup", title: "Soup"), completion: $0) }
        _ = await outcome { laptop.pull(completion: $0) }
        home.cloud.fail(.fetchRecordZoneChanges, with: .changeTokenExpired)
        #expect(await outcome { laptop.pull(completion: $0) } == nil)
        #expect(listener.heard.all == ["soup", "soup"])
    }

    @Test func aPushOfOursPullsAndAnotherDoesNot() async throws {
        let (phone, laptop) = (try home.recipes(home.phone), try home.recipes(home.laptop))
        let listener = Listener()
        laptop.delegate = listener
        _ = await outcome { phone.store(record(phone, "soup", title: "Soup"), completion: $0) }
        func push(_ subscription: String) -> [AnyHashable: Any] {
            [
                "aps": ["content-available": 1],
                "ck": [
                    "cid": "iCloud.yap.test", "nid": "1", "ce": 2,
                    "qry": [
                        "sid": subscription, "rid": "soup", "zid": "recipes", "zoid": "_ada", "fo": 1,
                        "dbs": 1,
                    ],
                ],
            ]
        }
        let errors = Basket<Error?>()
        #expect(!laptop.receive(push("another-apps")) { errors.put($0) })
        #expect(!laptop.receive(["aps": ["alert": "Dinner!"]]) { errors.put($0) })
        #expect(errors.all.isEmpty && listener.heard.all.isEmpty)
        #expect(laptop.receive(push(laptop.subscriptionID)) { errors.put($0) })
        #expect(errors.all.count == 1 && errors.all[0] == nil && listener.heard.all == ["soup"])
    }

    @Test func theOtherDeviceIsNotifiedOfASaveAndTheSaverIsNot() async throws {
        let (phone, laptop) = (try home.recipes(home.phone), try home.recipes(home.laptop))
        _ = await outcome { phone.store(record(phone, "soup", title: "Soup"), completion: $0) }
        _ = await outcome { laptop.subscribe(completion: $0) }
        var (atPhone, atLaptop) = (
            phone.container.notifications().makeAsyncIterator(),
            laptop.container.notifications().makeAsyncIterator()
        )
        _ = await (atPhone.next(), atLaptop.next())
        _ = await outcome { phone.store(record(phone, "rice", title: "Rice"), completion: $0) }
        home.cloud.deliverPushes()
        guard case .notification(let push as CKQueryNotification)? = await atLaptop.next() else {
            Issue.record("no push of a query came")
            return
        }
        #expect(push.subscriptionID == laptop.subscriptionID && push.recordID?.recordName == "rice")
        #expect(push.queryNotificationReason == CKQueryNotificationReason.recordCreated)
        _ = await outcome { laptop.store(record(laptop, "cake", title: "Cake"), completion: $0) }
        home.cloud.deliverPushes()
        guard case .notification(let next as CKQueryNotification)? = await atPhone.next() else {
            Issue.record("no push of a query came")
            return
        }
        #expect(next.recordID?.recordName == "cake", "of its own save the phone wasn't told")
    }

    private final class Listener: RecipeCloudDelegate, @unchecked Sendable {
        let heard = Basket<String>()
        func recipeChanged(_ record: CKRecord) { heard.put(record.recordID.recordName) }
        func recipeDeleted(_ recordID: CKRecordID) { heard.put("-" + recordID.recordName) }
    }
}
