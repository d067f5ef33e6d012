import CloudStore

extension ZoneSearch {
    // MARK: - Few records, sorted in memory

    /// Sorts all records in `parts` that have the `fixed` keys. Returns false to end the search. Returns nil
    /// if the records are too large to sort, and then none was taken.
    func gather(_ parts: [QueryDriver.Part], fixed: [[UInt8]], after cursor: QueryPosition?) throws -> Bool? {
        var seen = Set<String>()
        var positions: [QueryPosition] = []
        var bytes = 0
        for part in parts {
            var scan = scan(part, rowsMax: search.chunkRows, withRecords: true)
            var isMore = true
            while isMore {
                let page = try reader.find(scan)
                bytes += page.rows.reduce(0) { $0 + ($1.record?.fields.count ?? 0) }
                guard bytes <= search.gatheredBytesMax else { return nil }
                for hit in page.rows where seen.insert(hit.position.recordName).inserted {
                    guard let subject = match(hit.record, fixed: fixed) else { continue }
                    let keys = keys(of: subject)
                    bytes += keys.reduce(0) { $0 + $1.count + search.bytesOfKey }
                    positions.append(position(keys, hit.position.recordName))
                }
                scan.after = page.rows.last?.position
                isMore = page.moreComing
            }
        }
        rowsLeft -= max(seen.count, bytes / search.bytesOfRow) * query.rowsOfRecord
        return try take(positions, after: cursor)
    }

    /// Sorts the found records, and takes those after `cursor`. Returns false to end the search.
    func take(_ positions: [QueryPosition], after cursor: QueryPosition?) throws -> Bool {
        let behind = positions.filter { position in cursor.map { order.precedes($0, position) } ?? true }
            .sorted(by: order.precedes)
        for chunk in behind.chunks(of: 16) {
            var wanted = StoreLoad()
            wanted.records = chunk.map { RecordKey(zone: zone, recordName: $0.recordName) }
            let loaded = try reader.load(wanted).records
            for (position, key) in zip(chunk, wanted.records) {
                guard let row = loaded[key] else { continue }
                guard take(row, position) else { return false }
            }
        }
        return true
    }

    /// Returns the position after all records with the `fixed` keys, for any other keys and names.
    func end(of fixed: [[UInt8]]) -> QueryPosition {
        let rest = order.isAscending[fixed.count...].map { $0 ? [0xFF] : [] as [UInt8] }
        return position(fixed + rest, order.edge(atEnd: true))
    }

    // MARK: - Many records, in the order of an index

    /// Finds the records with the `fixed` keys, in the order of the keys from `level` on. Returns false to
    /// end the search.
    ///
    /// Records with an equal key are ordered by the next key. A small group is sorted. For a large group, the
    /// next key's index is read and other records are skipped.
    func walk(level: Int, fixed: [[UInt8]], after cursor: QueryPosition?) throws -> Bool {
        guard level < query.sortKeys.count else { return try walkNames(fixed: fixed, after: cursor) }
        let key = query.sortKeys[level]
        if let place = key.place {
            return try walkRings(around: place, level: level, fixed: fixed, after: cursor)
        }
        return level == query.sortKeys.count - 1
            ? try walkLast(level: level, fixed: fixed, after: cursor)
            : try walkGroups(level: level, fixed: fixed, after: cursor)
    }

    private func walkNames(fixed: [[UInt8]], after cursor: QueryPosition?) throws -> Bool {
        let names = QueryDriver.Part(source: .names, range: .all)
        let after = cursor.map {
            IndexPosition(value: OrderedBytes.text($0.recordName), recordName: $0.recordName)
        }
        return try walk(names, isAscending: order.isAscendingLast, fixed: fixed, after: after) { _ in fixed }
    }

    private func walkLast(level: Int, fixed: [[UInt8]], after cursor: QueryPosition?) throws -> Bool {
        let key = query.sortKeys[level]
        let (part, known) = orderPart(of: key)
        if part.source == .names {
            return try walkNames(part, level: level, fixed: fixed, known: known, after: cursor)
        }
        let after = cursor.map { IndexPosition(value: $0.keys[level], recordName: $0.recordName) }
        return try walk(part, isAscending: key.isAscending, fixed: fixed, known: known, after: after) {
            fixed + [$0.position.value]
        }
    }

    /// Orders by record name, which has an index of its own.
    private func walkNames(
        _ part: QueryDriver.Part, level: Int, fixed: [[UInt8]], known: Int?, after cursor: QueryPosition?
    ) throws -> Bool {
        let isAscending = query.sortKeys[level].isAscending
        var part = part
        if let cursor {
            guard cursor.keys[level].first == QuerySortKey.valuePrefix else { return true }
            let name = Array(cursor.keys[level].dropFirst())
            // In a zone after the cursor's zone, the same name wasn't returned yet.
            let isIncluded = cursor.recordName == order.edge(atEnd: false)
            let start =
                isAscending
                ? ByteRange(lower: isIncluded ? name : name + [0], upper: nil)
                : ByteRange(lower: [], upper: isIncluded ? name + [0] : name)
            part = QueryDriver.Part(source: part.source, range: part.range.intersection(start))
        }
        return try walk(part, isAscending: isAscending, fixed: fixed, known: known, after: nil) {
            fixed + [[QuerySortKey.valuePrefix] + $0.position.value]
        }
    }

