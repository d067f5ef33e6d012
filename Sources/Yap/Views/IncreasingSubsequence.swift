/// Returns the indexes of the longest subsequence of elements that increases. Nil is never part of it.
func longestIncreasingSubsequence<Element: Comparable>(_ elements: [Element?]) -> Set<Int> {
    // For each length, the index of the smallest last element of a subsequence of that length.
    var ends: [(index: Int, element: Element)] = []
    var previous = [Int?](repeating: nil, count: elements.count)
    for (index, element) in elements.enumerated() {
        guard let element else { continue }
        let length = partitioningIndex(below: ends.count) { ends[$0].element < element }
        previous[index] = length == 0 ? nil : ends[length - 1].index
        if length == ends.count { ends.append((index, element)) } else { ends[length] = (index, element) }
    }
    var (indexes, next): (Set<Int>, Int?) = ([], ends.last?.index)
    while let index = next {
        indexes.insert(index)
        next = previous[index]
    }
    return indexes
}
