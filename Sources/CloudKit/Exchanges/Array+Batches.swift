extension Array {
    /// The elements by `key`, the groups in the order in which the keys are first met.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
        var groups: [[Element]] = []
        var places: [Key: Int] = [:]
        for element in self {
            if let place = places[key(element)] {
                groups[place].append(element)
            } else {
                places[key(element)] = groups.count
                groups.append([element])
            }
        }
        return groups
    }

    /// The elements in order, at most `countMax` together.
    func chunks(countMax: Int) -> [[Element]] {
        stride(from: 0, to: count, by: countMax).map { Array(self[$0..<Swift.min($0 + countMax, count)]) }
    }
}
