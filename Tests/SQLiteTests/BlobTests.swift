import SQLiteTestSupport
import Testing

@testable import SQLite

struct BlobTests {
    let folder: TemporaryFolder
    let connection: Connection

    init() throws {
        folder = try TemporaryFolder()
        connection = try Connection(path: folder.file("test.sqlite"))
        try connection.execute(
            """
            CREATE TABLE "it's" (id INTEGER PRIMARY KEY, bytes BLOB);
            INSERT INTO "it's" VALUES (1, x'00010203'), (2, zeroblob(100000)), (3, 5), (4, NULL), (5, x'');
            """)
    }

    private func withBlob<Result>(
        _ id: Int64, isWritable: Bool = false, _ body: (borrowing Blob) throws -> Result
    ) throws -> Result {
        try connection.withBlob("it's", "bytes", rowID: id, isWritable: isWritable, body)
    }

    private func write(_ bytes: [UInt8], at offset: Int, _ id: Int64) throws {
        try withBlob(id, isWritable: true) { blob in
            try bytes.withUnsafeBytes { try blob.write($0, at: offset) }
        }
    }

    @Test func partsOfABlobAreReadAndWrittenInPlace() throws {
        #expect(try withBlob(1) { $0.count } == 4)
        #expect(try withBlob(1) { try $0.read(count: 2, at: 1) } == [1, 2])
        #expect(try withBlob(1) { try $0.read(count: 0, at: 4) } == [])
        try write([9, 8, 7], at: 90_000, 2)
        try write([], at: 0, 5)
        #expect(try withBlob(2) { try $0.read(count: 5, at: 89_999) } == [0, 9, 8, 7, 0])
        try connection.execute("BEGIN")
        try write([1], at: 99_999, 2)
        try connection.execute("ROLLBACK")
        #expect(try withBlob(2) { try $0.read(count: 1, at: 99_999) } == [0])
    }

    @Test func whatIsOutsideOfABlobIsAnError() throws {
        for (count, offset) in [(5, 0), (1, 4), (1, -1), (4, 1), (1, .max), (.max, 1), (-1, 0)] {
            #expect(throws: SQLiteError.self) {
                try withBlob(1) { _ = try $0.read(count: count, at: offset) }
            }
        }
        #expect(throws: SQLiteError.self) { try write([1, 2], at: 3, 1) }
        #expect(throws: SQLiteError.self) { try write([1], at: 0, 5) }
        #expect(try withBlob(1) { try $0.read(count: 4, at: 0) } == [0, 1, 2, 3])
    }

    @Test func whatIsNoBlobIsAnError() throws {
        for id: Int64 in [3, 4, 6, -1] {
            let error = #expect(throws: SQLiteError.self) { try withBlob(id) { _ in } }
            #expect(error?.isMistake ?? false)
        }
        #expect(throws: SQLiteError.self) { try connection.withBlob("none", "bytes", rowID: 1) { _ in } }
        #expect(throws: SQLiteError.self) { try connection.withBlob("it's", "none", rowID: 1) { _ in } }
        #expect(throws: SQLiteError.self) {
            try withBlob(1) { blob in try [UInt8(1)].withUnsafeBytes { try blob.write($0, at: 0) } }
        }
    }
}
