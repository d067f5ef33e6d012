/// One field of a record, as it crosses the wire.
public struct Field: Hashable, Sendable {
    /// The value; nil is JSON's null and clears the field.
    public var value: FieldValue?
    /// The type as it was sent; nil if it was left out. Then the value's own type is a guess from its JSON,
    /// which the schema may correct: text can be bytes, a whole number can be a time or a double.
    public var type: FieldType?
    /// True if the field is marked as encrypted: stored as sent, never indexed.
    public var isEncrypted: Bool

    /// Makes a field. Without a type the sender relies on the receiver's guess or schema.
    public init(value: FieldValue?, type: FieldType?, isEncrypted: Bool = false) {
        self.value = value
        self.type = type
        self.isEncrypted = isEncrypted
    }

    /// Makes a field that names the type of its value.
    public init(_ value: FieldValue, isEncrypted: Bool = false) {
        self.init(value: value, type: value.type, isEncrypted: isEncrypted)
    }

    /// The field that clears what was there.
    public static let cleared = Field(value: nil, type: nil)
}
