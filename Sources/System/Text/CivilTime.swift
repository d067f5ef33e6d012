/// A time in the Gregorian calendar, in UTC. The calendar is extended without limit in both directions.
package struct CivilTime: Hashable, Sendable {
    /// The year. 0 is the year before the year 1.
    package let year: Int
    /// The month, from 1.
    package let month: Int
    /// The day of the month, from 1.
    package let day: Int
    /// The day of the week, from 0 for Sunday.
    package let weekday: Int
    /// The hour, from 0 to 23.
    package let hour: Int
    /// The minute.
    package let minute: Int
    /// The second.
    package let second: Int
    /// The milliseconds of the second.
    package let millisecond: Int

    /// Makes the time of a moment, in milliseconds since 1970-01-01T00:00:00Z.
    package init(milliseconds: Int64) {
        let (days, rest) = Int(milliseconds).dividedDown(by: 86_400_000)
        // Days are counted in eras of 400 years that start on March 1, so that the leap day is the last day
        // of a year.
        let (era, dayOfEra) = (days + 719_468).dividedDown(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        month = march < 10 ? march + 3 : march - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * march + 2) / 5 + 1
        weekday = (days + 4).dividedDown(by: 7).remainder
        (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60)
        (second, millisecond) = (rest / 1000 % 60, rest % 1000)
    }

    /// Returns the time in ISO 8601, for example `2026-11-20T18:00:00Z`.
    ///
    /// - Parameter withMilliseconds: True to include milliseconds, as `.123`.
    package func text(withMilliseconds: Bool = false) -> String {
        let fraction = withMilliseconds ? "." + Self.padded(millisecond, 3) : ""
        return "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))T\(clockText)\(fraction)Z"
    }

    /// The time of day, for example `18:00:00`.
    package var clockText: String {
        "\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))"
    }

    /// Returns a number with leading zeros.
    package static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int {
    fileprivate func dividedDown(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
