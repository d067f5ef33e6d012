import CloudKit
import CloudKitTesting
import CloudWire
import CoreLocation
import Foundation
import Testing

@Suite struct QueryTests {
    /// Ten books on the phone: numbers, words, places, lists, and one that refers to another.
    private static func books(_ way: Cloud) async throws -> TwoDevices {
        let devices = try await TwoDevices(way)
        let records = (0..<10).map { number in
            let record = CKRecord(recordType: "Book", recordID: devices.id("book\(number)"))
            record["number"] = number
            record["title"] = number % 2 == 0 ? "Even \(number)" : "Odd \(number)"
            record["tags"] = ["all", "tag\(number % 3)"]
            record["printed"] = Date(timeIntervalSince1970: Double(number) * 1000)
            record["place"] = CLLocation(latitude: Double(number), longitude: 0)
            record["next"] = CKRecord.Reference(
                recordID: devices.id("book\((number + 1) % 10)"), action: .none)
            if number < 3 { record["small"] = true }
            return record
        }
        let (saved, _) = try await devices.phone.modifyRecords(saving: records, deleting: [])
        #expect(saved.values.allSatisfy { $0.isSuccess })
        return devices
    }

    private static func numbers(
        _ devices: TwoDevices, _ predicate: NSPredicate, sort: [NSSortDescriptor]? = nil, inZone: Bool = true
    ) async throws -> [Int] {
        let query = CKQuery(recordType: "Book", predicate: predicate)
        query.sortDescriptors = sort ?? [NSSortDescriptor(key: "number", ascending: true)]
        let page = try await devices.laptop.records(
            matching: query, inZoneWith: inZone ? devices.zoneID : nil)
        #expect(page.queryCursor == nil)
        return try page.matchResults.map { try #require(try $0.1.get()["number"] as? Int) }
    }

    @Test(arguments: Cloud.allCases) func aPredicateFindsWhatItSays(way: Cloud) async throws {
        let devices = try await Self.books(way)
        let place = CLLocation(latitude: 4, longitude: 0)
        let reference = CKRecord.Reference(recordID: devices.id("book3"), action: .none)
        let cases: [(NSPredicate, [Int])] = [
            (NSPredicate(value: true), Array(0..<10)),
            (NSPredicate(value: false), []),
            (NSPredicate(format: "TRUEPREDICATE"), Array(0..<10)),
            (NSPredicate(format: "number == 3"), [3]),
            (NSPredicate(format: "number != %d", 3), [0, 1, 2, 4, 5, 6, 7, 8, 9]),
            (NSPredicate(format: "number > %@ AND number <= %ld", 3 as NSNumber, 6), [4, 5, 6]),
            (NSPredicate(format: "7 <= number"), [7, 8, 9]),
            (NSPredicate(format: "number BETWEEN {2, 4}"), [2, 3, 4]),
            (NSPredicate(format: "number BETWEEN %@", [2, 4]), [2, 3, 4]),
            (NSPredicate(format: "%K IN %@", "number", [1, 5, 50]), [1, 5]),
            (NSPredicate(format: "title BEGINSWITH 'Even'"), [0, 2, 4, 6, 8]),
            (NSPredicate(format: "NOT (title BEGINSWITH %@)", "Even"), [1, 3, 5, 7, 9]),
            (NSPredicate(format: "!(number IN {0, 1, 2})"), Array(3..<10)),
            (NSPredicate(format: "NOT number < 8"), [8, 9]),
            (NSPredicate(format: "tags CONTAINS 'tag1'"), [1, 4, 7]),
            (NSPredicate(format: "'tag1' IN tags"), [1, 4, 7]),
            (NSPredicate(format: "ANY tags == %@", "tag1"), [1, 4, 7]),
            (NSPredicate(format: "SOME tags IN %@", ["tag0", "tag1"]), [0, 1, 3, 4, 6, 7, 9]),
            (NSPredicate(format: "NONE tags == 'tag0'"), [1, 2, 4, 5, 7, 8]),
            (NSPredicate(format: "ANY tags BEGINSWITH 'tag2'"), [2, 5, 8]),
            (NSPredicate(format: "self CONTAINS 'even'"), [0, 2, 4, 6, 8]),
            (NSPredicate(format: "allTokens TOKENMATCHES[cdl] %@", "odd 5"), [5]),
            (NSPredicate(format: "printed >= %@", Date(timeIntervalSince1970: 8000)), [8, 9]),
            (NSPredicate(format: "next == %@", reference), [2]),
            (NSPredicate(format: "next == %@", devices.id("book3")), [2]),
            (NSPredicate(format: "next IN %@", [devices.id("book3"), devices.id("book0")]), [2, 9]),
            (NSPredicate(format: "recordID == %@", devices.id("book6")), [6]),
            (NSPredicate(format: "recordID IN %@", [devices.id("book6"), devices.id("book2")]), [2, 6]),
            (NSPredicate(format: "printed <= now()"), Array(0..<10)),
            (NSPredicate(format: "small == YES"), [0, 1, 2]),
            (NSPredicate(format: "small == %@", NSNumber(value: true)), [0, 1, 2]),
            (
                NSPredicate(format: "distanceToLocation:fromLocation:(place, %@) < %f", place, 150_000.0),
                [3, 4, 5]
            ),
            (
                NSCompoundPredicate(andPredicateWithSubpredicates: [
                    NSPredicate(format: "number > 1"), NSPredicate(format: "title BEGINSWITH 'Odd'"),
                ]), [3, 5, 7, 9]
            ),
        ]
        for (predicate, expected) in cases {
            let found = try await Self.numbers(devices, predicate)
            #expect(found == expected, "\(CKQuery(recordType: "Book", predicate: predicate))")
        }
    }

    @Test(arguments: Cloud.allCases) func theOrderIsTheSortDescriptors(way: Cloud) async throws {
        let devices = try await Self.books(way)
        let all = NSPredicate(value: true)
        let byTitle = NSSortDescriptor(key: "title", ascending: false)
        #expect(try await Self.numbers(devices, all, sort: [byTitle]) == [9, 7, 5, 3, 1, 8, 6, 4, 2, 0])
        let near = CKLocationSortDescriptor(
            key: "place", relativeLocation: CLLocation(latitude: 7.2, longitude: 0))
        #expect(try await Self.numbers(devices, all, sort: [near]).prefix(4) == [7, 8, 6, 9])
        let small = NSSortDescriptor(key: "small", ascending: false)
        let byNumber = NSSortDescriptor(key: "number", ascending: false)
        #expect(
            try await Self.numbers(devices, all, sort: [small, byNumber]) == [2, 1, 0, 9, 8, 7, 6, 5, 4, 3])
    }

