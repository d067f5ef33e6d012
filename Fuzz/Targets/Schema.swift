import CloudService

/// The schema language: what is read is written as something that reads the same, and an error lies in the text.
@Sendable func fuzzSchema(_ bytes: [UInt8]) throws {
    let schema: Schema
    do {
        schema = try SchemaLanguage.parse(bytes)
    } catch {
        let isInside = error.line >= 1 && error.column >= 1 && error.column <= bytes.count + 1
        return try expect(isInside, "an error outside of the text: \(error)")
    }
    let text = SchemaLanguage.print(schema)
    let again = try? SchemaLanguage.parse(text)
    try expect(again == schema, "what was written reads as something else:\n\(text)")
    try expect(again.map { SchemaLanguage.print($0) } == text, "it isn't written the same way twice")
}
