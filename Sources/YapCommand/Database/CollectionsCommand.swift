import Yap

/// `yap db collections`: contents of each collection.
enum CollectionsCommand {
    static let command = Command(
        name: "db collections", summary: "show the contents of an app's collections",
        details: """
            The file is read and not changed, also while an app has it open. All rows are read.

            The file doesn't have the names of the types. For each collection it shows rows and bytes, the number of
            objects by version of its type, and the names of the properties, up to 100. Objects with kept properties
            were stored again by a version that doesn't know these. Foreign objects were written by a serializer of
            the app.
            """,
        operands: [Command.Operand(name: "FILE", help: "the app's database file")],
        options: KeyOptions.options,
        json: """
            {"file", "collections": [{"name", "rows", "objectBytes", "metadataBytes", "largestRowBytes",
            "rowsWithMetadata", "foreign", "kept", "versions": [{"version", "rows"}], "properties": [name]}]}
            """,
        examples: ["db collections phone.yap", "db collections phone.yap --json"], run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        let contents = try invocation.deviceFile(console).read { try $0.contents() }
        if invocation.has("json") {
            return try console.print(
                .object([("file", .string(path)), ("collections", .array(contents.map(json)))]))
        }
        if contents.isEmpty { return try console.print("\(Shown.word(path)) has no rows") }
        for collection in contents { for line in lines(collection) { try console.print(line) } }
    }

    private static func lines(_ contents: DatabaseFile.Contents) -> [String] {
        let rows = contents.rowsCount == 1 ? "1 row" : "\(contents.rowsCount) rows"
        var lines = [
            "\(Shown.word(contents.name)): \(rows), \(contents.objectBytesCount) bytes of objects, "
                + "\(contents.metadataBytesCount) of metadata, the largest \(contents.largestRowBytesCount)"
        ]
        let versions = contents.versions.sorted { $0.key < $1.key }
        if versions.contains(where: { $0.key != 1 }) {
            lines.append(
                "  versions: " + versions.map { "\($0.key) of \($0.value) objects" }.joined(separator: ", "))
        }
        if contents.keptCount > 0 { lines.append("  kept properties: in \(contents.keptCount) objects") }
        if contents.foreignCount > 0 { lines.append("  foreign: \(contents.foreignCount) objects") }
        if !contents.propertyNames.isEmpty {
            lines.append(
                "  properties: " + contents.propertyNames.sorted().map(Shown.word).joined(separator: ", "))
        }
        return lines
    }

    private static func json(_ contents: DatabaseFile.Contents) -> JSON {
        let versions = contents.versions.sorted { $0.key < $1.key }.map { version, rows in
            JSON.object([("version", .integer(Int64(version))), ("rows", .integer(Int64(rows)))])
        }
        return .object([
            ("name", .string(contents.name)), ("rows", .integer(Int64(contents.rowsCount))),
            ("objectBytes", .integer(contents.objectBytesCount)),
            ("metadataBytes", .integer(contents.metadataBytesCount)),
            ("largestRowBytes", .integer(Int64(contents.largestRowBytesCount))),
            ("rowsWithMetadata", .integer(Int64(contents.metadataCount))),
            ("foreign", .integer(Int64(contents.foreignCount))),
            ("kept", .integer(Int64(contents.keptCount))), ("versions", .array(versions)),
            ("properties", .array(contents.propertyNames.sorted().map { .string($0) })),
        ])
    }
}
