/// The beginnings of keys by which people name items: as few letters as tell them apart.
public struct ShortKeys: Sendable {
    /// A shorter beginning would soon stand for something else.
    public static let lettersMin = 3

    private let sorted: [String]

    /// Takes the keys of a list.
    public init(_ keys: some Sequence<String>) {
        sorted = keys.map { $0.lowercased() }.sorted()
    }

    /// The shortest beginning of the key that no other key has.
    public func short(_ key: String) -> String {
        let key = key.lowercased()
        let index = sorted.partitioningIndex { $0 >= key }
        let neighbours = [index - 1, index + 1].filter(sorted.indices.contains).map { sorted[$0] }
        let shared = neighbours.map { Self.sharedLetters($0, key) }.max() ?? 0
        return String(key.prefix(max(Self.lettersMin, shared + 1)))
    }

    /// The key that begins so.
    /// - Throws: `ShortKeyError` when there is none, or more than one.
    public func key(_ beginning: String, in keys: some Sequence<String>) throws -> String {
        let wanted = beginning.lowercased()
        let found = keys.filter { $0.lowercased().hasPrefix(wanted) }.sorted()
        guard let first = found.first, !wanted.isEmpty else { throw ShortKeyError.none(beginning) }
        if found.count > 1 { throw ShortKeyError.several(beginning, found.prefix(5).map(short)) }
        return first
    }

    private static func sharedLetters(_ left: String, _ right: String) -> Int {
        zip(left, right).prefix { $0 == $1 }.count
    }
}

/// Why a beginning names no item.
public enum ShortKeyError: Error, Equatable, CustomStringConvertible {
    /// No item's key begins so.
    case none(String)
    /// More than one does; with the shortest beginnings of some of them.
    case several(String, [String])

    /// What is wrong and what to do, in a sentence.
    public var description: String {
        switch self {
        case .none(let text): "no item's key begins with \"\(text)\": `todo list` shows the keys"
        case .several(let text, let shorts):
            "more than one item's key begins with \"\(text)\": type more of it (\(shorts.joined(separator: ", ")))"
        }
    }
}

extension [String] {
    /// The first index from which on the condition holds, in an array that is sorted by it.
    fileprivate func partitioningIndex(where holds: (String) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
