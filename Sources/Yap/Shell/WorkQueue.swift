import System

/// A queue between threads. `take` waits until it has elements.
final class WorkQueue<Element: Sendable>: @unchecked Sendable {
    // Sendable because everything below is accessed only while `mutex` is held.
    private let mutex = Mutex()
    private let condition = Condition()
    private var elements: [Element] = []
    private var waiting = 0
    private var closed = false

    enum Pushed { case refused, taken, needsThread }

    /// Adds an element, unless the queue is closed. Reports whether a thread is waiting for one. A thread that was
    /// woken for an earlier element counts as waiting until it runs, but takes only that one.
    func push(_ element: Element) -> Pushed {
        locked {
            if closed { return .refused }
            elements.append(element)
            guard waiting >= elements.count else { return .needsThread }
            condition.signal()
            return .taken
        }
    }

    /// Waits for elements, and takes up to `max` of them. Returns nil if the queue is closed and empty.
    func take(max: Int) -> [Element]? {
        locked {
            while elements.isEmpty {
                if closed { return nil }
                waiting += 1
                condition.wait(mutex)
                waiting -= 1
            }
            return takeNow(max)
        }
    }

    /// Takes up to `max` elements without waiting.
    func takeWithoutWaiting(max: Int) -> [Element] {
        locked { takeNow(max) }
    }

    /// Puts elements back at the front.
    func putBack(_ back: [Element]) {
        if back.isEmpty { return }
        locked { elements.insert(contentsOf: back, at: 0) }
    }

    /// Rejects new elements. Queued elements can still be taken.
    func close() {
        locked {
            closed = true
            condition.broadcast()
        }
    }

    private func takeNow(_ max: Int) -> [Element] {
        if elements.count <= max {
            let all = elements
            elements = []
            return all
        }
        let first = Array(elements.prefix(max))
        elements.removeFirst(max)
        return first
    }

    @inline(never)  // Otherwise an ignored result would be released before the lock is.
    private func locked<Result>(_ body: () -> Result) -> Result {
        mutex.lock(for: Element.self)
        defer { mutex.unlock() }
        return body()
    }
}
