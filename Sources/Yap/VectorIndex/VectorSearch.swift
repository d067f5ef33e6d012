/// Compares vectors of an index with a query.
struct VectorSearch {
    let table: VectorTable
    let kernel: VectorKernel
    let candidates: any VectorCandidates
    private var nearest: VectorNearest
    private var layout: VectorLayout { table.layout }

    init(
        _ table: VectorTable, _ kernel: VectorKernel, among candidates: any VectorCandidates,
        _ nearest: VectorNearest
    ) {
        (self.table, self.kernel, self.candidates, self.nearest) = (table, kernel, candidates, nearest)
    }

    /// Returns the nearest vectors, nearest first.
    ///
    /// - Parameter check: Called before each block. It throws to end the search.
    mutating func find(_ check: () throws -> Void) throws -> [VectorMatch] {
        if let places = try candidates.places(table, check) {
            try compare(places, check)
        } else {
            try table.visitBlocks(check) { block, slots in try compare(block, slots) }
        }
        return nearest.sorted
    }

    /// Compares the vectors at sorted places, one block at a time.
    private mutating func compare(_ places: [Int], _ check: () throws -> Void) throws {
        var rest = places[...]
        while let first = rest.first {
            try check()
            let block = layout.position(of: first).block
            let slots = rest.prefix { layout.position(of: $0).block == block }
                .map { layout.position(of: $0).slot }
            try table.visitBlock(block) { bytes, used in
                guard slots.allSatisfy(used.contains) else { throw table.damaged("block \(block)") }
                try compare(bytes, slots)
            }
            rest = rest.dropFirst(slots.count)
        }
    }

    private mutating func compare(_ block: UnsafeRawBufferPointer, _ slots: some Sequence<Int>) throws {
        for slot in slots {
            let offset = layout.vectorOffset(slot)
            let vector = UnsafeRawBufferPointer(rebasing: block[offset..<offset + layout.vectorBytes])
            let distance = kernel.distance(of: vector)
            // Impossible for stored components that are valid.
            guard distance.isFinite else { throw table.damaged("a component of a vector") }
            let rowID = block.loadUnaligned(fromByteOffset: layout.rowIDOffset(slot), as: Int64.self)
            nearest.add(VectorMatch(distance: distance, rowID: rowID))
        }
    }
}
