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
    /// Wrong passwords from an address without a delay. Many users may share an address.
    static let addressTriesFree = 20
    /// Maximum delay in seconds.
    static let waitSecondsMax = 900
    /// Milliseconds after the last failure when all failures are discarded.
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
    ///   - digest: the stored form of an account or an address.
    ///   - kept: counts stored by an earlier process.
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

    /// Returns the counts to store after a failed attempt for this account and address.
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

    /// Begins an attempt, or returns the remaining delay of the account or the address in seconds.
    ///
    /// - Parameter isKnown: the account was signed in to from this address before. Then it has a separate
    ///   count there, so that a stranger's guesses can't lock the account's owner out.
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

    /// Notes that the attempt succeeded. The account's failures are discarded. The address's failures stay,
    /// because the owner of one account could otherwise continue to guess others' passwords.
    ///
    /// - Returns: stored counts to delete, if there were failures.
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

    /// Returns the key under which failures of attempts from this address are counted.
    private static func key(account: String, address: String, _ isKnown: Bool) -> String {
        key(account: account) + (isKnown ? " \(key(address: address))" : "")
    }

    private static func key(account: String) -> String {
        "account " + String(decoding: account.lowercased().utf8.prefix(100), as: UTF8.self)
    }

    /// A household has 2^64 IPv6 addresses, so the network counts.
    static func key(address: String) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard address.contains(":"), inet_pton(AF_INET6, address, &bytes) == 1 else {
            return "address " + address
        }
        // A dual-stack socket shows IPv4 clients as ::ffff:192.0.2.1, which are all in one IPv6 network.
        if bytes.prefix(12).elementsEqual([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]) {
            return "address " + bytes.suffix(4).map(String.init).joined(separator: ".")
        }
        return "network \(Array(bytes.prefix(8)))"
    }
}
