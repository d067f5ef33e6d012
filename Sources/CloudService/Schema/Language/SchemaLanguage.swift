/// The text form of a schema: Apple's schema language, as `.ckdb` files have it.
///
///     DEFINE SCHEMA
///         CREATE ROLE editor;
///         RECORD TYPE Note (
///             title STRING QUERYABLE SORTABLE SEARCHABLE,
///             tags  LIST<STRING>,
///             GRANT READ TO "_world"
///         );
public enum SchemaLanguage {
    /// Bytes of a text.
    public static let textBytesMax = 8 << 20
    /// Record types in a schema.
    public static let recordTypesMax = 1_000
    /// Fields of all record types of a schema together.
    public static let fieldsMax = 20_000
    /// Custom roles in a schema.
    public static let rolesMax = 100
    /// Bytes of a name.
    public static let nameBytesMax = 255

    /// Words that mean something where a field's name or a role may stand, so that as a name they need quotes.
    static let reservedWords: Set<String> = [
        "grant", "preferred", "queryable", "sortable", "searchable",
    ]

    /// Reads a text. Comments are not kept.
    ///
    /// - Throws: `SchemaTextError`, which says where the text is wrong and what was expected there.
    public static func parse(_ text: [UInt8]) throws(SchemaTextError) -> Schema {
        guard text.count <= textBytesMax else {
            throw SchemaTextError(
                line: 1, column: 1, reason: "the text has \(text.count) bytes; \(textBytesMax) are allowed")
        }
        var parser = SchemaParser(text)
        return try parser.schema()
    }

    /// Reads a text. See `parse(_:)`.
    public static func parse(_ text: String) throws(SchemaTextError) -> Schema { try parse(Array(text.utf8)) }

    /// The schema as text: always the same for the same schema, in the order of the names.
    public static func print(_ schema: Schema) -> String {
        var printer = SchemaPrinter()
        return printer.text(of: schema)
    }
}

/// What is wrong with a schema's text, and where.
public struct SchemaTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The character in the line, from 1.
    public let column: Int
    /// What was expected and what stands there.
    public let reason: String

    /// Place and reason in a sentence.
    public var description: String { "line \(line), column \(column): \(reason)" }
}
