import System

/// The text of the `Date` field, made once a second.
package struct HTTPDate {
    private var second = Int64.min
    private var text = [UInt8]()

    /// Returns the clock's time, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    mutating func bytes(_ clock: any TimeSource) -> [UInt8] {
        let now = clock.nowMilliseconds() / 1000
        if now != second {
            second = now
            text = Array(Self.text(secondsSince1970: now).utf8)
        }
        return text
    }

    /// Returns the text of a time.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let time = CivilTime(milliseconds: seconds * 1000)
        let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let monthNames = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        return "\(dayNames[time.weekday]), \(CivilTime.padded(time.day)) \(monthNames[time.month - 1]) "
            + "\(time.year) \(time.clockText) GMT"
    }
}
