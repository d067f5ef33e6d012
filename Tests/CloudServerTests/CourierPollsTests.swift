import System
import Testing

@testable import CloudServer

@Suite struct CourierPollsTests {
    @Test func aPushThatComesBetweenTheQuestionAndTheWaitIsAskedForAgain() throws {
        let polls = PollTable(pollsMax: 4, holdMilliseconds: 1_000)
        let number = try #require(polls.arrive("a", "a1", at: 0)).number
        #expect(polls.rang("a") == nil)
        #expect(polls.foundNothing("a", number))
        #expect(!polls.foundNothing("a", number))
        #expect(polls.rang("a") == number)
        #expect(polls.rang("b") == nil)
    }

    @Test func aSecondPollOfADeviceEndsTheFirst() throws {
        let polls = PollTable(pollsMax: 1, holdMilliseconds: 1_000)
        let first = try #require(polls.arrive("a", "a1", at: 0)).number
        let second = try #require(polls.arrive("a", "a2", at: 1))
        #expect(second.replaced == "a1")
        #expect(polls.end("a", first) == nil)
        #expect(!polls.foundNothing("a", first))
        #expect(polls.end("a", second.number) == "a2")
        #expect(polls.polls.count == 0)
    }

    @Test func moreThanTheLimitAreRefusedAndAllAfterTheStop() {
        let polls = PollTable(pollsMax: 2, holdMilliseconds: 1_000)
        #expect(polls.arrive("a", "a", at: 0) != nil)
        #expect(polls.arrive("b", "b", at: 0) != nil)
        #expect(polls.arrive("c", "c", at: 0) == nil)
        #expect(polls.stop() == ["a", "b"])
        #expect(polls.arrive("a", "a", at: 0) == nil)
    }

    @Test func eachPollEndsAtItsTime() {
        let polls = PollTable(pollsMax: 4, holdMilliseconds: 1_000)
        _ = polls.arrive("a", "a1", at: 0)
        _ = polls.arrive("b", "b", at: 500)
        _ = polls.arrive("a", "a2", at: 600)
        #expect(polls.polls.nextDeadlineMilliseconds == 1_000)
        #expect(polls.endExpired(at: 999).isEmpty)
        #expect(polls.endExpired(at: 1_500) == ["b"])
        #expect(polls.endExpired(at: 1_600) == ["a2"])
        #expect(polls.polls.nextDeadlineMilliseconds == nil)
    }

    @Test func aDeviceWithManyPushesLeavesNoDeadlines() throws {
        let polls = PollTable(pollsMax: 4, holdMilliseconds: 1_000_000)
        for time in 0..<10_000 as Range<Int64> {
            let number = try #require(polls.arrive("a", "a", at: time)).number
            _ = polls.end("a", number)
        }
        #expect(polls.polls.deadlinesCount <= 65)
    }

    /// Whatever happens in whatever order, each poll ends exactly once.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func eachPollIsAnsweredExactlyOnce(seed: UInt64) {
        let random = SeededRandomSource(seed: seed)
        let polls = PollTable(pollsMax: 8, holdMilliseconds: 50)
        var numbers: [String: PollTable.Number] = [:]
        var ended: [String] = []
        var arrived: [String] = []
        for step in 0..<5_000 {
            let name = "device \(random.next(in: 0..<12))"
            switch random.next(in: 0..<6) {
            case 0, 1:
                let exchange = "\(name) \(step)"
                arrived.append(exchange)
                if let poll = polls.arrive(name, exchange, at: Int64(step)) {
                    numbers[name] = poll.number
                    if let replaced = poll.replaced { ended.append(replaced) }
                } else {
                    ended.append(exchange)
                }
            case 2: _ = polls.rang(name)
            case 3: _ = polls.foundNothing(name, numbers[name] ?? 0)
            case 4: if let exchange = polls.end(name, numbers[name] ?? 0) { ended.append(exchange) }
            default: ended += polls.endExpired(at: Int64(step))
            }
        }
        ended += polls.stop()
        #expect(ended.count == arrived.count, "seed \(seed)")
        #expect(Set(ended) == Set(arrived), "seed \(seed)")
    }
}

/// The polls, with names for devices.
private final class PollTable {
    typealias Number = CourierPolls<String>.Number

    private(set) var polls: CourierPolls<String>

    init(pollsMax: Int, holdMilliseconds: Int64) {
        polls = CourierPolls(pollsMax: pollsMax, holdMilliseconds: holdMilliseconds)
    }

    func arrive(_ name: String, _ exchange: String, at milliseconds: Int64) -> (
        number: Number, replaced: String?
    )? {
        switch polls.arrive(device(name), exchange, nowMilliseconds: milliseconds) {
        case .held(let number, let replaced): (number, replaced)
        case .refused: nil
        }
    }

    func rang(_ name: String) -> Number? { polls.rang(device(name)) }
    func foundNothing(_ name: String, _ number: Number) -> Bool { polls.foundNothing(device(name), number) }
    func end(_ name: String, _ number: Number) -> String? { polls.end(device(name), number) }
    func endExpired(at milliseconds: Int64) -> [String] { polls.endExpired(nowMilliseconds: milliseconds) }
    func stop() -> [String] { polls.stop() }

    private func device(_ name: String) -> CourierPolls<String>.Device {
        CourierPolls<String>.Device(environment: 0, apnsToken: name)
    }
}
