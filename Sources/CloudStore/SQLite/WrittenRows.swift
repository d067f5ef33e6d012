import SQLite

/// Counts the rows of a write, so that one write can't block all others for long.
struct WrittenRows {
    private let connection: Connection
    private let before: Int
    private let rowsMax: Int

    init(_ connection: Connection, rowsMax: Int) {
        self.connection = connection
        self.rowsMax = rowsMax
        before = connection.totalChangesCount
    }

    /// Throws `CloudStoreError.tooManyRows` if there are too many.
    func check() throws {
        guard connection.totalChangesCount - before > rowsMax else { return }
        throw CloudStoreError.tooManyRows(rowsMax: rowsMax)
    }
}
