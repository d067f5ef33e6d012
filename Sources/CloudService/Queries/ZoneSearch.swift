import CloudStore

/// The search of one zone for one page.
final class ZoneSearch {
    let reader: any CloudStoreReader
    let zone: ZoneKey
    let query: ResolvedQuery
    /// The filter of visible records, or nil if all are visible.
    let isVisible: ((StoredRecord) -> Bool)?
    let order: QueryOrder
    let wanted: Int
    let search: QuerySearchLimits
    /// Rows that may still be read.
    var rowsLeft: Int
    /// Bytes of records that may still be returned.
    private(set) var bytesLeft: Int

    /// The found records, in order.
    private(set) var found: [QueryFound] = []
    /// The position where the search stopped, or nil if it reached the end.
    private(set) var stoppedAt: QueryPosition?
    /// Names of records that were looked at in a part of an index where they may stand more than once.
    private var lookedAt = Set<String>()

    init(
        _ reader: any CloudStoreReader, zone: ZoneKey, query: ResolvedQuery, wanted: Int, rowsMax: Int,
        bytesMax: Int,
        search: QuerySearchLimits, isVisible: ((StoredRecord) -> Bool)?
    ) {
        self.reader = reader
        self.zone = zone
        self.query = query.resolved(in: zone)
        self.wanted = wanted
        self.search = search
        self.isVisible = isVisible
        rowsLeft = rowsMax
        bytesLeft = bytesMax
        order = QueryOrder(query.sortKeys)
    }

    /// Finds up to `wanted` records after `cursor`.
    func run(after cursor: QueryPosition?) throws {
        if query.sortKeys.isEmpty { return try runUnsorted(after: cursor) }
        let cursor = cursor?.moved(to: zone, order)
        if !isServedByOrder, let driver = try smallDriver(),
            try gather(driver.parts, fixed: [], after: cursor) != nil
        {
            return
        }
        _ = try walk(level: 0, fixed: [], after: cursor)
    }

    // MARK: - What is found

    /// Takes a record if it exists and is visible. Returns false to end the search.
    func take(_ row: StoredRecord, _ position: QueryPosition) -> Bool {
        guard found.count < wanted, bytesLeft > 0 else {
            // The previous record was the last one of this page.
            stoppedAt = found.last?.position
            return false
        }
        bytesLeft -= row.fields.count
        found.append(QueryFound(position: position, row: row))
        return true
    }

    /// Rows charged for a record. Large records, and records checked against many conditions, cost more.
    func cost(of record: StoredRecord?) -> Int {
        (1 + (record?.fields.count ?? 0) / search.bytesOfRow) * query.rowsOfRecord
    }

    /// Maximum rows that may be sorted in memory. Above it an index is read, which can stop at any entry.
    var gatheredMax: Int { min(search.gatheredMax, max(0, rowsLeft) / query.rowsOfRecord) }

    /// Counts rows that were read. Returns false to end the search; the next page continues after `position`.
    func examine(_ rows: Int, upTo position: @autoclosure () -> QueryPosition) -> Bool {
        rowsLeft -= rows
        guard rowsLeft <= 0 else { return true }
        stoppedAt = position()
        return false
    }

    /// Returns the record with its fields, if it matches the query and has the `fixed` keys. An unreadable record
    /// has no fields and doesn't fail the query.
    func match(_ row: StoredRecord?, fixed: [[UInt8]] = [], without condition: Int? = nil) -> QuerySubject? {
        guard let row, !row.isDeleted, isVisible?(row) ?? true, let subject = try? QuerySubject(row: row)
        else { return nil }
        for (index, other) in query.conditions.enumerated() where index != condition {
            guard other.matches(subject) else { return nil }
        }
        for (key, value) in zip(query.sortKeys, fixed) where key.bytes(of: subject) != value { return nil }
        return subject
    }

    func keys(of subject: QuerySubject) -> [[UInt8]] { query.sortKeys.map { $0.bytes(of: subject) } }

    func position(_ keys: [[UInt8]], _ recordName: String, _ walk: QueryWalk? = nil) -> QueryPosition {
        QueryPosition(keys: keys, recordName: recordName, zoneName: zone.zoneName, walk: walk)
    }

    func scan(_ part: QueryDriver.Part, rowsMax: Int, withRecords: Bool) -> IndexScan {
        var scan = IndexScan(
            zone: zone, recordType: query.recordType, source: part.source,
            rowsMax: withRecords ? min(rowsMax, max(1, rowsLeft)) : rowsMax)
        scan.lower = part.range.lower
        scan.upper = part.range.upper
        scan.withRecords = withRecords
        scan.bytesMax = max(1, bytesLeft)
        return scan
    }

    // MARK: - Choosing

