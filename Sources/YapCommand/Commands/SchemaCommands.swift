import CloudService
import CloudStore
import CloudWire
import System

/// `yap schema ...`: the record types of a container, as text.
enum SchemaCommands {
    static let commands = [export, validate, importing, diff, deploy, reset]

    private static let yes = Command.Option(name: "yes", help: "do it")
    private static let fileOperand = Command.Operand(
        name: "FILE", help: "a schema in the schema language; - for the standard input")
    private static let changesKeys = #"[{"action", "kind", "recordType", "name", "before", "after"}]"#
    private static let todo = "--container iCloud.com.example.todo"

    static let export = Command(
        name: "schema export", summary: "print the schema of an environment, in Apple's schema language",
        details: "The same schema always gives the same text, so it can be stored with the app's sources.",
        options: [
            .container, .environment,
            Command.Option(name: "output", value: "FILE", help: "write it to this file"), Command.dataOption,
        ],
        json: #"{"container", "environment", "schema"}"#,
        examples: ["init \(todo)", "schema export \(todo)"],
        run: export)

    static let validate = Command(
        name: "schema validate",
        summary: "check a schema's text, and report the place of a mistake",
        details: "It needs no server and no folder. The exit code is 1 if the text isn't a valid schema.",
        operands: [fileOperand],
        json: #"{"file", "recordTypes", "roles"}"#,
        examples: ["init \(todo)", "schema export \(todo) > a.ckdb", "schema validate a.ckdb"],
        run: validate)

    static let importing = Command(
        name: "schema import", summary: "replace the schema of development by a text",
        details: """
            It is rejected, with the reasons, if production has a record type or a field that the text lacks or has
            with another type, and if records of development have values that the new schema can't store: delete them
            first, or see yap schema reset. Parts without values that aren't in the text are removed, and so are
            indexes. A running server uses the new schema from its next request on, and builds new indexes
            automatically.
            """,
        operands: [fileOperand],
        options: [
            .container, Command.Option(name: "dry-run", help: "only print what it would change"),
            Command.dataOption,
        ],
        json: "{\"container\", \"changes\": \(changesKeys), \"applied\"}",
        examples: [
            "init \(todo)",
            #"schema import \#(todo) - <<< 'DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE);'"#,
        ],
        run: importing)

    static let diff = Command(
        name: "schema diff", summary: "compare the schemas of development and production",
        options: [
            .container,
            Command.Option(name: "exit-code", help: "exit with 1 when they differ, for scripts"),
            Command.dataOption,
        ],
        json: "{\"container\", \"changes\": \(changesKeys)}",
        examples: ["init \(todo)", "schema diff \(todo)"],
        run: diff)

    static let deploy = Command(
        name: "schema deploy", summary: "deploy development's schema to production, only adding",
        details: """
            It first prints what it will do, and does it with --yes. Without --yes nothing is changed and the exit
            code is 1, unless there is nothing to do. Record types and fields of production stay as they are: a
            development schema that lacks one, or has it with another type, is rejected. Indexes, grants and roles
            that development lacks stay too, unless --remove is given. No record is changed. A running server uses the
            new schema from its next request on.
            """,
        options: [
            .container, yes,
            Command.Option(name: "dry-run", help: "only print what it would do; exit code 0"),
            Command.Option(
                name: "remove",
                help: "remove from production the indexes, grants and roles that development lacks"),
            Command.dataOption,
        ],
        json: "{\"container\", \"changes\": \(changesKeys),\n\"kept\": \(changesKeys), \"applied\"}",
        examples: ["init \(todo)", "schema deploy \(todo) --dry-run", "schema deploy \(todo) --yes"],
        run: deploy)

    static let reset = Command(
        name: "schema reset", summary: "reset development to production's schema, without data",
        details: """
            Everything in development is deleted: the records of all users, their zones, subscriptions and devices.
            Its schema becomes production's. Users keep their roles. Nothing happens without --yes. At their next
            request, devices find their zones deleted.
            """,
        options: [.container, yes, Command.dataOption],
        json: "{\"container\", \"changes\": \(changesKeys), \"applied\"}",
        examples: ["init \(todo)", "schema reset \(todo) --yes"],
        run: reset)

