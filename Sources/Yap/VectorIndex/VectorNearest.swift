/// A vector that a search found.
struct VectorMatch: Comparable, Sendable {
    let distance: Float
    let rowID: Int64

    static func < (left: VectorMatch, right: VectorMatch) -> Bool {
        (left.distance, left.rowID) < (right.distance, right.rowID)
    }
}

/// Collects the nearest vectors, up to a number. Equal distances are in the order of the rowids.
struct VectorNearest: Sendable {
    private let limit: Int
    private let distanceMax: Float
    /// A binary heap with the farthest match first.
    private var heap: [VectorMatch] = []

    init(limit: Int, distanceMax: Float) {
        (self.limit, self.distanceMax) = (limit, distanceMax)
    }

    /// The matches, nearest first.
    var sorted: [VectorMatch] { heap.sorted() }

    mutating func add(_ match: VectorMatch) {
        guard match.distance <= distanceMax, limit > 0 else { return }
        if heap.count < limit {
            heap.append(match)
            moveUp()
        } else if match < heap[0] {
            heap[0] = match
            moveDown()
        }
    }

    private mutating func moveUp() {
        var child = heap.count - 1
        while child > 0, heap[(child - 1) / 2] < heap[child] {
            heap.swapAt((child - 1) / 2, child)
            child = (child - 1) / 2
        }
    }

    private mutating func moveDown() {
        var parent = 0
        while true {
            var farthest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[farthest] < heap[child] { farthest = child }
            }
            if farthest == parent { return }
            heap.swapAt(parent, farthest)
            parent = farthest
        }
    }
}
