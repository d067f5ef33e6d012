/// As many large writes at a time as there are connections, by a client that isn't ours.
struct ParallelWrites: Attack {
    let name = "parallel"

    func begin(_ abuser: Abuser) -> [Flood] {
        var user = abuser.user
        user.isOurs = false
        // Without names, which the server then makes: the same bytes make others each time.
        let operation =
            #"{"operationType":"create","record":{"recordType":"Small","fields":{"n":{"value":1}}}}"#
        let request = abuser.requests.database(
            "records/modify", Abuser.modify(Array(repeating: operation, count: 200)), from: user)
        return [Flood(abuser, connections: abuser.size.parallelWrites) { request }]
    }
}
