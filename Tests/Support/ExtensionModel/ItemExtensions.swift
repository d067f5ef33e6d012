import Yap

/// All kinds of extensions of the items. Closures are the same in all processes.
package final class ItemExtensions: Sendable {
    private static let collection = ModelItem.collection
    /// Maximum number of groups in the undo log.
    package static let groupsMax = 4

    package let index = YapDatabaseSecondaryIndex("index", of: ModelItem.self, in: collection, version: "1") {
        $0.column(\.name)
    }
    package let view = YapDatabaseAutoView(
        "view", of: ModelItem.self, in: collection, version: "1", group: { $0.group }, sort: [.by(\.x)])
    package let text = YapDatabaseFullTextSearch("text", of: ModelItem.self, in: collection, version: "1") {
        $0.column(\.name)
    }
    package let tree = YapDatabaseRTreeIndex("tree", of: ModelItem.self, in: collection, version: "1") {
        $0.dimension(\.x)
    }
    package let vectors = YapDatabaseVectorIndex(
        "vectors", of: ModelItem.self, in: collection, version: "1", dimensions: 2,
        distance: .squaredEuclidean, blockBytesMax: 100
    ) { item in item.group.map { [Float(item.x), Float($0)] } }
    /// A view whose rows are compared: it can't catch up, and its views don't catch up without it.
    package let compared = YapDatabaseAutoView(
        "compared", of: ModelItem.self, in: collection, version: "1", group: { $0.group },
        sort: [.by { $0.x > $1.x }])
    package let filteredCompared: YapDatabaseFilteredView<ModelItem, Int>
    package let filtered: YapDatabaseFilteredView<ModelItem, Int>
    package let results: YapDatabaseSearchResultsView<ModelItem, Int>
    package let board = YapDatabaseManualView(
        "board", of: ModelItem.self, in: collection, groups: Int.self, version: "1")
    package let filteredBoard: YapDatabaseFilteredView<ModelItem, Int>
    package let boardResults: YapDatabaseSearchResultsView<ModelItem, Int>
    package let graph = YapDatabaseRelationship("graph", version: "1", in: [collection]) {
        $0.edge("parent", \ModelItem.parent, in: collection, to: collection)
    }
    package let undo = YapDatabaseUndo(
        "undo", in: [collection], groupsMax: groupsMax, bytesMax: 1 << 30)

    package init() {
        filteredBoard = YapDatabaseFilteredView("filteredBoard", of: board, version: "1") { _, item in
            item.x >= 50
        }
        boardResults = YapDatabaseSearchResultsView(
            "boardResults", of: board, matching: text, isPersistent: true)
        filteredCompared = YapDatabaseFilteredView("filteredCompared", of: compared, version: "1") {
            _, item in item.x >= 50
        }
        filtered = YapDatabaseFilteredView("filtered", of: view, version: "1") { _, item in item.x >= 50 }
        results = YapDatabaseSearchResultsView("results", of: view, matching: text, isPersistent: true)
    }

    /// Dependencies come first.
    package var all: [any YapDatabaseNamedExtension] {
        [
            index, view, text, tree, filtered, results, board, filteredBoard, boardResults, vectors, graph,
            undo, compared, filteredCompared,
        ]
    }

    /// A bit for each extension.
    package static let allBits = 1 << 14 - 1

    /// Those whose bit is set.
    package func chosen(_ bits: Int) -> [any YapDatabaseNamedExtension] {
        all.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
    }

    /// Registers those whose bit is set, but for those that miss one that they depend on.
    ///
    /// - Parameter besideOthers: Whether other processes write meanwhile: what an extension depends on may be left
    ///   behind again and again.
    package func register(_ bits: Int, in database: YapDatabase, besideOthers: Bool = false) throws {
        for one in chosen(bits) where !database.registeredExtensionNames.contains(one.name) {
            guard one.dependencies.allSatisfy(database.registeredExtensionNames.contains) else { continue }
            do {
                try register(one, in: database)
            } catch let error as YapDatabaseError
                where besideOthers && error.code == .extensionDependencyMissing
            {}
        }
    }

    private func register(_ one: some YapDatabaseNamedExtension, in database: YapDatabase) throws {
        try database.blocking.register(one)
    }
}