    private func drivers() -> [(condition: Int, driver: QueryDriver)] {
        query.conditions.enumerated().compactMap { index, condition in
            QueryDriver(condition).map { (index, $0) }
        }
    }

    func count(_ parts: [QueryDriver.Part], max: Int) throws -> Int {
        var count = 0
        for part in parts where count < max {
            count += try reader.count(scan(part, rowsMax: max, withRecords: false), max: max - count)
        }
        rowsLeft -= count / search.countedOfRow
        return count
    }

    /// Returns the condition with the fewest entries, and their number. Counted in steps, so that a rare condition
    /// costs little beside a frequent one.
    private func bestDriver(max: Int) throws -> (condition: Int, driver: QueryDriver, count: Int)? {
        let drivers = drivers()
        var bound = min(max, 256)
        while true {
            var best: (condition: Int, driver: QueryDriver, count: Int)?
            for (condition, driver) in drivers {
                let count = try count(driver.parts, max: bound)
                if count < best?.count ?? .max { best = (condition, driver, count) }
            }
            guard let best, best.count == bound, bound < max else { return best }
            bound = min(max, bound * 8)
        }
    }

    /// Returns a condition with so few entries that sorting them costs less than reading the sort index.
    private func smallDriver() throws -> QueryDriver? {
        let max = gatheredMax + 1
        guard let (_, driver, count) = try bestDriver(max: max), count < max else { return nil }
        // Estimated rows to read in the sort index until enough records match.
        let walked = min(count * count / Swift.max(1, wanted), search.namesCountedMax)
        guard count > search.chunkRows else { return driver }
        let names = QueryDriver.Part(source: .names, range: .all)
        return try self.count([names], max: walked + 1) > walked ? driver : nil
    }

    // MARK: - Without a sort

    /// Returns the condition that selects the index to walk. A single candidate is taken without counting its
    /// entries.
    private func drivingCondition() throws -> Int? {
        let drivers = drivers()
        return drivers.count > 1 ? try bestDriver(max: 4_096)?.condition : drivers.first?.condition
    }

    private func runUnsorted(after cursor: QueryPosition?) throws {
        let walk: QueryWalk
        if let known = cursor?.walk {
            walk = known
        } else if let condition = try drivingCondition() {
            walk = QueryWalk(condition: condition, scan: 0)
        } else {
            walk = QueryWalk(condition: nil, scan: 0)
        }
        guard let index = walk.condition else {
            let names = QueryDriver.Part(source: .names, range: .all)
            _ = try runUnsorted(names, walk, nil, after: cursor)
            return
        }
        guard query.conditions.indices.contains(index), let driver = QueryDriver(query.conditions[index])
        else {
            throw ServiceError.markerRefused
        }
        for number in walk.scan..<max(walk.scan, driver.parts.count) {
            let place = QueryWalk(condition: index, scan: number)
            let behind = number == walk.scan ? cursor : nil
            guard try runUnsorted(driver.parts[number], place, driver, after: behind) else { return }
        }
    }

    /// Reads one part of an index. Returns false to end the search.
    private func runUnsorted(
        _ part: QueryDriver.Part, _ walk: QueryWalk, _ driver: QueryDriver?, after cursor: QueryPosition?
    ) throws -> Bool {
        // The index already proves this condition, so the record isn't checked for it.
        let known = driver?.isExact ?? true ? walk.condition : nil
        let isAll = isVisible == nil && query.conditions.indices.allSatisfy { $0 == known }
        var after = cursor.map { IndexPosition(value: $0.keys.first ?? [], recordName: $0.recordName) }
        while true {
            var scan = scan(
                part, rowsMax: isAll ? wanted - found.count + 1 : search.chunkRows, withRecords: true)
            scan.after = after
            let page = try reader.find(scan)
            for hit in page.rows {
                let place = position([hit.position.value], hit.position.recordName, walk)
                if let row = hit.record, isAll ? !row.isDeleted : isFound(hit, row, walk, driver, known) {
                    guard take(row, place) else { return false }
                }
                guard examine(cost(of: hit.record), upTo: place) else { return false }
            }
            guard page.moreComing, let last = page.rows.last else { return true }
            after = last.position
        }
    }

    private func isFound(
        _ hit: IndexHit, _ row: StoredRecord, _ walk: QueryWalk, _ driver: QueryDriver?, _ known: Int?
    ) -> Bool {
        // An entry behind another of the same record isn't its first. To decide that by the record would read it again
        // for each entry.
        if driver?.mayRepeat == true, !lookedAt.insert(row.key.recordName).inserted { return false }
        guard let subject = match(row, without: known) else { return false }
        guard let driver else { return true }
        return driver.isFirst(hit.position.value, inPart: walk.scan, of: subject)
    }
}
