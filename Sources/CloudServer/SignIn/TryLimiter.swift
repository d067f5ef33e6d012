#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Who has to wait before the next password is looked at: accounts and addresses whose tries failed.
///
/// A try counts as failed from its beginning until it succeeds, so that many at once are no way around.
struct TryLimiter {
    /// So many wrong passwords for an account are free.
    static let accountTriesFree = 5
    /// So many wrong passwords from an address are free: many people may share one.
    static let addressTriesFree = 20
    /// The longest wait.
    static let waitSecondsMax = 900
    /// After this time without a failure all is forgotten.
    static let memoryMilliseconds: Int64 = 3_600_000
    /// So many accounts and addresses are kept in mind; of more, the one that failed longest ago is forgotten.
    static let entriesMax = 20_000

    private struct Entry {
        var failuresCount = 0
        var lastMilliseconds: Int64 = 0
        var openMilliseconds: Int64 = 0
    }

    private var entries: [String: Entry] = [:]
    /// Accounts with the addresses that they were signed in from. There they have a count of their own, or whoever
    /// guesses could keep the account's owner out for good.
    private var known: Set<String> = []

    var count: Int { entries.count }

    /// Begins a try, unless the account or the address has to wait: then the seconds.
    mutating func begin(account: String, address: String, at now: Int64) -> Int? {
        let keys = [key(account: account, address: address), Self.key(address: address)]
        let open = keys.map { entries[$0]?.openMilliseconds ?? now }.max() ?? now
        guard open <= now else { return Int((open - now + 999) / 1000) }
        for (key, free) in zip(keys, [Self.accountTriesFree, Self.addressTriesFree]) {
            makeRoom(for: key)
            var entry = entries[key] ?? Entry()
            if now - entry.lastMilliseconds > Self.memoryMilliseconds { entry = Entry() }
            entry.failuresCount += 1
            entry.lastMilliseconds = now
            entry.openMilliseconds = now + Self.waitMilliseconds(failures: entry.failuresCount, free: free)
            entries[key] = entry
        }
        return nil
    }

    /// The try that began was right. The account's failures are forgotten; the address's are not, or whoever has one
    /// account could go on guessing at others.
    mutating func succeeded(account: String, address: String, at now: Int64) {
        entries[self.key(account: account, address: address)] = nil
        if known.count >= Self.entriesMax { known = [] }
        known.insert(Self.key(account: account, knownAt: address))
        let key = Self.key(address: address)
        guard var entry = entries[key] else { return }
        entry.failuresCount -= 1
        entry.openMilliseconds = now
        entries[key] = entry.failuresCount > 0 ? entry : nil
    }

    /// 1, 2, 4 ... seconds once the free tries are used up.
    static func waitMilliseconds(failures: Int, free: Int) -> Int64 {
        guard failures >= free else { return 0 }
        return Int64(min(waitSecondsMax, 1 << min(failures - free, 20))) * 1000
    }

    private mutating func makeRoom(for key: String) {
        guard entries[key] == nil, entries.count >= Self.entriesMax else { return }
        let oldest = entries.min { left, right in
            (left.value.lastMilliseconds, left.key) < (right.value.lastMilliseconds, right.key)
        }
        if let oldest { entries[oldest.key] = nil }
    }

    /// Where the failures of tries from this address are counted.
    private func key(account: String, address: String) -> String {
        let own = Self.key(account: account, knownAt: address)
        return known.contains(own) ? own : Self.key(account: account)
    }

    private static func key(account: String, knownAt address: String) -> String {
        "\(key(account: account)) \(key(address: address))"
    }

    private static func key(account: String) -> String {
        "account " + String(decoding: account.lowercased().utf8.prefix(100), as: UTF8.self)
    }

    /// A household has 2^64 addresses of IPv6: the network counts.
    static func key(address: String) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard address.contains(":"), inet_pton(AF_INET6, address, &bytes) == 1 else {
            return "address " + address
        }
        // A socket that takes both calls a client of IPv4 ::ffff:192.0.2.1: all of them have one network.
        if bytes.prefix(12).elementsEqual([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]) {
            return "address " + bytes.suffix(4).map(String.init).joined(separator: ".")
        }
        return "network \(Array(bytes.prefix(8)))"
    }
}
