/// What came back for a request.
package struct Answer {
    /// HTTP's status; 0 when the connection ended before the answer was whole.
    package var status = 0
    /// What the server asks to wait, in seconds.
    package var retryAfterSeconds: Double?
    /// Empty for who doesn't keep it.
    package var body: [UInt8] = []
    /// How long the body is.
    package var bodyBytes = 0

    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// Reads answers from what comes in. The server always says how long a body is.
struct AnswerReader {
    private var head: [UInt8] = []
    private var answer = Answer()
    private var missingBytes: Int?
    let keepsBody: Bool

    init(keepsBody: Bool) { self.keepsBody = keepsBody }

    /// Takes bytes, and returns the answer when it is whole.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Answer? {
        var rest = bytes[...]
        if missingBytes == nil {
            let before = head.count
            head += rest
            guard let end = Self.endOfHead(head, from: max(0, before - 3)) else { return nil }
            rest = rest.dropFirst(end - before)
            readHead(String(decoding: head[..<end], as: UTF8.self))
        }
        let count = min(missingBytes ?? 0, rest.count)
        if keepsBody { answer.body += rest.prefix(count) }
        missingBytes = (missingBytes ?? 0) - count
        guard missingBytes == 0 else { return nil }
        defer { self = AnswerReader(keepsBody: keepsBody) }
        return answer
    }

    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        let mark: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        guard bytes.count >= 4 else { return nil }
        for index in start...(bytes.count - 4) where bytes[index...].starts(with: mark) { return index + 4 }
        return nil
    }

    private mutating func readHead(_ text: String) {
        let lines = text.split(separator: "\r\n")
        answer.status =
            lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        missingBytes = 0
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            switch line[..<colon].lowercased() {
            case "content-length": missingBytes = Int(value) ?? 0
            case "retry-after": answer.retryAfterSeconds = Double(value)
            default: break
            }
        }
        answer.bodyBytes = missingBytes ?? 0
        if answer.status == 204 || answer.status == 304 { missingBytes = 0 }
    }
}
