/// Maximum request rates, sustained and in bursts.
public struct ServiceRates: Hashable, Sendable {
    /// A sustained rate and its maximum burst.
    public struct Rate: Hashable, Sendable {
        /// Sustained requests per second.
        public var perSecond: Int
        /// Maximum requests in a burst after a pause.
        public var burst: Int

        private static let most = 1_000_000_000

        /// Makes a rate. Both values are clamped to at least 1 and to the countable maximum.
        public init(perSecond: Int, burst: Int) {
            self.perSecond = min(max(1, perSecond), Self.most)
            self.burst = min(max(1, burst), Self.most)
        }
    }

    /// Rate of one user over all devices, or nil for no limit.
    public var user: Rate? = Rate(perSecond: 1_000, burst: 10_000)
    /// Rate of all users of an environment together, or nil for no limit.
    public var container: Rate? = Rate(perSecond: 10_000, burst: 50_000)
    /// Rate of unauthenticated and rejected requests from one address, or nil for no limit.
    public var address: Rate? = Rate(perSecond: 200, burst: 2_000)

    /// Response bytes that are charged as one request. A user's larger responses count as several.
    package static let answerBytesOfARequest = 16 << 10

    /// Generous limits, which only a faulty program exceeds.
    public init() {}

    /// No limits.
    public static let unlimited: ServiceRates = {
        var rates = ServiceRates()
        (rates.user, rates.container, rates.address) = (nil, nil, nil)
        return rates
    }()
}

/// The token buckets of a rate, by owner.
package struct RateBuckets {
    /// Maximum owners with buckets of their own. Further ones share one.
    static let entriesMax = 20_000

    package struct Answer: Hashable {
        package let isTaken: Bool
        package let limit: Int
        /// Number of requests that may follow immediately.
        package let remaining: Int
        /// Seconds until one more request is allowed, or until the bucket is full.
        package let seconds: Int
    }

    private struct Entry {
        /// Thousandths of requests.
        var level: Int64
        var milliseconds: Int64
    }

    private let rate: ServiceRates.Rate
    private var entries: [String: Entry] = [:]
    private var cleanedMilliseconds: Int64 = 0

    var count: Int { entries.count }

    /// Starts with full buckets.
    package init(_ rate: ServiceRates.Rate) {
        self.rate = rate
    }

    /// Takes one request from the owner's bucket, if it has one.
    package mutating func take(_ owner: String, at now: Int64) -> Answer {
        let key = place(for: owner, at: now)
        var entry = filled(entries[key], at: now)
        let isTaken = entry.level >= 1000
        if isTaken { entry.level -= 1000 }
        entries[key] = entry
        let missing = isTaken ? full - entry.level : 1000 - entry.level
        let perSecond = Int64(rate.perSecond) * 1000
        return Answer(
            isTaken: isTaken, limit: rate.burst, remaining: Int(max(0, entry.level) / 1000),
            seconds: Int((missing + perSecond - 1) / perSecond))
    }

    /// Charges an amount in thousandths of a request, even if the bucket is empty. The debt must be refilled
    /// first. It is at most one full bucket. The shared bucket has no debt.
    mutating func charge(_ owner: String, thousandths: Int64, at now: Int64) {
        let key = place(for: owner, at: now)
        guard !key.isEmpty else { return }
        var entry = filled(entries[key], at: now)
        entry.level = max(entry.level - thousandths, -full)
        entries[key] = entry
    }

    private var full: Int64 { Int64(rate.burst) * 1000 }

    private func filled(_ entry: Entry?, at now: Int64) -> Entry {
        guard let entry else { return Entry(level: full, milliseconds: now) }
        // A clock that was set back neither adds nor removes requests.
        let elapsed = min(max(0, now - entry.milliseconds), 86_400_000)
        return Entry(level: min(full, entry.level + elapsed * Int64(rate.perSecond)), milliseconds: now)
    }

    private mutating func place(for owner: String, at now: Int64) -> String {
        guard entries[owner] == nil, entries.count >= Self.entriesMax else { return owner }
        guard abs(now - cleanedMilliseconds) >= 1_000 else { return "" }
        cleanedMilliseconds = now
        // A full bucket is equivalent to none.
        entries = entries.filter { filled($0.value, at: now).level < full }
        return entries.count < Self.entriesMax ? owner : ""
    }
}

/// The token buckets of a service's rates.
package struct RateKeeper {
    private var users: RateBuckets?
    private var containers: RateBuckets?
    private var addresses: RateBuckets?

    init(_ rates: ServiceRates) {
        users = rates.user.map { RateBuckets($0) }
        containers = rates.container.map { RateBuckets($0) }
        addresses = rates.address.map { RateBuckets($0) }
    }

    enum Kind: Equatable { case user, container, address }

    /// Takes one request. Returns nil if no limit applies.
    ///
    /// A request counts for the container only if its own rate allows it, so that one user's rejected
    /// requests don't affect others.
    mutating func take(user: String?, peer: String?, at now: Int64) -> (
        kind: Kind, answer: RateBuckets.Answer
    )? {
        let own =
            user.map { users?.take($0, at: now) } ?? addresses?.take(Self.network(of: peer ?? ""), at: now)
        let kind: Kind = user == nil ? .address : .user
        if let own, !own.isTaken { return (kind, own) }
        let all = containers?.take("", at: now)
        if let all, !all.isTaken { return (.container, all) }
        return own.map { (kind, $0) } ?? all.map { (.container, $0) }
    }

    /// Charges a response's bytes beyond those of one request to its user.
    mutating func charge(user: String, answerBytes: Int, at now: Int64) {
        let beyond = max(0, Int64(answerBytes) - Int64(ServiceRates.answerBytesOfARequest))
        let thousandths = beyond * 1000 / Int64(ServiceRates.answerBytesOfARequest)
        users?.charge(user, thousandths: thousandths, at: now)
    }

    /// A household has 2^64 IPv6 addresses, so only the first four groups count.
    package static func network(of address: String) -> String {
        guard address.utf8.contains(0x3A), !address.utf8.contains(0x2E) else { return address }
        let groups = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let front = groups[0].split(separator: ":")
        let zeros = groups.count > 1 ? repeatElement(Substring("0"), count: max(0, 4 - front.count)) : nil
        return (front.prefix(4) + Array(zeros ?? repeatElement("0", count: 0))).joined(separator: ":")
    }
}
