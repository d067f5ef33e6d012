/// Options of the request history.
public struct HistoryOptions: Sendable {
    /// Whether requests are stored.
    public enum Keeping: String, CaseIterable, Hashable, Sendable {
        /// Requests are stored, without the values of fields.
        case on
        /// No requests are stored.
        case off
    }

    /// Whether requests are stored.
    public var requests = Keeping.on
    /// Maximum bytes of the file, without its write-ahead log. The oldest requests are deleted first.
    public var bytesMax: Int64 = 64 << 20
    /// Days for which a request is stored.
    public var daysMax = 7

    /// Makes the default options: a week, and up to 64 MiB.
    public init() {}
}
