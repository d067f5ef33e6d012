package import CloudWire
internal import System

/// A value in the merge log. A long value is cut, and its length is kept.
package struct MergeLogValue: Hashable, Sendable {
    /// Maximum bytes kept of a value: of a text in UTF-8, of bytes, or of all elements of a list together.
    package static let mergeLogValueBytesMax = 1_000
    /// Minimum number of bytes that an element of a list counts, so that a list of small elements is cut too.
    static let elementBytesMin = 8
    /// Bytes that a location counts in a list.
    private static let locationBytes = 72
    /// Maximum number of bytes that are shown of bytes.
    static let shownBytesMax = 8

    /// The value, or its beginning.
    package let value: FieldValue
    /// Length of a value that was cut, in bytes, or in elements of a list. Nil for a whole value.
    package let wholeLength: Int?

    /// Cuts a value.
    package init(_ value: FieldValue) {
        (self.value, wholeLength) = Self.cut(value)
    }

    /// Makes a value that was cut when it was stored.
    init(stored value: FieldValue, wholeLength: Int?) {
        (self.value, self.wholeLength) = (value, wholeLength)
    }

    private static func cut(_ value: FieldValue) -> (FieldValue, wholeLength: Int?) {
        switch value {
        case .string(let text):
            let beginning = text.beginning(bytesMax: mergeLogValueBytesMax)
            return (.string(beginning), beginning.utf8.count < text.utf8.count ? text.utf8.count : nil)
        case .bytes(let bytes) where bytes.count > mergeLogValueBytesMax:
            return (.bytes(Array(bytes.prefix(mergeLogValueBytesMax))), bytes.count)
        case .encryptedBytes(let bytes) where bytes.count > mergeLogValueBytesMax:
            return (.encryptedBytes(Array(bytes.prefix(mergeLogValueBytesMax))), bytes.count)
        case .list(let type, let elements):
            let beginning = cut(elements)
            return (.list(type, beginning), beginning.count < elements.count ? elements.count : nil)
        default: return (shortened(value, bytesMax: mergeLogValueBytesMax), nil)
        }
    }

    /// Returns the first elements that fit. The first text that doesn't fit is cut, and is the last element.
    private static func cut(_ elements: [FieldValue]) -> [FieldValue] {
        var (kept, bytesLeft) = ([FieldValue](), mergeLogValueBytesMax)
        for element in elements {
            let bytes = max(elementBytesMin, bytesCount(element))
            guard bytes > bytesLeft else {
                kept.append(shortened(element, bytesMax: bytes))
                bytesLeft -= bytes
                continue
            }
            if case .string = element, bytesLeft > 0 { kept.append(shortened(element, bytesMax: bytesLeft)) }
            break
        }
        return kept
    }

    private static func bytesCount(_ element: FieldValue) -> Int {
        switch element {
        case .string(let text): text.utf8.count
        case .bytes(let bytes), .encryptedBytes(let bytes): bytes.count
        case .reference(let reference):
            [reference.recordName, reference.zoneID?.zoneName, reference.zoneID?.ownerRecordName]
                .reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        case .asset(let asset): asset.fileChecksum?.utf8.count ?? 0
        case .location: locationBytes
        case .int64, .double, .timestamp, .list: elementBytesMin
        }
    }

    /// Returns the value with its texts cut, each with its length, and without parts that the log doesn't show.
    private static func shortened(_ value: FieldValue, bytesMax: Int) -> FieldValue {
        switch value {
        case .string(let text): return .string(text.shortened(bytesMax: bytesMax))
        case .reference(var reference):
            reference.recordName = reference.recordName.shortened(bytesMax: bytesMax)
            return .reference(reference)
        case .asset(let asset) where CloudFile(asset) != nil: return value
        case .asset(let asset):
            return .asset(
                Asset(fileChecksum: asset.fileChecksum?.shortened(bytesMax: bytesMax), size: asset.size))
        default: return value
        }
    }
}

// MARK: Text

extension MergeLogValue {
    /// Human-readable text of the value.
    var words: String {
        switch (value, wholeLength) {
        case (.string(let text), let length?): "\(text)… (\(counted(length, "byte")))"
        case (.bytes(let bytes), _), (.encryptedBytes(let bytes), _):
            Self.words(bytes.prefix(Self.shownBytesMax), count: wholeLength ?? bytes.count)
        case (.list(_, let elements), let length?):
            "[\((elements.map { Self.words(of: $0) } + ["… (\(counted(length, "element")))"]).joined(separator: ", "))]"
        default: Self.words(of: value)
        }
    }

    private static func words(of value: FieldValue) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .timestamp(let milliseconds): date(milliseconds: milliseconds)
        case .bytes(let bytes), .encryptedBytes(let bytes):
            words(bytes.prefix(shownBytesMax), count: bytes.count)
        case .reference(let reference): reference.recordName
        case .location(let place): "\(place.latitude), \(place.longitude)"
        case .asset(let asset): CloudFile(asset)?.description ?? asset.fileChecksum ?? "a file"
        case .list(_, let elements): "[\(elements.map { words(of: $0) }.joined(separator: ", "))]"
        }
    }

    /// Returns the number of bytes, and the first of them in hexadecimal.
    private static func words(_ first: ArraySlice<UInt8>, count: Int) -> String {
        guard !first.isEmpty else { return counted(count, "byte") }
        return "\(counted(count, "byte")): \(Hex.text(first))" + (first.count < count ? "…" : "")
    }

    /// Returns a date in ISO 8601 with milliseconds, in UTC. A year that doesn't have four digits gets a sign and
    /// at least six.
    static func date(milliseconds: Int64) -> String {
        let time = CivilTime(milliseconds: milliseconds)
        guard !(0...9999).contains(time.year) else { return time.text(withMilliseconds: true) }
        let year = (time.year < 0 ? "-" : "+") + CivilTime.padded(abs(time.year), 6)
        return "\(year)-\(CivilTime.padded(time.month))-\(CivilTime.padded(time.day))T\(time.clockText)"
            + ".\(CivilTime.padded(time.millisecond, 3))Z"
    }
}

private func counted(_ count: Int, _ thing: String) -> String {
    count == 1 ? "1 \(thing)" : "\(count) \(thing)s"
}

extension String {
    /// Returns the longest beginning with up to `bytesMax` bytes in UTF-8 that ends between two characters.
    func beginning(bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(startIndex, offsetBy: bytesMax)
        while end > startIndex, UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
        let beginning = String(self[..<end])
        // The next scalar may belong to the last character, as an accent does.
        let isWhole = (beginning + String(unicodeScalars[end])).count > beginning.count
        return isWhole ? beginning : String(beginning.dropLast())
    }

    /// Returns the text, or its beginning with "…" and its number of bytes.
    fileprivate func shortened(bytesMax: Int) -> String {
        let beginning = beginning(bytesMax: bytesMax)
        return beginning.utf8.count < utf8.count ? "\(beginning)… (\(counted(utf8.count, "byte")))" : self
    }
}
