import CloudWire

extension WireError {
    /// Words that precede a quoted name of the schema, or of the record in the operation, in a reason.
    private static let wordsBeforeNames: Set<String> = [
        "field", "Field", "type", "types", "record", "records", "index",
    ]
    /// Maximum bytes of a stored reason.
    private static let reasonBytesMax = 500

    /// The reason up to the first part that may be the value of a field: the name of a referenced record, or
    /// a part of an invalid body.
    var reasonWithoutValues: String? {
        // First, since a reason can be as long as the request.
        guard let reason = boundedReason else { return nil }
        let told = Self.withoutQuotes(Self.withoutTarget(reason))
        return told.utf8.count <= Self.reasonBytesMax
            ? told : String(decoding: told.utf8.prefix(Self.reasonBytesMax), as: UTF8.self)
    }

    /// Removes the name of a referenced record, which may resemble the rest of the text.
    private static func withoutTarget(_ reason: String) -> String {
        let (opening, closing) = (Array("recordID=".utf8), Array(", title=".utf8))
        let bytes = Array(reason.utf8)
        guard let start = bytes.firstIndex(of: opening) else { return reason }
        let head = bytes[..<start]
        guard let end = bytes.lastIndex(of: closing), end >= start + opening.count else {
            return String(decoding: head, as: UTF8.self)
        }
        return String(decoding: head + bytes[(end + 2)...], as: UTF8.self)
    }

    /// Truncates the reason before the first quoted text that isn't known to be a name.
    private static func withoutQuotes(_ reason: String) -> String {
        let isOfJSON = reason.contains(", byte ")
        var isInside = false
        var word: [UInt8] = []
        let bytes = Array(reason.utf8)
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "'") {
                if isInside {
                    isInside = false
                } else if index > 0, isLetter(bytes[index - 1]) {
                    // An apostrophe.
                } else if isOfJSON || !wordsBeforeNames.contains(String(decoding: word, as: UTF8.self)) {
                    return String(decoding: bytes[..<index], as: UTF8.self) + "..."
                } else {
                    isInside = true
                }
            } else if byte == UInt8(ascii: "\"") {
                return String(decoding: bytes[..<index], as: UTF8.self) + "..."
            } else if isLetter(byte) {
                if index > 0, !isLetter(bytes[index - 1]) { word = [] }
                word.append(byte)
            }
        }
        return reason
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

extension [UInt8] {
    fileprivate func firstIndex(of part: [UInt8]) -> Int? {
        guard count >= part.count else { return nil }
        return (0...count - part.count).first { self[$0..<$0 + part.count].elementsEqual(part) }
    }

    fileprivate func lastIndex(of part: [UInt8]) -> Int? {
        guard count >= part.count else { return nil }
        return (0...count - part.count).last { self[$0..<$0 + part.count].elementsEqual(part) }
    }
}

extension SchemaError {
    /// Returns the missing element of production's schema, if the reason names one. `newType` and `newField` write
    /// such reasons.
    static func missing(in reason: String) -> WireDetail.SchemaName? {
        if let recordType = reason.between("Cannot create new type ", " in production schema") {
            return WireDetail.SchemaName(recordType: RequestTrace.cut(recordType))
        }
        guard let names = reason.between("Cannot create or modify field '", "' in production schema"),
            let middle = Array(names.utf8).firstIndex(of: Array("' in record '".utf8))
        else { return nil }
        let bytes = Array(names.utf8)
        return WireDetail.SchemaName(
            recordType: RequestTrace.cut(String(decoding: bytes[(middle + 13)...], as: UTF8.self)),
            fieldName: RequestTrace.cut(String(decoding: bytes[..<middle], as: UTF8.self)))
    }
}

extension ServiceError {
    /// Returns the missing index of a query, if the reason names one. `notMarked` writes such reasons.
    static func missingMark(in reason: String) -> (fieldName: String, kind: String)? {
        for kind in ["queryable", "sortable", "searchable"] {
            guard let name = reason.between("BadRequestException: Field '", "' is not marked \(kind)") else {
                continue
            }
            return (RequestTrace.cut(name), kind.uppercased())
        }
        return nil
    }
}

extension String {
    /// Returns the text between a prefix and a suffix.
    fileprivate func between(_ beginning: String, _ end: String) -> String? {
        guard hasPrefix(beginning), hasSuffix(end), utf8.count >= beginning.utf8.count + end.utf8.count else {
            return nil
        }
        return String(decoding: utf8.dropFirst(beginning.utf8.count).dropLast(end.utf8.count), as: UTF8.self)
    }
}
