internal import CloudWire

extension [RecordOperation] {
    /// Indexes of the saves that make a record its own ancestor, by the parents in this list. Apple's framework rejects
    /// such a list too, before it sends anything. The server finds cycles through records that aren't in the list.
    var parentCycles: Set<Int> {
        guard contains(where: { $0.record.parent != nil }) else { return [] }
        var places: [String: Int] = [:]
        for (index, operation) in enumerated() {
            if let name = operation.record.recordName { places[name] = index }
        }
        let parents = map { $0.record.parent.flatMap { places[$0.recordName] } }
        var circles = Set<Int>()
        // The walk that has visited each save. Each save is visited once.
        var walks = [Int?](repeating: nil, count: count)
        for start in indices {
            var next: Int? = start
            while let current = next, walks[current] == nil {
                walks[current] = start
                next = parents[current]
            }
            // A walk that ends at a save of its own has closed a cycle.
            guard let first = next, walks[first] == start else { continue }
            var member = first
            repeat {
                circles.insert(member)
                member = parents[member] ?? first
            } while member != first
        }
        return circles
    }
}
