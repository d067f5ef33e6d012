extension Array {
    /// Returns the elements grouped by `key`. The groups are in the order in which their keys first appear.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
        var groups: [[Element]] = []
        var places: [Key: Int] = [:]
        var last: (key: Key, place: Int)?
        for element in self {
            let key = key(element)
            // Elements of a group are mostly adjacent.
            if let last, last.key == key {
                groups[last.place].append(element)
            } else if let place = places[key] {
                groups[place].append(element)
                last = (key, place)
            } else {
                last = (key, groups.count)
                places[key] = groups.count
                groups.append([element])
            }
        }
        return groups
    }

    /// Returns the elements in order, in arrays of up to `countMax`.
    func chunks(countMax: Int) -> [[Element]] {
        stride(from: 0, to: count, by: countMax).map { Array(self[$0..<Swift.min($0 + countMax, count)]) }
    }
}
