/// Deadlines of one loop, to the nearest tick. Each takes eight bytes and is never removed: a connection
/// whose timer fires checks whether its deadline is still valid.
struct TimerWheel {
    /// Resolution of a deadline.
    static let tickMilliseconds: Int64 = 32
    private static let slotCount: Int64 = 4096

    private var slots = [[UInt64]](repeating: [], count: Int(slotCount))
    private var currentTick: Int64
    private var earliestTick = Int64.max
    private(set) var count = 0

    init(nowMilliseconds: Int64) {
        currentTick = nowMilliseconds / Self.tickMilliseconds
    }

    /// Returns the latest supported deadline. A later one fires at this time, and is set again.
    func horizonMilliseconds() -> Int64 { (currentTick + Self.slotCount - 1) * Self.tickMilliseconds }

    /// Adds `key`, which fires at the first tick that is not before `deadlineMilliseconds`.
    mutating func insert(_ key: UInt64, deadlineMilliseconds: Int64) {
        let wanted =
            (min(deadlineMilliseconds, horizonMilliseconds()) + Self.tickMilliseconds - 1)
            / Self.tickMilliseconds
        let tick = min(max(wanted, currentTick + 1), currentTick + Self.slotCount - 1)
        slots[Int(tick % Self.slotCount)].append(key)
        earliestTick = min(earliestTick, tick)
        count += 1
    }

    /// Removes the expired keys and appends them to `due`.
    mutating func advance(toMilliseconds now: Int64, due: inout [UInt64]) {
        let nowTick = now / Self.tickMilliseconds
        guard nowTick >= earliestTick else { return }
        let last = min(nowTick, currentTick + Self.slotCount)
        while currentTick < last {
            currentTick += 1
            let slot = Int(currentTick % Self.slotCount)
            if slots[slot].isEmpty { continue }
            due += slots[slot]
            count -= slots[slot].count
            slots[slot] = []
        }
        currentTick = nowTick
        earliestTick = .max
        if count == 0 { return }
        for tick in currentTick + 1..<currentTick + Self.slotCount
        where !slots[Int(tick % Self.slotCount)].isEmpty {
            earliestTick = tick
            return
        }
    }

    /// Milliseconds until the next key, or nil if there is none.
    func timeoutMilliseconds(now: Int64) -> Int64? {
        earliestTick == .max ? nil : max(0, earliestTick * Self.tickMilliseconds - now)
    }
}