    /// Reads a part of an index in the query's order.
    private func walk(
        _ part: QueryDriver.Part, isAscending: Bool, fixed: [[UInt8]], known: Int? = nil,
        after: IndexPosition?,
        keys: (IndexHit) -> [[UInt8]]
    ) throws -> Bool {
        let isAll =
            isVisible == nil && fixed.isEmpty && query.conditions.indices.allSatisfy { $0 == known }
        var after = after
        while true {
            var scan = scan(
                part, rowsMax: isAll ? wanted - found.count + 1 : search.chunkRows, withRecords: true)
            scan.isDescending = !isAscending
            scan.after = after
            let page = try reader.find(scan)
            for hit in page.rows {
                let place = position(keys(hit), hit.position.recordName)
                if let row = hit.record,
                    isAll ? !row.isDeleted : match(row, fixed: fixed, without: known) != nil
                {
                    guard take(row, place) else { return false }
                }
                guard examine(cost(of: hit.record), upTo: place) else { return false }
            }
            guard page.moreComing, let last = page.rows.last else { return true }
            after = last.position
        }
    }

    /// True if the sort index contains exactly the wanted records, so there is no plan to choose.
    var isServedByOrder: Bool {
        guard query.sortKeys.count == 1, let key = query.sortKeys.first, key.place == nil else {
            return false
        }
        let known = orderPart(of: key).known
        return query.conditions.indices.allSatisfy { $0 == known }
    }

    /// Returns the part of a key's index that contains the query's records, and the condition that it fully covers.
    private func orderPart(of key: QuerySortKey) -> (QueryDriver.Part, known: Int?) {
        let source = QueryDriver.source(of: key.field)
        for (index, condition) in query.conditions.enumerated() where condition.field == key.field {
            guard !condition.isNegated, case .anyIn(let ranges) = condition.test, let first = ranges.first,
                let last = ranges.last
            else { continue }
            let range = QueryDriver.stored(ByteRange(lower: first.lower, upper: last.upper), in: key.field)
            let isKnown = ranges.count == 1 && first.isExact
            return (QueryDriver.Part(source: source, range: range), isKnown ? index : nil)
        }
        return (QueryDriver.Part(source: source, range: .all), nil)
    }

    /// Reads the values of a key in order, and sorts records with the same value by the following keys.
    private func walkGroups(level: Int, fixed: [[UInt8]], after cursor: QueryPosition?) throws -> Bool {
        let key = query.sortKeys[level]
        let whole = orderPart(of: key).0
        var range = whole.range
        // Starts at the beginning of the cursor's group, not after the cursor.
        if let value = cursor?.keys[level] {
            range = range.intersection(
                key.isAscending
                    ? ByteRange(lower: value, upper: nil) : ByteRange(lower: [], upper: value + [0]))
        }
        while true {
            var scan = scan(
                QueryDriver.Part(source: whole.source, range: range), rowsMax: search.chunkRows,
                withRecords: true)
            scan.isDescending = !key.isAscending
            let page = try reader.find(scan)
            guard let lastValue = page.rows.last?.position.value else { return true }
            let complete = page.moreComing ? page.rows.filter { $0.position.value != lastValue } : page.rows
            let next: [UInt8]
            if let behind = complete.last?.position.value {
                guard try take(complete, fixed: fixed, after: cursor) else { return false }
                next = behind
            } else {
                let group = QueryDriver.Part(source: whole.source, range: ByteRange(only: lastValue))
                let behind = cursor?.keys[level] == lastValue ? cursor : nil
                guard try self.group([group], fixed: fixed + [lastValue], after: behind) else { return false }
                next = lastValue
            }
            guard examine(0, upTo: end(of: fixed + [next])) else { return false }
            range =
                key.isAscending
                ? ByteRange(lower: next + [0], upper: range.upper)
                : ByteRange(lower: range.lower, upper: next)
        }
    }

    private func take(_ hits: [IndexHit], fixed: [[UInt8]], after cursor: QueryPosition?) throws -> Bool {
        var positions: [QueryPosition] = []
        for hit in hits {
            guard let subject = match(hit.record, fixed: fixed) else { continue }
            positions.append(position(keys(of: subject), hit.position.recordName))
        }
        rowsLeft -= hits.reduce(0) { $0 + cost(of: $1.record) }
        return try take(positions, after: cursor)
    }

    /// Finds the records in `parts` with the `fixed` keys. A small group is sorted, a large one is read by
    /// the next key.
    func group(_ parts: [QueryDriver.Part], fixed: [[UInt8]], after cursor: QueryPosition?) throws -> Bool {
        let countMax = gatheredMax
        if try count(parts, max: countMax + 1) <= countMax,
            let isToGoOn = try gather(parts, fixed: fixed, after: cursor)
        {
            return isToGoOn
        }
        return try walk(level: fixed.count, fixed: fixed, after: cursor)
    }
}

extension Array {
    /// Returns the elements in slices of up to `count`.
    func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min(self.count, $0 + count)] }
    }
}
