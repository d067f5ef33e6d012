/// The items, the undo log and the board, as dictionaries and arrays have them.
package struct ItemModel: Sendable {
    private struct Refused: Error {}

    package var log = UndoModel<String, ModelItem>(groupsMax: ItemExtensions.groupsMax)
    package private(set) var board = Board()

    /// Rows that the app placed.
    package struct Board: Sendable {
        /// The keys of each group. No group is empty.
        package fileprivate(set) var groups: [Int: [String]] = [:]
        /// False if a process without the board has removed rows: one that was made again may still be on it.
        package fileprivate(set) var isKnown = true
    }

    package var items: [String: ModelItem] { log.rows }

    package init() {}

    /// What the file has of a transaction that was committed.
    package struct Parts: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let undo = Self(rawValue: 1)
        package static let board = Self(rawValue: 2)
        /// It writes no items: the undo log was unregistered before, the board, or both.
        package static let undoForgotten = Self(rawValue: 4)
        package static let boardForgotten = Self(rawValue: 8)
        package static let forgotten: Self = [.undoForgotten, .boardForgotten]
    }

    /// Applies the writes of a transaction.
    ///
    /// - Parameter parts: The extensions that it could use.
    package mutating func apply(_ operations: [ItemOperation], _ parts: Parts) {
        if parts.contains(.undoForgotten) { (log.undo, log.redo) = ([], []) }
        if parts.contains(.boardForgotten) { board = Board() }
        guard parts.isDisjoint(with: .forgotten) else { return }
        for operation in operations { apply(operation, parts) }
    }

    /// The board is as it was read.
    package mutating func adoptBoard(_ read: [Int: [String]]) { board = Board(groups: read) }

    private mutating func apply(_ operation: ItemOperation, _ parts: Parts) {
        switch operation {
        case .set, .remove, .removeAll:
            // Only a group has a bound, and none is under way.
            try? Self.write(operation, &log)
        case .savepoint(let rows, let fails):
            if !fails { apply(rows, parts) }
            return
        case .group(let name, let rows, let fails):
            guard parts.contains(.undo) else { return apply(.savepoint(rows, fails: fails), parts) }
            var board = board
            try? log.group(name) { log in
                for row in rows {
                    try Self.write(row, &log)
                    board.takeOffAll(but: log.rows, parts)
                }
                if fails { throw Refused() }
            }
            if !fails { self.board = board }
        case .undo: if parts.contains(.undo) { log.step(isUndo: true, skips: true) }
        case .redo: if parts.contains(.undo) { log.step(isUndo: false, skips: true) }
        case .insert, .move, .takeOff: if parts.contains(.board) { board.place(operation, items) }
        case .search, .searchBoard: break
        }
        board.takeOffAll(but: items, parts)
    }

    private static func write(_ operation: ItemOperation, _ log: inout UndoModel<String, ModelItem>) throws {
        switch operation {
        case .set(let key, let item): try log.set(key, item)
        case .remove(let key): try log.set(key, nil)
        case .removeAll: try log.removeAll()
        default: break
        }
    }
}

extension ItemModel.Board {
    /// Removed rows leave the board.
    fileprivate mutating func takeOffAll(but rows: [String: ModelItem], _ parts: ItemModel.Parts) {
        let left = groups.mapValues { $0.filter { rows[$0] != nil } }.filter { !$0.value.isEmpty }
        if left != groups, !parts.contains(.board) { isKnown = false }
        groups = left
    }

    fileprivate mutating func place(_ operation: ItemOperation, _ rows: [String: ModelItem]) {
        switch operation {
        case .insert(let key, let index, let group):
            if rows[key] != nil, self.group(of: key) == nil { put(key, index, group) }
        case .move(let key, let index, let group): if takeOff(key) { put(key, index, group) }
        case .takeOff(let key): takeOff(key)
        default: break
        }
    }

    private func group(of key: String) -> Int? { groups.first { $0.value.contains(key) }?.key }

    @discardableResult
    private mutating func takeOff(_ key: String) -> Bool {
        guard let group = group(of: key) else { return false }
        let left = groups[group]?.filter { $0 != key } ?? []
        groups[group] = left.isEmpty ? nil : left
        return true
    }

    private mutating func put(_ key: String, _ index: Int, _ group: Int) {
        groups[group, default: []].insert(key, at: min(index, groups[group]?.count ?? 0))
    }
}
