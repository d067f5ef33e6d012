package import CloudWire
import Foundation

/// A value as the merge log keeps and shows it: a long one is cut, and its length is known.
package struct MergeLogValue: Hashable, Sendable {
    /// The most bytes kept of a value: of a text in UTF-8, of bytes, and of a list's elements together.
    package static let mergeLogValueBytesMax = 1_000
    /// What an element of a list counts at least, so that a list of small ones is cut too.
    static let elementBytesMin = 8
    /// What a place counts in a list.
    private static let locationBytes = 72
    /// The first bytes that are shown of bytes.
    static let shownBytesMax = 8

    /// The value, or its beginning.
    package let value: FieldValue
    /// The length of a value that was cut: bytes of a text or of bytes, elements of a list. Nil for a whole value.
    package let wholeLength: Int?

    /// Cuts a value.
    package init(_ value: FieldValue) {
        (self.value, wholeLength) = Self.cut(value)
    }

    /// Takes over a value that was cut when it was stored.
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

    /// The first elements that have room. A text that has none is cut, and is the last one.
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

    /// The value with the texts in it cut, each with its length, and without what the log doesn't show.
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

// MARK: Words

extension MergeLogValue {
    /// The value as a person reads it.
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

    /// How many bytes there are, and the first of them in hexadecimal.
    private static func words(_ first: ArraySlice<UInt8>, count: Int) -> String {
        let digits = first.map { padded(Int($0), digits: 2, radix: 16) }.joined()
        guard !digits.isEmpty else { return counted(count, "byte") }
        return "\(counted(count, "byte")): \(digits)" + (first.count < count ? "…" : "")
    }

    /// A date in ISO 8601 with milliseconds, in UTC.
    static func date(milliseconds: Int64) -> String {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let rest = remainder < 0 ? remainder + 1000 : remainder
        var (seconds, parts) = (time_t(remainder < 0 ? quotient - 1 : quotient), tm())
        guard gmtime_r(&seconds, &parts) != nil else { return "\(milliseconds) ms" }
        let year = Int(parts.tm_year) + 1900
        let sign = year < 0 ? "-" : year > 9999 ? "+" : ""
        let date = [
            sign + padded(abs(year), digits: sign.isEmpty ? 4 : 6), padded(Int(parts.tm_mon) + 1, digits: 2),
            padded(Int(parts.tm_mday), digits: 2),
        ]
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int($0), digits: 2) }
        return date.joined(separator: "-") + "T" + time.joined(separator: ":")
            + ".\(padded(Int(rest), digits: 3))Z"
    }

    private static func padded(_ number: Int, digits: Int, radix: Int = 10) -> String {
        let text = String(number, radix: radix)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

private func counted(_ count: Int, _ thing: String) -> String {
    count == 1 ? "1 \(thing)" : "\(count) \(thing)s"
}

extension String {
    /// The longest beginning that has up to `bytesMax` bytes in UTF-8 and ends between two characters.
    func beginning(bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(startIndex, offsetBy: bytesMax)
        while end > startIndex, UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
        let beginning = String(self[..<end])
        // What comes next may belong to the last character, as an accent does.
        let isWhole = (beginning + String(unicodeScalars[end])).count > beginning.count
        return isWhole ? beginning : String(beginning.dropLast())
    }

    /// The text, or its beginning with a sign that it was cut and the bytes that it had.
    fileprivate func shortened(bytesMax: Int) -> String {
        let beginning = beginning(bytesMax: bytesMax)
        return beginning.utf8.count < utf8.count ? "\(beginning)… (\(counted(utf8.count, "byte")))" : self
    }
}
