import CloudKit
import CoreLocation
import Foundation
import Testing

@Suite struct PredicateTests {
    @Test func aQueryComesBackFromAnArchiveAndSurvivesACopy() throws {
        let place = CLLocation(latitude: 1, longitude: 2)
        let query = CKQuery(
            recordType: "Book",
            predicate: NSPredicate(
                format: "title BEGINSWITH %@ AND NOT (number IN %@) AND printed < %@", "It's \"x\" %@",
                [1, 2],
                Date(timeIntervalSince1970: 5)))
        query.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: false),
            CKLocationSortDescriptor(key: "place", relativeLocation: place),
        ]
        let archive = try NSKeyedArchiver.archivedData(withRootObject: query, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: archive))
        let copy = try #require(query.copy() as? CKQuery)
        for other in [read, copy] {
            #expect(other.recordType == "Book" && other.description == query.description)
            #expect(other.sortDescriptors?.map(\.key) == ["title", "place"])
            #expect(other.sortDescriptors?.map(\.ascending) == [false, true])
            let byPlace = other.sortDescriptors?.last as? CKLocationSortDescriptor
            #expect(byPlace?.relativeLocation == place)
        }
    }

    @Test func anAppFiltersItsRecordsWithTheQuerysPredicate() {
        let record = CKRecord(recordType: "Book", recordID: CKRecord.ID(recordName: "b"))
        record["title"] = "Even 4"
        record["number"] = 4
        record["weight"] = 1.5
        record["tags"] = ["a", "b"]
        record["place"] = CLLocation(latitude: 4, longitude: 0)
        let place = CLLocation(latitude: 4.5, longitude: 0)
        let holds: [NSPredicate] = [
            NSPredicate(format: "number == 4 AND title BEGINSWITH 'Even'"),
            NSPredicate(format: "number > 9 OR weight <= 1.5"),
            NSPredicate(format: "tags CONTAINS %@", "b"), NSPredicate(format: "ANY tags == 'a'"),
            NSPredicate(format: "ALL tags IN {'a', 'b', 'c'}"), NSPredicate(format: "NONE tags == 'z'"),
            NSPredicate(format: "number BETWEEN {1, 4}"), NSPredicate(format: "missing == nil"),
            NSPredicate(format: "recordID == %@", record.recordID),
            NSPredicate(format: "distanceToLocation:fromLocation:(place, %@) < 60000", place),
        ]
        for predicate in holds {
            #expect(predicate.evaluate(with: record))
            #expect(!NSCompoundPredicate(notPredicateWithSubpredicate: predicate).evaluate(with: record))
        }
        #expect(!NSPredicate(format: "number == 5").evaluate(with: record))
        #expect(!NSPredicate(format: "number ==").evaluate(with: record))
        #expect(NSPredicate(format: "number == 5").evaluate(with: ["number": 5]))
    }

    /// What Foundation's predicates on Apple's platforms say of a text on the device.
    @Test func onTheDeviceTextsAreComparedAsFoundationDoes() {
        let record = CKRecord(recordType: "Book", recordID: CKRecord.ID(recordName: "b"))
        record["title"] = "Über den Wolken"
        record["code"] = "a.b*c"
        record["tags"] = ["Rot", "Blau"]
        record["printed"] = Date(timeIntervalSince1970: 5)
        let holds = [
            "title CONTAINS 'den'", "title CONTAINS[cd] 'UBER'", "'den' IN title", "title ENDSWITH 'Wolken'",
            "title ENDSWITH[c] 'WOLKEN'", "title BEGINSWITH[cd] 'uber'", "title ==[cd] 'uber den wolken'",
            "title LIKE '*d?n*'", "title LIKE[c] 'über*'", "code LIKE 'a.b\\\\*c'",
            "title MATCHES '.*Wol\\\\w+'",
            "title MATCHES[c] '.*wol\\\\S+'", "tags CONTAINS[c] 'rot'", "ANY tags BEGINSWITH 'Bl'",
            "title >[c] 'UBA' AND title <= 'Über den Wolken'", "self CONTAINS 'wolken UBER'",
            "allTokens TOKENMATCHES[cd] 'den'", "printed < now()", "title IN {'x', 'Über den Wolken'}",
        ]
        for format in holds {
            #expect(NSPredicate(format: format).evaluate(with: record), "\(format)")
        }
        let doesNotHold = [
            "title CONTAINS 'DEN'", "title ENDSWITH 'Wolk'", "title LIKE '?den*'", "code LIKE 'aXb*c'",
            "title MATCHES 'Wolken'", "title MATCHES '('", "title MATCHES '.*WOL.*'", "tags CONTAINS 'rot'",
            "self CONTAINS 'wolken regen'", "printed > now()", "number CONTAINS 'x'", "tags BEGINSWITH 'R'",
        ]
        for format in doesNotHold {
            #expect(!NSPredicate(format: format).evaluate(with: record), "\(format)")
        }
        #expect(NSPredicate(format: "name CONTAINS[c] %@", "AD").evaluate(with: ["name": "Ada"]))
    }
}
