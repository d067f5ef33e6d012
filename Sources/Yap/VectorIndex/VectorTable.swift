import SQLite

/// Stored vectors of an index: blocks, and the place of each row's vector in them. It keeps nothing in memory.
struct VectorTable {
    let tables: YapDatabaseExtensionTables
    let sql: VectorSQL
    let layout: VectorLayout
    /// Name of the index, for errors.
    let name: String
    /// Collection of the index.
    let collection: String

    // MARK: Reading

    /// Returns the number of vectors.
    func count() throws -> Int {
        let last: Int64? = try tables.withStatement(sql.lastBlock) { statement in
            try statement.step() && !statement.isNull(at: 0) ? statement.int64(at: 0) : nil
        }
        guard let last else { return 0 }
        guard let before = layout.place(ofBlock: last) else { throw damaged("block \(last)") }
        return try before + withBlock(last) { try usedSlotsCount($0, last) }
    }

    /// Returns the place of a row's vector, or nil if it has none.
    func place(ofRow rowID: Int64) throws -> Int? {
        try tables.withStatement(sql.place, [.integer(rowID)]) { try place($0) }
    }

    /// Returns the place of the vector of a row by its key. Nil if the row doesn't exist or has no vector.
    func place(ofKey key: String) throws -> Int? {
        try tables.withStatement(sql.placeOfKey, [.text(collection), .text(key)]) { try place($0) }
    }

    /// Returns true if a row has this vector.
    func has(_ vector: [Float], ofRow rowID: Int64, at place: Int) throws -> Bool {
        let (block, slot) = layout.position(of: place)
        return try withBlock(block) { blob in
            try checkRow(rowID, blob, block, slot)
            let stored = try blob.read(count: layout.vectorBytes, at: layout.vectorOffset(slot))
            return stored.withUnsafeBytes { stored in vector.withUnsafeBytes { $0.elementsEqual(stored) } }
        }
    }

    /// Calls `body` with each block and the range of its used slots, in order.
    ///
    /// - Parameter check: Called before each block. It throws to end the search.
    func visitBlocks(
        _ check: () throws -> Void, _ body: (UnsafeRawBufferPointer, Range<Int>) throws -> Void
    ) throws {
        try check()
        try tables.withStatement(sql.blocks) { statement in
            var (next, isLast) = (Int64(0), false)
            while try statement.step() {
                if next > 0 { try check() }
                guard !isLast, statement.int64(at: 0) == next else { throw damaged("block \(next)") }
                let count = try visit(statement, next, body)
                (next, isLast) = (next + 1, count < layout.slotsCount)
            }
        }
    }

    /// Calls `body` with a block and the range of its used slots.
    func visitBlock(_ block: Int64, _ body: (UnsafeRawBufferPointer, Range<Int>) throws -> Void) throws {
        try tables.withStatement(sql.block, [.integer(block)]) { statement in
            guard try statement.step() else { throw damaged("block \(block)") }
            _ = try visit(statement, block, body)
        }
    }

    private func visit(
        _ statement: borrowing Statement, _ block: Int64,
        _ body: (UnsafeRawBufferPointer, Range<Int>) throws -> Void
    ) throws -> Int {
        guard statement.kind(at: 1) == .blob else { throw damaged("block \(block)") }
        return try statement.withBytes(at: 1) { bytes in
            guard bytes.count == layout.blockBytes, let count = layout.usedSlotsCount(bytes) else {
                throw damaged("block \(block)")
            }
            try body(bytes, 0..<count)
            return count
        }
    }

    private func place(_ statement: borrowing Statement) throws -> Int? {
        guard try statement.step() else { return nil }
        guard statement.kind(at: 0) == .integer, let place = Int(exactly: statement.int64(at: 0)), place >= 0
        else { throw damaged("the place of a row") }
        return place
    }

    // MARK: Writing

    /// Creates empty tables.
    func create() throws { try tables.execute(sql.create) }

    /// Adds vectors of rows without one.
    func append(_ vectors: [(rowID: Int64, vector: [Float])]) throws {
        var (place, rest) = (try count(), vectors[...])
        while !rest.isEmpty {
            let (block, slot) = layout.position(of: place)
            let part = rest.prefix(layout.slotsCount - slot)
            if slot == 0 {
                let values: [YapDatabaseColumnValue] = [.integer(block), .integer(Int64(layout.blockBytes))]
                try tables.withStatement(sql.insertBlock, values) { try $0.run() }
            }
            let (rowIDs, components) = (part.map(\.rowID), part.flatMap(\.vector))
            try withBlock(block, isWritable: true) { blob in
                try rowIDs.withUnsafeBytes { try blob.write($0, at: layout.rowIDOffset(slot)) }
                try components.withUnsafeBytes { try blob.write($0, at: layout.vectorOffset(slot)) }
                try writeHead(slot + part.count, blob)
            }
            for (offset, rowID) in rowIDs.enumerated() {
                try run(sql.insertPlace, [.integer(rowID), .integer(Int64(place + offset))])
            }
            place += part.count
            rest = rest.dropFirst(part.count)
        }
    }

