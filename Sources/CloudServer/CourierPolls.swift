/// The polls that are held open: at most one a device, each until its deadline.
///
/// A value without socket, clock or thread; `Courier` is the shell. While the store is asked for a push of a device
/// (`asking`), word of a new one is kept in mind, so that none falls between the question and the wait.
struct CourierPolls<Exchange> {
    /// A device of an environment.
    struct Device: Hashable {
        /// Which environment, by the number that the table of environments gave it.
        let environment: Int
        let apnsToken: String
    }

    /// Names one poll of a device.
    typealias Number = UInt64

    enum Arrival {
        /// The store is to be asked for the device now. Another poll of the device ends because of this one.
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
    /// In the order of time, since all are held equally long. Those of polls that have ended stay for a while.
    private var deadlines: [Deadline] = []
    private var deadlinesStart = 0
    private var lastNumber: Number = 0
    private var isStopped = false

    init(pollsMax: Int, holdMilliseconds: Int64) {
        self.pollsMax = pollsMax
        self.holdMilliseconds = min(holdMilliseconds, Self.holdMillisecondsMax)
    }

    /// How many are held.
    var count: Int { polls.count }

    /// How many deadlines are kept, those of polls that have ended among them.
    var deadlinesCount: Int { deadlines.count - deadlinesStart }

    /// The device's poll.
    subscript(device: Device) -> Exchange? { polls[device]?.exchange }

    /// When the next poll ends without a push, as far as is known.
    var nextDeadlineMilliseconds: Int64? {
        deadlinesStart < deadlines.count ? deadlines[deadlinesStart].milliseconds : nil
    }

    /// Holds a poll. After `stop`, and when too many are held, it is refused.
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

    /// A push waits for the device. Returns the poll for which the store is to be asked, if there is one and it isn't
    /// being asked already.
    mutating func rang(_ device: Device) -> Number? {
        guard let stage = polls[device]?.stage else { return nil }
        polls[device]?.stage = .asking(isRung: { if case .asking = stage { true } else { false } }())
        if case .asking = stage { return nil }
        return polls[device]?.number
    }

    /// The store had nothing for the device. True when it is to be asked again.
    mutating func foundNothing(_ device: Device, _ number: Number) -> Bool {
        guard let poll = polls[device], poll.number == number else { return false }
        if case .asking(isRung: true) = poll.stage {
            polls[device]?.stage = .asking(isRung: false)
            return true
        }
        polls[device]?.stage = .waiting
        return false
    }

    /// Ends a poll; nil when it has ended already.
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

    /// Ends the polls that are like this, in the order in which they came.
    mutating func end(where isWanted: (Exchange) -> Bool) -> [Exchange] {
        let ended = polls.filter { isWanted($0.value.exchange) }.sorted { $0.value.number < $1.value.number }
        for (device, _) in ended { polls[device] = nil }
        return ended.map(\.value.exchange)
    }

    /// Ends all polls, in the order in which they came. None is held from now on.
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
