import System
import YapCloudKit

/// What is to happen, by the time at which it does. Time passes only from one event to the next.
final class EventQueue {
    /// Whose event it is: it doesn't happen when they are gone, and happens later when they sleep.
    typealias Owner = Int
    /// The network, the service and the run itself.
    static let world: Owner = 0

    private struct Event {
        var atMilliseconds: Int64
        /// Events of one time happen in the order in which they were asked for.
        var number: Int
        var owner: Owner
        var body: () -> Void

        func isBefore(_ other: Event) -> Bool {
            (atMilliseconds, number) < (other.atMilliseconds, other.number)
        }
    }

    /// The time in the world; devices may think otherwise.
    let clock = ManualTimeSource()
    /// A binary heap.
    private var events: [Event] = []
    private var cancelled: Set<Int> = []
    private var lastNumber = 0
    private var held: [Owner: Int64] = [:]

    var nowMilliseconds: Int64 { clock.nowMilliseconds() }

    /// - Returns: Its number, to take it back by.
    @discardableResult
    func schedule(after milliseconds: Int64, for owner: Owner = world, _ body: @escaping () -> Void) -> Int {
        lastNumber += 1
        push(
            Event(
                atMilliseconds: nowMilliseconds + max(0, milliseconds), number: lastNumber, owner: owner,
                body: body))
        return lastNumber
    }

    func cancel(_ number: Int) {
        cancelled.insert(number)
    }

    /// Lets nothing of an owner happen before a time.
    func hold(_ owner: Owner, untilMilliseconds: Int64) {
        held[owner] = untilMilliseconds
    }

    /// Takes out what an owner who is gone would have done, in its order.
    func takeAll(of owner: Owner) -> [() -> Void] {
        let taken = events.filter { $0.owner == owner && !cancelled.contains($0.number) }
            .sorted { $0.isBefore($1) }
        events.removeAll { $0.owner == owner }
        heapify()
        held[owner] = nil
        return taken.map(\.body)
    }

    /// Forgets what is still to happen: it holds the run that holds the queue.
    func removeAll() {
        events = []
    }

    /// Lets the next event happen.
    /// - Returns: False when there is none before `limit`.
    func step(untilMilliseconds limit: Int64 = .max) -> Bool {
        while let event = events.first {
            guard event.atMilliseconds <= limit else { return false }
            pop()
            if cancelled.remove(event.number) != nil { continue }
            if let wake = held[event.owner], wake > event.atMilliseconds {
                var later = event
                later.atMilliseconds = wake
                push(later)
                continue
            }
            clock.advance(bySeconds: Double(event.atMilliseconds - nowMilliseconds) / 1000)
            event.body()
            return true
        }
        return false
    }

    // MARK: The heap

    private func push(_ event: Event) {
        events.append(event)
        var child = events.count - 1
        while child > 0, events[child].isBefore(events[(child - 1) / 2]) {
            events.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private func pop() {
        guard let last = events.popLast(), !events.isEmpty else { return }
        events[0] = last
        sink(0)
    }

    private func sink(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < events.count && events[child].isBefore(events[least]) { least = child }
            guard least != parent else { return }
            events.swapAt(parent, least)
            parent = least
        }
    }

    private func heapify() {
        for index in stride(from: events.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }
}

/// A machine's clock: it may be wrong, and be set.
final class DeviceClock: TimeSource {
    private let world: ManualTimeSource
    private let offsetMilliseconds = Lock<Int64>(0)

    init(_ world: ManualTimeSource) {
        self.world = world
    }

    func nowMilliseconds() -> Int64 { world.nowMilliseconds() + offsetMilliseconds.withLock { $0 } }

    func step(byMilliseconds change: Int64) {
        offsetMilliseconds.withLock { $0 += change }
    }

    func setRight() {
        offsetMilliseconds.withLock { $0 = 0 }
    }
}

/// Lets something into closures that are sendable by type, and that one thread at a time uses.
package struct SingleThreaded<Value>: @unchecked Sendable {
    // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`). Others say
    // where they make one why that holds.
    package let value: Value

    package init(value: Value) { self.value = value }
}

/// The same without keeping it.
struct WeakSingleThreaded<Value: AnyObject>: @unchecked Sendable {
    // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`).
    weak var value: Value?
}
