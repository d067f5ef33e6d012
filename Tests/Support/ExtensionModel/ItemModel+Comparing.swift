import Yap

extension ItemModel {
    /// In words where an extension differs from the items.
    ///
    /// - Parameter requiresAll: Whether it is a difference that an extension can't be read. Otherwise it isn't
    ///   registered here, or was left behind: what isn't read is never stale.
    package func differences(
        _ extensions: ItemExtensions, _ transaction: YapDatabaseReadTransaction, requiresAll: Bool = false
    ) throws -> [String] {
        var comparison = Comparison(requiresAll: requiresAll)
        try compareRows(extensions, transaction, &comparison)
        try compareVectors(extensions, transaction, &comparison)
        try compareViews(extensions, transaction, &comparison)
        try compareBoard(extensions, transaction, &comparison)
        try comparison.compare("edges", edges) {
            let edges = try transaction[extensions.graph].edges().map { edge in
                let end = if case .row(let row) = edge.destination { row.key } else { "file" }
                return "\(edge.source.key) \(end)"
            }
            return edges.sorted()
        }
        let groups = [log.undo.reversed(), log.redo.reversed()].map { side in
            side.map { "\($0.name): \($0.changes.count)" }
        }
        try comparison.compare("undo", groups) {
            let log = try transaction[extensions.undo]
            return try [log.undoGroups(), log.redoGroups()].map { side in
                side.map { "\($0.actionName): \($0.changedRowsCount)" }
            }
        }
        return comparison.differences
    }

    private struct Comparison {
        let requiresAll: Bool
        var differences: [String] = []

        mutating func compare<Value: Equatable>(
            _ name: String, _ expected: Value, _ read: () throws -> Value
        ) throws {
            do {
                let actual = try read()
                if actual != expected { differences.append("\(name): \(actual), not \(expected)") }
            } catch let error as YapDatabaseError where error.code == .extensionNotRegistered {
                if requiresAll { differences.append("\(name) can't be read: \(error)") }
            }
        }
    }

    private var edges: [String] {
        items.compactMap { key, item in
            item.parent.flatMap { items[$0] == nil ? nil : "\(key) \($0)" }
        }.sorted()
    }

    private func keys(_ isIncluded: (ModelItem) -> Bool = { _ in true }) -> [Int: [String]] {
        let rows = items.filter { $0.value.group != nil && isIncluded($0.value) }
        return Dictionary(grouping: rows) { $0.value.group ?? 0 }
            .mapValues { rows in rows.sorted { $0.value.x < $1.value.x }.map(\.key) }
    }

    private func compareRows(
        _ extensions: ItemExtensions, _ transaction: YapDatabaseReadTransaction,
        _ comparison: inout Comparison
    ) throws {
        let rows = try transaction.objects(ModelItem.self, inCollection: ModelItem.collection)
        let read = Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.object) })
        for key in Set(read.keys).union(items.keys).sorted() where read[key] != items[key] {
            comparison.differences.append(
                "row \(key): \(Self.brief(read[key])), not \(Self.brief(items[key]))")
        }
        for word in ModelItem.words {
            let found = items.filter { $0.value.name == word }.keys.sorted()
            try comparison.compare("index", found) {
                try transaction[extensions.index].keys(where: { $0.name == word }).sorted()
            }
            try comparison.compare("text", found) {
                try transaction[extensions.text].keys(.words(word)).sorted()
            }
        }
        try comparison.compare("tree", items.filter { (20...70).contains($0.value.x) }.keys.sorted()) {
            try transaction[extensions.tree].keys(where: { $0.x.isInside(20...70) }).sorted()
        }
        try comparison.compare("rows of the index and the tree", [items.count, items.count]) {
            let index = try transaction[extensions.index].count()
            return [index, try transaction[extensions.tree].count()]
        }
    }

    private static func brief(_ item: ModelItem?) -> String {
        guard var item else { return "absent" }
        item.filler = "\(item.filler.utf8.count) bytes"
        return "\(item)"
    }

    private func compareVectors(
        _ extensions: ItemExtensions, _ transaction: YapDatabaseReadTransaction,
        _ comparison: inout Comparison
    ) throws {
        let distances = items.values.compactMap { item in
            item.group.map { (Float(item.x) - 50) * (Float(item.x) - 50) + Float($0 * $0) }
        }
        try comparison.compare("vectors", distances.sorted()) {
            try transaction[extensions.vectors].keys(nearest: [50, 0], limit: 100).map(\.distance)
        }
        try comparison.compare("keys of vectors", items.filter { $0.value.group != nil }.keys.sorted()) {
            try transaction[extensions.vectors].rows(nearest: [50, 0], limit: 100).map(\.key).sorted()
        }
    }

    private func compareViews(
        _ extensions: ItemExtensions, _ transaction: YapDatabaseReadTransaction,
        _ comparison: inout Comparison
    ) throws {
        let word = ModelItem.words[0]
        try comparison.compare("view", keys()) { try Self.keys(try transaction[extensions.view]) }
        try comparison.compare("filtered", keys { $0.x >= 50 }) {
            try Self.keys(try transaction[extensions.filtered])
        }
        let compared = keys().mapValues { Array($0.reversed()) }
        try comparison.compare("compared", compared) { try Self.keys(try transaction[extensions.compared]) }
        try comparison.compare("filteredCompared", keys { $0.x >= 50 }.mapValues { $0.reversed() }) {
            try Self.keys(try transaction[extensions.filteredCompared])
        }
        try comparison.compare("results", keys { $0.name == word }) {
            let results = try transaction[extensions.results]
            return try results.query == nil ? keys { $0.name == word } : Self.keys(results)
        }
    }

    private func compareBoard(
        _ extensions: ItemExtensions, _ transaction: YapDatabaseReadTransaction,
        _ comparison: inout Comparison
    ) throws {
        // Known or not, it has each row once, and no other.
        try comparison.compare("board has too many", [String]()) {
            let all = try Self.keys(try transaction[extensions.board]).values.joined()
            let known = Set(all.filter { items[$0] != nil })
            return known.count == all.count ? [] : all.sorted()
        }
        if board.isKnown {
            try comparison.compare("board", board.groups) {
                try Self.keys(try transaction[extensions.board])
            }
        }
        guard let placed = try? Self.keys(try transaction[extensions.board]) else { return }
        // Its views have those of its rows that belong there.
        func chosen(_ isIncluded: (ModelItem) -> Bool) -> [Int: [String]] {
            placed.mapValues { keys in keys.filter { items[$0].map(isIncluded) ?? false } }
                .filter { !$0.value.isEmpty }
        }
        try comparison.compare("filteredBoard", chosen { $0.x >= 50 }) {
            try Self.keys(try transaction[extensions.filteredBoard])
        }
        let found = chosen { $0.name == ModelItem.words[0] }
        try comparison.compare("boardResults", found) {
            let results = try transaction[extensions.boardResults]
            return try results.query == nil ? found : Self.keys(results)
        }
    }

    /// The keys of a view by their groups.
    package static func keys(_ view: YapDatabaseViewTransaction<ModelItem, Int>) throws -> [Int: [String]] {
        try view.counts().keys.reduce(into: [:]) { $0[$1] = try view.keys(in: $1) }
    }
}
