import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// `now()` in a predicate.
@Suite struct NowTests {
    @Test(arguments: Cloud.allCases) func nowInAPredicateIsWhatTheTestsClockShows(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let cloud = devices.cloud, book = CKRecord(recordType: "Book", recordID: devices.id("1"))
        book["printed"] = cloud.clock.date.addingTimeInterval(60)
        try await devices.phone.save(book)
        let predicate = NSPredicate(format: "printed <= now()")
        let app = cloud.device(user: "ada")
        for isPrinted in [false, true] {
            let query = CKQuery(recordType: "Book", predicate: predicate)
            let page = try await devices.phone.records(matching: query, inZoneWith: devices.zoneID)
            #expect(page.matchResults.count == (isPrinted ? 1 : 0))
            #expect(app.asDefault { predicate.evaluate(with: book) } == isPrinted)
            try await devices.phone.save(
                CKQuerySubscription(
                    recordType: "Book", predicate: predicate, subscriptionID: "printed",
                    options: .firesOnRecordCreation))
            let body = try devices.lastBody(.modifySubscriptions)
            #expect(body.contains("\(cloud.clock.nowMilliseconds())"), "\(body)")
            cloud.clock.advance(bySeconds: 61)
        }
    }

    @Test func withoutATestItIsWhatTheMachinesClockShows() {
        let now = Date(), predicate = NSPredicate(format: "printed <= now()")
        for (printed, holds) in [(now.addingTimeInterval(-60), true), (now.addingTimeInterval(3_600), false)]
        {
            let book = CKRecord(recordType: "Book")
            book["printed"] = printed
            #expect(predicate.evaluate(with: book) == holds)
        }
    }
}
