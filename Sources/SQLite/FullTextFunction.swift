import CSQLite

/// FTS5's own `highlight()` and `snippet()` insert markers, which texts may contain too, and highlight overlapping
/// trigrams wrongly (SQLite 3.40). This function returns offsets instead.
extension Connection {
    /// Adds the FTS5 function `yap_excerpt(table, column, tokens)`. It returns a `FullTextExcerpt` as a blob.
    ///
    /// Arguments: the hidden column of the FTS5 table, the number of a column or -1 for the one with the most
    /// different phrases, and the maximum number of tokens or 0 for the whole text.
    ///
    /// - Throws: `SQLiteError`, also if SQLite was built without FTS5.
    public func addFullTextExcerpts() throws {
        guard !hasFullTextExcerpts else { return }
        guard let api = try fullTextAPI(), let create = api.pointee.xCreateFunction else {
            throw SQLiteError(extendedCode: SQLITE_ERROR, message: "SQLite has no FTS5", sql: nil)
        }
        let result = create(
            api, "yap_excerpt", nil,
            { api, context, result, count, values in
                guard let api, let context, let result, let values, count == 2 else {
                    return sqlite3_result_error(result, "yap_excerpt takes three arguments", -1)
                }
                let row = FullTextRow(api: api, context: context)
                row.answer(result, sqlite3_value_int(values[0]), Int(sqlite3_value_int(values[1])))
            }, nil)
        guard result == SQLITE_OK else { throw SQLiteError(result, database: handle, sql: nil) }
        hasFullTextExcerpts = true
    }

    /// Returns FTS5's API: https://www.sqlite.org/fts5.html#extending_fts5
    private func fullTextAPI() throws -> UnsafeMutablePointer<fts5_api>? {
        let statement = try prepare("SELECT fts5(?1)")
        var api: UnsafeMutablePointer<fts5_api>?
        // SQLite keeps the pointer to the type's name.
        let type: StaticString = "fts5_api_ptr"
        let name = UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
        try withUnsafeMutablePointer(to: &api) { place in
            let result = sqlite3_bind_pointer(statement.pointer, 1, place, name, nil)
            guard result == SQLITE_OK else { throw statement.failed(result) }
            _ = try statement.step()
            statement.clearBindings()
        }
        return api
    }
}

/// The row of an FTS5 query for which a function is called.
private struct FullTextRow {
    let api: UnsafePointer<Fts5ExtensionApi>
    let context: OpaquePointer

    /// Sets the function's result.
    func answer(_ result: OpaquePointer, _ column: Int32, _ count: Int) {
        do {
            let blob = try excerpt(column, count).blob
            sqlite3_result_blob64(
                result, blob, UInt64(blob.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        } catch let failure {
            sqlite3_result_error_code(result, failure.code)
        }
    }

    private struct Failure: Error { let code: Int32 }

    private func check(_ result: Int32?) throws(Failure) {
        guard result == SQLITE_OK else { throw Failure(code: result ?? SQLITE_ERROR) }
    }

    private func excerpt(_ wanted: Int32, _ count: Int) throws(Failure) -> FullTextExcerpt {
        let all = try hits()
        let column = wanted >= 0 ? wanted : best(all)
        let hits = all.filter { $0.column == column }.map { ($0.phrase, $0.tokens) }
        var start: UnsafePointer<CChar>?
        var size: Int32 = 0
        try check(api.pointee.xColumnText?(context, column, &start, &size))
        let text = UnsafeRawBufferPointer(start: start, count: Int(size))
        let tokens = hits.isEmpty && count == 0 ? [] : try tokens(start, size)
        var excerpt = FullTextExcerpt(text, tokens: tokens, hits: hits, count: count)
        excerpt.column = Int(column)
        return excerpt
    }

    private typealias Hit = (column: Int32, phrase: Int, tokens: Range<Int>)

    private func hits() throws(Failure) -> [Hit] {
        var count: Int32 = 0
        try check(api.pointee.xInstCount?(context, &count))
        var hits: [Hit] = []
        for place in 0..<count {
            var (phrase, column, first): (Int32, Int32, Int32) = (0, 0, 0)
            try check(api.pointee.xInst?(context, place, &phrase, &column, &first))
            let size = Int(api.pointee.xPhraseSize?(context, phrase) ?? 0)
            hits.append((column, Int(phrase), Int(first)..<Int(first) + max(0, size)))
        }
        return hits
    }

    /// Returns the column with the most different phrases, or the first one if there is none.
    private func best(_ hits: [Hit]) -> Int32 {
        var phrases: [Int32: Set<Int>] = [:]
        for hit in hits { phrases[hit.column, default: []].insert(hit.phrase) }
        return phrases.max { ($0.value.count, -$0.key) < ($1.value.count, -$1.key) }?.key ?? 0
    }

    private func tokens(_ start: UnsafePointer<CChar>?, _ size: Int32) throws(Failure) -> [Range<Int>] {
        var tokens: [Range<Int>] = []
        let result = withUnsafeMutablePointer(to: &tokens) { tokens in
            api.pointee.xTokenize?(context, start, size, tokens) { tokens, flags, _, _, start, end in
                // A token at the place of the previous one, such as a synonym.
                if flags & FTS5_TOKEN_COLOCATED == 0 {
                    tokens?.assumingMemoryBound(to: [Range<Int>].self).pointee.append(
                        Int(start)..<Int(max(start, end)))
                }
                return SQLITE_OK
            }
        }
        try check(result)
        return tokens
    }
}
