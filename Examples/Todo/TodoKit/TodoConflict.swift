/// A human-readable decision of a sync between two devices: the discarded and the kept value, and their devices.
public struct TodoConflict: Sendable, Equatable {
    /// A longer value is shortened in a sentence.
    static let valueCharactersMax = 32

    /// The item's key.
    public let key: String
    /// The rule that decided, as `CloudMergeLogEntry.Rule` names it.
    public let rule: String
    /// The field in the cloud; nil when the whole item is meant.
    public let field: String?
    /// The value that doesn't stand; nil when there was none.
    public let dropped: String?
    /// The value that stands; nil when there is none.
    public let kept: String?

    /// Makes a conflict from what the sync's log says.
    public init(key: String, rule: String, field: String?, dropped: String?, kept: String?) {
        (self.key, self.rule, self.field, self.dropped, self.kept) = (key, rule, field, dropped, kept)
    }

    /// Returns the decision in a sentence.
    ///
    /// - Parameters:
    ///   - here: The device that decided.
    ///   - there: The other device, if known.
    public func sentence(here: String = "this device", there: String = "another device") -> String {
        let name = name
        return switch rule {
        case "remoteWon":
            "\(name): \(there) was first, \(words(kept)) is kept; \(words(dropped)) of \(here) is dropped"
        case "localKept":
            "\(name): \(words(kept)) of \(here) is kept; \(words(dropped)) of \(there) is replaced"
        case "merged":
            "\(name): both changed it, and \(words(kept)) was made of both; \(here) had \(words(dropped))"
        case "superseded":
            "\(name): \(words(dropped)) of \(here) need not be sent, its own \(words(kept)) came later"
        case "editBeatDeletion": "\(there) deleted it, but \(here) had edited it: it is created again"
        case "deletionDropped": "\(here) deleted it, but \(there) had edited it: it comes back"
        case "deletedRemotely":
            field == nil
                ? "\(there) deleted it: pending changes on \(here) are dropped"
                : "\(there) deleted it: \(name) \(words(dropped)) of \(here) is dropped"
        default: "the server had lost a change: what \(here) has is sent again"
        }
    }

    /// The field as people call it.
    private var name: String {
        switch field {
        case "completed": "done or not"
        case "created": "the day it was written down"
        case "completionDay": "the day it was done"
        case "order": "its place"
        case "color": "the colour"
        case let field?: "the \(field)"
        case nil: "the item"
        }
    }

    private func words(_ value: String?) -> String {
        guard let value else { return "nothing" }
        if field == "completed" { return value == "0" ? "“open”" : "“done”" }
        if field == "color", let named = TodoColor.names.first(where: { $0.color.text == value }) {
            return "“\(named.name)”"
        }
        guard value.count > Self.valueCharactersMax else { return "“\(value)”" }
        // Both ends, because people change the end as often as the beginning.
        let half = Self.valueCharactersMax / 2
        return "“\(value.prefix(half))…\(value.suffix(half))”"
    }
}
