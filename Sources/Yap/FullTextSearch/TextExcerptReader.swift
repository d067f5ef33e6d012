import SQLite

/// Reads the excerpts of the rows that a query finds.
struct TextExcerptReader<Object: Sendable> {
    /// SQL of the columns to select, each after a comma.
    let columns: String
    private let requests: [(column: Int, count: Int)]
    private let names: [String]
    private let isRanked: Bool
    /// Texts to find by a query without an index.
    private let parts: [[UInt8]]

    /// - Throws: `YapDatabaseError`: `invalidExtension` for a column that doesn't exist.
    init(
        _ query: YapDatabaseTextQuery<Object>, _ snippets: [YapDatabaseTextSnippet<Object>],
        _ condition: TextQueryCondition<Object>, _ search: YapDatabaseFullTextSearchTransaction<Object>
    ) throws {
        let expression = TextQueryExpression(search: search.search, sql: search.sql)
        let tokens = search.search.tokenizer.tokensPerWord
        requests = try snippets.map { snippet in
            (try snippet.column.map(expression.place) ?? -1, (snippet.words ?? 0) * tokens)
        }
        names = search.search.columns.map(\.name)
        isRanked = condition.isRanked
        parts =
            isRanked
            ? []
            : TextScan.distinct(query.node.texts.flatMap { $0.form.parts(of: $0.text) })
        let sql = search.sql
        if requests.isEmpty {
            columns = ""
        } else if isRanked {
            try search.transaction.store.sqlite.addFullTextExcerpts()
            columns = requests.map { ", yap_excerpt(\(sql.table), \($0.column), \($0.count))" }.joined()
        } else {
            columns = sql.columns.map { ", \($0)" }.joined()
        }
    }

    /// Reads the excerpts of the statement's current row.
    ///
    /// - Parameter place: The number of the first column of `columns`.
    func read(_ statement: borrowing Statement, from place: Int32) throws -> [YapDatabaseTextExcerpt] {
        try requests.indices.map { index in
            let excerpt =
                isRanked
                ? statement.withBytes(at: place + Int32(index)) { FullTextExcerpt(blob: $0) }
                : scanned(statement, place, requests[index])
            guard let excerpt, names.indices.contains(excerpt.column) else {
                throw YapDatabaseError(.sqlite, "SQLite returned an excerpt that can't be read")
            }
            return YapDatabaseTextExcerpt(
                column: names[excerpt.column], String(decoding: excerpt.bytes, as: UTF8.self),
                bytes: excerpt.ranges, isCutAtStart: excerpt.isCutAtStart, isCutAtEnd: excerpt.isCutAtEnd)
        }
    }

    private func scanned(
        _ statement: borrowing Statement, _ place: Int32, _ request: (column: Int, count: Int)
    ) -> FullTextExcerpt? {
        var best: (phrases: Int, excerpt: FullTextExcerpt)?
        for column in names.indices where request.column == -1 || request.column == column {
            let (phrases, excerpt) = statement.withBytes(at: place + Int32(column)) { text in
                let scan = TextScan(text, parts)
                return (
                    Set(scan.hits.map(\.phrase)).count,
                    FullTextExcerpt(text, tokens: scan.tokens, hits: scan.hits, count: request.count)
                )
            }
            if phrases > best?.phrases ?? -1 {
                best = (phrases, excerpt)
                best?.excerpt.column = column
            }
        }
        return best?.excerpt
    }
}

/// Occurrences of parts in a text, found without an index. ASCII letters are compared without case, as in SQLite.
struct TextScan {
    /// Each scalar of the text.
    let tokens: [Range<Int>]
    let hits: [(phrase: Int, tokens: Range<Int>)]

    /// Number of compared bytes.
    let stepsCount: Int

    /// - Parameter parts: The parts to find, as `distinct` returns them.
    init(_ text: UnsafeRawBufferPointer, _ parts: [[UInt8]]) {
        let lower = Self.lowercased(text)
        let starts = lower.indices.filter { lower[$0] & 0xC0 != 0x80 }
        tokens = starts.indices.map { starts[$0]..<($0 + 1 < starts.count ? starts[$0 + 1] : lower.count) }
        var hits: [(phrase: Int, tokens: Range<Int>)] = []
        var stepsCount = 0
        for (phrase, part) in parts.enumerated() where !part.isEmpty {
            let count = part.count { $0 & 0xC0 != 0x80 }
            var search = ByteSearch(part)
            var token = 0
            search.forEachStart(in: lower) { start in
                while token < starts.count, starts[token] < start { token += 1 }
                hits.append((phrase, token..<token + count))
            }
            stepsCount += search.stepsCount
        }
        (self.hits, self.stepsCount) = (hits, stepsCount)
    }

    /// Returns the distinct parts in lower case, in order.
    static func distinct(_ parts: [String]) -> [[UInt8]] {
        var seen: Set<[UInt8]> = []
        return parts.map { lowercased($0.utf8) }.filter { seen.insert($0).inserted }
    }

    /// Returns the bytes with ASCII letters in lower case.
    static func lowercased(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    }
}
