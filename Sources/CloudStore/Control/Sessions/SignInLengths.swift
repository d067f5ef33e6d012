/// The lifetime of sessions on devices.
///
/// Public because `ControlStore.init` takes it.
public struct SignInLengths: Hashable, Sendable {
    /// Maximum time after the sign-in, in milliseconds. Default: a year.
    public var longestMilliseconds: Int64 = 365 * 86_400_000
    /// Maximum time after the last use, in milliseconds. Default: 90 days.
    public var unusedMilliseconds: Int64 = 90 * 86_400_000

    /// Minimum change of the end that is written to the file, in milliseconds.
    static let stepMilliseconds: Int64 = 86_400_000

    /// Makes the default lifetimes.
    public init() {}

    /// Returns the end of a session that is used now, in milliseconds since 1970.
    func end(usedAt now: Int64, createdAt created: Int64) -> Int64 {
        min(now + unusedMilliseconds, lastEnd(createdAt: created))
    }

    /// Returns the latest possible end of a session, in milliseconds since 1970.
    func lastEnd(createdAt created: Int64) -> Int64 { created + longestMilliseconds }
}
