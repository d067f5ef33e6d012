/// Searches that no index narrows down, in strangers' batches.
struct ReaderHogs: Attack {
    let name = "readers"

    func prepare(_ abuser: Abuser) throws {
        try abuser.fill(abuser.size.queriedRecords, in: "public", name: { "hog\($0)" }) { number in
            #""recordType":"Hog","fields":{"f0":{"value":"a\#(number)"},"f1":{"value":"b\#(number * 7919 % 9973)"}}"#
        }
    }

    func begin(_ abuser: Abuser) -> [Flood] {
        // Fifteen pairs of filters and an order: as much as a query may have.
        let filters = (0..<15).flatMap { number in
            ["NOT_EQUALS", "NOT_BEGINS_WITH"].map {
                #"{"comparator":"\#($0)","fieldName":"f0","fieldValue":{"value":"x\#(number)"}}"#
            }
        }
        let query =
            #"{"recordType":"Hog","filterBy":[\#(filters.joined(separator: ","))],"sortBy":[{"fieldName":"f1"}]}"#
        let queries = Array(repeating: #"{"query":\#(query)}"#, count: 10).joined(separator: ",")
        let request = abuser.requests.database(
            "internal/records/query/batch", #"{"batch":[\#(queries)]}"#, from: abuser.stranger, in: "public")
        return [Flood(abuser, connections: 16) { request }]
    }
}
