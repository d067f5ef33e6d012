import CloudWire
import Foundation

/// What a client looks at when the server is there again.
extension MixedClient {
    /// Looks what became of the writes that were not answered: each must be there wholly or not at all.
    func settle(port: Int) throws {
        let device = try connect(port: port)
        for group in ledger.groups where (ledger.possible[group]?.count ?? 0) > 1 {
            try ledger.settle(group, found: look(group, device).first?.number)
        }
        for (name, states) in ledger.watched where states.count > 1 {
            try ledger.settle(watched: name, isThere: isThere(name, device))
        }
        guard ledger.subscriptions.values.contains(where: { $0.count > 1 }) else { return }
        let there = try subscriptions(device)
        for name in ledger.subscriptions.keys.sorted() {
            try ledger.settle(subscription: name, isThere: there.contains(name))
        }
    }

    /// Compares everything with what the server has: records, files, queries, subscriptions.
    func check(port: Int) throws {
        let device = try connect(port: port)
        for group in ledger.groups {
            let found = try look(group, device)
            try ledger.settle(group, found: found.first?.number)
            guard let number = found.first?.number, let write = ledger.written[number] else { continue }
            try check(write, found[0].record, port)
        }
        for name in ledger.watched.keys { try ledger.settle(watched: name, isThere: isThere(name, device)) }
        let there = try subscriptions(device)
        for name in ledger.subscriptions.keys {
            try ledger.settle(subscription: name, isThere: there.contains(name))
        }
        try checkQueries(device)
    }

    /// The records of a group as they are: all of them, with one number, or none.
    private func look(
        _ group: MixedLedger.Group, _ device: RawDevice
    ) throws -> [(number: Int64, record: WireRecord)] {
        let found = try records(ledger.names(group), isPublic: group.isPublic, device)
        let numbered = found.compactMap { record in number(of: record).map { (number: $0, record: record) } }
        let isWhole = found.isEmpty || found.count == ledger.names(group).count
        guard isWhole, numbered.count == found.count, Set(numbered.map(\.number)).count <= 1 else {
            throw Failure("\(ledger.names(group)) is there in part: \(numbered.map(\.number))")
        }
        for (number, record) in numbered {
            guard let extra = ledger.written[number]?.extraField,
                record.fields[extra]?.value == .int64(number), record.recordType == ledger.recordType(group)
            else { throw Failure("\(record.recordName ?? "") lacks the field of \(number)") }
        }
        return numbered
    }

    private func check(_ write: MixedLedger.Written, _ record: WireRecord, _ port: Int) throws {
        let name = record.recordName ?? ""
        guard let bytes = write.file else {
            guard record.fields["file"] == nil else { throw Failure("\(name) has a file that nobody saved") }
            return
        }
        guard case .asset(let asset)? = record.fields["file"]?.value, let url = asset.downloadURL else {
            throw Failure("\(name) has lost its file")
        }
        let response = try AssetClient(port: port, token: token).fetch(url)
        guard response.status == 200, response.body == bytes else {
            throw Failure(
                "the file of \(name): \(response.status), \(response.body.count) of \(bytes.count) bytes")
        }
    }

    private func records(_ names: [String], isPublic: Bool, _ device: RawDevice) throws -> [WireRecord] {
        var request = RecordsLookupRequest(records: names.map { .init(recordName: $0) })
        if !isPublic { request.zoneID = ZoneID(zoneName: Self.zone) }
        let response = try device.post("\(isPublic ? "public" : "private")/records/lookup", request)
        guard response.status == 200 else { throw Failure("lookup: \(response.status) \(response.text)") }
        return try RecordsResponse(json: response.body).records.compactMap { result in
            if case .record(let record) = result { record } else { nil }
        }
    }

    private func isThere(_ name: String, _ device: RawDevice) throws -> Bool {
        try !records([name], isPublic: false, device).isEmpty
    }

    private func number(of record: WireRecord) -> Int64? {
        if case .int64(let number)? = record.fields["number"]?.value { number } else { nil }
    }

    private func subscriptions(_ device: RawDevice) throws -> Set<String> {
        let response = try device.post("private/subscriptions/list", SubscriptionsListRequest())
        guard response.status == 200 else { throw Failure("subscriptions: \(response.text)") }
        return Set(
            try SubscriptionsResponse(json: response.body).subscriptions.compactMap { result in
                if case .subscription(let subscription) = result { subscription.subscriptionID } else { nil }
            })
    }

    // MARK: Queries

    /// Each type's index, by a number's order, by the field that a save made, and by a word, has the records that the
    /// ledger has and no others.
    private func checkQueries(_ device: RawDevice) throws {
        let there = ledger.groups.filter { ledger.number(of: $0) != nil }
        for (type, groups) in Dictionary(grouping: there, by: { ledger.recordType($0) }).sorted(by: {
            $0.key < $1.key
        }) {
            let expected = groups.flatMap(ledger.names).sorted()
            let isPublic = groups[0].isPublic
            let byNumber = try all(type, isPublic: isPublic, sort: "number", device)
            guard byNumber.map(\.name).sorted() == expected,
                byNumber.map(\.number) == byNumber.map(\.number).sorted()
            else { throw Failure("\(type) by number: \(byNumber.count) instead of \(expected.count)") }
            for group in groups.suffix(5) {
                guard let number = ledger.number(of: group), let write = ledger.written[number] else {
                    continue
                }
                let names = ledger.names(group).sorted()
                for (comparator, field, value) in [
                    ("EQUALS", write.extraField, FieldValue.int64(number)),
                    ("CONTAINS_ALL_TOKENS", "text", .string("word\(number)")),
                ] {
                    let filter = RecordFilter(
                        comparator: comparator, fieldName: field, fieldValue: Field(value))
                    let found = try all(type, isPublic: isPublic, filter: filter, device).map(\.name).sorted()
                    guard found == names else {
                        throw Failure("\(type), \(field) \(number): \(found), not \(names)")
                    }
                }
            }
        }
        for type in ledger.refusedTypes.suffix(3) {
            let request = RecordsQueryRequest(
                query: RecordQuery(recordType: type), zoneID: ZoneID(zoneName: Self.zone))
            let response = try device.post("private/records/query", request)
            guard response.status == 404 else {
                throw Failure("\(type) was refused and is there: \(response.text)")
            }
        }
    }

    /// All that a query finds, page by page, when the indexes are there.
    private func all(
        _ type: String, isPublic: Bool, filter: RecordFilter? = nil, sort: String? = nil, _ device: RawDevice
    ) throws -> [(name: String, number: Int64)] {
        var query = RecordQuery(recordType: type, filterBy: filter.map { [$0] })
        query.sortBy = sort.map { [RecordSort(fieldName: $0)] }
        var request = RecordsQueryRequest(query: query, resultsLimit: 50)
        if !isPublic { request.zoneID = ZoneID(zoneName: Self.zone) }
        var found: [(name: String, number: Int64)] = []
        // Indexes are built behind the requests; so many of them are time enough.
        for _ in 0..<20_000 {
            let response = try device.post("\(isPublic ? "public" : "private")/records/query", request)
            if response.status == 503 { continue }
            guard response.status == 200 else {
                throw Failure("\(type): \(response.status) \(response.text)")
            }
            let page = try RecordsQueryResponse(json: response.body)
            for case .record(let record) in page.records {
                found.append((record.recordName ?? "", number(of: record) ?? -1))
            }
            request.continuationMarker = page.continuationMarker
            if page.continuationMarker == nil { return found }
        }
        throw Failure("\(type): the index is not built, or the pages don't end")
    }
}
