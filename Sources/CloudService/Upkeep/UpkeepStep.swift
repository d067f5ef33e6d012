/// The kinds of work between requests. Each step is bounded, and runs in transactions of its own.
enum UpkeepStep: Int, CaseIterable {
    /// Maximum bytes of records that one step processes while all writes wait.
    static let recordBytesMax = 1 << 20

    case pushes
    case indexes
    case checksums
    case clearedRows
    case pruning
    case files
}
