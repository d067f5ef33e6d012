/// The text form of a schema: Apple's schema language, as `.ckdb` files have it.
///
/// ```text
/// DEFINE SCHEMA
///     CREATE ROLE editor;
///     RECORD TYPE Note (
///         title STRING QUERYABLE SORTABLE SEARCHABLE,
///         tags  LIST<STRING>,
///         GRANT READ TO "_world"
///     );
/// ```
public enum SchemaLanguage {
    /// Maximum bytes of a text.
    public static let textBytesMax = 8 << 20
    /// Maximum record types in a schema.
    public static let recordTypesMax = 1_000
    /// Maximum fields of all record types of a schema together.
    public static let fieldsMax = 20_000
    /// Maximum custom roles in a schema.
    public static let rolesMax = 100
    /// Maximum bytes of a name.
    public static let nameBytesMax = 255

    /// Keywords where a field or a role is expected. A name equal to one must be quoted.
    static let reservedWords: Set<String> = [
        "grant", "preferred", "queryable", "sortable", "searchable",
    ]

    /// Parses a text. Comments are not kept.
    ///
    /// - Throws: `SchemaTextError` with the position of the error and the expected syntax.
    public static func parse(_ text: [UInt8]) throws(SchemaTextError) -> Schema {
        guard text.count <= textBytesMax else {
            throw SchemaTextError(
                line: 1, column: 1, reason: "the text has \(text.count) bytes; \(textBytesMax) are allowed")
        }
        var parser = SchemaParser(text)
        return try parser.schema()
    }

    /// Parses a text. See `parse(_:)`.
    public static func parse(_ text: String) throws(SchemaTextError) -> Schema { try parse(Array(text.utf8)) }

    /// Returns the schema as text, ordered by names. Equal schemas give equal texts.
    public static func print(_ schema: Schema) -> String {
        var printer = SchemaPrinter()
        return printer.text(of: schema)
    }
}

/// An error in a schema's text, with its position.
public struct SchemaTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The character in the line, from 1.
    public let column: Int
    /// The expected syntax, and the text found.
    public let reason: String

    /// Position and reason in a sentence.
    public var description: String { "line \(line), column \(column): \(reason)" }
}
