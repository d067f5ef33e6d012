import CloudWire

/// The body of `records/query`, asked of the service: an answer in Apple's words, and the same page by page.
@Sendable func fuzzQuery(_ bytes: [UInt8]) throws {
    let cloud = FuzzCloud.shared
    let response = try cloud.answer("records/query", bytes)
    guard response.status == 200, var request = try? RecordsQueryRequest(json: bytes) else { return }
    let first = try RecordsQueryResponse(json: response.body)
    guard request.continuationMarker == nil, first.continuationMarker == nil else { return }
    var names: [String] = []
    request.resultsLimit = 2
    for _ in 0..<100 {
        let page = try RecordsQueryResponse(
            json: try cloud.answer("records/query", try request.json(extras: true)).body)
        names += page.records.map(name)
        guard let marker = page.continuationMarker else {
            try expect(names == first.records.map(name), "pages tell \(names)")
            return
        }
        request.continuationMarker = marker
    }
    throw FuzzFinding("the pages don't end")
}

private func name(_ result: RecordResult) -> String {
    guard case .record(let record) = result else { return "\(result)" }
    return "\(record.zoneID?.zoneName ?? "") \(record.recordName ?? "")"
}
