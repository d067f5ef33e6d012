/// One field of a record, as it crosses the wire.
package struct Field: Hashable, Sendable {
    /// The value; nil is JSON's null and clears the field.
    package var value: FieldValue?
    /// The type as it was sent; nil if it was left out. Then the value's own type is a guess from its JSON,
    /// which the schema may correct: text can be bytes, a whole number can be a time or a double.
    package var type: FieldType?
    /// True if the field is marked as encrypted: stored as sent, never indexed.
    package var isEncrypted: Bool

    /// Makes a field. Without a type the sender relies on the receiver's guess or schema.
    package init(value: FieldValue?, type: FieldType?, isEncrypted: Bool = false) {
        self.value = value
        self.type = type
        self.isEncrypted = isEncrypted
    }

    /// Makes a field that names the type of its value.
    package init(_ value: FieldValue, isEncrypted: Bool = false) {
        self.init(value: value, type: value.type, isEncrypted: isEncrypted)
    }

    /// The field that clears what was there.
    package static let cleared = Field(value: nil, type: nil)
}
