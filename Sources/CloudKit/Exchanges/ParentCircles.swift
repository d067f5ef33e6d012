internal import CloudWire

extension [RecordOperation] {
    /// The indexes of the saves whose parents, as far as they are sent here, lead back to their own record: Apple's
    /// framework refuses such a list of records too, before anything is sent. A circle that takes a record which isn't
    /// sent is found by the server.
    var parentCircles: Set<Int> {
        guard contains(where: { $0.record.parent != nil }) else { return [] }
        var places: [String: Int] = [:]
        for (index, operation) in enumerated() {
            if let name = operation.record.recordName { places[name] = index }
        }
        let parents = map { $0.record.parent.flatMap { places[$0.recordName] } }
        var circles = Set<Int>()
        // Which walk has passed a save: each save is passed once.
        var walks = [Int?](repeating: nil, count: count)
        for start in indices {
            var next: Int? = start
            while let current = next, walks[current] == nil {
                walks[current] = start
                next = parents[current]
            }
            // A walk that ends where it has been itself has closed a circle.
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
