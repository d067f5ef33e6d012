import CloudService
import CloudWire

/// Problems in the history: slow queries, throttled clients, and parts that production's schema lacked.
struct OperatorSlow: Sendable {
    /// Maximum requests of each kind that one request reads.
    private static let rowsMax = 5_000
    /// Lines of each kind in a response.
    private static let linesMax = 100

    let history: OperatorHistory

    func send(_ container: CloudService.Container, _ request: OperatorRequest) throws {
        func entries(_ notice: HistoryEntry.Notice) throws -> [HistoryEntry] {
            try history.read {
                try $0.noticed(
                    notice, container: container.identifier, environment: container.environment,
                    rowsMax: Self.rowsMax)
            }
        }
        request.reply.send(
            JSONValue.object([
                "queries": .array(Self.queries(try entries(.slowQuery))),
                "throttled": .array(Self.throttled(try entries(.throttled))),
                "missingInProduction": .array(Self.missing(try entries(.missingInProduction))),
            ]))
    }

    private static func queries(_ entries: [HistoryEntry]) -> [JSONValue] {
        struct Shape: Hashable {
            let recordType, filters, sorts: JSONValue?
        }
        let groups = Dictionary(grouping: entries) { entry in
            let query = entry.query
            return Shape(recordType: query["recordType"], filters: query["filters"], sorts: query["sorts"])
        }
        return lines(groups) { shape, entries in
            let times = entries.map(\.milliseconds).sorted()
            let rows = entries.compactMap { entry -> Int64? in
                if case .integer(let rows)? = entry.query["rowsExamined"] { rows } else { nil }
            }
            let indexes = Set(entries.compactMap { $0.query["missingIndex"] })
            return [
                "recordType": shape.recordType, "filters": shape.filters, "sorts": shape.sorts,
                "millisecondsMax": .integer(times.last ?? 0),
                "milliseconds50": .integer(times[times.count / 2]),
                "rowsExaminedMax": .integer(rows.max() ?? 0), "lastRequestID": .string(entries[0].id),
                "missingIndexes": .array(
                    indexes.map { index in
                        guard case .object(var members) = index else { return index }
                        members["recordType"] = shape.recordType
                        return .object(members)
                    }),
            ]
        }
    }

    private static func throttled(_ entries: [HistoryEntry]) -> [JSONValue] {
        struct Client: Hashable {
            let user: String?
            let address: String
        }
        let groups = Dictionary(grouping: entries) { Client(user: $0.user, address: $0.address) }
        return lines(groups) { client, _ in
            ["user": .text(client.user), "address": .string(client.address)]
        }
    }

    private static func missing(_ entries: [HistoryEntry]) -> [JSONValue] {
        struct What: Hashable {
            let missing: JSONValue?
            let client: String?
        }
        let groups = Dictionary(grouping: entries) { entry in
            What(missing: entry.members["missing"], client: entry.client)
        }
        return lines(groups) { what, entries in
            var members: [String: JSONValue?] = [
                "client": .text(what.client), "requestID": .string(entries[0].id),
            ]
            if case .object(let names)? = what.missing {
                for (name, value) in names { members[name] = value }
            }
            return members
        }
    }

    /// Returns a line for each group, the largest first, with the number of requests and the time of the last one.
    private static func lines<Key: Hashable>(
        _ groups: [Key: [HistoryEntry]], _ members: (Key, [HistoryEntry]) -> [String: JSONValue?]
    ) -> [JSONValue] {
        groups.sorted { ($1.value.count, $0.value[0].number) < ($0.value.count, $1.value[0].number) }
            .prefix(linesMax).map { key, entries in
                .members(
                    members(key, entries).merging([
                        "count": .count(entries.count),
                        "lastMilliseconds": .integer(entries[0].timeMilliseconds),
                    ]) { $1 })
            }
    }
}

extension HistoryEntry {
    fileprivate var members: [String: JSONValue] {
        if case .object(let members)? = detail { members } else { [:] }
    }

    fileprivate var query: [String: JSONValue] {
        if case .object(let members)? = members["query"] { members } else { [:] }
    }
}
