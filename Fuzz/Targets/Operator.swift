import CloudWire

/// The body of `records/query`, asked by an operator: the count is that of the pages, and cut values are the beginnings
/// of the whole ones. The first byte says how long values may be.
@Sendable func fuzzOperator(_ bytes: [UInt8]) throws {
    guard let first = bytes.first else { return }
    let body = Array(bytes.dropFirst())
    let cloud = FuzzCloud.shared
    let whole = try cloud.answerToOperator("records/query", body)
    let counted = try cloud.answerToOperator("records/query", body, query: [("count", "true")])
    let cut = try cloud.answerToOperator(
        "records/query", body, query: [("valueBytesMax", "\(first)")])
    guard whole.status == 200 else { return }
    // No value has 0 bytes at most.
    guard first > 0 else { return try expect(cut.status == 400, "values of 0 bytes") }
    let (records, beginnings) = (
        try RecordsQueryResponse(json: whole.body), try RecordsQueryResponse(json: cut.body)
    )
    try expect(records.records.count == beginnings.records.count, "cut values make other records")
    for (record, beginning) in zip(records.records, beginnings.records) {
        try compare(record, beginning, bytesMax: Int(first))
    }
    guard records.continuationMarker == nil, counted.status == 200,
        let request = try? RecordsQueryRequest(json: body), request.continuationMarker == nil
    else { return }
    let count = try JSONValue(json: counted.body)
    try expect(
        count == .object(["count": .integer(Int64(records.records.count)), "isCapped": .bool(false)]),
        "\(records.records.count) records are counted as \(count)")
}

private func compare(_ whole: RecordResult, _ cut: RecordResult, bytesMax: Int) throws {
    guard case .record(let whole) = whole, case .record(let cut) = cut else {
        return try expect(whole == cut, "a record is answered as something else")
    }
    try expect(whole.fields.keys.sorted() == cut.fields.keys.sorted(), "fields are missing")
    for (name, field) in cut.fields {
        guard field.value != whole.fields[name]?.value else { continue }
        switch (field.value, whole.fields[name]?.value) {
        case (.string(let short)?, .string(let long)?):
            try expect(short.utf8.count <= bytesMax && Array(long.utf8).starts(with: short.utf8), "\(short) of \(long)")
        case (.bytes(let short)?, .bytes(let long)?):
            try expect(short.count == bytesMax && long.starts(with: short), "\(short) of \(long)")
        case (.list(let type, let short)?, .list(let whole, let long)?):
            try expect(type == whole && short.count <= long.count, "another list")
        default:
            throw FuzzFinding("\(name) became another value")
        }
    }
}
