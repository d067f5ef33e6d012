import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import Testing

@Suite struct CounterTests {
    /// 32 clients read a number, add one and write it back under the tag that they read, each until it went through.
    @Test func thirtyTwoClientsWriteOneZoneAndNoUpdateIsLost() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteCloudStore(path: folder.file("store.sqlite"))
        try await withServer(store: store) { server in
            let owner = try RawDevice(port: server.port, token: "ada")
            try owner.makeZone("counters")
            let names = ["shared", "odd", "even"]
            let zeroes = names.map {
                RecordOperation(operationType: .create, record: RawDevice.record($0, 0))
            }
            #expect(try owner.modify(zeroes, zone: "counters").status == 200)
            let clientsCount = 32
            let roundsCount = 6
            try onThreads(clientsCount) { index in
                let device = try RawDevice(port: server.port, token: "ada", clientID: "client\(index)")
                for _ in 0..<roundsCount {
                    try increment("shared", device)
                    try increment(index.isMultiple(of: 2) ? "even" : "odd", device)
                }
            }
            let numbers = try owner.lookup(names, zone: "counters").map(number)
            #expect(numbers == [192, 96, 96])
        }
    }

    private func increment(_ name: String, _ device: RawDevice) throws {
        var known = try device.lookup([name], zone: "counters")
        for _ in 0..<10_000 {
            guard case .record(let record)? = known.first else { throw Failure("\(name) is gone") }
            let next = RawDevice.record(name, number(known[0]) + 1, tag: record.recordChangeTag)
            let response = try device.modify(
                [RecordOperation(operationType: .update, record: next)], zone: "counters")
            guard response.status == 200 else { throw Failure("\(response.status) \(response.text)") }
            switch try RecordsResponse(json: response.body).records.first {
            case .record: return
            case .error(let error):
                guard error.serverErrorCode == .conflict, let server = error.serverRecord else {
                    throw Failure("\(error)")
                }
                known = [.record(server)]
            default: throw Failure(response.text)
            }
        }
        throw Failure("no luck in 10,000 tries")
    }
}

private func number(_ result: RecordResult) -> Int64 {
    if case .record(let record) = result, case .int64(let number)? = record.fields["number"]?.value {
        number
    } else {
        -1
    }
}
