/// Bodies full of keys that nobody knows, small ones that take much memory, while the writer has work.
struct UnknownKeys: Attack {
    let name = "unknown"

    func begin(_ abuser: Abuser) -> [Flood] {
        let junk = Array(repeating: #"{"":0}"#, count: 285_000).joined(separator: ",")
        let record = #""recordType":"Small","fields":{"n":{"value":1}},"junk":[\#(junk)]"#
        let large = abuser.requests.database(
            "records/modify", Abuser.modify([#"{"operationType":"create","record":{\#(record)}}"#]),
            from: abuser.user)
        let operation =
            #"{"operationType":"create","record":{"recordType":"Small","fields":{"n":{"value":1}}}}"#
        let small = abuser.requests.database(
            "records/modify", Abuser.modify(Array(repeating: operation, count: 200)), from: abuser.user)
        return [
            Flood(abuser, connections: 8) { small },
            Flood(abuser, connections: 40) { large },
        ]
    }
}
