import CloudStore
import CloudWire
import System

/// The endpoints that find records by their fields.
struct QueryEndpoints: Sendable {
    let limits: ServiceLimits
    let secret: StoreSecret
    let schemas: Schemas
    let indexes: IndexBuilding

    func query(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        let request = try RecordsQueryRequest(request: body)
        let answer = try pages(request, caller)
        return limits.page(numbersAsStrings: request.numbersAsStrings) { reader, budget in
            try answer(reader, &budget)
        }
    }

    /// Several queries that share one budget.
    func queryBatch(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        let request = try RecordsQueryBatchRequest(request: body)
        guard request.batch.count <= limits.queriesMax else {
            throw ServiceError.badRequest("a batch has \(limits.queriesMax) queries at most")
        }
        let answers = try request.batch.map { try pages($0, caller) }
        return limits.page(numbersAsStrings: request.batch.first?.numbersAsStrings) { reader, budget in
            var batch: [RecordsQueryResponse] = []
            for answer in answers {
                batch.append(
                    try budget.withShare(of: answers.count - batch.count) { try answer(reader, &$0) })
            }
            return RecordsQueryBatchResponse(batch: batch)
        }
    }

    /// Returns a function that reads a page of the query's results.
    func pages(
        _ request: RecordsQueryRequest, _ caller: ServiceCaller
    ) throws -> @Sendable (any CloudStoreReader, inout AnswerBudget) throws -> RecordsQueryResponse {
        guard let query = request.query else {
            throw ServiceError.badRequest("missing required field 'query'")
        }
        try limits.check(desired: [request.desiredKeys])
        let recordsMax = try limits.pageMax(request.resultsLimit, caller)
        let isZoneWide = request.zoneID == nil && request.zoneWide ?? false
        // The shared database has no records yet.
        let zone = isZoneWide && caller.scope != .public ? nil : try caller.key(of: request.zoneID)
        guard let database = caller.database else {
            throw ServiceError.zoneNotFound(request.zoneID ?? ZoneID())
        }
        let marker = try QueryMarker(query, database: database, zone: zone, secret: try secret.value())
        return { reader, budget in
            let rowsBefore = budget.rows
            defer { caller.trace?.looked(for: query, rowsExamined: rowsBefore - budget.rows) }
            let zones = try self.zones(zone, in: database, reader)
            let schema = try self.schemas.schema(in: reader)
            let reading = QueryReading(
                schema: schema, database: database, userRecordName: caller.user?.userRecordName,
                limits: self.limits)
            let resolved = try reading.resolve(query)
            let cursor = try request.continuationMarker.flatMap {
                try marker.position($0, keysCount: resolved.sortKeys.count)
            }
            let isVisible = try self.visibility(of: resolved.recordType, caller, schema, reader)
            do {
                try resolved.checkIndexes(in: reader)
            } catch {
                // Another process may have added the index. The first query that needs it makes this process
                // build it.
                self.indexes.note()
                throw error
            }
            try self.takeProbes(of: resolved, zonesCount: zones.count, &budget)
            let runner = QueryRunner(
                reader: reader, query: resolved, zones: zones.map(\.key), limits: self.limits,
                recordsMax: recordsMax,
                isVisible: isVisible)
            let page = try runner.page(after: cursor, &budget)
            return RecordsQueryResponse(
                records: page.rows.map { $0.result(desiredKeys: request.desiredKeys) },
                continuationMarker: try page.moreComing ? marker.text(page.next) : nil,
                syncToken: caller.wantsSyncToken ? zones.first?.row?.syncToken(in: caller.scope) : nil)
        }
    }

    /// Returns the requested zone, or all zones of a database.
    private func zones(
        _ zone: ZoneKey?, in database: StoredDatabaseKey, _ reader: any CloudStoreReader
    ) throws -> [(key: ZoneKey, row: ZoneRow?)] {
        if let zone {
            guard !zone.isDefault else { return [(zone, nil)] }
            var wanted = StoreLoad()
            wanted.zones = [zone]
            guard let row = try reader.load(wanted).zones[zone], !row.isDeleted else {
                throw ServiceError.zoneNotFound(zone.zoneID)
            }
            return [(zone, row)]
        }
        let page = try reader.changedZones(
            in: database, after: 0, deletedAfter: .max, zonesMax: limits.queryZonesMax)
        guard !page.moreComing else {
            throw ServiceError.limitExceeded(
                "a query looks into \(limits.queryZonesMax) zones at most; name one")
        }
        let defaultZone = ZoneKey(database: database, zoneName: ZoneID.defaultZoneName)
        return ([(defaultZone, nil)] + page.rows.map { ($0.key, $0) }).sorted { $0.key < $1.key }
    }

    /// Rejects a query that searches too many index positions, since that would block others.
    private func takeProbes(
        of query: ResolvedQuery, zonesCount: Int, _ budget: inout AnswerBudget
    ) throws {
        let count = query.conditions.reduce(0) { $0 + $1.probesCount } * zonesCount
        budget.probes -= count
        guard budget.probes < 0 else { return }
        throw ServiceError.limitExceeded(
            "the query looks for \(count) values, each zone counted; a request has \(limits.queryProbesMax)")
    }

    /// Returns the filter for the records of a type that the caller may read, or nil for all records.
    private func visibility(
        of recordType: String, _ caller: ServiceCaller, _ schema: Schema, _ reader: any CloudStoreReader
    ) throws -> ((StoredRecord) -> Bool)? {
        let access = try schemas.access(of: caller, schema: schema, in: reader)
        if access.permissions(recordType, creator: nil).contains(.read) { return nil }
        guard access.permissionsForOwn(recordType).contains(.read) else {
            throw ServiceError.notPermitted(.read)
        }
        return { access.permissions($0).contains(.read) }
    }
}
