import CloudWire

/// What the service gave out and wants back unchanged, by whom it was given it: tokens, markers, receipts, tags.
/// What the victim was given is a hostile value from everybody else.
struct SealedValues: Sendable {
    /// The keys under which such values stand in answers.
    static let keys = [
        "apnsToken", "continuationMarker", "downloadURL", "fileChecksum", "metaSyncToken", "notificationID",
        "receipt",
        "recordChangeTag", "subscriptionID", "syncToken", "url", "webcourierURL",
    ]
    private static let keptMax = 64

    private(set) var values: [String: [String]] = [:]

    /// All of them, in one order.
    var all: [String] { Self.keys.flatMap { values[$0] ?? [] } }

    func of(_ keys: String...) -> [String] { keys.flatMap { values[$0] ?? [] } }

    /// Takes what is in an answer; the oldest values make room.
    mutating func take(_ answer: JSONValue) {
        switch answer {
        case .array(let elements):
            for element in elements { take(element) }
        case .object(let members):
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                if case .string(let text) = value, Self.keys.contains(key) { add(text, key) }
                take(value)
            }
        default: break
        }
    }

    private mutating func add(_ text: String, _ key: String) {
        var kept = values[key] ?? []
        guard !kept.contains(text) else { return }
        if kept.count >= Self.keptMax { kept.removeFirst() }
        values[key] = kept + [text]
    }
}
