import CloudWire
import SQLite

/// Search conditions for requests. Nil members match all requests.
package struct HistoryQuery: Sendable {
    /// Requests with a smaller number, newest first. Nil starts at the newest.
    package var before: Int64?
    /// Requests with a larger number, oldest first. Takes precedence over `before`.
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
    package var database: String?
    /// The administrator that sent it. `*` means any administrator.
    package var administrator: String?
    /// A record that it changed, if the request's detail names the record.
    package var record: String?
    /// Minimum duration in milliseconds.
    package var slowMilliseconds: Int64?
    /// Earliest time of the response, in milliseconds since 1970.
    package var fromMilliseconds: Int64?
    /// Time before which the response was sent.
    package var toMilliseconds: Int64?
    package var limit = 50
    /// Maximum rows that are read. The next page continues after them.
    package var rowsMax = 20_000

    /// Makes a query for all requests.
    package init() {}
}

/// A page of the history.
package struct HistoryPage: Sendable {
    package var entries: [HistoryEntry] = []
    /// Position of the next page, or nil if there is none.
    package var before: Int64?
    /// Value of `after` for the next query: the newest row that was read.
    package var newest: Int64 = 0
    /// The time of the response to the oldest stored request.
    package var oldestMilliseconds: Int64?

    /// Makes an empty page.
    package init() {}
}

extension HistoryFile {
    private static let columns = """
        number, id, timeMilliseconds, milliseconds, method, path, operation, container, environment, database, user,
        session, client, address, status, code, recordErrors, bytesIn, bytesOut, groupRequests, zones, recordsCount,
        detail, administrator
        """

    /// Searches requests. Reads up to a maximum number of rows, even if it finds few matches.
    package func page(_ query: HistoryQuery) throws -> HistoryPage {
        var page = HistoryPage()
        page.oldestMilliseconds = try oldestMilliseconds
        let newest = try connection.number("SELECT max(number) FROM requests")
        page.newest = query.after.map { max(0, min($0, newest)) } ?? newest
        let isForwards = query.after != nil
        let (bounds, filters) = (Self.bounds(query), try Self.filters(query))
        let span = try numbers(of: query)
        let sql = """
            SELECT \(filters.isEmpty ? "1" : filters.map(\.sql).joined(separator: " AND ")), \(Self.columns)
            FROM requests WHERE number \(isForwards ? ">" : "<") ?1
            AND number >= \(span.lowerBound) AND number < \(span.upperBound)
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
                    var entry = Self.entry(in: statement, at: 1, withDetail: query.record != nil)
                    entry.detail = query.record.flatMap { entry.detail?.records(named: $0) }
                    page.entries.append(entry)
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

    /// Returns the request with this ID and all its details, and those of the same session before and after it.
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

    /// Requests with a notice and all their details, newest first.
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

    /// Returns the condition that an index serves: only the first, since it selects the fewest requests.
    private static func bounds(_ query: HistoryQuery) -> [Term] {
        if let id = query.id { return [equals("id", id, 3)] }
        if let session = query.session { return [equals("session", session, 3)] }
        if let user = query.user { return [equals("user", user, 3)] }
        return []
    }

    private static func filters(_ query: HistoryQuery) throws -> [Term] {
        var terms: [Term] = []
        var next: Int32 { Int32(bounds(query).count + terms.count + 3) }
        let texts = [
            ("container", query.container), ("environment", query.environment), ("user", query.user),
            ("session", query.session), ("operation", query.operation), ("database", query.database),
            ("administrator", query.administrator == "*" ? nil : query.administrator),
        ]
        for (name, text) in texts { if let text { terms.append(equals(name, text, next)) } }
        if let zone = query.zone {
            let sql = "coalesce(instr(zones, char(10) || ?\(next) || char(10)) > 0, 0)"
            terms.append(Term(sql: sql) { try $0.bind(zone, at: $1) })
        }
        if let code = query.code {
            // Codes contain no spaces, and are followed by an equals sign and the count.
            let sql =
                "(coalesce(code = ?\(next), 0) OR coalesce(instr(' ' || recordErrors, ' ' || ?\(next) || '=') > 0, 0))"
            terms.append(Term(sql: sql) { try $0.bind(code, at: $1) })
        }
        let numbers = [
            ("milliseconds >=", query.slowMilliseconds), ("timeMilliseconds >=", query.fromMilliseconds),
            ("timeMilliseconds <", query.toMilliseconds),
        ]
        for (comparison, number) in numbers {
            guard let number else { continue }
            terms.append(Term(sql: "\(comparison) ?\(next)") { try $0.bind(number, at: $1) })
        }
        if query.administrator == "*" { terms.append(Term(sql: "administrator IS NOT NULL") { _, _ in }) }
        // Last, because it has a parameter, and the previous one has none.
        return try terms + recordTerms(query, next)
    }

    /// A detail contains the record's name in its JSON form.
    private static func recordTerms(_ query: HistoryQuery, _ index: Int32) throws -> [Term] {
        guard let record = query.record else { return [] }
        let member = try JSONValue.object(["name": .string(record)]).json().dropFirst().dropLast()
        return [
            Term(sql: "coalesce(instr(detail, ?\(index)) > 0, 0)") { try $0.bind(Array(member), at: $1) }
        ]
    }

    // MARK: Numbers by time

    /// Maximum difference in time of two requests whose numbers are in the other order.
    private static let disorderMilliseconds: Int64 = 2_000

    /// Returns the range of numbers that contains all requests in the query's time range.
    private func numbers(of query: HistoryQuery) throws -> Range<Int64> {
        let first = try query.fromMilliseconds.map { from in
            try firstNumber(from: max(from, .min + Self.disorderMilliseconds) - Self.disorderMilliseconds)
        }
        let end = try query.toMilliseconds.map { to in
            try firstNumber(from: min(to, .max - Self.disorderMilliseconds) + Self.disorderMilliseconds)
        }
        let lower = first ?? 0
        return lower..<max(lower, end ?? .max)
    }

    /// Returns the number of the first request with a response at `milliseconds` or later, found in about 20 steps.
    private func firstNumber(from milliseconds: Int64) throws -> Int64 {
        var lower = try connection.number("SELECT min(number) FROM requests")
        var upper = try connection.number("SELECT max(number) FROM requests") + 1
        let sql = "SELECT timeMilliseconds FROM requests WHERE number >= ? ORDER BY number LIMIT 1"
        while lower < upper {
            let middle = lower + (upper - lower) / 2
            let isBefore = try connection.withStatement(sql) { statement in
                try statement.bind(middle, at: 1)
                return try statement.step() && statement.int64(at: 0) < milliseconds
            }
            if isBefore { lower = middle + 1 } else { upper = middle }
        }
        return lower
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
        entry.administrator = text(23)
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

extension JSONValue {
    /// Returns the part of a request's detail about one record.
    fileprivate func records(named name: String) -> JSONValue? {
        guard case .object(let members) = self, case .array(let records)? = members["records"] else {
            return nil
        }
        let named = records.filter { record in
            if case .object(let members) = record { members["name"] == .string(name) } else { false }
        }
        return .object(["records": .array(named)])
    }
}
