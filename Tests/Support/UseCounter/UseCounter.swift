import CUseCounter

/// What a thread has used.
public struct CountedUse: Sendable {
    /// The most bytes of memory that were allocated at a time, beside those of before.
    public let memoryBytes: Int
    /// Bytes that were allocated and not freed.
    public let keptBytes: Int
    /// Bytes of all allocations, whether they were freed or not: a measure of the work in memory.
    public let allocatedBytes: Int
    /// Rows that SQLite handed out.
    public let rowsRead: Int
    /// Rows that were inserted, updated or deleted.
    public let rowsWritten: Int
    /// Instructions of SQLite's virtual machine.
    public let steps: Int

    fileprivate init(_ counts: use_counts) {
        memoryBytes = Int(counts.allocated_bytes_peak)
        keptBytes = Int(counts.allocated_bytes)
        allocatedBytes = Int(counts.allocated_bytes_total)
        rowsRead = Int(counts.rows_read)
        rowsWritten = Int(counts.rows_written)
        steps = Int(counts.steps)
    }
}

/// Counts what this thread uses while a closure runs: memory, rows, steps of SQLite. Nothing is timed.
///
/// `attach()` comes before the store is opened, on the same thread: SQLite's connections are counted from their
/// opening.
public enum UseCounter {
    /// Whether memory can be counted: not under a sanitizer, which has the allocator.
    public static var countsMemory: Bool { use_counter_counts_memory() != 0 }

    /// Counts the connections that this thread opens from now on.
    public static func attach() {
        precondition(use_counter_attach() != 0, "SQLite refuses to be traced")
    }

    /// Runs `body` and returns what it used.
    public static func counting<Result>(_ body: () throws -> Result) rethrows -> (
        result: Result, use: CountedUse
    ) {
        use_counter_start()
        do {
            let result = try body()
            return (result, CountedUse(use_counter_stop()))
        } catch {
            _ = use_counter_stop()
            throw error
        }
    }
}
