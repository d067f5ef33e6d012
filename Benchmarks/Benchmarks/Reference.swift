import CBenchmarks
import Foundation

/// SQLite's own C interface, on a file with the same schema.
final class Reference {
    struct Failure: Error {
        let code: Int32
    }

    private let handle: OpaquePointer
    private let path: String

    static func path(in folder: URL) -> String { folder.appendingPathComponent("reference.sqlite").path }

    /// Creates a file in `folder`, with the tables and indexes of the database at `template`.
    init(folder: URL, template: URL, isFull: Bool = true) throws {
        path = Self.path(in: folder)
        guard let handle = reference_open(path, template.path, isFull ? 2 : 1) else {
            throw Failure(code: -1)
        }
        self.handle = handle
    }

    deinit {
        reference_close(handle)
    }

    func insertInOneTransaction(_ rows: [reference_row]) throws {
        try check(reference_insert_in_one_transaction(handle, Workload.collection, rows, rows.count))
    }

    func insertOneATransaction(_ rows: [reference_row]) throws {
        try check(reference_insert_one_a_transaction(handle, Workload.collection, rows, rows.count))
    }

    func read(_ rows: [reference_row]) throws {
        var bytes: Int64 = 0
        try check(reference_read(handle, Workload.collection, rows, rows.count, &bytes))
    }

    /// Steps through all rows in the order of their keys, and reads their bytes.
    func readInOrder(count: Int) throws {
        let sql = "SELECT key, rowid, data FROM database2 WHERE collection = CAST(?1 AS TEXT) ORDER BY key"
        guard let reader = query_open(path, sql) else { throw Failure(code: -1) }
        defer { query_close(reader) }
        let collection = Array(Workload.collection.utf8)
        var bytes: Int64 = 0
        let rowsCount = query_run(reader, 1, collection, collection.count, &bytes)
        guard rowsCount == count else { throw Failure(code: -1) }
    }

    private func check(_ code: Int32) throws {
        guard code == 0 else { throw Failure(code: code) }
    }
}

/// Rows in memory that C can read, for as long as this lives.
final class ReferenceRows: @unchecked Sendable {
    // Sendable because nothing changes after init.
    let rows: [reference_row]
    private let storage: [UnsafeMutableRawBufferPointer]

    init(_ workload: Workload, order: [Int]) {
        var storage: [UnsafeMutableRawBufferPointer] = []
        func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            copy.copyBytes(from: bytes)
            storage.append(copy)
            return copy
        }
        rows = order.map { index in
            let key = copy(Array(workload.keys[index].utf8))
            let data = copy(workload.encoded[index])
            return reference_row(
                key: key.baseAddress?.assumingMemoryBound(to: CChar.self), key_length: Int32(key.count),
                data: UnsafeRawPointer(data.baseAddress), data_length: Int32(data.count))
        }
        self.storage = storage
    }

    deinit {
        for buffer in storage { buffer.deallocate() }
    }
}
