import System
import Testing

@Suite struct FirstInFirstOutTests {
    @Test func aQueueKeepsItsOrderHoweverItIsUsed() {
        let random = SeededRandomSource(seed: 7)
        var queue = FirstInFirstOut<Int>()
        var model: [Int] = []
        var next = 0
        for _ in 0..<20_000 {
            switch random.next(in: 0..<10) {
            case 0..<5:
                queue.append(next)
                model.append(next)
                next += 1
            case 5..<9:
                #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            default:
                let taken = (0..<3).compactMap { _ in queue.popFirst() }
                queue.putBack(taken)
            }
            #expect(queue.count == model.count && queue.first == model.first)
        }
    }

    @Test func aLongQueueMovesEachElementOnceAtMost() {
        var queue = FirstInFirstOut<Int>()
        for number in 0..<100_000 { queue.append(number) }
        // One is added for two that are taken, so that the queue isn't empty for long.
        var takenCount = 0
        while queue.popFirst() != nil {
            takenCount += 1
            if takenCount.isMultiple(of: 2) { queue.append(takenCount) }
        }
        #expect(takenCount > 150_000)
        #expect(queue.movedCount <= takenCount)
    }

    @Test func whatIsPutBackMovesNoOtherElement() {
        var queue = FirstInFirstOut<Int>()
        for number in 0..<1000 { queue.append(number) }
        for _ in 0..<500 {
            let taken = (0..<10).compactMap { _ in queue.popFirst() }
            queue.putBack(taken)
            _ = queue.popFirst()
        }
        #expect(queue.movedCount == 0 && queue.count == 500 && queue.first == 500)
        // Only what is more than was taken needs new places.
        queue.putBack(Array(0..<501))
        #expect(queue.movedCount == 500 && queue.count == 1001 && queue.first == 0)
    }

    @Test func whatWasTakenIsReleased() {
        final class Witness {}
        var queue = FirstInFirstOut<Witness>()
        for _ in 0..<3 { queue.append(Witness()) }
        weak let first = queue.first
        #expect(first != nil)
        #expect(queue.popFirst() != nil && queue.count == 2)
        #expect(first == nil)
    }
}
