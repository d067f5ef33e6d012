import Dispatch
import System
import Testing

/// Handlers of an app, which may block for good.
@Suite struct HandlerQueueTests {
    /// A handler that stands still until it is let go.
    private final class Gate: Sendable {
        let entered = DispatchSemaphore(value: 0)
        let opened = DispatchSemaphore(value: 0)

        func block() {
            entered.signal()
            opened.wait()
            opened.signal()
        }
    }

    @Test func aHandlerThatBlocksDelaysNoOther() async {
        let gate = Gate()
        defer { gate.opened.signal() }
        let stuck = HandlerQueue<Int>(label: "stuck", valuesMax: 4) { _ in gate.block() }
        for value in 1...100 { stuck.add(value) }
        let values = await withCheckedContinuation { continuation in
            let seen = Lock<[Int]>([])
            let free = HandlerQueue<Int>(label: "free", valuesMax: 1000) { value in
                let all = seen.withLock { seen in
                    seen.append(value)
                    return seen.count == 100 ? seen : nil
                }
                if let all { continuation.resume(returning: all) }
            }
            for value in 1...100 { free.add(value) }
        }
        #expect(values == Array(1...100))
    }

    @Test func theOldestValuesAreDroppedAndCounted() async {
        let gate = Gate()
        let values = await withCheckedContinuation { continuation in
            let seen = Lock<[Int]>([])
            let queue = HandlerQueue<Int>(
                label: "slow", valuesMax: 2, merge: { dropped, next in next += dropped },
                handler: { value in
                    if value == 1 { gate.block() }
                    let all = seen.withLock { seen in
                        seen.append(value)
                        return seen.count == 3 ? seen : nil
                    }
                    if let all { continuation.resume(returning: all) }
                })
            queue.add(1)
            DispatchQueue.global().async {
                gate.entered.wait()
                for value in [10, 20, 30, 40] { queue.add(value) }
                gate.opened.signal()
            }
        }
        #expect(values == [1, 60, 40])
    }

    private final class Witness: Sendable {
        private let whenReleased: @Sendable () -> Void
        init(_ whenReleased: @escaping @Sendable () -> Void) { self.whenReleased = whenReleased }
        deinit { whenReleased() }
    }

    @Test func aValueThatWasHandedOutIsReleased() async {
        let gate = Gate()
        let isReleased = await withCheckedContinuation { continuation in
            let isReleased = Lock(false)
            let queue = HandlerQueue<(number: Int, witness: Witness?)>(label: "released", valuesMax: 10) {
                value in
                if value.number == 0 { gate.block() }
                if value.number == 2 { continuation.resume(returning: isReleased.withLock { $0 }) }
            }
            queue.add((0, nil))
            queue.add((1, Witness { isReleased.withLock { $0 = true } }))
            // The queue isn't empty when 2 is handled.
            for number in 2...3 { queue.add((number, nil)) }
            gate.opened.signal()
        }
        #expect(isReleased)
    }

    @Test func nothingIsHandedOutAfterTheEnd() async {
        let gate = Gate()
        let seen = Lock<[Int]>([])
        // Goes on when the queue is released, so when it can't call its handler any more.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let witness = Witness { continuation.resume() }
            let queue = HandlerQueue<Int>(label: "ended", valuesMax: 10) { value in
                withExtendedLifetime(witness) { seen.withLock { $0.append(value) } }
                gate.block()
            }
            queue.add(1)
            DispatchQueue.global().async {
                gate.entered.wait()
                queue.add(2)
                queue.end()
                queue.add(3)
                gate.opened.signal()
            }
        }
        #expect(seen.withLock { $0 } == [1])
    }
}
