/// A first-in, first-out queue with constant amortized cost at both ends. Releases elements as they are removed.
package struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var head = 0
    /// Number of moves of elements, for tests of the cost.
    package private(set) var movedCount = 0

    /// Creates an empty queue.
    package init() {}

    /// Number of elements.
    package var count: Int { elements.count - head }

    /// The first element, or nil if the queue is empty. Setting it does nothing then.
    package var first: Element? {
        get { head < elements.count ? elements[head] : nil }
        set { if head < elements.count, let newValue { elements[head] = newValue } }
    }

    /// Appends an element.
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Inserts elements at the front, in order.
    package mutating func putBack(_ returned: [Element]) {
        guard !returned.isEmpty else { return }
        if returned.count <= head {
            head -= returned.count
            for (index, element) in returned.enumerated() { elements[head + index] = element }
        } else {
            movedCount += count
            elements.replaceSubrange(0..<head, with: returned.map { $0 })
            head = 0
        }
    }

    /// Removes and returns the first element, or nil if the queue is empty.
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 1024)
            head = 0
        } else if head >= 1024, head * 2 >= elements.count {
            elements.removeFirst(head)
            movedCount += elements.count
            head = 0
        }
        return element
    }
}
