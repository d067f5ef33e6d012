/// The names that fields of a model, or of a `MyDatabaseObject`, can have.
///
/// The names of a record's own properties are reserved (`CKRecord`), because a query by such a name refers to
/// the property.
enum FieldNames {
    static let bytesMax = 255
    static let reserved: Set<String> = [
        "recordID", "recordName", "creationDate", "modificationDate", "creatorUserRecordID",
        "lastModifiedUserRecordID", "parent", "share",
    ]

    /// Returns the problem of a name, or nil if it is valid.
    static func problem(of name: String) -> String? {
        if reserved.contains(name) { return "is the name of a property of every record" }
        let bytes = name.utf8
        let isPlain = bytes.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
        guard isPlain, bytes.first.map(isLetter) == true else {
            return "isn't a letter and then letters, digits and _ of ASCII"
        }
        return bytes.count > bytesMax ? "is longer than \(bytesMax) characters" : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
