/// What keeps the writer busy for long: a large zone that is deleted and filled again, a record with as many words as
/// one may have, and more, and large records of which a little changes.
struct WriterHogs: Attack {
    let name = "writer"
    private static let zone = "large"
    /// As many as a request may change, of a megabyte each.
    private static let rewrittenCount = 2

    func prepare(_ abuser: Abuser) throws {
        try abuser.save("zones/modify", Abuser.zone(Self.zone, "create"))
        try abuser.fill(abuser.size.zoneRecords, zone: Self.zone, name: { "z\($0)" }) { number in
            #""recordType":"Large","fields":{"n":{"value":\#(number)}}"#
        }
        let text = String(repeating: "x", count: 1_000_000)
        for number in 0..<Self.rewrittenCount {
            try abuser.save(
                "records/modify", Abuser.modify([Self.rewriting(number, #""b":{"value":"\#(text)"}"#)]))
        }
    }

    /// Changes a field of a large record.
    private static func rewriting(_ number: Int, _ fields: String) -> String {
        let record =
            #""recordName":"rewritten\#(number)","recordType":"Rewritten","fields":{\#(fields)}"#
        return #"{"operationType":"forceUpdate","record":{\#(record)}}"#
    }

    func begin(_ abuser: Abuser) -> [Flood] {
        let requests = abuser.requests
        let deletion = requests.database("zones/modify", Abuser.zone(Self.zone, "delete"), from: abuser.user)
        let making = requests.database("zones/modify", Abuser.zone(Self.zone, "create"), from: abuser.user)
        let operation =
            #"{"operationType":"create","record":{"recordType":"Large","fields":{"n":{"value":1}}}}"#
        let filling = requests.database(
            "records/modify", Abuser.modify(Array(repeating: operation, count: 200), zone: Self.zone),
            from: abuser.user)
        let (within, beyond) = (Self.words(texts: 4, abuser), Self.words(texts: 140, abuser))
        let rewriting = requests.database(
            "records/modify",
            Abuser.modify((0..<Self.rewrittenCount).map { Self.rewriting($0, #""n":{"value":1}"#) }),
            from: abuser.user)
        var turn = -1
        var wordsTurn = 0
        return [
            Flood(abuser, connections: 1) {
                turn += 1
                return turn % 20 == 0 ? deletion : turn % 20 == 1 ? making : filling
            },
            Flood(abuser, connections: 2) {
                wordsTurn += 1
                return wordsTurn % 4 == 0 ? beyond : within
            },
            Flood(abuser, connections: 1) { rewriting },
        ]
    }

    /// One record with so many texts of a thousand words.
    private static func words(texts: Int, _ abuser: Abuser) -> [UInt8] {
        let fields = (0..<texts).map { text in
            let words = (0..<1_000).map { "w\(text * 1_000 + $0)" }.joined(separator: " ")
            return #""f\#(text)":{"value":"\#(words)"}"#
        }
        let record =
            #""recordName":"words","recordType":"Words","fields":{\#(fields.joined(separator: ","))}"#
        return abuser.requests.database(
            "records/modify", Abuser.modify([#"{"operationType":"forceUpdate","record":{\#(record)}}"#]),
            from: abuser.user)
    }
}
