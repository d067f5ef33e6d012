import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Many records at a time: queues, batches, policies, children, changes.
@Suite struct PantryTests {
    private let home: Home
    private let phone: Pantry
    private let laptop: Pantry

    init() async throws {
        let home = try Home()
        self.home = home
        phone = home.phone.asDefault { Pantry() }
        laptop = home.laptop.asDefault { Pantry() }
        let zone = phone.zone
        try await home.phone.container.privateCloudDatabase.save(zone)
    }

    private func save(_ records: [CKRecord]) async throws {
        _ = try await home.phone.container.privateCloudDatabase.modifyRecords(saving: records, deleting: [])
    }

    private func title(_ name: String) async throws -> String? {
        let record = try await home.laptop.container.privateCloudDatabase.record(for: phone.recordID(name))
        return record["title"]
    }

    // MARK: On a queue of one's own

    @Test func aSaveThatWaitsForItsFetchRunsOnTheAppsOwnQueue() async throws {
        try await save([phone.recipe("soup", title: "Soup")])
        let error = await outcome { done in
            phone.change("soup", { $0["title"] = "Stew" }, completion: done)
        }
        #expect(error == nil)
        #expect(try await title("soup") == "Stew")
    }

    @Test func aQueueThatIsHeldSendsNothingAndWhatIsCancelledNeverIs() async throws {
        try await save([phone.recipe("soup", title: "Soup")])
        let before = home.cloud.requestCount()
        phone.hold()
        let errors = Basket<CKError.Code?>()
        phone.change("soup", { $0["title"] = "Stew" }) { errors.put(($0 as? CKError)?.code) }
        #expect(phone.queue.operationCount == 2 && home.cloud.requestCount() == before)
        phone.cancelAll()
        phone.goOn()
        await heard { done in phone.queue.addBarrierBlock { done(()) } }
        #expect(errors.all == [.operationCancelled] && home.cloud.requestCount() == before)
        #expect(try await title("soup") == "Soup")
    }

    // MARK: Batches

    @Test func anAtomicBatchIsSavedWholeOrNotAtAll() async throws {
        let soup = phone.recipe("soup", title: "Soup")
        try await save([soup])
        let (stale, new) = (phone.recipe("soup", title: "Stew"), phone.recipe("rice", title: "Rice"))
        let (progress, each) = (Basket<String>(), Basket<(String, CKError?)>())
        let error: CKError? = await heard { done in
            phone.saveTogether(
                [stale, new], progress: { progress.put("\($0.recordID.recordName) \($1)") },
                each: { each.put(($0.recordID.recordName, $1 as? CKError)) },
                completion: { done($1 as? CKError) })
        }
        #expect(error?.code == .partialFailure && error?.involves(.batchRequestFailed) == true)
        let neighbour = error?.partialErrorsByItemID?[new.recordID] as? CKError
        #expect(neighbour?.isCausedByNeighbour == true)
        let changed = each.all.first { $0.0 == "soup" }?.1
        #expect(changed?.code == .serverRecordChanged && changed?.isCausedByNeighbour == false)
        let rice = await heard { done in
            phone.peek(["rice"], keys: [], progress: { _, _ in }) { records, _ in done(records?.count) }
        }
        #expect(rice == 0)
        #expect(try await title("soup") == "Soup")

        let (again, saved) = (Basket<String>(), phone.recipe("cake", title: "Cake"))
        let count: Int? = await heard { done in
            phone.saveTogether(
                [new, saved], progress: { again.put("\($0.recordID.recordName) \($1)") }, each: { _, _ in },
                completion: { records, _ in done(records?.count) })
        }
        #expect(count == 2 && Set(again.all).isSuperset(of: ["cake 1.0", "rice 1.0"]))
    }

    @Test func thePoliciesOfASaveDifferInWhatTheyOverwrite() async throws {
        try await save([phone.recipe("soup", title: "Soup")])
        let database = home.laptop.container.privateCloudDatabase
        let stale = try await database.record(for: phone.recordID("soup"))
        #expect(stale.changedKeys() == [] && stale.recordChangeTag != nil)
        let newer = try await database.record(for: phone.recordID("soup"))
        newer["title"] = "Thick soup"
        newer["rating"] = 5
        #expect(newer.changedKeys() == ["rating", "title"])
        try await database.save(newer)
        #expect(newer.changedKeys() == [], "a save empties the list")

        func saved(_ policy: CKRecordSavePolicy) async -> CKError? {
            await heard { done in laptop.save([stale], policy: policy) { done($1 as? CKError) } }
        }
        stale["note"] = "hot"
        #expect(await saved(.ifServerRecordUnchanged)?.conflict?.theirs["title"] as? String == "Thick soup")
        #expect(await saved(.changedKeys) == nil)
        #expect(try await title("soup") == "Thick soup", "an unlocked save sends what was changed")
        let old = phone.recipe("soup", title: "Old soup")
        #expect(await heard { done in laptop.save([old], policy: .allKeys) { done($1 as? CKError) } } == nil)
        let all = try await database.record(for: phone.recordID("soup"))
        #expect(all["title"] == "Old soup" && all["note"] == "hot" && all["rating"] == 5)
    }

