import SQLite
import SQLiteTestSupport
import Testing

@testable import CloudStore

/// What a query costs, beside what it answers.
@Suite struct QueryCostTests {
    @Test func theChangesSinceAnotherTokenPrepareNoStatementAnew() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let rows = (1...20).map { Rows.record("record \($0)", counter: $0) }
        try SQLiteCloudStore(path: path).apply { $0.records = rows }
        let connection = try Connection(path: path)
        let store = SQLiteStoreTransaction(connection)
        for after: Int64 in 0..<20 {
            let page = try store.changedRecords(
                RecordChangesQuery(
                    zone: Rows.zone, after: after, tombstonesAfter: 0, recordsMax: 100, bytesMax: 1 << 20))
            #expect(page.rows.count == 20 - Int(after))
        }
        #expect(connection.repreparesCount == 0)
    }
}
