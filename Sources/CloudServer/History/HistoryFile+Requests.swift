import CloudWire
import SQLite

/// Which requests are looked for. What is nil isn't asked.
package struct HistoryQuery: Sendable {
    /// Requests with a smaller number, newest first; nil: from the newest on.
    package var before: Int64?
    /// Requests with a larger number, oldest first; it goes before `before`.
    package var after: Int64?
    package var id: String?
    package var container: String?
    package var environment: String?
    package var user: String?
    package var session: String?
    package var zone: String?
    package var operation: String?
    /// The code of the request, or of one of its records.
    package var code: String?
    /// Milliseconds that it took at least.
    package var slowMilliseconds: Int64?
    package var limit = 50
    /// Rows that are looked at. What lies behind them is for the next question.
    package var rowsMax = 20_000

    /// Asks for all.
    package init() {}
}

/// A part of the history.
package struct HistoryPage: Sendable {
    package var entries: [HistoryEntry] = []
    /// Where the next page begins; nil: there is none.
    package var before: Int64?
    /// What `after` asks for next: the newest that was looked at.
    package var newest: Int64 = 0
    /// When the oldest request that is kept was answered.
    package var oldestMilliseconds: Int64?

    /// An empty one.
    package init() {}
}

extension HistoryFile {
    private static let columns = """
        number, id, timeMilliseconds, milliseconds, method, path, operation, container, environment, database, user,
        session, client, address, status, code, recordErrors, bytesIn, bytesOut, groupRequests, zones, recordsCount,
        detail
        """

    /// Looks for requests. One question looks at so many rows, however few it finds.
    package func page(_ query: HistoryQuery) throws -> HistoryPage {
        var page = HistoryPage()
        page.oldestMilliseconds = try oldestMilliseconds
        let newest = try connection.number("SELECT max(number) FROM requests")
        page.newest = query.after.map { max(0, min($0, newest)) } ?? newest
        let isForwards = query.after != nil
        let (bounds, filters) = (Self.bounds(query), Self.filters(query))
        let sql = """
            SELECT \(filters.isEmpty ? "1" : filters.map(\.sql).joined(separator: " AND ")), \(Self.columns)
            FROM requests WHERE number \(isForwards ? ">" : "<") ?1
            \(bounds.map { "AND \($0.sql)" }.joined(separator: " "))
            ORDER BY number \(isForwards ? "ASC" : "DESC") LIMIT ?2
            """
        var (lookedAt, last) = (0, nil as Int64?)
        try connection.withStatement(sql) { statement in
            try statement.bind(query.after ?? query.before ?? .max, at: 1)
            try statement.bind(query.rowsMax, at: 2)
            for (number, term) in (bounds + filters).enumerated() {
                try term.bind(statement, Int32(number + 3))
            }
            while page.entries.count < query.limit, try statement.step() {
                lookedAt += 1
                last = statement.int64(at: 1)
                if statement.int64(at: 0) != 0 {
                    page.entries.append(Self.entry(in: statement, at: 1, withDetail: false))
                }
            }
        }
        if isForwards {
            page.newest =
                page.entries.count < query.limit && lookedAt < query.rowsMax ? newest : last ?? page.newest
        } else if page.entries.count == query.limit || lookedAt == query.rowsMax {
            page.before = last
        }
        return page
    }

    /// The request of this id with all that is known of it, and those of the same session before and after it.
    package func request(id: String, neighboursMax: Int) throws -> (
        request: HistoryEntry, before: [HistoryEntry], after: [HistoryEntry]
    )? {
        let sql = "SELECT \(Self.columns) FROM requests WHERE id = ? ORDER BY number DESC LIMIT 1"
        let found = try connection.withStatement(sql) { statement -> HistoryEntry? in
            try statement.bind(id, at: 1)
            return try statement.step() ? Self.entry(in: statement, at: 0, withDetail: true) : nil
        }
        guard let found else { return nil }
        guard let session = found.session else { return (found, [], []) }
        var query = HistoryQuery()
        (query.session, query.limit) = (session, neighboursMax)
        query.before = found.number
        let before = try page(query).entries
        (query.before, query.after) = (nil, found.number)
        return (found, before.reversed(), try page(query).entries)
    }

