/// The requested part of a file (RFC 9110, section 14). Only one range: a request for several gets the whole file.
enum HTTPByteRange: Equatable {
    /// All of it.
    case whole
    /// This number of bytes from an offset.
    case part(offset: Int64, count: Int64)
    /// The range lies outside of the file.
    case unsatisfiable

    /// - Parameters:
    ///   - header: the value of `Range`. An invalid value is ignored.
    ///   - condition: the value of `If-Range`. The range applies only to a file with that entity tag.
    init(_ header: String?, condition: String?, entityTag: String, bytes: Int64) {
        self = .whole
        guard let header, condition == nil || condition == entityTag else { return }
        let text = header.lowercased()
        guard text.hasPrefix("bytes=") else { return }
        let parts = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = Self.number(parts[0]), let last = Self.number(parts[1]) else {
            return
        }
        switch (first, last) {
        case (nil, nil): return
        case (nil, let count?):
            self =
                count == 0 || bytes == 0
                ? .unsatisfiable : .part(offset: max(0, bytes - count), count: min(count, bytes))
        case (let first?, let last):
            if let last, last < first { return }
            guard first < bytes else {
                self = .unsatisfiable
                return
            }
            self = .part(offset: first, count: min(last ?? bytes, bytes - 1) - first + 1)
        }
    }

    /// Returns the number, an inner nil for an empty text, and an outer nil for an invalid one.
    private static func number(_ text: Substring) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.count <= 18, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return .some(Int64(text))
    }
}
