/// A sorted list of unique elements in chunks. Changing a copy copies one chunk, not all.
struct SortedChunks<Element: Comparable> {
    private static var chunkMax: Int { 64 }

    /// No chunk is empty.
    private var chunks: [[Element]] = []
    private(set) var count = 0

    /// Adds an element if it is missing.
    mutating func insert(_ element: Element) {
        guard let (chunk, index) = place(where: { !($0 < element) }) else {
            guard let last = chunks.indices.last, chunks[last].count < Self.chunkMax else {
                chunks.append([element])
                count += 1
                return
            }
            chunks[last].append(element)
            count += 1
            return
        }
        guard chunks[chunk][index] != element else { return }
        chunks[chunk].insert(element, at: index)
        count += 1
        guard chunks[chunk].count > Self.chunkMax else { return }
        let half = chunks[chunk].count / 2
        chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
        chunks[chunk].removeLast(chunks[chunk].count - half)
    }

    /// Removes an existing element.
    mutating func remove(_ element: Element) {
        guard let (chunk, index) = place(where: { !($0 < element) }), chunks[chunk][index] == element else {
            return
        }
        chunks[chunk].remove(at: index)
        count -= 1
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }

    /// Returns the position of the first element for which `isBehind` is true. It must be true for all later elements.
    func firstIndex(where isBehind: (Element) -> Bool) -> Int {
        guard let (chunk, index) = place(where: isBehind) else { return count }
        return chunks[..<chunk].reduce(0) { $0 + $1.count } + index
    }

    /// Returns the elements at these positions, in ascending or descending order.
    func elements(_ numbers: Range<Int>, isDescending: Bool, _ body: (Element) -> Bool) {
        guard var (chunk, index) = place(number: isDescending ? numbers.upperBound - 1 : numbers.lowerBound)
        else { return }
        for _ in numbers {
            guard body(chunks[chunk][index]) else { return }
            index += isDescending ? -1 : 1
            if index < 0 {
                chunk -= 1
                index = chunk < 0 ? 0 : chunks[chunk].count - 1
            } else if index == chunks[chunk].count {
                chunk += 1
                index = 0
            }
        }
    }

    private func place(number: Int) -> (chunk: Int, index: Int)? {
        var left = number
        for (chunk, elements) in chunks.enumerated() {
            if left < elements.count { return left < 0 ? nil : (chunk, left) }
            left -= elements.count
        }
        return nil
    }

    private func place(where isBehind: (Element) -> Bool) -> (chunk: Int, index: Int)? {
        let chunk = Self.first(chunks.count) { chunks[$0].last.map(isBehind) ?? true }
        guard chunk < chunks.count else { return nil }
        return (chunk, Self.first(chunks[chunk].count) { isBehind(chunks[chunk][$0]) })
    }

    private static func first(_ count: Int, _ isBehind: (Int) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
