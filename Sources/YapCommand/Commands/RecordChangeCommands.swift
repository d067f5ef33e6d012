import CloudService
import CloudStore
import CloudWire
import Foundation

/// `yap record save` and `yap record delete`: changes on behalf of an account's user.
enum RecordChangeCommands {
    static let save = Command(
        name: "record save", summary: "create or change a record of an account",
        details: """
            Acts as the account's user: schema, permissions and limits apply, and devices are notified. A value is
            JSON (4, true, "text", ["a", "b"], {"latitude": 1, "longitude": 2}); any other value is text. A missing
            record is created; in an existing one the named fields change and the others stay. Works while the server
            runs.
            """,
        operands: [
            Command.Operand(name: "TYPE", help: "the record type"),
            Command.Operand(name: "NAME", help: "the record's name"),
        ],
        options: options(zone: "in this zone (default: the default zone)") + [
            Command.Option(
                name: "set", value: "FIELD=VALUE", help: "set the field to this value", repeats: true),
            Command.Option(name: "unset", value: "FIELD", help: "remove the field", repeats: true),
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
        details: """
            Searches every zone, as record get does. Deletes nothing if a name is missing (exit code 3), or is in
            several zones (exit code 4): then it lists them, and --zone selects one. Records that refer to a deleted
            one with DELETE_SELF are deleted with it. In a custom zone either all of them are deleted or none.
            """,
        operands: [Command.Operand(name: "NAME", help: "a record's name", repeats: true)],
        options: options(zone: "in this zone only (default: in every zone)"),
        json: #"{"deleted": [names]}"#,
        examples: [
            "init --container iCloud.com.example.todo", "account create ann || true",
            "record save Todo todo-2 --container iCloud.com.example.todo --account ann",
            "record delete todo-2 --container iCloud.com.example.todo --account ann",
        ],
        run: delete)

    private static func options(zone: String) -> [Command.Option] {
        [
            .container, .environment,
            Command.Option(
                name: "account", value: "NAME", help: "the account that makes the change", isRequired: true),
            Command.Option(
                name: "public", help: "in the public database (default: the account's private one)"),
            Command.Option(name: "zone", value: "NAME", help: zone),
            Command.dataOption,
        ]
    }

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
        let data = try EnvironmentData(invocation, console)
        let results = try data.withService { try change([operation], $0, data, invocation) }
        var printer = try RecordPrinter(console, isJSON: invocation.has("json"))
        for case .record(let record) in results { try printer.print(record) }
        try printer.end()
    }

    private static func delete(_ invocation: Invocation, _ console: Console) throws {
        let data = try EnvironmentData(invocation, console)
        try data.withService { service in
            let operations = try found(invocation.operands, data, invocation, console).map { record in
                RecordOperation(
                    operationType: .delete,
                    record: WireRecord(recordName: record.recordName, zoneID: record.zoneID))
            }
            _ = try change(operations, service, data, invocation)
        }
        if invocation.has("json") {
            return try console.print(
                .object([("deleted", .array(invocation.operands.map { .string($0) }))]))
        }
        try console.print("deleted \(invocation.operands.joined(separator: ", "))")
    }

    /// Returns the records with these names. Each must be in exactly one zone.
    private static func found(
        _ names: [String], _ data: EnvironmentData, _ invocation: Invocation, _ console: Console
    ) throws -> [WireRecord] {
        let source = try RecordSource(changing: data, invocation, console)
        let places = try names.map { (name: $0, records: try source.records(named: $0)) }
        let missing = places.filter(\.records.isEmpty).map(\.name)
        guard missing.isEmpty else {
            throw Failure.notThere("not there: \(missing.joined(separator: ", ")). Nothing was deleted.")
        }
        let several = places.filter { $0.records.count > 1 }.map { place in
            "\(place.name) is in the zones "
                + place.records.compactMap(\.zoneID?.zoneName).joined(separator: ", ")
        }
        guard several.isEmpty else {
            throw Failure.refused(
                several.joined(separator: "; ") + ". Say which with --zone. Nothing was deleted.")
        }
        return places.flatMap(\.records)
    }

    private static func change(
        _ operations: [RecordOperation], _ service: CloudService, _ data: EnvironmentData,
        _ invocation: Invocation
    ) throws -> [RecordResult] {
        let request = RecordsModifyRequest(
            operations: operations, zoneID: invocation.value("zone").map { ZoneID(zoneName: $0) })
        let body = try data.ask(
            service, "records/modify", account: try invocation.required("account"),
            database: invocation.has("public") ? "public" : "private", request)
        let results = try RecordsModifyResponse(json: body).records
        for case .error(let error) in results where error.serverErrorCode != .atomicError {
            throw Failure.refused(
                "\(error.recordName ?? ""): \(error.reason ?? error.serverErrorCode.rawValue)")
        }
        return results
    }

    /// Returns the text if it is JSON; otherwise encodes it as a JSON string.
    private static func value(_ text: String) -> String {
        let isJSON =
            (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
        return isJSON ? text : JSON.string(text).text
    }
}
