import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// The app's upper half: a recipe on two devices.
@Suite struct RecipeBookTests {
    private let home: Home

    init() throws { home = try Home() }

    private func recipe(_ title: String, hour: Double) -> Recipe {
        let day = Date(timeIntervalSince1970: 1_700_000_000)
        return Recipe(title: title, method: "Cook \(title).", cookedAt: day.addingTimeInterval(hour * 3600))
    }

    private func load(_ book: RecipeBook) async -> (Recipe?, Error?) {
        await heard { done in book.load { recipe, error in done((recipe, error)) } }
    }

    @Test func aRecipeWithItsTextAsAFileIsOnTheOtherDevice() async throws {
        let (phone, laptop) = (try home.book(home.phone), try home.book(home.laptop))
        let nothing = await load(laptop)
        #expect(nothing.0 == nil && nothing.1 == nil, "nobody saved it yet: that is no error")
        let soup = recipe("Soup", hour: 1)
        #expect(await outcome { phone.save(soup, completion: $0) } == nil)
        #expect(await load(laptop).0 == soup && laptop.recipe == soup)
        #expect(home.leftovers == [], "the file of a saved text is gone")
        let record = try await home.laptop.container.privateCloudDatabase.record(
            for: CKRecordID(recordName: "soup", zoneID: laptop.cloud.zoneID))
        #expect(record["method"] is CKAsset && record["cookedAt"] as? Date == soup.cookedAt)
        #expect(record["format"] as? NSNumber == 3 && record["title"] as? NSString == "Soup")
    }

    @Test(arguments: [1.0, 3.0]) func ofTwoRecipesTheOneThatWasCookedLaterStands(hour: Double) async throws {
        let (phone, laptop) = (try home.book(home.phone), try home.book(home.laptop))
        _ = await outcome { phone.save(recipe("Soup", hour: 0), completion: $0) }
        _ = await load(laptop)
        #expect(await outcome { phone.save(recipe("Thick soup", hour: 2), completion: $0) } == nil)
        // The laptop doesn't know of that, and meets the conflict.
        let conflicts = home.cloud.requestCount(.modifyRecords)
        #expect(await outcome { laptop.save(recipe("Thin soup", hour: hour), completion: $0) } == nil)
        let isLater = hour > 2
        #expect(home.cloud.requestCount(.modifyRecords) == conflicts + (isLater ? 2 : 1))
        let winner = isLater ? "Thin soup" : "Thick soup"
        #expect(laptop.recipe?.title == winner && laptop.recipe?.method == "Cook \(winner).")
        _ = await load(phone)
        #expect(phone.recipe == laptop.recipe)
        #expect(await outcome { phone.save(recipe("Soup again", hour: 9), completion: $0) } == nil)
    }

    @Test func aConflictHasThreeRecordsBySwiftsNamesAndByTheKeys() async throws {
        let (phone, laptop) = (try home.book(home.phone), try home.book(home.laptop))
        _ = await outcome { phone.save(recipe("Soup", hour: 0), completion: $0) }
        let recordID = CKRecordID(recordName: "soup", zoneID: phone.cloud.zoneID)
        let mine = try await home.laptop.container.privateCloudDatabase.record(for: recordID)
        _ = await outcome { phone.save(recipe("Thick soup", hour: 2), completion: $0) }
        mine["title"] = "Thin soup"
        let found = await outcome { laptop.cloud.store(mine, completion: $0) }
        let error = try #require(found)
        #expect(error.code == .partialFailure && error.involves(.serverRecordChanged))
        let conflict = try #require(error.conflict)
        #expect(conflict.base?["title"] as? String == "Soup")
        #expect(conflict.mine["title"] as? String == "Thin soup")
        #expect(conflict.theirs["title"] as? String == "Thick soup")
        #expect((conflict.theirs["method"] as? CKAsset)?.fileURL == nil)
        #expect(conflict.theirs.recordChangeTag != conflict.base?.recordChangeTag)

        let parts = try #require(OlderErrorReader(error).parts)
        #expect(Array(parts.keys) == [AnyHashable(recordID)])
        let older = OlderErrorReader(try #require(parts[recordID]))
        #expect(older.mine === conflict.mine && older.theirs === conflict.theirs)
        #expect(older.base === conflict.base && older.waitSeconds == nil)
    }

    @Test func aRecordOfANewerAppIsNotReadAndTheUserIsNotified() async throws {
        let (phone, laptop) = (try home.book(home.phone), try home.book(home.laptop))
        _ = await outcome { phone.save(recipe("Soup", hour: 0), completion: $0) }
        let recordID = CKRecordID(recordName: "soup", zoneID: phone.cloud.zoneID)
        let record = try await home.phone.container.privateCloudDatabase.record(for: recordID)
        record["format"] = 4
        try await home.phone.container.privateCloudDatabase.save(record)
        let (shown, error) = await load(laptop)
        #expect(shown == nil && laptop.recipe == nil)
        guard case .appIsTooOld? = error as? RecipeError else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func whatAnotherDeviceSavedOrDeletedIsShownWithTheNextPull() async throws {
        let (phone, laptop) = (try home.book(home.phone), try home.book(home.laptop))
        let shown = Basket<String>()
        laptop.changed = { shown.put($0.title) }
        _ = await outcome { phone.save(recipe("Soup", hour: 0), completion: $0) }
        _ = await outcome { laptop.cloud.pull(completion: $0) }
        #expect(shown.all == ["Soup"] && laptop.recipe?.method == "Cook Soup.")
        _ = await outcome { phone.cloud.remove("soup", completion: $0) }
        _ = await outcome { laptop.cloud.pull(completion: $0) }
        #expect(laptop.recipe == nil)
    }

    @Test func withoutANetworkASaveSaysSoAndTheNextOneWorks() async throws {
        let phone = try home.book(home.phone)
        _ = await outcome { phone.save(recipe("Soup", hour: 0), completion: $0) }
        home.cloud.fail(.modifyRecords, with: .zoneBusy, retryAfterSeconds: 7)
        let refused = await outcome { phone.save(recipe("Stew", hour: 1), completion: $0) }
        let busy = try #require(refused)
        #expect(busy.patienceSeconds == 7 && OlderErrorReader(busy).waitSeconds == 7)
        #expect(phone.recipe?.title == "Soup")
        #expect(await outcome { phone.save(recipe("Stew", hour: 1), completion: $0) } == nil)
        #expect(phone.recipe?.title == "Stew")
    }
}
