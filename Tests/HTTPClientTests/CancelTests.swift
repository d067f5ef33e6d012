import Foundation
import HTTPClient
import System
import TestSeed
import Testing
import Waiting

@Suite struct CancelTests {
    @Test func aCancelledRequestEndsOnceAndAtOnce() async {
        let server = RawServer.silent()
        let client = HTTPClient.patient()
        let codes = WatchedValue<[HTTPClientError.Code?]>([])
        let transfer = client.send(HTTPClientRequest(patient: server.url)) { result in
            codes.change { $0.append(result.code) }
        }
        await server.hasConnections(1)
        transfer.cancel()
        transfer.cancel()
        await codes.becomes { !$0.isEmpty }
        client.stop()
        #expect(codes.value == [.cancelled])
    }

    @Test func aRequestThatWaitsForAPlaceCanBeCancelled() async {
        let server = RawServer.silent()
        let client = HTTPClient.patient(transfersMax: 1)
        let codes = WatchedValue<[String]>([])
        client.send(HTTPClientRequest(patient: server.url)) { _ in codes.change { $0.append("first") } }
        let second = client.send(HTTPClientRequest(patient: server.url)) { result in
            codes.change { $0.append(result.code == .cancelled ? "second cancelled" : "second") }
        }
        second.cancel()
        await codes.becomes { $0 == ["second cancelled"] }
        client.stop()
        #expect(codes.value == ["second cancelled", "first"])
    }

    @Test func cancellingWhatHasEndedDoesNothing() async {
        let server = RawServer.echo()
        let client = HTTPClient.patient()
        let transfer = Lock<HTTPTransfer?>(nil)
        let text = await withCheckedContinuation { continuation in
            transfer.withLock { transfer in
                transfer = client.send(HTTPClientRequest(patient: server.url + "/1")) {
                    continuation.resume(returning: $0.text)
                }
            }
        }
        #expect(text == "/1")
        transfer.withLock { $0 }?.cancel()
        #expect(await client.answer(server.url + "/2").text == "/2")
    }

    @Test func aStormOfCancelsEndsEachRequestExactlyOnce() async {
        let server = RawServer.echo()
        let client = HTTPClient.patient(transfersMax: 32)
        let requestsMax = 2_000
        let seed = TestSeed.value
        let random = SeededRandomSource(seed: seed)
        let ends = WatchedValue((each: [Int](repeating: 0, count: requestsMax), endedCount: 0))
        let wrong = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<requestsMax {
                let yields = random.next(in: 0..<20)
                group.addTask {
                    let transfer = client.send(HTTPClientRequest(patient: "\(server.url)/\(number)")) {
                        result in
                        ends.change { ends in
                            ends.each[number] += 1
                            if ends.each[number] == 1 { ends.endedCount += 1 }
                        }
                        if result.code != .cancelled, result.text != "/\(number)" {
                            wrong.withLock { $0 += 1 }
                        }
                    }
                    for _ in 0..<yields { await Task.yield() }
                    transfer.cancel()
                }
            }
        }
        await ends.becomes { $0.endedCount == requestsMax }
        client.stop()
        #expect(ends.value.each.allSatisfy { $0 == 1 }, "seed \(seed)")
        #expect(wrong.withLock { $0 } == 0, "seed \(seed)")
    }

    @Test func stopEndsWhatIsUnderWayAndTheThread() async {
        let server = RawServer.silent()
        let client = HTTPClient.patient()
        let codes = Lock<[HTTPClientError.Code?]>([])
        for _ in 0..<5 {
            client.send(HTTPClientRequest(patient: server.url)) { result in
                codes.withLock { $0.append(result.code) }
            }
        }
        await server.hasConnections(5)
        client.stop()
        #expect(codes.withLock { $0 } == Array(repeating: .stopped, count: 5))
        #expect(await client.answer(server.url).code == .stopped)
        client.stop()
    }

    @Test func aReleasedClientEndsItsRequests() async {
        let server = RawServer.silent()
        let codes = Lock<[HTTPClientError.Code?]>([])
        do {
            let client = HTTPClient.patient()
            client.send(HTTPClientRequest(patient: server.url)) { result in
                codes.withLock { $0.append(result.code) }
            }
        }
        #expect(codes.withLock { $0 } == [.stopped])
    }

    @Test func theLastHolderMayBeACompletion() async {
        let server = RawServer.echo()
        let holder = Lock<HTTPClient?>(HTTPClient.patient())
        let text = await withCheckedContinuation { continuation in
            holder.withLock { $0 }?.send(HTTPClientRequest(patient: server.url + "/x")) { result in
                holder.withLock { $0 = nil }
                continuation.resume(returning: result.text)
            }
        }
        #expect(text == "/x")
    }
}
