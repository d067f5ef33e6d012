import CloudService
import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import YapCommand

/// `yap record query` by an index, and by looking at each record.
@Suite struct RecordIndexQueryTests {
    struct Question: Sendable {
        var conditions: [String] = []
        var orders: [String] = []
        var isServed = true
    }

    static let questions = [
        Question(conditions: ["priority > 2"]), Question(conditions: ["priority != 3", "title >= number 2"]),
        Question(conditions: ["tags = even"], orders: ["-priority", "title"]),
        Question(conditions: ["tags != even"], orders: ["cost"]), Question(orders: ["-cost"]),
        Question(conditions: ["recordName = todo-7"]),
        Question(conditions: ["done = true"], orders: ["priority"]),
        Question(conditions: ["cost <= 2.5", "priority = 1"]),
        // The schema has no such field, no such index, or the value is none of the field's.
        Question(conditions: ["absent != 1"], isServed: false),
        Question(orders: ["recordName"], isServed: false),
        Question(conditions: ["priority < 3.5"], isServed: false), Question(isServed: false),
    ]

    @Test(arguments: questions) func theIndexFindsWhatLookingAtEachRecordFinds(_ question: Question) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let store = try SQLiteCloudStore(path: path)
        try Self.fill(store)
        store.close()
        let source = RecordSource(
            try StoreFile(path: path), database: .privateDatabase(of: "_ann"), zoneNames: ["_defaultZone"])
        let conditions = try question.conditions.map(RecordCondition.init)
        let orders = try question.orders.map(RecordOrder.init)
        var found: [WireRecord] = []
        let isServed = try source.forEach("Todo", conditions, orders, source.nameCheck().schema) { record in
            found.append(record)
            return true
        }
        #expect(isServed == question.isServed)
        guard isServed else { return }
        var walked: [WireRecord] = []
        try source.forEach { record in
            if conditions.allSatisfy({ $0.holds(for: record) }) { walked.append(record) }
            return true
        }
        walked.sort { RecordOrder.isBefore($0, $1, by: orders) }
        if orders.isEmpty { found.sort { RecordOrder.isBefore($0, $1, by: orders) } }
        #expect(!walked.isEmpty && found.map(\.recordName) == walked.map(\.recordName))
    }

    private static func fill(_ store: SQLiteCloudStore) throws {
        let service = CloudService(
            store: store, clock: ManualTimeSource(), random: SeededRandomSource(seed: 1),
            users: ["ann": ServiceUser(userRecordName: "_ann")])
        let operations = (0..<40).map { number in
            var fields = [
                "priority": Field(.int64(Int64(number % 5))), "title": Field(.string("number \(number % 4)")),
                "done": Field(.int64(Int64(number % 2))),
                "tags": Field(.list(.stringList, [.string(number % 2 == 0 ? "even" : "odd")])),
            ]
            if number % 3 > 0 { fields["cost"] = Field(.double(Double(number) / 4)) }
            return RecordOperation(
                operationType: .create,
                record: WireRecord(recordName: "todo-\(number)", recordType: "Todo", fields: fields))
        }
        let response = service.respond(
            to: WireRequest(
                path: "/database/1/iCloud.x/development/private/records/modify",
                query: [("ckWebAuthToken", "ann")],
                body: try RecordsModifyRequest(operations: operations).json()))
        #expect(!String(decoding: response.body, as: UTF8.self).contains("serverErrorCode"))
    }
}
