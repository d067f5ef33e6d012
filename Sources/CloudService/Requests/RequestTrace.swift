import CloudStore
import CloudWire
import System

/// Collects the details of a request for the request history: names and counts, never values of fields.
///
/// A request is processed by one thread at a time, but not always the same one. A repeated step reports the
/// same again, so each call replaces the previous details.
final class RequestTrace: Sendable {
    /// Maximum zone names.
    static let zonesMax = 16
    /// Maximum named records.
    static let recordsMax = 50
    /// Maximum number of fetched zones, and of filters and of sorts.
    static let fetchesMax = 50
    /// Maximum bytes of each name.
    static let nameBytesMax = 255

    private struct State {
        var detail = WireDetail()
        /// Operations of a change. They are named when the response exists, so that the writer doesn't spend
        /// the time. Not the whole batch: its caller refers to this trace, which would be a reference cycle.
        var operations: [ModifyBatch.Operation]?
    }

    private let state = Lock(State())

    /// Notes the session of the request.
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

    /// Notes records to change.
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

    /// Notes a fetch of a zone's changes, or its error.
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

    /// Notes the error of a request that failed as a whole.
    func failed(_ error: WireError) {
        let reason = error.reasonWithoutValues
        state.withLock { state in
            state.detail.reason = reason
            state.detail.missing = error.reason.flatMap { SchemaError.missing(in: $0) }
            state.detail.query?.missingIndex = error.reason.flatMap { ServiceError.missingMark(in: $0) }
        }
    }

    /// Returns the collected details, including those of the response.
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
    /// Adds the records of a change, and the result of each.
    ///
    /// - Parameter results: one for each operation. Empty if the request failed as a whole.
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
    /// The structure of a query, without the values that it compares with.
    fileprivate init(_ query: RecordQuery) {
        func name(_ field: String?, _ system: String?) -> String {
            RequestTrace.cut(field ?? system ?? "any")
        }
        self.init(
            recordType: RequestTrace.cut(query.recordType ?? ""),
            filters: (query.filterBy ?? []).prefix(RequestTrace.fetchesMax).map { filter in
                // An unknown comparator may contain anything.
                let comparator = QueryComparator(rawValue: filter.comparator)?.rawValue ?? "?"
                return "\(name(filter.fieldName, filter.systemFieldName)) \(comparator)"
            },
            sorts: (query.sortBy ?? []).prefix(RequestTrace.fetchesMax).map { sort in
                name(sort.fieldName, sort.systemFieldName) + (sort.ascending == false ? " DESC" : "")
            })
    }
}

extension JSONMessage {
    /// Number of records in it.
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