    @Test func aRecordOfWhichOnlyAPartWasFetchedIsSavedWithoutLoss() async throws {
        let soup = phone.recipe("soup", title: "Soup")
        soup["rating"] = 4
        try await save([soup])
        let progress = Basket<Double>()
        let part: CKRecord? = await heard { done in
            laptop.peek(["soup"], keys: ["title"], progress: { progress.put($1) }) { records, _ in
                done(records?.values.first)
            }
        }
        let record = try #require(part)
        #expect(record.allKeys() == ["title"] && progress.all.last == 1)
        record["title"] = "Stew"
        let error: CKError? = await heard { done in
            laptop.save([record], policy: .ifServerRecordUnchanged) { done($1 as? CKError) }
        }
        #expect(error == nil)
        let whole = try await home.phone.container.privateCloudDatabase.record(for: record.recordID)
        #expect(whole["title"] == "Stew" && whole["rating"] == 4)
    }

    // MARK: Children

    @Test func ingredientsAreFoundByTheirRecipeAndGoWithIt() async throws {
        let soup = phone.recipe("soup", title: "Soup")
        let parts = ["leek", "salt", "water"].map { phone.ingredient($0, of: soup) }
        #expect((parts[0]["recipe"] as? CKReference)?.action == CKReferenceAction.deleteSelf)
        // Children may stand before their parent in a batch.
        try await save(parts + [soup, phone.recipe("rice", title: "Rice")])
        let found = Basket<String>()
        let error = await outcome { done in
            laptop.ingredients(
                ofRecipe: "soup", pageSize: 2, found: { found.put($0["name"] as? String ?? "?") },
                completion: done)
        }
        #expect(error == nil && found.all == ["leek", "salt", "water"])
        #expect(home.cloud.requestCount(.queryRecords) == 2, "one page goes on where the other ended")

        try await home.phone.container.privateCloudDatabase.deleteRecord(withID: soup.recordID)
        let (kept, gone) = (Basket<String>(), Basket<String>())
        let token: CKServerChangeToken? = await heard { done in
            laptop.changes(
                since: nil, changed: { kept.put($0.recordID.recordName) },
                deleted: { gone.put($0.recordName) }
            ) { token, _ in done(token) }
        }
        #expect(kept.all == ["rice"] && token != nil)
        try await save([phone.recipe("cake", title: "Cake")])
        let next: CKServerChangeToken? = await heard { done in
            laptop.changes(
                since: token, changed: { kept.put($0.recordID.recordName) },
                deleted: { gone.put($0.recordName) }
            ) { token, _ in done(token) }
        }
        #expect(kept.all == ["rice", "cake"] && next != nil && next != token)
        try await home.phone.container.privateCloudDatabase.deleteRecord(withID: phone.recordID("rice"))
        _ = await heard { done in
            laptop.changes(since: next, changed: { _ in }, deleted: { gone.put($0.recordName) }) {
                done($1 == nil)
            }
        }
        #expect(gone.all.last == "rice")
    }

    // MARK: Zones and subscriptions

    @Test func zonesAndSubscriptionsAreListed() async throws {
        #expect(await outcome { phone.followZone(completion: $0) } == nil)
        #expect(await outcome { phone.followDatabase(completion: $0) } == nil)
        #expect(await heard { phone.subscriptions(completion: $0) } == ["pantry-all", "pantry-zone"])
        let zones = await heard { phone.zones(completion: $0) }
        #expect(zones.contains(phone.zone.zoneID) && zones.contains(CKRecordZone.default().zoneID))
        let zone = try await home.phone.container.privateCloudDatabase.subscription(for: "pantry-zone")
        let followed = try #require(zone as? CKRecordZoneSubscription)
        #expect(followed.zoneID == phone.zone.zoneID && followed.notificationInfo?.shouldBadge == true)
        #expect(followed.notificationInfo?.alertBody == "The pantry changed")
        #expect(followed.notificationInfo?.soundName == "default")
        let capabilities: CKRecordZoneCapabilities = try await home.phone.container.privateCloudDatabase
            .recordZone(for: phone.zone.zoneID).capabilities
        #expect(capabilities.contains([.atomic, .fetchChanges]))
    }

    // MARK: Offline

    @Test func aRecordIsKeptOnTheDeviceAndSavedFromThereLater() async throws {
        let shelf = OfflineShelf()
        try await save([phone.recipe("soup", title: "Soup")])
        let database = home.laptop.container.privateCloudDatabase
        let record = try await database.record(for: phone.recordID("soup"))
        record["title"] = "Stew"
        let whole = try #require(shelf.unpack(shelf.pack(record)))
        #expect(whole["title"] == "Stew" && whole.changedKeys() == ["title"])
        let identity = shelf.packIdentity(record)
        let bare = try #require(try shelf.unpackIdentity(identity))
        #expect(bare.allKeys() == [] && bare.recordID == record.recordID)
        #expect(bare.recordChangeTag == record.recordChangeTag && bare.recordType == "recipe")
        bare["title"] = "Gulash"
        try await database.save(bare)
        #expect(try await title("soup") == "Gulash")
        await #expect(throws: CKError.self) { try await database.save(whole) }
    }
}
