/// The maximum resources of one request. Each number is computed from the limits, and a test sends the most
/// expensive request and measures it. `docs/LIMITS.md` shows them for the default limits.
package struct RequestBounds: Hashable, Sendable {
    /// Bytes of memory during the request, beside its body.
    package var memoryBytes: Int
    /// Bytes of the response's body.
    package var answerBytes: Int
    /// Rows that SQLite reads for it, including skipped ones.
    package var rowsRead = 0
    /// Rows that it writes or removes, including index entries.
    package var rowsWritten = 0
    /// Bytes written to the disk.
    package var diskBytes = 0
    /// The limits and types that enforce the bound, as named in the code.
    package var countedBy: [String]

    /// Makes the bounds of a request.
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

    /// Maximum instructions of SQLite's virtual machine for each row read or written. Skipped rows take
    /// instructions too, so a scan of skipped rows is detected.
    package static let stepsOfRow = 100

    /// Instructions of SQLite's virtual machine.
    package var steps: Int { (rowsRead + rowsWritten) * Self.stepsOfRow }
}