    /// Requests with a notice, newest first, with all that is known of them.
    func noticed(
        _ notice: HistoryEntry.Notice, container: String, environment: String, rowsMax: Int
    ) throws -> [HistoryEntry] {
        let sql = """
            SELECT \(Self.columns), rowsExamined FROM requests WHERE notice = ? ORDER BY number DESC LIMIT ?
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(notice.rawValue, at: 1)
            try statement.bind(rowsMax, at: 2)
            var entries: [HistoryEntry] = []
            while try statement.step() {
                guard statement.text(at: 7) == container, statement.text(at: 8) == environment else {
                    continue
                }
                entries.append(Self.entry(in: statement, at: 0, withDetail: true))
            }
            return entries
        }
    }

    private var oldestMilliseconds: Int64? {
        get throws {
            try connection.withStatement("SELECT timeMilliseconds FROM requests ORDER BY number LIMIT 1") {
                try $0.step() ? $0.int64(at: 0) : nil
            }
        }
    }

    private struct Term {
        let sql: String
        let bind: (borrowing Statement, Int32) throws -> Void
    }

    /// What an index serves. One is enough: the fewest requests come first.
    private static func bounds(_ query: HistoryQuery) -> [Term] {
        if let id = query.id { return [equals("id", id, 3)] }
        if let session = query.session { return [equals("session", session, 3)] }
        if let user = query.user { return [equals("user", user, 3)] }
        return []
    }

    private static func filters(_ query: HistoryQuery) -> [Term] {
        var terms: [Term] = []
        var next: Int32 { Int32(bounds(query).count + terms.count + 3) }
        let texts = [
            ("container", query.container), ("environment", query.environment), ("user", query.user),
            ("session", query.session), ("operation", query.operation),
        ]
        for (name, text) in texts { if let text { terms.append(equals(name, text, next)) } }
        if let zone = query.zone {
            let sql = "coalesce(instr(zones, char(10) || ?\(next) || char(10)) > 0, 0)"
            terms.append(Term(sql: sql) { try $0.bind(zone, at: $1) })
        }
        if let code = query.code {
            // Codes have no spaces, and the count stands behind an equals sign.
            let sql =
                "(coalesce(code = ?\(next), 0) OR coalesce(instr(' ' || recordErrors, ' ' || ?\(next) || '=') > 0, 0))"
            terms.append(Term(sql: sql) { try $0.bind(code, at: $1) })
        }
        if let slow = query.slowMilliseconds {
            terms.append(Term(sql: "milliseconds >= ?\(next)") { try $0.bind(slow, at: $1) })
        }
        return terms
    }

    private static func equals(_ name: String, _ text: String, _ index: Int32) -> Term {
        Term(sql: "coalesce(\(name) = ?\(index), 0)") { try $0.bind(text, at: $1) }
    }

    private static func entry(
        in statement: borrowing Statement, at first: Int32, withDetail: Bool
    ) -> HistoryEntry {
        func text(_ column: Int32) -> String? { statement.textIfAny(at: first + column) }
        func number(_ column: Int32) -> Int { Int(clamping: statement.int64(at: first + column)) }
        var entry = HistoryEntry(
            id: text(1) ?? "", timeMilliseconds: statement.int64(at: first + 2),
            milliseconds: statement.int64(at: first + 3), method: text(4) ?? "", path: text(5) ?? "",
            operation: text(6) ?? "", container: text(7), environment: text(8), database: text(9),
            user: text(10), session: text(11), client: text(12), address: text(13) ?? "", status: number(14),
            code: text(15), recordErrors: counts(text(16)), bytesIn: number(17), bytesOut: number(18),
            groupRequests: number(19), zones: names(text(20)), recordsCount: number(21))
        entry.number = statement.int64(at: first)
        if withDetail {
            entry.detail = try? JSONValue(json: statement.bytes(at: first + 22))
        }
        return entry
    }

    private static func counts(_ text: String?) -> [String: Int] {
        (text ?? "").split(separator: " ").reduce(into: [:]) { counts, part in
            let parts = part.split(separator: "=")
            if parts.count == 2 { counts[String(parts[0])] = Int(parts[1]) }
        }
    }

    private static func names(_ text: String?) -> [String] {
        (text ?? "").utf8.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    }
}
