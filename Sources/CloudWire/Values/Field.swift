/// A field of a record on the wire.
package struct Field: Hashable, Sendable {
    /// The value. Nil is JSON's null and clears the field.
    package var value: FieldValue?
    /// The type as sent, or nil if it was omitted. Then the value's own type is guessed from its JSON, and
    /// the schema may correct it: a text can be bytes, a whole number can be a time or a double.
    package var type: FieldType?
    /// True if the field is marked as encrypted: stored as sent, never indexed.
    package var isEncrypted: Bool

    /// Makes a field. Without a type, the receiver guesses it or uses its schema.
    package init(value: FieldValue?, type: FieldType?, isEncrypted: Bool = false) {
        self.value = value
        self.type = type
        self.isEncrypted = isEncrypted
    }

    /// Makes a field that names the type of its value.
    package init(_ value: FieldValue, isEncrypted: Bool = false) {
        self.init(value: value, type: value.type, isEncrypted: isEncrypted)
    }

    /// A field that clears the previous value.
    package static let cleared = Field(value: nil, type: nil)
}
