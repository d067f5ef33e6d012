/// What a service has to do beside answering. Each step is bounded, in transactions of its own.
enum UpkeepStep: Int, CaseIterable {
    /// Bytes of records that one step goes through while all writes wait.
    static let recordBytesMax = 1 << 20

    case pushes
    case indexes
    case checksums
    case clearedRows
    case pruning
    case files
}
