import SQLite

/// Length of a point of a time line in seconds.
enum HistorySpan: Int64, CaseIterable {
    case second = 1
    /// Counts of operations and errors by name.
    case minute = 60
    case hour = 3_600

    /// Milliseconds for which the points of each length are kept.
    static let lives: [(HistorySpan, milliseconds: Int64)] = [
        (.second, 3_600_000), (.minute, 3_660_000), (.hour, 31 * 86_400_000),
    ]
}

/// Sums over the requests of a second, a minute or an hour.
struct HistoryPoint: Sendable {
    var requests: Int64 = 0
    var errors: Int64 = 0
    var bytesIn: Int64 = 0
    var bytesOut: Int64 = 0
    var times = LatencyHistogram()

    static func += (sum: inout HistoryPoint, part: HistoryPoint) {
        sum.requests &+= part.requests
        sum.errors &+= part.errors
        sum.bytesIn &+= part.bytesIn
        sum.bytesOut &+= part.bytesOut
        sum.times += part.times
    }

    mutating func add(_ entry: HistoryEntry) {
        requests += 1
        if entry.isError { errors += 1 }
        bytesIn += Int64(entry.bytesIn)
        bytesOut += Int64(entry.bytesOut)
        if entry.isTimed { times.add(milliseconds: entry.milliseconds) }
    }
}

extension HistoryFile {
    /// Maximum environments with a time line of their own. The others share one.
    static let environmentsMax = 64
    /// The container name for the others. No container has this name.
    static let others = "*"

    private struct Key: Hashable {
        let span: HistorySpan
        let start: Int64
        let container: String
        let environment: String
        var kind = ""
        var name = ""
    }

    /// Adds entries to the points of their times: of all environments together, and of each.
    func addPoints(of entries: [HistoryEntry]) throws {
        var known = Set(try environmentsWithPoints())
        var points: [Key: HistoryPoint] = [:]
        for entry in entries {
            let second = entry.timeMilliseconds / 1_000
            var places = [HistoryPlace.all]
            if let place = place(of: entry, &known) { places.append(place) }
            for place in places {
                func add(_ span: HistorySpan, _ kind: String = "", _ name: String = "") {
                    let key = Key(
                        span: span, start: second / span.rawValue * span.rawValue, container: place.container,
                        environment: place.environment, kind: kind, name: name)
                    points[key, default: HistoryPoint()].add(entry)
                }
                add(.second)
                add(.hour)
                add(.minute, "operation", entry.operation)
                for code in Set(entry.recordErrors.keys).union([entry.code].compactMap(\.self)) {
                    add(.minute, "code", code)
                }
            }
        }
        for (key, point) in points { try add(point, to: key) }
    }

    /// Returns the environment whose points count the entry. An entry without a service has none, because any
    /// client can invent the name of a container.
    private func place(of entry: HistoryEntry, _ known: inout Set<HistoryPlace>) -> HistoryPlace? {
        guard let container = entry.container, let environment = entry.environment, entry.isOfService else {
            return nil
        }
        let place = HistoryPlace(container: container, environment: environment)
        if known.contains(place) { return place }
        guard known.count < Self.environmentsMax else {
            return HistoryPlace(container: Self.others, environment: "")
        }
        known.insert(place)
        return place
    }

    private func environmentsWithPoints() throws -> [HistoryPlace] {
        // Only hours, because there are few.
        let sql = "SELECT DISTINCT container, environment FROM points WHERE span = 3600 AND kind = ''"
        return try connection.withStatement(sql) { statement in
            var found: [HistoryPlace] = []
            while try statement.step() {
                let place = HistoryPlace(container: statement.text(at: 0), environment: statement.text(at: 1))
                if place != .all, place.container != Self.others { found.append(place) }
            }
            return found
        }
    }

    private func add(_ added: HistoryPoint, to key: Key) throws {
        var point = added
        let found = """
            SELECT requests, errors, bytesIn, bytesOut, times FROM points
            WHERE span = ? AND start = ? AND container = ? AND environment = ? AND kind = ? AND name = ?
            """
        func bind(_ statement: borrowing Statement) throws {
            try statement.bind(key.span.rawValue, at: 1)
            try statement.bind(key.start, at: 2)
            for (index, text) in [key.container, key.environment, key.kind, key.name].enumerated() {
                try statement.bind(text, at: Int32(index + 3))
            }
        }
        try connection.withStatement(found) { statement in
            try bind(statement)
            if try statement.step() { point += Self.point(in: statement, at: 0) }
        }
        try connection.withStatement(
            "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ) { statement in
            try bind(statement)
            for (index, number) in [point.requests, point.errors, point.bytesIn, point.bytesOut].enumerated()
            {
                try statement.bind(number, at: Int32(index + 7))
            }
            try statement.bind(point.times.bytes, at: 11)
            try statement.run()
        }
    }

    static func point(in statement: borrowing Statement, at column: Int32) -> HistoryPoint {
        HistoryPoint(
            requests: statement.int64(at: column), errors: statement.int64(at: column + 1),
            bytesIn: statement.int64(at: column + 2), bytesOut: statement.int64(at: column + 3),
            times: LatencyHistogram(bytes: statement.bytes(at: column + 4)))
    }

    /// Returns the points of a time line since `start`, in order.
    func points(_ span: HistorySpan, from start: Int64, of place: HistoryPlace) throws -> [(
        start: Int64, point: HistoryPoint
    )] {
        try read(span, from: start, of: place, kind: "").map { ($0.start, $0.point) }
    }

    /// Returns the sums for each name of a kind since `start`.
    func sums(_ kind: String, from start: Int64, of place: HistoryPlace) throws -> [String: HistoryPoint] {
        try read(.minute, from: start, of: place, kind: kind).reduce(into: [:]) { sums, row in
            sums[row.name, default: HistoryPoint()] += row.point
        }
    }

    private func read(
        _ span: HistorySpan, from start: Int64, of place: HistoryPlace, kind: String
    ) throws -> [(start: Int64, name: String, point: HistoryPoint)] {
        let sql = """
            SELECT start, name, requests, errors, bytesIn, bytesOut, times FROM points
            WHERE span = ? AND start >= ? AND container = ? AND environment = ? AND kind = ? ORDER BY start
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(span.rawValue, at: 1)
            try statement.bind(start, at: 2)
            try statement.bind(place.container, at: 3)
            try statement.bind(place.environment, at: 4)
            try statement.bind(kind, at: 5)
            var rows: [(Int64, String, HistoryPoint)] = []
            while try statement.step() {
                rows.append(
                    (statement.int64(at: 0), statement.text(at: 1), Self.point(in: statement, at: 2)))
            }
            return rows
        }
    }
}

/// An environment of a container, or all of them.
struct HistoryPlace: Hashable, Sendable {
    static let all = HistoryPlace(container: "", environment: "")

    let container: String
    let environment: String
}
