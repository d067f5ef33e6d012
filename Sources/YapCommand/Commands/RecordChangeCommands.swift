import CloudService
import CloudWire
import Foundation

/// `yap record save` and `yap record delete`: changes as an account's user would make them.
enum RecordChangeCommands {
    static let save = Command(
        name: "record save", summary: "make or change a record of an account",
        details: """
            As the account's user would: schema, permissions and limits hold, and devices hear of it. A value is JSON
            (4, true, "text", ["a", "b"], {"latitude": 1, "longitude": 2}); what isn't JSON is text. Without TYPE's \
            record
            it is made, else the named fields change and the others stay. Works beside a running server.
            """,
        operands: [
            Command.Operand(name: "TYPE", help: "the record type"),
            Command.Operand(name: "NAME", help: "the record's name"),
        ],
        options: options + [
            Command.Option(
                name: "set", value: "FIELD=VALUE", help: "give the field this value", repeats: true),
            Command.Option(name: "unset", value: "FIELD", help: "take the field away", repeats: true),
        ],
        json: #"{"records": [...]}: the record as it is now"#,
        examples: [
            "init --container iCloud.com.example.todo", "account create ann || true",
            "record save Todo todo-1 --container iCloud.com.example.todo --account ann "
                + "--set title=Milk --set priority=4",
        ],
        run: save)

    static let delete = Command(
        name: "record delete", summary: "delete records of an account",
        details:
            "What refers to them with DELETE_SELF goes along. In a custom zone all go or, when one can't, none.",
        operands: [Command.Operand(name: "NAME", help: "a record's name", repeats: true)],
        options: options,
        json: #"{"deleted": [names]}"#,
        examples: [
            "init --container iCloud.com.example.todo", "account create ann || true",
            "record save Todo todo-2 --container iCloud.com.example.todo --account ann",
            "record delete todo-2 --container iCloud.com.example.todo --account ann",
        ],
        run: delete)

    private static let options: [Command.Option] = [
        .container, .environment,
        Command.Option(name: "account", value: "NAME", help: "who makes the change", isRequired: true),
        Command.Option(name: "public", help: "in the public database; else in the account's private one"),
        Command.Option(name: "zone", value: "NAME", help: "in this zone (default: the default zone)"),
        Command.dataOption,
    ]

    private static func save(_ invocation: Invocation, _ console: Console) throws {
        var fields: [String] = []
        for text in invocation.values("set") {
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
                throw Failure.usage("--set takes FIELD=VALUE, not \"\(text)\"")
            }
            fields.append(
                JSON.string(String(text[..<sign])).text + ":{\"value\":"
                    + value(String(text[text.index(after: sign)...])) + "}")
        }
        fields += invocation.values("unset").map { JSON.string($0).text + ":{\"value\":null}" }
        let record = Array(
            """
            {"recordType":\(JSON.string(invocation.operands[0]).text),\
            "recordName":\(JSON.string(invocation.operands[1]).text),"fields":{\(fields.joined(separator: ","))}}
            """.utf8)
        let operation = RecordOperation(operationType: .forceUpdate, record: try WireRecord(json: record))
        let results = try change([operation], invocation, console)
        var printer = try RecordPrinter(console, isJSON: invocation.has("json"))
        for case .record(let record) in results { try printer.print(record) }
        try printer.end()
    }

    private static func delete(_ invocation: Invocation, _ console: Console) throws {
        let operations = invocation.operands.map {
            RecordOperation(operationType: .delete, record: WireRecord(recordName: $0))
        }
        _ = try change(operations, invocation, console)
        if invocation.has("json") {
            return try console.print(
                .object([("deleted", .array(invocation.operands.map { .string($0) }))]))
        }
        try console.print("deleted \(invocation.operands.joined(separator: ", "))")
    }

    private static func change(
        _ operations: [RecordOperation], _ invocation: Invocation, _ console: Console
    ) throws -> [RecordResult] {
        let data = try EnvironmentData(invocation, console)
        let request = RecordsModifyRequest(
            operations: operations, zoneID: invocation.value("zone").map { ZoneID(zoneName: $0) })
        let account = try invocation.required("account")
        return try data.withService { service in
            let body = try data.ask(
                service, "records/modify", account: account,
                database: invocation.has("public") ? "public" : "private", request)
            let results = try RecordsModifyResponse(json: body).records
            for case .error(let error) in results where error.serverErrorCode != .atomicError {
                throw Failure.refused(
                    "\(error.recordName ?? ""): \(error.reason ?? error.serverErrorCode.rawValue)")
            }
            return results
        }
    }

    /// The text when it is JSON, else as JSON's text.
    private static func value(_ text: String) -> String {
        let isJSON =
            (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
        return isJSON ? text : JSON.string(text).text
    }
}
