import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// The convenient calls, with blocks and with `await`.
@Suite struct RecipeDeskTests {
    private let home: Home
    private let phone: RecipeDesk
    private let laptop: RecipeDesk

    init() throws {
        let home = try Home()
        self.home = home
        phone = home.phone.asDefault { RecipeDesk() }
        laptop = home.laptop.asDefault { RecipeDesk() }
    }

    @Test func oneRecordIsFetchedSavedAndDeletedWithBlocks() async throws {
        try await phone.prepare()
        _ = try await phone.add(["soup": "Soup"])
        #expect(await outcome { laptop.rename("soup", to: "Stew", completion: $0) } == nil)
        #expect(await heard { done in phone.title(of: "soup") { title, _ in done(title) } } == "Stew")
        let deleted: String? = await heard { done in phone.discard("soup") { id, _ in done(id?.recordName) } }
        #expect(deleted == "soup")
        let error: CKError? = await heard { done in laptop.title(of: "soup") { done($1 as? CKError) } }
        #expect(error?.code == CKError.unknownItem, "a single item's error comes as it is")
        #expect(await outcome { laptop.rename("soup", to: "x", completion: $0) }?.isMissing == true)
    }

    @Test func publishedRecordsAreFoundByEveryone() async throws {
        let saved: String? = await heard { done in
            phone.publish("Soup for all") { record, _ in done(record?["title"]) }
        }
        #expect(saved == "Soup for all")
        let stranger = RecipeDesk(container: home.cloud.device(user: "bob").container)
        let titles: [String] = await heard { done in
            stranger.published { records, _ in done((records ?? []).compactMap { $0["title"] }) }
        }
        #expect(titles == ["Soup for all"])
    }

    @Test func queriesAndChangesComePageByPage() async throws {
        try await phone.prepare()
        let names = ["a": "Soup", "b": "Soup of leek", "c": "Rice", "d": "Soup, thick"]
        #expect(try await phone.add(names).count == 4)
        #expect(try await laptop.titles(beginning: "Soup") == ["Soup", "Soup of leek", "Soup, thick"])
        let first = try await laptop.changes(since: nil)
        #expect(first.titles.count == 4 && first.deleted == [])
        _ = await heard { done in phone.discard("c") { done($1 == nil) } }
        let second = try await laptop.changes(since: first.token)
        #expect(second.titles == [] && second.deleted == ["c"] && second.token != first.token)
    }
}
