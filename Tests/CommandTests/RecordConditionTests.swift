import CloudService
import CloudWire
import Testing

@testable import YapCommand

/// What `--where` finds and `--sort` orders.
@Suite struct RecordConditionTests {
    private func record(_ name: String, _ fields: [String: FieldValue]) -> WireRecord {
        var record = WireRecord()
        record.recordName = name
        record.recordType = "Todo"
        record.modified = WireRecord.Stamp(timestampMilliseconds: 1000)
        record.fields = fields.mapValues { Field($0) }
        return record
    }

    private var milk: WireRecord {
        record(
            "milk",
            [
                "title": .string("Buy milk"), "priority": .int64(3), "cost": .double(1.5), "done": .int64(1),
                "tags": .list(.string, [.string("home"), .string("shop")]),
                "list": .reference(Reference(recordName: "groceries")), "due": .timestamp(milliseconds: 500),
            ])
    }

    @Test(arguments: [
        "priority > 2", "priority>=3", "priority = 3", "priority==3", "priority < 3.5", "priority != 4",
        "title = 'Buy milk'", "title = \"Buy milk\"", "title = Buy milk", "title > Apple",
        "title != 'buy milk'",
        "cost = 1.5", "cost<2", "done = true", "tags = shop", "tags != work", "list = groceries",
        "due <= 500",
        "absent != 1", "recordName = milk", "modifiedTimestamp = 1000", "priority != x",
    ])
    func aConditionHolds(_ text: String) throws {
        #expect(try RecordCondition(text).holds(for: milk))
    }

    @Test(arguments: [
        "priority > 3", "priority < 3", "priority != 3", "priority = x", "title = 'buy milk'",
        "title < Apple",
        "tags = work", "tags != shop", "tags > a", "absent = 1", "absent < 1", "done = false", "due > 500",
        "title = ''",
    ])
    func aConditionDoesNotHold(_ text: String) throws {
        #expect(try !RecordCondition(text).holds(for: milk))
    }

    @Test(arguments: ["", "priority", "> 3", "  = 3"])
    func whatIsNoConditionIsAUsageError(_ text: String) {
        #expect(throws: Failure.self) { try RecordCondition(text) }
    }

    private static let type: RecordType = {
        var type = RecordType()
        type.fields = [
            "due": FieldDefinition(.timestamp), "priority": FieldDefinition(.int64),
            "cost": FieldDefinition(.double),
            "title": FieldDefinition(.string), "dates": FieldDefinition(.timestampList),
            "place": FieldDefinition(.location),
        ]
        return type
    }()

    /// The 25th of November 2026, 10:34:25.300.
    @Test(arguments: [
        "due = 2026-11-25", "due = 2026-11-25T10:34:25Z", "due = 1795602865300", "due >= 2026-11-25",
        "due > 2026-11-24", "due <= 2026-11-25", "due <= 2026-11-25T10:34:25Z", "due < 2026-11-26",
        "due > 2026-11-25T10:34:24Z", "due = 2026-11-25T10:34:25.300Z", "due != 2026-11-24T00:00:00.000Z",
        "dates = 2026-11-25T00:00:00.000Z",
        "createdTimestamp < 2026-11-25", "title = 2026-11-25",
    ])
    func aTimeIsComparedAsItIsWritten(_ text: String) throws {
        let fields: [String: FieldValue] = [
            "due": .timestamp(milliseconds: 1_795_602_865_300), "title": .string("2026-11-25"),
            "dates": .list(.timestamp, [.timestamp(milliseconds: 1_795_564_800_000)]),
        ]
        let due = record("due", fields)
        #expect(try RecordCondition(text).fitting(Self.type).allSatisfy { $0.holds(for: due) })
    }

    @Test(arguments: [
        "due > 2026-11-25", "due < 2026-11-25", "due = 2026-11-24", "due > 2026-11-25T10:34:25Z",
        "due = 2026-11-25T10:34:26Z",
    ])
    func aTimeIsNotTheOneBesideIt(_ text: String) throws {
        let due = record("due", ["due": .timestamp(milliseconds: 1_795_602_865_300)])
        #expect(try !RecordCondition(text).fitting(Self.type).allSatisfy { $0.holds(for: due) })
    }

    @Test(arguments: [
        "due > yesterday", "due = 2026-13-01", "due = 2026-11-25T10:34:25Zx", "modifiedTimestamp > now",
        "priority = x",
        "cost < cheap", "place = Rome", "createdTime = 1.5.2026", "priority = nan", "due != 2026-11-25",
        "dates = 2026-11-25",
    ])
    func aValueThatTheFieldCannotHaveIsAUsageError(_ text: String) throws {
        #expect(throws: Failure.self) { try RecordCondition(text).fitting(Self.type) }
    }

    @Test func recordsAreInTheOrderAsked() throws {
        let records = [
            record("a", ["priority": .int64(1), "title": .string("x")]),
            record("b", ["priority": .double(2.5), "title": .string("x")]),
            record("c", ["title": .string("y")]),
            record("d", ["priority": .int64(1), "title": .string("w")]),
        ]
        func names(_ sorts: String...) throws -> String {
            let orders = try sorts.map(RecordOrder.init)
            return records.sorted { RecordOrder.isBefore($0, $1, by: orders) }.compactMap(\.recordName)
                .joined()
        }
        #expect(try names("priority") == "cadb", "without the field comes first")
        #expect(try names("-priority") == "bdac")
        #expect(try names("priority", "title") == "cdab")
        #expect(try names("-title") == "cbad")
        #expect(throws: Failure.self) { try RecordOrder("-") }
    }
}
