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

    /// Apps look with predicates whether a text is an address, whatever else they import.
    @Test func anAppTestsATextOrANumberItself() {
        let address = NSPredicate(
            format: "SELF MATCHES %@", "[A-Z0-9a-z._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,64}")
        #expect(address.evaluate(with: "ada@example.com") && !address.evaluate(with: "ada@example"))
        #expect(NSPredicate(format: "SELF CONTAINS[c] 'DA'").evaluate(with: "ada"))
        #expect(!NSPredicate(format: "SELF CONTAINS 'DA'").evaluate(with: "ada" as NSString))
        #expect(NSPredicate(format: "self BETWEEN {1, 5}").evaluate(with: 5))
        #expect(!NSPredicate(format: "SELF > 5").evaluate(with: 5 as NSNumber))
        #expect(NSPredicate(format: "SELF IN %@", ["a", "b"]).evaluate(with: "b"))
        #expect(NSPredicate(format: "NOT (SELF IN %@)", ["a", "b"]).evaluate(with: "c"))
        #expect(NSPredicate(format: "SELF == nil").evaluate(with: nil))
        #expect(!NSPredicate(format: "SELF == 'a'").evaluate(with: nil))
        let names = ["Ada", "Bob", "Adam"] as NSArray
        #expect(
            names.filtered(using: NSPredicate(format: "SELF BEGINSWITH 'Ad'")) as? [String] == [
                "Ada", "Adam",
            ])
        let record = CKRecord(recordType: "Book")
        #expect(NSPredicate(format: "SELF == %@", record).evaluate(with: record))
        #expect(!NSPredicate(format: "SELF == %@", record).evaluate(with: CKRecord(recordType: "Book")))
    }

    @Test func aFormatMayBeWrittenInAllTheWaysOfTheGrammar() throws {
        let forms: [(String, [Any], String)] = [
            ("a=1&&b!=2", [], "(%K == %@) AND (%K != %@)"),
            ("NOT a == 1 AND b == 2", [], "(NOT (%K == %@)) AND (%K == %@)"),
            ("!(a == 1) || b == 2 and c<>3", [], "(NOT (%K == %@)) OR ((%K == %@) AND (%K != %@))"),
            ("((a) == (1))", [], "%K == %@"), ("a IN {1,-2,0x1F,1e2,.5}", [], "%K IN {%@, %@, %@, %@, %@}"),
            ("none tags == 'x'", [], "NONE %K == %@"), ("some tags == @\"x\"", [], "ANY %K == %@"),
            ("#not == 'a\\'b\\\\'", [], "%K == %@"),
            ("%K between {%@, %@}", ["a b.c\"", 1, 2], "%K BETWEEN {%@, %@}"),
            ("a==%d&&b==%lu&&c==%0d", [1, 2], ""),
            ("a =< %ld and b => %f", [1, 2.5], "(%K <= %@) AND (%K >= %@)"),
            ("TRUEPREDICATE and\n a==\tYES", [], "(TRUEPREDICATE) AND (%K == %@)"),
            ("%@ in tags", ["x"], "%@ IN %K"), ("SELF.title == nil", [], "%K == nil"),
            ("ünï_1 BEGINSWITH[cd]'é'", [], "%K BEGINSWITH[cd] %@"),
        ]
        for (format, arguments, written) in forms {
            let query = CKQuery(
                recordType: "T", predicate: NSPredicate(format: format, argumentArray: arguments))
            let expected = written.isEmpty ? "an unreadable predicate" : written
            #expect(query.description == "<CKQuery: T where \(expected)>", "\(format)")
        }
    }
}
