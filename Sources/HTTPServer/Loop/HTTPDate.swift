import System

/// The text of the `Date` field, made once a second.
package struct HTTPDate {
    private var second = Int64.min
    private var text = [UInt8]()

    /// The clock's time as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    mutating func bytes(_ clock: any TimeSource) -> [UInt8] {
        let now = clock.nowMilliseconds() / 1000
        if now != second {
            second = now
            text = Array(Self.text(secondsSince1970: now).utf8)
        }
        return text
    }

    /// The text of a moment.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let day = Int(seconds / 86400)
        let second = Int(seconds % 86400)
        // Days to a date, in eras of 400 years that begin in March, so that a leap day is a year's last.
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let dayNames = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let monthNames = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let time = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(dayNames[day % 7]), \(twoDigits(dayOfMonth)) \(monthNames[month - 1]) \(year) \(time) GMT"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
