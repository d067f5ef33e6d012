import CloudWire

/// `yap record ...`: records in the server's files, read beside a running server.
enum RecordCommands {
    /// Maximum records held in memory to sort them without a limit.
    static let sortedMax = 500_000

    static let query = Command(
        name: "record query", summary: "print the records of a type",
        details: """
            Reads the server's files, also while it runs. It uses an index that serves all conditions and sorts, as
            records/query does, and otherwise reads each record. A condition is FIELD, one of = != < <= > >=, and a
            value: 'priority > 3', 'title = Milk'; for a list, = means that it contains the value. All conditions must
            hold. recordName, createdTimestamp and modifiedTimestamp are fields too. A time is milliseconds since
            1970, a day ('due > 2026-11-25', after that day) or a second as it is printed (2026-11-25T10:34:25Z), in
            UTC. When sorting, records without the field come first. A type or field that isn't in the schema, or a
            value of the wrong type, is an error.
            """,
        operands: [Command.Operand(name: "TYPE", help: "the record type")],
        options: RecordSource.options + [
            Command.Option(
                name: "where", value: "CONDITION", help: "only matching records", repeats: true),
            Command.Option(
                name: "sort", value: "FIELD", help: "sort by this field; -FIELD for the largest first",
                repeats: true),
            Command.Option(name: "limit", value: "NUMBER", help: "maximum number of records"),
        ],
        json:
            #"{"records": [...]}, each as CloudKit's web protocol has it: recordName, recordType, fields, zoneID, ..."#,
        examples: [
            "init --container iCloud.com.example.todo", "account create ann",
            "record save Todo milk --container iCloud.com.example.todo --account ann --set priority=4",
            "record query Todo --container iCloud.com.example.todo --account ann --where 'priority > 3'",
            "record query Todo --container iCloud.com.example.todo --public --sort -priority --limit 10 --json",
        ],
        run: query)

    static let get = Command(
        name: "record get", summary: "print records by their names",
        operands: [Command.Operand(name: "NAME", help: "a record's name", repeats: true)],
        options: RecordSource.options,
        json:
            "as for record query. A missing name is an error (exit code 3), after the others were printed",
        examples: [
            "init --container iCloud.com.example.todo",
            "record get todo-1 --container iCloud.com.example.todo --public || echo 'not there'",
        ],
        run: get)

    private static func query(_ invocation: Invocation, _ console: Console) throws {
        let type = invocation.operands[0]
        var conditions = try invocation.values("where").map(RecordCondition.init)
        let orders = try invocation.values("sort").map(RecordOrder.init)
        let limit = try invocation.number("limit", in: 1...1_000_000_000)
        let source = try RecordSource(invocation, console)
        let schemaCheck = try source.nameCheck()
        try schemaCheck.check(type, conditions, orders)
        conditions = try schemaCheck.fitting(conditions, of: type)
        var printer = try RecordPrinter(console, isJSON: invocation.has("json"))
        var count = 0
        let isServed = try source.forEach(type, conditions, orders, schemaCheck.schema) { record in
            count += 1
            try printer.print(record)
            return count != limit
        }
        guard !isServed else { return try printer.end() }
        var kept: [WireRecord] = []
        try source.forEach { record in
            guard record.recordType == type, conditions.allSatisfy({ $0.holds(for: record) }) else {
                return true
            }
            guard orders.isEmpty else {
                kept.append(record)
                try cut(&kept, to: limit, by: orders)
                return true
            }
            count += 1
            try printer.print(record)
            return count != limit
        }
        kept.sort { RecordOrder.isBefore($0, $1, by: orders) }
        for record in kept.prefix(limit ?? kept.count) { try printer.print(record) }
        try printer.end()
    }

    /// Keeps memory bounded: with a limit, only the first records in the sort order are kept.
    private static func cut(_ kept: inout [WireRecord], to limit: Int?, by orders: [RecordOrder]) throws {
        if let limit, kept.count >= 2 * limit + pageSlack {
            kept.sort { RecordOrder.isBefore($0, $1, by: orders) }
            kept.removeSubrange(limit...)
        }
        guard kept.count <= sortedMax else {
            throw Failure.failed("These are more than \(sortedMax) records to sort: add --limit or --where.")
        }
    }

    private static let pageSlack = 1000

    private static func get(_ invocation: Invocation, _ console: Console) throws {
        let source = try RecordSource(invocation, console)
        var printer = try RecordPrinter(console, isJSON: invocation.has("json"))
        var missing: [String] = []
        for name in invocation.operands {
            let records = try source.records(named: name)
            if records.isEmpty { missing.append(name) }
            for record in records { try printer.print(record) }
        }
        try printer.end()
        guard missing.isEmpty else { throw Failure.notThere("not there: \(missing.joined(separator: ", "))") }
    }
}
