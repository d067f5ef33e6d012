import System

/// Changes of a relationship in one commit, for observations.
struct RelationshipChanges: YapDatabaseCountedChanges {
    /// Edges that were added or removed, or have other rules.
    private(set) var edges: [YapDatabaseEdge] = []
    /// True if any edge may have changed, because there were more changes than a commit names.
    private(set) var isOfAll = false

    var count: Int { edges.count }
    var isEmpty: Bool { edges.isEmpty && !isOfAll }

    /// Records a change. Beyond `max` changes all edges count as changed.
    mutating func note(_ edge: YapDatabaseEdge, max: Int) {
        if edges.count < max { edges.append(edge) } else { isOfAll = true }
    }

    /// Records that any edge may have changed.
    mutating func noteAll() { isOfAll = true }

    /// Restores an earlier state of this value.
    mutating func restore(count: Int, isOfAll: Bool) {
        edges.removeLast(edges.count - count)
        self.isOfAll = isOfAll
    }
}

/// Edges that match all given parts.
struct RelationshipFilter: Sendable {
    let name: String?
    let source: YapCollectionKey?
    let destination: YapDatabaseEdgeDestination?

    /// Returns true if a commit changed some of them.
    func finds(_ changes: RelationshipChanges) -> Bool {
        changes.isOfAll || changes.edges.contains(where: finds)
    }

    private func finds(_ edge: YapDatabaseEdge) -> Bool {
        (name?.hasSameBytes(as: edge.name) ?? true) && source.map { $0 == edge.source } ?? true
            && destination.map { $0 == edge.destination } ?? true
    }
}
