/// What one request of any caller may use at most. Each number is worked out from the limits' own values, and a
/// test sends the worst request that there is and counts. `docs/LIMITS.md` shows them for the usual limits.
package struct RequestBounds: Hashable, Sendable {
    /// Bytes of memory that it takes while it runs, beside its body.
    package var memoryBytes: Int
    /// Bytes of the response's body.
    package var answerBytes: Int
    /// Rows that SQLite looks at for it, whether it hands them out or not.
    package var rowsRead = 0
    /// Rows that it writes or removes, each entry of an index counted.
    package var rowsWritten = 0
    /// Bytes that it writes to the disk.
    package var diskBytes = 0
    /// What counts it: the names of limits and of types, as the code has them.
    package var countedBy: [String]

    /// Names what a request may use.
    package init(
        memoryBytes: Int, answerBytes: Int, rowsRead: Int = 0, rowsWritten: Int = 0, diskBytes: Int = 0,
        countedBy: [String]
    ) {
        self.memoryBytes = memoryBytes
        self.answerBytes = answerBytes
        self.rowsRead = rowsRead
        self.rowsWritten = rowsWritten
        self.diskBytes = diskBytes
        self.countedBy = countedBy
    }

    /// Instructions of SQLite's virtual machine that a row takes at most, read or written. A row that is passed over
    /// takes some too, so a walk through what isn't handed out is seen.
    package static let stepsOfRow = 100

    /// Instructions of SQLite's virtual machine.
    package var steps: Int { (rowsRead + rowsWritten) * Self.stepsOfRow }
}
