import System

/// One write, of rows or of what an app places in extensions.
package enum ItemOperation: Sendable {
    case set(String, ModelItem)
    case remove(String)
    /// Removes the rows of the collection, or of all collections.
    case removeAll(inAllCollections: Bool)
    case savepoint([ItemOperation], fails: Bool)
    /// A group of the undo log; without the log a savepoint.
    case group(String, [ItemOperation], fails: Bool)
    case undo
    case redo
    case insert(String, index: Int, group: Int)
    case move(String, index: Int, group: Int)
    case takeOff(String)
    case search
    case searchBoard
}

/// Draws the writes of transactions by the seed of a run and the number of the transaction, so that another process can
/// tell what a killed one has written.
package struct ItemDraw: Sendable {
    /// Number of different keys.
    package static let keysCount = 30
    private static let groupsCount = 3

    package let seed: UInt64
    /// Maximum bytes of the rows that are to be large.
    package var fillerBytesMax = 0
    /// Maximum number of writes of a transaction.
    package var writesMax = 6

    package init(seed: UInt64, fillerBytesMax: Int = 0, writesMax: Int = 6) {
        (self.seed, self.fillerBytesMax, self.writesMax) = (seed, fillerBytesMax, writesMax)
    }

    /// The writes of a transaction.
    package func operations(_ number: Int) -> [ItemOperation] {
        let random = SeededRandomSource(seed: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        func below(_ bound: Int) -> Int { random.next(in: 0..<bound) }
        func key() -> String { "k\(below(Self.keysCount))" }
        func rows(_ count: Int) -> [ItemOperation] { (0..<count).map { _ in row(random) } }

        var operations: [ItemOperation] = []
        // Sometimes rows are placed and none is written.
        for _ in 0..<below(writesMax + 1) {
            switch below(24) {
            case 0...2: operations.append(.savepoint(rows(1 + below(3)), fails: below(2) == 0))
            case 3...4:
                operations.append(.group("group \(number)", rows(below(4)), fails: below(8) == 0))
            case 5: operations.append(.undo)
            case 6: operations.append(.redo)
            default: break
            }
            operations.append(row(random))
        }
        for _ in 0..<below(4) {
            let (key, group, index) = (key(), below(Self.groupsCount), below(8))
            switch below(4) {
            case 0: operations.append(.move(key, index: index, group: group))
            case 1: operations.append(.takeOff(key))
            default: operations.append(.insert(key, index: index, group: group))
            }
        }
        if below(10) == 0 { operations.append(.search) }
        if below(5) == 0 { operations.append(.searchBoard) }
        return operations
    }

    private func row(_ random: SeededRandomSource) -> ItemOperation {
        func below(_ bound: Int) -> Int { random.next(in: 0..<bound) }
        let key = "k\(below(Self.keysCount))"
        switch below(10) {
        case 0...1: return .remove(key)
        case 2 where below(20) == 0: return .removeAll(inAllCollections: false)
        case 3 where below(30) == 0: return .removeAll(inAllCollections: true)
        default:
            let isLarge = fillerBytesMax > 0 && below(2) == 0
            return .set(
                key,
                ModelItem(
                    name: ModelItem.words[below(ModelItem.words.count)],
                    group: below(5) == 0 ? nil : below(Self.groupsCount),
                    x: Double(below(100)) + Double(below(1_000_000)) / 1_000_000,
                    parent: below(3) == 0 ? "k\(below(Self.keysCount))" : nil,
                    filler: isLarge ? String(repeating: "f", count: below(fillerBytesMax)) : ""))
        }
    }
}
