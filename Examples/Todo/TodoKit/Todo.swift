/// One item of a todo.txt list (todotxt.org), in the fields that are worth merging one by one.
///
/// Projects, contexts and tags stand inside the title, and a fact has one owner: they are computed from it
/// and not stored beside it, so that a merge can never leave a list of projects that the title doesn't have.
public struct Todo: Codable, Sendable, Equatable {
    /// What is to be done, with its `+projects`, `@contexts` and `key:value` tags, as written.
    public var title: String
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
    /// Its colour, or nil. In a line it is the tag `color:#rrggbb` at the end.
    public var color: TodoColor?
    /// Whether it stands at the top on this device. It is nobody else's business: it stays here.
    public var isPinned: Bool

    /// Makes an item from its parts.
    public init(
        title: String, isDone: Bool = false, priority: String? = nil, creationDay: String? = nil,
        completionDay: String? = nil, order: Int = 0, color: TodoColor? = nil, isPinned: Bool = false
    ) {
        self.title = title
        self.isDone = isDone
        self.priority = priority
        self.creationDay = creationDay
        self.completionDay = completionDay
        self.order = order
        self.color = color
        self.isPinned = isPinned
    }

    private enum CodingKeys: String, CodingKey {
        // The name that it had when the first lists were stored.
        case title = "text"
        case isDone, priority, creationDay, completionDay, order, color, isPinned
    }

    /// Reads a stored item, also one that was stored before items had a colour.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            title: try fields.decode(String.self, forKey: .title),
            isDone: try fields.decode(Bool.self, forKey: .isDone),
            priority: try fields.decodeIfPresent(String.self, forKey: .priority),
            creationDay: try fields.decodeIfPresent(String.self, forKey: .creationDay),
            completionDay: try fields.decodeIfPresent(String.self, forKey: .completionDay),
            order: try fields.decode(Int.self, forKey: .order),
            color: try fields.decodeIfPresent(TodoColor.self, forKey: .color),
            isPinned: try fields.decodeIfPresent(Bool.self, forKey: .isPinned) ?? false)
    }

    /// The names of the `+projects` in the title, in order, without the sign.
    public var projects: [String] { marked(by: "+") }

    /// The names of the `@contexts` in the title, in order, without the sign.
    public var contexts: [String] { marked(by: "@") }

    /// The `key:value` tags in the title, in order. A time (`10:30`) and an address (`https://...`) are none.
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

    /// Makes an item without a title, to be filled with what another device wrote.
    public init() {
        self.init(title: "")
    }

    /// Marks the item as done on a day such as `2026-01-31`.
    public mutating func complete(on day: String) {
        isDone = true
        completionDay = day
    }

    private var words: [Substring] {
        title.split { $0 == " " || $0 == "\t" }
    }

    private func marked(by sign: Character) -> [String] {
        words.filter { $0.first == sign && $0.dropFirst().isEmpty == false }.map { String($0.dropFirst()) }
    }
}
