/// What a server keeps of the requests that it has answered.
public struct HistoryOptions: Sendable {
    /// True if requests are kept.
    public enum Keeping: String, CaseIterable, Hashable, Sendable {
        /// They are, without the values of fields.
        case on
        /// None is.
        case off
    }

    /// True if requests are kept.
    public var requests = Keeping.on
    /// Bytes of the file, without its write-ahead log. The oldest requests go first.
    public var bytesMax: Int64 = 64 << 20
    /// A request is kept for so many days.
    public var daysMax = 7

    /// A week, in 64 MiB at most.
    public init() {}
}
