/// Which part of a file a request asks for (RFC 9110, section 14). Only one range; a request for several gets all.
enum HTTPByteRange: Equatable {
    /// All of it.
    case whole
    /// From an offset, so many bytes.
    case part(offset: Int64, count: Int64)
    /// None of it is there.
    case unsatisfiable

    /// - Parameters:
    ///   - header: the value of `Range`. What can't be read is as good as absent.
    ///   - condition: the value of `If-Range`: the range counts only for the file of that entity tag.
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

    /// The number; an inner nil where nothing stands, an outer one for what is no number.
    private static func number(_ text: Substring) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.count <= 18, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return .some(Int64(text))
    }
}
