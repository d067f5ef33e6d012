import CloudKit
import CloudKitTesting
import Foundation
import SQLite
import System
import Testing
import Yap

@testable import YapCloudKit

/// Rules of a relationship where rows come page by page from another device.
@Suite struct RelationshipSyncTests {
    private let cloud = TestCloud()
    private let phone: ShelfDevice
    private let laptop: ShelfDevice
    /// More than one page.
    private let keys = (0..<450).map { "book \(1_000 + $0)" }

    init() throws {
        phone = try ShelfDevice(cloud)
        laptop = try ShelfDevice(cloud)
    }

    /// The laptop sends many books, and the shelf and the genre on which they stand after them.
    private func fillLaptop() throws {
        let books = keys.map { ($0, ShelvedBook(title: $0, shelf: "shelf", genre: "genre")) }
        try laptop.set(Dictionary(uniqueKeysWithValues: books), shelves: ["shelf", "genre"])
        #expect(laptop.sync.syncNowInline().state == .idle)
        #expect(try laptop.queue().isEmpty)
    }

    private func settle() throws {
        for device in [phone, laptop, phone, laptop] { #expect(device.sync.syncNowInline().state == .idle) }
        for device in [phone, laptop] {
            #expect(try device.queue().isEmpty)
            #expect(device.log.withLock { $0.isEmpty })
        }
        for collection in ["books", "shelves"] {
            #expect(try phone.keys(collection) == laptop.keys(collection))
        }
    }

    @Test(arguments: [false, true])
    func booksWhoseShelfIsOnALaterPageStayAndGoWithTheShelf(relaunches: Bool) throws {
        try fillLaptop()
        phone.fetchOnePage()
        let count = try phone.keys("books").count
        #expect(count > 0 && count < keys.count)
        #expect(try phone.keys("shelves") == [] && phone.isFetching() && phone.queue().isEmpty)
        if relaunches { try phone.relaunch() }
        // The app's own rows follow the rules meanwhile.
        try phone.set(["own": ShelvedBook(shelf: "no shelf")])
        #expect(try phone.keys("books").count == count)
        phone.goOn()
        #expect(try phone.keys("books") == keys && phone.keys("shelves") == ["genre", "shelf"])
        #expect(try !phone.isFetching())
        try settle()
        try laptop.write { try $0.removeObject(forKey: "shelf", inCollection: "shelves") }
        #expect(try laptop.keys("books") == [] && laptop.keys("shelves") == [])
        laptop.sync.syncNowInline()
        // The first page of deletions has the shelf, and the rest deletes what the rules have deleted.
        try settle()
        #expect(try phone.keys("books") == [] && phone.keys("shelves") == [])
    }

    @Test func anUpgradedFileKnowsThatRowsWereFetched() throws {
        func isFetched() throws -> Bool {
            try phone.database.newConnection().blocking.read { transaction in
                try transaction.sqlite.withStatement("SELECT 1 FROM yap2 WHERE key = 'fetchesRows'") {
                    try $0.step()
                }
            }
        }
        try phone.relaunch()
        #expect(try !isFetched())
        try fillLaptop()
        phone.sync.syncNowInline()
        #expect(try isFetched())
        // As an earlier version leaves it.
        try phone.write { try $0.sqlite.execute("DELETE FROM yap2 WHERE key = 'fetchesRows'") }
        try phone.relaunch()
        #expect(try isFetched())
    }

    @Test func aShelfThatADeviceWithoutRulesDeletesTakesItsBooksAlong() throws {
        try fillLaptop()
        phone.sync.syncNowInline()
        let old = try ShelfDevice(cloud, hasRules: false)
        #expect(old.sync.syncNowInline().state == .idle)
        try old.write { try $0.removeObject(forKey: "shelf", inCollection: "shelves") }
        old.sync.syncNowInline()
        #expect(try old.keys("books") == keys)
        try settle()
        #expect(try phone.keys("books") == [] && phone.keys("shelves") == [])
        old.sync.syncNowInline()
        #expect(try old.keys("books") == [] && old.keys("shelves") == [])
    }

    @Test func aGenreStaysWhileBooksOfItAreStillToCome() throws {
        try laptop.set([keys[0]: ShelvedBook(title: "first", genre: "genre")], shelves: ["genre"])
        let more = keys.dropFirst().map { ($0, ShelvedBook(title: $0, genre: "genre")) }
        try laptop.set(Dictionary(uniqueKeysWithValues: more))
        laptop.sync.syncNowInline()
        phone.fetchOnePage()
        let fetched = try phone.keys("books")
        #expect(try fetched.contains(keys[0]) && phone.keys("shelves") == ["genre"])
        // All books that it knows of.
        try phone.write { try $0.removeObjects(forKeys: fetched, inCollection: "books") }
        #expect(try phone.keys("books") == [] && phone.keys("shelves") == ["genre"])
        try phone.relaunch()
        phone.goOn()
        try settle()
        #expect(try phone.keys("books").count == keys.count - fetched.count)
        #expect(try phone.keys("shelves") == ["genre"])
        try phone.write { try $0.removeAllObjects(inCollection: "books") }
        try settle()
        #expect(try laptop.keys("shelves") == [])
    }

    @Test func aFetchFromTheBeginningFiresNothingForWhatIsThere() throws {
        try fillLaptop()
        phone.sync.syncNowInline()
        cloud.expireChangeTokens()
        try laptop.set(["late": ShelvedBook(title: "late", shelf: "shelf")])
        try settle()
        #expect(try phone.keys("books").count == keys.count + 1)
        // What was deleted before such a fetch is told by none, and its rules fire.
        let stranger = cloud.device(user: "ada").container.privateCloudDatabase
        let shelf = CKRecord.ID(recordName: "shelf", zoneID: phone.sync.zoneID)
        stranger.add(CKModifyRecordsOperation(recordIDsToDelete: [shelf]))
        cloud.expireChangeTokens()
        try settle()
        #expect(try phone.keys("books") == [])
    }

    @Test func aZoneThatIsDeletedWhileItIsFetchedLeavesNoRuleWaiting() throws {
        try fillLaptop()
        phone.fetchOnePage()
        #expect(try phone.isFetching())
        let zoneID = phone.sync.zoneID
        let stranger = cloud.device(user: "ada").container.privateCloudDatabase
        stranger.add(CKModifyRecordZonesOperation(recordZoneIDsToDelete: [zoneID]))
        stranger.add(CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: zoneID)]))
        let count = try phone.keys("books").count
        phone.goOn()
        #expect(try phone.keys("books").count == count && !phone.isFetching())
    }

    @Test func anotherUsersFetchHoldsUpNoRule() throws {
        let account = ChangingAccount()
        let tablet = try ShelfDevice(cloud, device: cloud.device(account: account))
        account.signIn("ada", cloud)
        try fillLaptop()
        tablet.fetchOnePage()
        #expect(try tablet.isFetching())
        cloud.networkFault = nil
        account.signIn("eve", cloud)
        _ = try tablet.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_eve"), objectsOfOtherAccount: .keep)
        #expect(try !tablet.isFetching() && tablet.keys("books").count > 0)
        account.signIn("ada", cloud)
        _ = try tablet.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_ada"), objectsOfOtherAccount: .keep)
        #expect(try tablet.isFetching())
    }
}