    /// A user's record lies in the default zone, wherever the user's records lie.
    @Test func whoMadeARecordIsAskedForInEachZone() async throws {
        let ada = CKRecord.ID(recordName: "_ada")
        for key in ["creatorUserRecordID", "lastModifiedUserRecordID"] {
            for value in [ada, CKRecord.Reference(recordID: ada, action: .none), [ada] as NSArray] as [Any] {
                let transport = ScriptedTransport(json: #"{"records": []}"#)
                let format = value is NSArray ? "%K IN %@" : "%K == %@"
                let query = CKQuery(
                    recordType: "Book", predicate: NSPredicate(format: format, argumentArray: [key, value]))
                let zoneID = CKRecordZone.ID(zoneName: "books")
                _ = try await transport.database.records(matching: query, inZoneWith: zoneID)
                let body = String(decoding: transport.requests[0].body, as: UTF8.self)
                #expect(body.contains(#""recordName":"_ada""#) && body.contains(#""zoneName":"books""#))
            }
        }
    }

    @Test func theSystemsFieldsAreAskedForUnderTheirNamesOnTheWire() async throws {
        let transport = ScriptedTransport(json: #"{"records": []}"#)
        let query = CKQuery(
            recordType: "Book",
            predicate: NSPredicate(
                format: "creationDate > %@ AND %K <= %@ AND creatorUserRecordID == %@",
                Date(timeIntervalSince1970: 1),
                CKRecord.SystemFieldKey.modificationDate, Date(timeIntervalSince1970: 2),
                CKRecord.ID(recordName: CKCurrentUserDefaultName)))
        query.sortDescriptors = [NSSortDescriptor(key: "modificationDate", ascending: false)]
        _ = try await transport.database.records(matching: query)
        let body = String(decoding: transport.requests[0].body, as: UTF8.self)
        for name in ["___createTime", "___modTime", "___createdBy"] {
            #expect(body.contains(#""fieldName":"\#(name)""#))
        }
        #expect(body.contains(#""sortBy":[{"fieldName":"___modTime","ascending":false}]"#))
        #expect(body.contains(#""zoneWide":true"#) && !body.contains("zoneID\":{\"zoneName"))
    }

    @Test(arguments: Cloud.allCases) func withoutAZoneAllZonesAreSearched(way: Cloud) async throws {
        let devices = try await Self.books(way)
        let elsewhere = CKRecord(recordType: "Book", recordID: CKRecord.ID(recordName: "other"))
        elsewhere["number"] = 77
        try await devices.phone.save(elsewhere)
        let over6 = NSPredicate(format: "number > 6")
        #expect(try await Self.numbers(devices, over6, inZone: false) == [7, 8, 9, 77])
        let query = CKQuery(recordType: "Book", predicate: NSPredicate(format: "number >= 9"))
        query.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let page = try await devices.laptop.records(matching: query, inZoneWith: nil, desiredKeys: ["number"])
        #expect(page.matchResults.map(\.0) == [devices.id("book9"), elsewhere.recordID])
        let keys = try page.matchResults.map { try $0.1.get().allKeys() }
        #expect(keys == [["number"], ["number"]])
    }

    @Test(arguments: Cloud.allCases) func aCursorContinuesWhereThePageEndedAlsoFromAnArchive(way: Cloud)
        async throws
    {
        let devices = try await Self.books(way)
        let query = CKQuery(recordType: "Book", predicate: NSPredicate(format: "number > 0"))
        query.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        var page = try await devices.laptop.records(
            matching: query, inZoneWith: devices.zoneID, desiredKeys: ["number"], resultsLimit: 4)
        var numbers: [[Int]] = []
        while true {
            numbers.append(try page.matchResults.compactMap { try $0.1.get()["number"] as? Int })
            guard let cursor = page.queryCursor else { break }
            let archive = try NSKeyedArchiver.archivedData(
                withRootObject: cursor, requiringSecureCoding: true)
            let read = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryOperation.Cursor.self, from: archive))
            #expect(read == cursor && read.hash == cursor.hash)
            page = try await devices.laptop.records(continuingMatchFrom: read, resultsLimit: 4)
            for (_, result) in page.matchResults { #expect(try result.get().allKeys() == ["number"]) }
        }
        #expect(numbers == [[1, 2, 3, 4], [5, 6, 7, 8], [9]])
    }

    @Test(arguments: Cloud.allCases) func moreThanARequestMayAskForIsFetchedInSeveral(way: Cloud) async throws
    {
        let devices = try await TwoDevices(way)
        for start in stride(from: 0, to: 450, by: 150) {
            let records = (start..<start + 150).map { number in
                let record = CKRecord(recordType: "Book", recordID: devices.id("book\(number)"))
                record["number"] = number
                return record
            }
            _ = try await devices.phone.modifyRecords(saving: records, deleting: [])
        }
        let query = CKQuery(recordType: "Book", predicate: NSPredicate(value: true))
        query.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let page = try await devices.laptop.records(
            matching: query, inZoneWith: devices.zoneID, resultsLimit: 410)
        let numbers = try page.matchResults.map { try $0.1.get()["number"] as? Int }
        #expect(numbers == Array(0..<410))
        let cursor = try #require(page.queryCursor)
        let rest = try await devices.laptop.records(continuingMatchFrom: cursor, resultsLimit: 410)
        #expect(rest.matchResults.count == 40 && rest.queryCursor == nil)
    }

    @Test func whatTheCloudCannotBeAskedIsRefusedWithoutARequest() async throws {
        let devices = try await TwoDevices()
        let cases: [(NSPredicate, String)] = [
            (NSPredicate(format: "a == 1 OR b == 2"), "OR"),
            (NSPredicate(format: "ALL tags == 'x'"), "ALL"),
            (NSPredicate(format: "a ENDSWITH 'x'"), "ENDSWITH"),
            (NSPredicate(format: "a LIKE 'x*'"), "LIKE"),
            (NSPredicate(format: "a MATCHES 'x.*'"), "MATCHES"),
            (NSPredicate(format: "a ==[c] 'x'"), "==[c]"),
            (NSPredicate(format: "a.b == 1"), "'a.b'"),
            (NSPredicate(format: "a == nil"), "nil"),
            (NSPredicate(format: "a == b"), "'a'"),
            (NSPredicate(format: "1 == 1"), "without a field"),
            (NSPredicate(format: "a == $x"), "$x"),
            (NSPredicate(format: "sum:(a) == 1"), "sum:"),
            (NSPredicate(format: "NOT (a == 1 AND b == 2)"), "NOT over AND"),
            (NSPredicate(format: "NOT (a BETWEEN {1, 2})"), "NOT over BETWEEN"),
            (NSPredicate(format: "NOT (self CONTAINS 'x')"), "NOT over CONTAINS"),
            (NSPredicate(format: "a == %@", NSSet(array: [UUID() as NSUUID])), "can't hold"),
            (
                NSPredicate(
                    format: "distanceToLocation:fromLocation:(a, %@) > 5",
                    CLLocation(latitude: 1, longitude: 1)),
                "only records within a distance"
            ),
            (NSPredicate(format: "a == "), "at character 5"),
            (NSPredicate(format: "a == %@"), "0 arguments"),
            (NSPredicate(format: "a == 1", 5), "not used"),
            (NSPredicate(format: "a + 1 == 5"), "calculate"),
            (NSPredicate(format: "(a == 1"), "')' was expected"),
            (NSPredicate(format: "a == 'x"), "has no end"),
            (NSPredicate(format: String(repeating: "(", count: 500) + "a == 1"), "levels"),
            (NSPredicate { _, _ in true }, "block"),
        ]
        let before = devices.cloud.requests.count
        for (predicate, words) in cases {
            let query = CKQuery(recordType: "Book", predicate: predicate)
            do {
                _ = try await devices.phone.records(matching: query)
                Issue.record("\(words): nothing was thrown")
            } catch {
                let error = try #require(error as? CKError)
                #expect(error.code == .invalidArguments, "\(words): \(error)")
                #expect(error.localizedDescription.contains(words), "\(words): \(error.localizedDescription)")
            }
        }
        #expect(devices.cloud.requests.count == before)
    }

    @Test(arguments: Cloud.allCases) func whatTheSchemaRefusesNamesTheField(way: Cloud) async throws {
        let devices = try await Self.books(way)
        let query = CKQuery(recordType: "Book", predicate: NSPredicate(format: "nosuch == 1"))
        do {
            _ = try await devices.laptop.records(matching: query, inZoneWith: devices.zoneID)
            Issue.record("nothing was thrown")
        } catch {
            #expect((error as? CKError)?.code == .invalidArguments)
            #expect(error.localizedDescription.contains("nosuch"))
        }
    }

    @available(*, deprecated) @Test(arguments: Cloud.allCases)
    func theOlderBlocksGetTheSameAndTheNewerGoBefore(way: Cloud) async throws {
        let devices = try await Self.books(way)
        let query = CKQuery(recordType: "Book", predicate: NSPredicate(format: "number < 5"))
        query.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let older = CKQueryOperation(query: query)
        older.zoneID = devices.zoneID
        older.resultsLimit = 3
        let found = Collected<String>()
        older.recordFetchedBlock = { found.append($0.recordID.recordName) }
        older.queryCompletionBlock = { cursor, error in found.append("\(cursor != nil) \(error == nil)") }
        older.completionBlock = { found.append("end") }
        devices.laptop.add(older)
        #expect(found.all == ["book0", "book1", "book2", "true true", "end"])

        let both = CKQueryOperation(query: query)
        both.zoneID = devices.zoneID
        let newer = Collected<String>()
        both.recordFetchedBlock = { _ in newer.append("old") }
        both.queryCompletionBlock = { _, _ in newer.append("old end") }
        both.recordMatchedBlock = { recordID, _ in newer.append(recordID.recordName) }
        both.queryResultBlock = { newer.append("\($0.isSuccess)") }
        devices.laptop.add(both)
        #expect(newer.all == ["book0", "book1", "book2", "book3", "book4", "true"])
    }

    @Test func aCancelledQueryEndsOnceWithItsError() throws {
        let cloud = TestCloud()
        let operation = CKQueryOperation(
            query: CKQuery(recordType: "Book", predicate: NSPredicate(value: true)))
        let ended = Collected<CKError.Code?>()
        operation.queryResultBlock = { ended.append($0.code) }
        operation.cancel()
        cloud.device(user: "ada").container.privateCloudDatabase.add(operation)
        #expect(ended.all == [.operationCancelled])
    }

    @available(*, deprecated) @Test func anOperationWithNeitherQueryNorCursorSaysSo() throws {
        let ended = Collected<CKError.Code?>()
        let operation = CKQueryOperation()
        operation.queryCompletionBlock = { _, error in ended.append((error as? CKError)?.code) }
        TestCloud().device(user: "ada").container.privateCloudDatabase.add(operation)
        #expect(ended.all == [.invalidArguments])
    }
}
