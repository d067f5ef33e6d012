import CloudWire

/// Prints a schema as text, ordered by names.
struct SchemaPrinter {
    private var text = "DEFINE SCHEMA\n"

    mutating func text(of schema: Schema) -> String {
        for role in schema.roles.sorted() { text += "\n    CREATE ROLE \(Self.name(role));\n" }
        for (name, type) in schema.recordTypes.sorted(by: { $0.key < $1.key }) {
            write(type, name: name)
        }
        return text
    }

    private mutating func write(_ type: RecordType, name: String) {
        var lines: [(name: String, rest: String)] = SystemField.allCases.map { field in
            (
                "\"\(field.rawValue)\"",
                Self.rest(field.type.rawValue, type.systemIndexes[field.rawValue] ?? [])
            )
        }
        for (name, field) in type.fields.sorted(by: { $0.key < $1.key }) {
            lines.append((Self.name(name), Self.rest(field.typeName, field.indexes)))
        }
        let width = lines.map(\.name.utf8.count).max() ?? 0
        var items = lines.map { line in
            line.name + String(repeating: " ", count: width - line.name.utf8.count + 1) + line.rest
        }
        for (role, permissions) in type.grants.sorted(by: { $0.key < $1.key }) where !permissions.isEmpty {
            items.append("GRANT \(permissions.text) TO \(Self.name(role))")
        }
        text += "\n    RECORD TYPE \(Self.name(name)) (\n"
        text += items.map { "        " + $0 }.joined(separator: ",\n")
        text += "\n    );\n"
    }

    private static func rest(_ type: String, _ indexes: FieldIndexes) -> String {
        ([type] + FieldIndexes.names.filter { indexes.contains($0.index) }.map(\.name)).joined(separator: " ")
    }

    /// Returns a name as printed: quoted if it has special characters or equals a keyword.
    static func name(_ name: String) -> String {
        let bytes = Array(name.utf8)
        let isPlain =
            bytes.first.map(SchemaLexer.isLetter) ?? false
            && bytes.allSatisfy { SchemaLexer.isLetter($0) || SchemaLexer.isDigit($0) || $0 == 0x5F }
        guard !isPlain || SchemaLanguage.reservedWords.contains(name.lowercased()) else { return name }
        return "\""
            + name.unicodeScalars.map { $0 == "\"" ? "\"\"" : String(Character($0)) }.joined() + "\""
    }
}
