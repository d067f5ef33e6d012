/// Records whose text is six times as long in JSON as on the disk, fetched ten times in a request, by fast readers and
/// by slow ones.
struct HugeAnswers: Attack {
    let name = "huge"
    private static let characters = 345_000

    func prepare(_ abuser: Abuser) throws {
        let text = String(repeating: #"\u0001"#, count: Self.characters)
        for number in 0..<abuser.size.largeRecords {
            let record =
                #""recordName":"big\#(number)","recordType":"Big","fields":{"t":{"value":"\#(text)"}}"#
            let operation = #"{"operationType":"forceUpdate","record":{\#(record)}}"#
            try abuser.save("records/modify", Abuser.modify([operation]), in: "public")
        }
    }

    func begin(_ abuser: Abuser) -> [Flood] {
        let query = #"{"query":{"recordType":"Big"},"resultsLimit":200}"#
        let body = #"{"batch":[\#(Array(repeating: query, count: 10).joined(separator: ","))]}"#
        func request(_ caller: Caller) -> [UInt8] {
            abuser.requests.database("internal/records/query/batch", body, from: caller, in: "public")
        }
        let (known, unknown) = (request(abuser.user), request(abuser.stranger))
        return [
            Flood(abuser, connections: 4) { known },
            Flood(abuser, connections: 4, pace: .reading(bytesPerSecond: 4096)) { known },
            Flood(abuser, connections: 4, pace: .reading(bytesPerSecond: 4096)) { unknown },
        ]
    }
}
