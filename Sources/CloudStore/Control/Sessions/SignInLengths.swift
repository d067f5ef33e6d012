/// How long a device stays signed in.
public struct SignInLengths: Hashable, Sendable {
    /// From the sign-in on, in milliseconds.
    public var longestMilliseconds: Int64 = 365 * 86_400_000
    /// From the last use on, in milliseconds.
    public var unusedMilliseconds: Int64 = 90 * 86_400_000

    /// A use is written down when the end moves by so much, in milliseconds.
    static let stepMilliseconds: Int64 = 86_400_000

    /// A year, and ninety days.
    public init() {}

    /// When a session that is used now ends, in milliseconds since 1970.
    func end(usedAt now: Int64, createdAt created: Int64) -> Int64 {
        min(now + unusedMilliseconds, lastEnd(createdAt: created))
    }

    /// When a session ends though it is used.
    func lastEnd(createdAt created: Int64) -> Int64 { created + longestMilliseconds }
}