    /// Replaces the vector of a row.
    func replace(_ vector: [Float], ofRow rowID: Int64, at place: Int) throws {
        let (block, slot) = layout.position(of: place)
        try withBlock(block, isWritable: true) { blob in
            try checkRow(rowID, blob, block, slot)
            try vector.withUnsafeBytes { try blob.write($0, at: layout.vectorOffset(slot)) }
        }
    }

    /// Removes the vector of a row. The last vector moves to its place.
    func remove(rowID: Int64, at place: Int) throws {
        let last = try count() - 1
        guard place <= last else { throw damaged("the place of a row") }
        let (block, slot) = layout.position(of: place)
        let (lastBlock, lastSlot) = layout.position(of: last)
        if place == last {
            try withBlock(block) { try checkRow(rowID, $0, block, slot) }
        } else {
            let (moved, vector) = try withBlock(lastBlock) { blob in
                (
                    try blob.read(count: VectorLayout.rowIDBytes, at: layout.rowIDOffset(lastSlot)),
                    try blob.read(count: layout.vectorBytes, at: layout.vectorOffset(lastSlot))
                )
            }
            try withBlock(block, isWritable: true) { blob in
                try checkRow(rowID, blob, block, slot)
                try moved.withUnsafeBytes { try blob.write($0, at: layout.rowIDOffset(slot)) }
                try vector.withUnsafeBytes { try blob.write($0, at: layout.vectorOffset(slot)) }
            }
            let movedRowID = moved.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
            try run(sql.updatePlace, [.integer(movedRowID), .integer(Int64(place))])
        }
        try run(sql.deletePlace, [.integer(rowID)])
        if lastSlot == 0 {
            try run(sql.deleteBlock, [.integer(lastBlock)])
        } else {
            try withBlock(lastBlock, isWritable: true) { try writeHead(lastSlot, $0) }
        }
    }

    /// Removes all vectors.
    func removeAll() throws {
        for statement in sql.deleteAll { try tables.withStatement(statement) { try $0.run() } }
    }

    private func writeHead(_ usedSlotsCount: Int, _ blob: borrowing Blob) throws {
        try layout.head(usedSlotsCount: usedSlotsCount).withUnsafeBytes { try blob.write($0, at: 0) }
    }

    /// Runs a statement that writes one row.
    private func run(_ sql: String, _ values: [YapDatabaseColumnValue]) throws {
        try tables.withStatement(sql, values) { try $0.run() }
        if tables.changedRowsCount != 1 { throw damaged("the place of a row") }
    }

    // MARK: Blocks

    private func withBlock<Result>(
        _ block: Int64, isWritable: Bool = false, _ body: (borrowing Blob) throws -> Result
    ) throws -> Result {
        do {
            return try tables.withBlob(
                sql.blockTable, VectorSQL.content, rowID: block, isWritable: isWritable
            ) { blob in
                guard blob.count == layout.blockBytes else { throw damaged("block \(block)") }
                return try body(blob)
            }
        } catch let error as YapDatabaseError
            where (error.underlying as? SQLiteError)?.isMistake ?? false
        {
            // The row doesn't exist, or has no blob.
            throw damaged("block \(block)", error)
        }
    }

    private func usedSlotsCount(_ blob: borrowing Blob, _ block: Int64) throws -> Int {
        let head = try blob.read(count: VectorLayout.headBytes, at: 0)
        guard let count = head.withUnsafeBytes({ layout.usedSlotsCount($0) }) else {
            throw damaged("block \(block)")
        }
        return count
    }

    private func checkRow(_ rowID: Int64, _ blob: borrowing Blob, _ block: Int64, _ slot: Int) throws {
        let stored = try blob.read(count: VectorLayout.rowIDBytes, at: layout.rowIDOffset(slot))
        guard stored.withUnsafeBytes({ $0.loadUnaligned(as: Int64.self) }) == rowID else {
            throw damaged("slot \(slot) of block \(block)")
        }
    }

    func damaged(_ what: String, _ underlying: (any Error)? = nil) -> YapDatabaseError {
        YapDatabaseError(
            .corrupt,
            "the vector index \"\(name)\" is damaged (\(what)): another version in its description fills it anew",
            collection: collection, underlying: underlying)
    }
}
