import CloudStore
import CloudWire
import System

/// Collects what a request history tells of a request while it is answered: names and counts, never a field's value.
///
/// One thread at a time works on a request, but not always the same one. What runs again tells the same again, so each
/// call replaces what was told before.
final class RequestTrace: Sendable {
    /// Maximum number of names of zones.
    static let zonesMax = 16
    /// Maximum number of records that are named.
    static let recordsMax = 50
    /// Maximum number of fetched zones, and of filters and of sorts.
    static let fetchesMax = 50
    /// Bytes of each name.
    static let nameBytesMax = 255

    private struct State {
        var detail = WireDetail()
        /// Operations of a change. They are named when the response exists, so that the writer doesn't do it. Not the
        /// whole batch: its caller refers to this trace, so neither would ever be released.
        var operations: [ModifyBatch.Operation]?
    }

    private let state = Lock(State())

    /// The session that asks.
    func cameFrom(sessionID: String?) { state.withLock { $0.detail.sessionID = sessionID } }

    /// Notes a requested zone.
    func asked(for zoneID: ZoneID) {
        state.withLock { state in
            guard state.detail.zoneNames.last != zoneID.zoneName else { return }
            let name = Self.cut(zoneID.zoneName)
            guard state.detail.zoneNames.count < Self.zonesMax, !state.detail.zoneNames.contains(name)
            else { return }
            state.detail.zoneNames.append(name)
        }
    }

    /// Records are to be changed.
    func changes(_ batch: ModifyBatch) { state.withLock { $0.operations = batch.operations } }

    /// Notes the rows that a query examined. Of several queries, the one with the most rows is kept.
    func looked(for query: RecordQuery, rowsExamined: Int) {
        state.withLock { state in
            guard rowsExamined >= state.detail.query?.rowsExamined ?? 0 else { return }
            var shape = WireDetail.Query(query)
            shape.rowsExamined = rowsExamined
            state.detail.query = shape
        }
    }

    /// A zone's changes were fetched, or could not be.
    func fetched(_ fetch: WireDetail.Fetch) {
        var fetch = fetch
        fetch.zoneName = Self.cut(fetch.zoneName)
        state.withLock { state in
            if let index = state.detail.fetches.firstIndex(where: { $0.zoneName == fetch.zoneName }) {
                state.detail.fetches[index] = fetch
            } else if state.detail.fetches.count < Self.fetchesMax {
                state.detail.fetches.append(fetch)
            }
        }
    }

    /// The request failed as a whole.
    func failed(_ error: WireError) {
        let reason = error.reasonWithoutValues
        state.withLock { state in
            state.detail.reason = reason
            state.detail.missing = error.reason.flatMap { SchemaError.missing(in: $0) }
            state.detail.query?.missingIndex = error.reason.flatMap { ServiceError.missingMark(in: $0) }
        }
    }

    /// All that was told, with what the response tells.
    func finish(_ answer: ServiceAnswer) -> WireDetail {
        let (detail, operations) = state.withLock { ($0.detail, $0.operations) }
        var told = detail
        var results: [RecordResult]?
        if case .message(let message, _, _) = answer {
            told.recordsCount = message.recordsCount
            results = (message as? RecordsResponse)?.records
        }
        guard let operations else { return told }
        told.recordsCount = operations.count
        // The error of a request that failed as a whole belongs to the request, not to its records.
        told.take(operations, results ?? [])
        return told
    }

    static func cut(_ name: String) -> String {
        name.utf8.count <= nameBytesMax
            ? name : String(decoding: name.utf8.prefix(nameBytesMax), as: UTF8.self)
    }
}

extension WireDetail {
    /// Takes the records of a change, and what became of each.
    ///
    /// - Parameter results: one for each operation; none when the request failed as a whole.
    fileprivate mutating func take(_ operations: [ModifyBatch.Operation], _ results: [RecordResult]) {
        func error(at index: Int) -> WireError? {
            if index < results.count, case .error(let error) = results[index] { error } else { nil }
        }
        let causes = operations.indices.filter { index in
            error(at: index).map { $0.serverErrorCode != .atomicError } ?? false
        }
        missing =
            missing
            ?? causes.lazy.compactMap { error(at: $0)?.reason }
            .compactMap { SchemaError.missing(in: $0) }.first
        var shown = Set(causes.prefix(RequestTrace.recordsMax))
        for index in operations.indices where shown.count < RequestTrace.recordsMax { shown.insert(index) }
        records = shown.sorted().map { index in
            var record = WireDetail.Record(operations[index])
            record.errorCode = error(at: index)?.serverErrorCode.rawValue
            record.reason = error(at: index)?.reasonWithoutValues
            return record
        }
        guard !results.isEmpty else { return }
        for index in operations.indices where error(at: index) == nil {
            guard let zoneName = (try? operations[index].target.get())?.zone.zoneName else { continue }
            if let place = saves.firstIndex(where: { $0.zoneName == zoneName }) {
                saves[place].count += 1
            } else if saves.count < RequestTrace.zonesMax {
                saves.append(WireDetail.Save(zoneName: zoneName, count: 1))
            }
        }
    }
}

extension WireDetail.Record {
    fileprivate init(_ operation: ModifyBatch.Operation) {
        let key = try? operation.target.get()
        self.init(
            operation: operation.kind.rawValue,
            recordType: operation.record.recordType.map { RequestTrace.cut($0) },
            recordName: RequestTrace.cut(operation.record.recordName ?? ""),
            zoneName: key?.zone.zoneName
                ?? RequestTrace.cut((operation.record.zoneID ?? ZoneID()).zoneName))
    }
}

extension WireDetail.Query {
    /// The shape of a query, without what it compares with.
    fileprivate init(_ query: RecordQuery) {
        func name(_ field: String?, _ system: String?) -> String {
            RequestTrace.cut(field ?? system ?? "any")
        }
        self.init(
            recordType: RequestTrace.cut(query.recordType ?? ""),
            filters: (query.filterBy ?? []).prefix(RequestTrace.fetchesMax).map { filter in
                // What isn't one of the words may be anything.
                let comparator = QueryComparator(rawValue: filter.comparator)?.rawValue ?? "?"
                return "\(name(filter.fieldName, filter.systemFieldName)) \(comparator)"
            },
            sorts: (query.sortBy ?? []).prefix(RequestTrace.fetchesMax).map { sort in
                name(sort.fieldName, sort.systemFieldName) + (sort.ascending == false ? " DESC" : "")
            })
    }
}

extension JSONMessage {
    /// How many records it has.
    fileprivate var recordsCount: Int {
        switch self {
        case let answer as RecordsResponse: answer.records.count
        case let answer as RecordsQueryResponse: answer.records.count
        case let answer as RecordsQueryBatchResponse: answer.batch.reduce(0) { $0 + $1.records.count }
        case let answer as RecordsChangesResponse: answer.records.count
        case let answer as ChangesZoneResponse:
            answer.zones.reduce(0) { count, zone in
                if case .changes(let changes) = zone { count + changes.records.count } else { count }
            }
        default: 0
        }
    }
}
