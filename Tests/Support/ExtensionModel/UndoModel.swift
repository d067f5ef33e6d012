/// That a group has changed too many rows.
package struct UndoModelTooLarge: Error {
    package init() {}
}

/// Rows and an undo log as dictionaries say them.
package struct UndoModel<Name: Hashable & Comparable, Value: Equatable> {
    /// What a group did with one row.
    package struct Change: Equatable {
        package var before: Value?
        package var after: Value?
    }

    /// Writes that are undone together.
    package struct Group: Equatable {
        package var name: String
        package var changes: [Name: Change]
    }

    package let groupsMax: Int
    package let rowsPerGroupMax: Int
    package var rows: [Name: Value] = [:]
    package var undo: [Group] = []
    package var redo: [Group] = []
    /// The rows that the running group has seen, with their values before it; nil: there is no group.
    package private(set) var touched: [Name: Value?]?

    package init(groupsMax: Int, rowsPerGroupMax: Int = .max) {
        (self.groupsMax, self.rowsPerGroupMax) = (groupsMax, rowsPerGroupMax)
    }

    package mutating func set(_ name: Name, _ value: Value?) throws {
        guard value != nil || rows[name] != nil else { return }
        try touch(name)
        rows[name] = value
    }

    private mutating func touch(_ name: Name) throws {
        guard touched != nil else { return }
        if touched?[name] == nil { touched?[name] = .some(rows[name]) }
        if touched?.count ?? 0 > rowsPerGroupMax { throw UndoModelTooLarge() }
    }

    package mutating func removeAll(where isRemoved: (Name) -> Bool = { _ in true }) throws {
        for name in rows.keys where isRemoved(name) { try set(name, nil) }
    }

    package mutating func group(_ name: String, _ body: (inout Self) throws -> Void) throws {
        let before = self
        do {
            touched = [:]
            try body(&self)
            let changes = (touched ?? [:]).map { ($0.key, Change(before: $0.value, after: rows[$0.key])) }
                .filter { $0.1.before != $0.1.after }
            touched = nil
            guard !changes.isEmpty else { return }
            redo = []
            undo.append(Group(name: name, changes: Dictionary(uniqueKeysWithValues: changes)))
            trim()
        } catch {
            self = before
            throw error
        }
    }

    private mutating func trim() {
        while undo.count + redo.count > groupsMax {
            if undo.isEmpty { redo.removeFirst() } else { undo.removeFirst() }
        }
    }

    /// - Returns: The rows that were changed since; nil without a group.
    @discardableResult
    package mutating func step(isUndo: Bool, skips: Bool) -> [Name]? {
        guard let group = isUndo ? undo.last : redo.last else { return nil }
        let changed = group.changes.filter { name, change in
            rows[name] != change.after && rows[name] != change.before
        }.keys.sorted()
        if !changed.isEmpty, !skips { return changed }
        var changes: [Name: Change] = [:]
        for (name, change) in group.changes where !changed.contains(name) {
            if rows[name] == change.before { continue }
            changes[name] = Change(before: rows[name], after: change.before)
            rows[name] = change.before
        }
        let other = Group(name: group.name, changes: changes)
        if isUndo {
            undo.removeLast()
            if !changes.isEmpty { redo.append(other) }
        } else {
            redo.removeLast()
            if !changes.isEmpty { undo.append(other) }
        }
        return changed
    }
}

extension UndoModel.Change: Sendable where Name: Sendable, Value: Sendable {}
extension UndoModel.Group: Sendable where Name: Sendable, Value: Sendable {}
extension UndoModel: Sendable where Name: Sendable, Value: Sendable {}
