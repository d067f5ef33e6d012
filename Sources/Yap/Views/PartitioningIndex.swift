/// Returns the first index below `count` that isn't before the partition, by binary search; `count` if all are.
///
/// - Parameter isBefore: True for each index up to the partition, false from there on.
func partitioningIndex(below count: Int, isBefore: (Int) throws -> Bool) rethrows -> Int {
    var (low, high) = (0, count)
    while low < high {
        let middle = (low + high) / 2
        if try isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
}
