import CloudStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Limits sign-in attempts: how long each account and address with failed attempts waits before the next one.
///
/// An attempt counts as failed until it succeeds, so parallel attempts don't bypass the limit.
struct AttemptLimiter {
    /// Wrong passwords for an account without a delay.
    static let accountTriesFree = 5
    /// Wrong passwords from an address without a delay: many people may share one.
    static let addressTriesFree = 20
    /// The longest wait.
    static let waitSecondsMax = 900
    /// After this time without a failure all is forgotten.
    static let memoryMilliseconds: Int64 = 3_600_000
    /// Maximum accounts and addresses. Beyond it, the one with the oldest failure is removed.
    static let entriesMax = 20_000

    private struct Entry {
        var failuresCount = 0
        var lastMilliseconds: Int64 = 0
        var openMilliseconds: Int64 = 0
    }

    private var entries: [[UInt8]: Entry] = [:]
    private let digest: @Sendable (String) -> [UInt8]

    var count: Int { entries.count }

    /// - Parameters:
    ///   - digest: what stands for an account or an address, here and where counts are kept.
    ///   - kept: counts of an earlier time.
    init(
        digest: @escaping @Sendable (String) -> [UInt8] = { Array($0.utf8) }, kept: [ControlTry] = [],
        at now: Int64 = 0
    ) {
        self.digest = digest
        for one in kept.prefix(Self.entriesMax) {
            entries[one.digest] = Entry(
                failuresCount: one.failuresCount, lastMilliseconds: now - one.ageMilliseconds,
                openMilliseconds: now + one.waitMilliseconds)
        }
    }

    /// The counts to keep when a try of this account and address has failed.
    func failed(account: String, address: String, isKnown: Bool = false, at now: Int64) -> [ControlTry] {
        keys(account: account, address: address, isKnown).compactMap { key in
            entries[key].map { entry in
                ControlTry(
                    digest: key, failuresCount: entry.failuresCount,
                    ageMilliseconds: max(0, now - entry.lastMilliseconds),
                    waitMilliseconds: max(0, entry.openMilliseconds - now))
            }
        }
    }

    private func keys(account: String, address: String, _ isKnown: Bool) -> [[UInt8]] {
        [Self.key(account: account, address: address, isKnown), Self.key(address: address)].map(digest)
    }

    /// Begins a try, unless the account or the address has to wait: then the seconds.
    ///
    /// - Parameter isKnown: the account was signed in to from this address before. There it has a count of its own, or
    ///   a stranger's guesses could keep the account's owner out for good.
    mutating func begin(account: String, address: String, isKnown: Bool = false, at now: Int64) -> Int? {
        let keys = keys(account: account, address: address, isKnown)
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

    /// The try that began was right. The account's failures are forgotten; the address's are not, or the owner of one
    /// account could go on guessing at others.
    ///
    /// - Returns: what is no longer to be kept, when a try had failed before.
    mutating func succeeded(
        account: String, address: String, isKnown: Bool = false, at now: Int64
    ) -> ControlTry? {
        let own = digest(Self.key(account: account, address: address, isKnown))
        let failuresCount = entries.removeValue(forKey: own)?.failuresCount ?? 0
        let forgotten =
            failuresCount > 1
            ? ControlTry(digest: own, failuresCount: 0, ageMilliseconds: 0, waitMilliseconds: 0) : nil
        let key = digest(Self.key(address: address))
        guard var entry = entries[key] else { return forgotten }
        entry.failuresCount -= 1
        entry.openMilliseconds = now
        entries[key] = entry.failuresCount > 0 ? entry : nil
        return forgotten
    }

    /// 1, 2, 4 ... seconds once the free tries are used up.
    static func waitMilliseconds(failures: Int, free: Int) -> Int64 {
        guard failures >= free else { return 0 }
        return Int64(min(waitSecondsMax, 1 << min(failures - free, 20))) * 1000
    }

    private mutating func makeRoom(for key: [UInt8]) {
        guard entries[key] == nil, entries.count >= Self.entriesMax else { return }
        let oldest = entries.min { left, right in
            left.value.lastMilliseconds != right.value.lastMilliseconds
                ? left.value.lastMilliseconds < right.value.lastMilliseconds
                : left.key.lexicographicallyPrecedes(right.key)
        }
        if let oldest { entries[oldest.key] = nil }
    }

    /// Where the failures of tries from this address are counted.
    private static func key(account: String, address: String, _ isKnown: Bool) -> String {
        key(account: account) + (isKnown ? " \(key(address: address))" : "")
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
