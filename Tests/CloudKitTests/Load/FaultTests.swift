import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import TestSeed
import Testing

/// Servers that answer slowly, half, with garbage, or not at all. Nothing hangs, and each operation ends once.
@Suite struct FaultTests {
    private static let json =
        #"{"records":[{"recordName":"1","recordType":"todo","recordChangeTag":"a","fields":{}}]}"#

    private func save(_ name: String, _ ends: Ends, seconds: Double = 60) -> CKModifyRecordsOperation {
        let operation = ends.save(name)
        operation.configuration.timeoutIntervalForRequest = seconds
        return operation
    }

    @Test(arguments: [false, true])
    func anAnswerThatEndsAtAnyByteIsAnErrorOfTheNetworkAndEndsTheOperationOnce(isInPieces: Bool) async throws
    {
        let whole = isInPieces ? RawAnswers.chunked(Self.json) : RawAnswers.http("200 OK", Self.json)
        let server = try RawAnswers { .bytes(Array(whole.prefix($0))) }
        let database = databaseOverHTTP(server.url)
        for count in 0...whole.count {
            let ends = Ends()
            database.add(save("1", ends))
            await ends.wait()
            let code = ends.codes[0]
            // Of an answer in pieces, only the empty line after the last is missing.
            let isWhole = count == whole.count || (isInPieces && count > whole.count - 2)
            if isWhole {
                #expect(code == nil)
            } else if count == 0 {
                #expect(code == .networkFailure)
            } else {
                #expect(
                    [.networkFailure, .serverResponseLost].contains(code),
                    "\(count) bytes: \(String(describing: code))")
            }
        }
        #expect(server.requestCount == whole.count + 1)
    }

    @Test func anAnswerThatHasBegunIsLostAndNotOnlyTheNetworksFailure() async throws {
        let whole = RawAnswers.http("200 OK", Self.json)
        let server = try RawAnswers { _ in .bytes(Array(whole.dropLast())) }
        let ends = Ends()
        databaseOverHTTP(server.url).add(save("1", ends))
        await ends.wait()
        #expect(ends.codes == [.serverResponseLost])
    }

    @Test func aServerThatSaysNothingOrTooSlowlyIsGivenUpInTime() async throws {
        let whole = RawAnswers.http("200 OK", Self.json)
        for answer in [RawAnswers.Answer.nothing, .slowly(whole, pauseMilliseconds: 1_000)] {
            let server = try RawAnswers { _ in answer }
            let database = databaseOverHTTP(server.url)
            let ends = Ends()
            for number in 0..<20 {
                let operation = save("\(number)", ends, seconds: number.isMultiple(of: 2) ? 0.2 : 3_600)
                if !number.isMultiple(of: 2) { operation.configuration.timeoutIntervalForResource = 0.4 }
                database.add(operation)
            }
            await ends.wait()
            #expect(
                ends.codes.allSatisfy { $0 == .networkFailure || $0 == .serverResponseLost }, "\(ends.codes)")
        }
    }

    @Test func aServerThatIsSlowButInTimeIsWaitedFor() async throws {
        let whole = RawAnswers.http("200 OK", Self.json)
        let server = try RawAnswers { _ in .slowly(whole, pauseMilliseconds: 1) }
        let database = databaseOverHTTP(server.url)
        let ends = Ends()
        for _ in 0..<10 { database.add(save("1", ends)) }
        await ends.wait()
        #expect(ends.codes.allSatisfy { $0 == nil })
    }

    @Test func timeoutIntervalForRequestCountsTheSilenceAndForResourceTheWhole() async throws {
        let whole = RawAnswers.http("200 OK", Self.json)
        let slow = try RawAnswers { _ in .slowly(whole, pauseMilliseconds: 15) }
        // About 2 seconds in all, and never 1.5 without a byte.
        let patient = Ends()
        databaseOverHTTP(slow.url).add(save("1", patient, seconds: 1.5))
        await patient.wait()
        #expect(patient.codes == [nil])
        let hurried = Ends()
        let operation = save("1", hurried, seconds: 60)
        operation.configuration.timeoutIntervalForResource = 0.3
        databaseOverHTTP(slow.url).add(operation)
        await hurried.wait()
        #expect(hurried.codes == [.networkFailure])
    }

    @Test func garbageIsAnErrorAndNoCrash() async throws {
        let seed = TestSeed.value
        print("seed of the garbage:", seed)
        let random = SeededRandomSource(seed: seed)
        let whole = RawAnswers.http("200 OK", Self.json)
        let body = Array(Self.json.utf8)
        // Noise instead of an answer; noise for a body; the right answer with a few other bytes, or a few less.
        let answers: [[UInt8]] = (0..<400).map { number in
            switch number % 4 {
            case 0: return (0..<random.next(in: 1..<200)).map { _ in UInt8(random.next(in: 0..<256)) }
            case 1:
                let noise = (0..<random.next(in: 1..<200)).map { _ in UInt8(random.next(in: 0..<256)) }
                return Array("HTTP/1.1 200 OK\r\nContent-Length: \(noise.count)\r\n\r\n".utf8) + noise
            case 2:
                var changed = body
                for _ in 0..<random.next(in: 1..<4) {
                    changed[random.next(in: 0..<changed.count)] = UInt8(random.next(in: 0..<256))
                }
                return Array("HTTP/1.1 200 OK\r\nContent-Length: \(changed.count)\r\n\r\n".utf8) + changed
            default:
                var changed = whole
                changed[random.next(in: 0..<changed.count)] = UInt8(random.next(in: 0..<256))
                return changed
            }
        }
        let server = try RawAnswers { .bytes(answers[$0]) }
        let database = databaseOverHTTP(server.url)
        var failed = 0
        for _ in answers {
            let ends = Ends()
            database.add(save("1", ends, seconds: 5))
            await ends.wait()
            if ends.codes[0] != nil { failed += 1 }
        }
        #expect(failed >= answers.count / 4)
    }

    @Test func aBusyServerGetsOneRequestAndEveryOperationItsRetryTime() async throws {
        let busy = RawAnswers.http("503 Service Unavailable", "<html>", headers: "Retry-After: 30\r\n")
        let server = try RawAnswers { _ in .bytes(busy) }
        let database = databaseOverHTTP(server.url)
        let first = Ends()
        database.add(save("1", first))
        await first.wait()
        #expect(first.codes == [.serviceUnavailable] && first.retryAfters == [30])
        let ends = Ends()
        for number in 0..<200 { database.add(save("\(number)", ends)) }
        await ends.wait()
        #expect(ends.codes.allSatisfy { $0 == .requestRateLimited } && server.requestCount == 1)
        #expect(ends.retryAfters.allSatisfy { ($0 ?? 0) > 0 && ($0 ?? 31) <= 30 })
    }

    @Test func whatIsCancelledAtAnyMomentEndsOnce() async throws {
        let whole = RawAnswers.http("200 OK", Self.json)
        let server = try RawAnswers { number in
            number.isMultiple(of: 3) ? .nothing : .slowly(whole, pauseMilliseconds: number % 2)
        }
        let database = databaseOverHTTP(server.url)
        let ends = Ends()
        let operations = (0..<200).map { number in save("\(number)", ends, seconds: 3_600) }
        await withTaskGroup(of: Void.self) { group in
            for start in 0..<16 {
                group.addTask {
                    for index in stride(from: start, to: operations.count, by: 16) {
                        if index % 5 == 0 { operations[index].cancel() }
                        database.add(operations[index])
                        if index % 5 == 1 { operations[index].cancel() }
                    }
                }
            }
        }
        // By then some have been answered, some are under way and some wait.
        for operation in operations { operation.cancel() }
        await ends.wait()
        #expect(ends.codes.allSatisfy { $0 == nil || $0 == .operationCancelled }, "\(ends.codes)")
        #expect(operations.allSatisfy { $0.isFinished && !$0.isExecuting })
    }
}
