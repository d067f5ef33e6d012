/// One item of a todo.txt list (todotxt.org), in the fields that are worth merging one by one.
///
/// Projects, contexts and tags stand inside the description, and a fact has one owner: they are computed from it
/// and not stored beside it, so that a merge can never leave a list of projects that the text doesn't have.
public struct Todo: Codable, Sendable, Equatable {
    /// What is to be done, with its `+projects`, `@contexts` and `key:value` tags, as written.
    public var text: String
    /// Whether the line begins with `x `.
    public var isDone: Bool
    /// The letter of `(A)`, from `A` to `Z`, or nil.
    public var priority: String?
    /// The day it was written down, as `2026-01-31`.
    public var creationDay: String?
    /// The day it was done, as `2026-01-31`. Only a done item has a place for it in a line.
    public var completionDay: String?
    /// Its place in the list; the number of its line when it was read from a file, from 1.
    public var order: Int

    /// Makes an item from its parts.
    public init(
        text: String, isDone: Bool = false, priority: String? = nil, creationDay: String? = nil,
        completionDay: String? = nil, order: Int = 0
    ) {
        self.text = text
        self.isDone = isDone
        self.priority = priority
        self.creationDay = creationDay
        self.completionDay = completionDay
        self.order = order
    }

    /// The names of the `+projects` in the text, in order, without the sign.
    public var projects: [String] { marked(by: "+") }

    /// The names of the `@contexts` in the text, in order, without the sign.
    public var contexts: [String] { marked(by: "@") }

    /// The `key:value` tags in the text, in order. A time (`10:30`) and an address (`https://...`) are none.
    public var tags: [(key: String, value: String)] {
        words.compactMap { word in
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let first = parts[0].first, first.isLetter, !parts[1].isEmpty,
                !parts[1].hasPrefix("//")
            else { return nil }
            return (String(parts[0]), String(parts[1]))
        }
    }

    /// The value of the first tag with this key, or nil.
    public func tag(_ key: String) -> String? {
        tags.first { $0.key == key }?.value
    }

    /// Makes an item without text, to be filled with what another device wrote.
    public init() {
        self.init(text: "")
    }

    /// Marks the item as done on a day such as `2026-01-31`.
    public mutating func complete(on day: String) {
        isDone = true
        completionDay = day
    }

    private var words: [Substring] {
        text.split { $0 == " " || $0 == "\t" }
    }

    private func marked(by sign: Character) -> [String] {
        words.filter { $0.first == sign && $0.dropFirst().isEmpty == false }.map { String($0.dropFirst()) }
    }
}
