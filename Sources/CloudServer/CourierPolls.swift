/// The held polls: up to one for each device, each until its deadline.
///
/// A value without socket, clock or thread. `Courier` is the shell. A notification of a push that arrives
/// while the store is being read (`asking`) is remembered, so that none is lost between the read and the
/// wait.
struct CourierPolls<Exchange> {
    /// A device of an environment.
    struct Device: Hashable {
        /// The environment's number in the table of environments.
        let environment: Int
        let apnsToken: String
    }

    /// Identifies a poll of a device.
    typealias Number = UInt64

    enum Arrival {
        /// The store must be read for the device now. The device's previous poll ends.
        case held(Number, replaced: Exchange?)
        case refused
    }

    private enum Stage {
        case asking(isRung: Bool)
        case waiting
    }

    private struct Poll {
        let number: Number
        let exchange: Exchange
        var stage = Stage.asking(isRung: false)
    }

    private struct Deadline {
        let milliseconds: Int64
        let number: Number
        let device: Device
    }

    private static var holdMillisecondsMax: Int64 { 86_400_000 }

    let pollsMax: Int
    let holdMilliseconds: Int64
    private var polls: [Device: Poll] = [:]
    /// Ordered by time, since all polls are held equally long. May include deadlines of polls that have
    /// ended.
    private var deadlines: [Deadline] = []
    private var deadlinesStart = 0
    private var lastNumber: Number = 0
    private var isStopped = false

    init(pollsMax: Int, holdMilliseconds: Int64) {
        self.pollsMax = pollsMax
        self.holdMilliseconds = min(holdMilliseconds, Self.holdMillisecondsMax)
    }

    /// Number of held polls.
    var count: Int { polls.count }

    /// Number of stored deadlines, including those of polls that have ended.
    var deadlinesCount: Int { deadlines.count - deadlinesStart }

    /// The device's poll.
    subscript(device: Device) -> Exchange? { polls[device]?.exchange }

    /// The next deadline of a poll. It may belong to one that has ended.
    var nextDeadlineMilliseconds: Int64? {
        deadlinesStart < deadlines.count ? deadlines[deadlinesStart].milliseconds : nil
    }

    /// Holds a poll. Rejected after `stop`, and if the maximum number is held.
    mutating func arrive(_ device: Device, _ exchange: Exchange, nowMilliseconds: Int64) -> Arrival {
        let replaced = polls[device]
        guard !isStopped, replaced != nil || polls.count < pollsMax else { return .refused }
        lastNumber += 1
        polls[device] = Poll(number: lastNumber, exchange: exchange)
        let end = nowMilliseconds + holdMilliseconds
        deadlines.append(Deadline(milliseconds: end, number: lastNumber, device: device))
        compactDeadlines()
        return .held(lastNumber, replaced: replaced?.exchange)
    }

    /// Notes a pending push for the device. Returns the poll for which the store must be read, or nil if
    /// there is none or it is being read already.
    mutating func rang(_ device: Device) -> Number? {
        guard let stage = polls[device]?.stage else { return nil }
        polls[device]?.stage = .asking(isRung: { if case .asking = stage { true } else { false } }())
        if case .asking = stage { return nil }
        return polls[device]?.number
    }

    /// Notes that the store had no push for the device. Returns true if it must be read again.
    mutating func foundNothing(_ device: Device, _ number: Number) -> Bool {
        guard let poll = polls[device], poll.number == number else { return false }
        if case .asking(isRung: true) = poll.stage {
            polls[device]?.stage = .asking(isRung: false)
            return true
        }
        polls[device]?.stage = .waiting
        return false
    }

    /// Ends a poll. Returns nil if it has ended already.
    mutating func end(_ device: Device, _ number: Number) -> Exchange? {
        guard let poll = polls[device], poll.number == number else { return nil }
        polls[device] = nil
        return poll.exchange
    }

    /// Ends the expired polls.
    mutating func endExpired(nowMilliseconds: Int64) -> [Exchange] {
        var expired: [Exchange] = []
        while deadlinesStart < deadlines.count, deadlines[deadlinesStart].milliseconds <= nowMilliseconds {
            let deadline = deadlines[deadlinesStart]
            if let exchange = end(deadline.device, deadline.number) { expired.append(exchange) }
            deadlinesStart += 1
        }
        compactDeadlines()
        return expired
    }

    /// Ends the matching polls, in the order in which they arrived.
    mutating func end(where isWanted: (Exchange) -> Bool) -> [Exchange] {
        let ended = polls.filter { isWanted($0.value.exchange) }.sorted { $0.value.number < $1.value.number }
        for (device, _) in ended { polls[device] = nil }
        return ended.map(\.value.exchange)
    }

    /// Ends all polls, in the order in which they arrived. No poll is held from then on.
    mutating func stop() -> [Exchange] {
        isStopped = true
        let exchanges = polls.values.sorted { $0.number < $1.number }.map(\.exchange)
        polls = [:]
        deadlines = []
        deadlinesStart = 0
        return exchanges
    }

    /// Keeps up to twice as many deadlines as polls: a device with many pushes leaves many behind.
    private mutating func compactDeadlines() {
        guard deadlines.count > 64, deadlines.count > 2 * polls.count else { return }
        deadlines = deadlines[deadlinesStart...].filter { polls[$0.device]?.number == $0.number }
        deadlinesStart = 0
    }
}
