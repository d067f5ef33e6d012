/// A queue whose both ends cost the same however long it is. It keeps nothing of what was taken.
package struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var head = 0
    /// Number of elements that were moved to another place, for tests of the cost.
    package private(set) var movedCount = 0

    /// Makes an empty queue.
    package init() {}

    /// Number of elements.
    package var count: Int { elements.count - head }

    /// The first element, or nil if the queue is empty. To set it does nothing then.
    package var first: Element? {
        get { head < elements.count ? elements[head] : nil }
        set { if head < elements.count, let newValue { elements[head] = newValue } }
    }

    /// Adds an element after the others.
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Puts elements before the first, in their order.
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

    /// Removes the first element and returns it; nil if the queue is empty.
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
