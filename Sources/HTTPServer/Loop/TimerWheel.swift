/// Deadlines of one loop, to the nearest tick. It keeps eight bytes a deadline and never removes one: the
/// connection that is called checks whether its deadline still stands.
struct TimerWheel {
    /// How exact a deadline is.
    static let tickMilliseconds: Int64 = 32
    private static let slotCount: Int64 = 4096

    private var slots = [[UInt64]](repeating: [], count: Int(slotCount))
    private var currentTick: Int64
    private var earliestTick = Int64.max
    private(set) var count = 0

    init(nowMilliseconds: Int64) {
        currentTick = nowMilliseconds / Self.tickMilliseconds
    }

    /// The latest moment that a deadline given now is kept for; a later one is called then, and given again.
    func horizonMilliseconds() -> Int64 { (currentTick + Self.slotCount - 1) * Self.tickMilliseconds }

    /// Has `key` called at the first tick that is not before `deadline`.
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

    /// How long to sleep until the next key; nil when there is none.
    func timeoutMilliseconds(now: Int64) -> Int64? {
        earliestTick == .max ? nil : max(0, earliestTick * Self.tickMilliseconds - now)
    }
}