    private static func export(_ invocation: Invocation, _ console: Console) throws {
        let environment = try invocation.environment()
        let files = try SchemaFiles(invocation, console)
        let text = SchemaLanguage.print(try files.schema(environment))
        if let path = invocation.value("output") { try SchemaText.write(text, to: path) }
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("container", .string(files.container)), ("environment", .string(environment)),
                    ("schema", .string(text)),
                ]))
        }
        if invocation.value("output") == nil { try console.print(text, end: "") }
    }

    private static func validate(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        let schema = try SchemaText.schema(at: path, console)
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("file", .string(path)), ("recordTypes", .integer(Int64(schema.recordTypes.count))),
                    ("roles", .integer(Int64(schema.roles.count))),
                ]))
        }
        try console.print("\(path): \(schema.recordTypes.count) record types, \(schema.roles.count) roles")
    }

    private static func importing(_ invocation: Invocation, _ console: Console) throws {
        let new = try SchemaText.schema(at: invocation.operands[0], console)
        let files = try SchemaFiles(invocation, console)
        let losses = try files.schema("production").losses(in: new.complete, named: "the text")
        guard losses.isEmpty else {
            throw Failure.failed(
                "Production would lose what it has; nothing was changed:\n" + SchemaText.lines(losses))
        }
        let isDry = invocation.has("dry-run")
        let changes: [SchemaChange]
        if isDry {
            changes = try files.schema("development").changes(to: new.complete)
        } else {
            changes = try files.change("development") { service in
                let (before, after) = try service.schemaMaintenance.changeSchema { _ in new }
                return before.changes(to: after)
            }
        }
        try tell(changes, applied: !isDry, files, invocation, console)
    }

    private static func diff(_ invocation: Invocation, _ console: Console) throws {
        let files = try SchemaFiles(invocation, console)
        let changes = try files.schema("production").changes(to: files.schema("development"))
        if invocation.has("json") {
            try console.print(
                .object([("container", .string(files.container)), ("changes", SchemaText.json(changes))]))
        } else if changes.isEmpty {
            console.note("development and production have the same schema")
        } else {
            try console.print(changes.map(\.text).joined(separator: "\n"))
        }
        if invocation.has("exit-code"), !changes.isEmpty { throw Failure.failed("the schemas differ") }
    }

    private static func deploy(_ invocation: Invocation, _ console: Console) throws {
        let files = try SchemaFiles(invocation, console)
        let plan = SchemaDeployment(
            from: try files.schema("development"), to: try files.schema("production"),
            removes: invocation.has("remove"))
        guard plan.refusals.isEmpty else {
            throw Failure.failed(
                "Production has what development lacks, and nothing was changed:\n"
                    + SchemaText.lines(plan.refusals)
                    + "\nA deploy only adds. Import a schema that has it: yap schema import.")
        }
        let isApplied = invocation.has("yes") && !invocation.has("dry-run")
        if isApplied {
            _ = try files.change("production") { service in
                try service.schemaMaintenance.changeSchema { before in
                    // Another deployment may have come in between.
                    let plan = SchemaDeployment(
                        from: try files.schema("development"), to: before, removes: invocation.has("remove"))
                    guard plan.refusals.isEmpty else { throw SchemaRefusal(plan.refusals) }
                    return plan.result
                }
            }
        }
        if invocation.has("json") {
            try console.print(
                .object([
                    ("container", .string(files.container)), ("changes", SchemaText.json(plan.changes)),
                    ("kept", SchemaText.json(plan.kept)), ("applied", .bool(isApplied)),
                ]))
        } else {
            try print(plan, isApplied: isApplied, console)
        }
        guard isApplied || invocation.has("dry-run") || plan.changes.isEmpty else {
            throw Failure.failed("Nothing was changed. To do it: the same with --yes.")
        }
    }

    private static func print(
        _ plan: SchemaDeployment, isApplied: Bool, _ console: Console
    ) throws {
        if plan.changes.isEmpty {
            try console.print("production has all of development's schema")
        } else {
            try console.print(isApplied ? "production got:" : "production would get:")
            try console.print(plan.changes.map { "  " + $0.text }.joined(separator: "\n"))
        }
        guard !plan.kept.isEmpty else { return }
        try console.print("production keeps, though development doesn't have it (--remove takes it away):")
        try console.print(plan.kept.map { "  " + $0.text }.joined(separator: "\n"))
    }

    private static func reset(_ invocation: Invocation, _ console: Console) throws {
        let files = try SchemaFiles(invocation, console)
        let production = try files.schema("production")
        let changes = try files.schema("development").changes(to: production)
        guard invocation.has("yes") else {
            if !changes.isEmpty { try console.print(changes.map(\.text).joined(separator: "\n")) }
            throw Failure.failed(
                "This deletes all data of \(files.container) in development. Nothing was changed. To do it: "
                    + "the same with --yes.")
        }
        try files.change("development") { try $0.schemaMaintenance.reset(to: production) }
        try tell(changes, applied: true, files, invocation, console)
    }

    private static func tell(
        _ changes: [SchemaChange], applied: Bool, _ files: SchemaFiles, _ invocation: Invocation,
        _ console: Console
    ) throws {
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("container", .string(files.container)), ("changes", SchemaText.json(changes)),
                    ("applied", .bool(applied)),
                ]))
        }
        guard !changes.isEmpty else { return console.note("the schema is the same") }
        try console.print(changes.map(\.text).joined(separator: "\n"))
        if !applied { console.note("nothing was changed") }
    }
}
