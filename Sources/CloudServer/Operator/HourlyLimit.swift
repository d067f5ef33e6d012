/// Limits entries of a kind per hour, so that they don't displace others in a log.
struct HourlyLimit {
    static let perHour = 60

    private let max: Int
    private var hour: Int64 = 0
    private var count = 0

    init(max: Int = perHour) { self.max = max }

    mutating func takes(atMilliseconds now: Int64) -> Bool {
        if now / 3_600_000 != hour { (hour, count) = (now / 3_600_000, 0) }
        count += 1
        return count <= max
    }
}
