import Foundation
import System
import Testing

@testable import YapCloudKit

/// Each stream of statuses ends with the newest one, whoever reports and whenever the stream begins.
@Suite struct StatusStreamsTests {
    private let streams = StatusStreams(valuesMax: 1_000_000)

    private func status(_ count: Int) -> CloudSyncStatus { CloudSyncStatus(pendingCount: count) }

    private func counts(_ stream: AsyncStream<CloudSyncStatus>) async -> [Int] {
        var found: [Int] = []
        for await status in stream { found.append(status.pendingCount) }
        return found
    }

    @Test func aStreamThatBeginsBetweenAChangeAndItsReportTakesTheStatusFromNoOther() async {
        let first = streams.stream { status(1) }
        let second = streams.stream { status(2) }
        streams.report { status(2) }
        streams.report { status(3) }
        streams.finish(start: 0)
        #expect(await counts(first) == [1, 2, 3])
        #expect(await counts(second) == [2, 3])
    }

    @Test func aStreamThatBeginsMeanwhileTakesTheWayBackFromNoOther() async {
        let first = streams.stream { status(1) }
        let second = streams.stream { status(2) }
        // The status was changed back before anybody reported it.
        streams.report { status(1) }
        streams.finish(start: 0)
        #expect(await counts(first) == [1])
        #expect(await counts(second) == [2, 1])
    }

    /// Two threads change the status, and report it after each change.
    @Test func whicheverThreadReportsLastTheStreamsEndWithTheNewestStatus() async {
        for _ in 0..<20 {
            let streams = StatusStreams(valuesMax: 1_000_000)
            let current = Lock(0)
            @Sendable func read() -> CloudSyncStatus {
                CloudSyncStatus(pendingCount: current.withLock { $0 })
            }
            let begun = Lock([streams.stream(read)])
            let changes = 200
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for change in 0..<changes {
                    current.withLock { $0 += 1 }
                    streams.report(read)
                    guard change % 50 == thread else { continue }
                    let stream = streams.stream(read)
                    begun.withLock { $0.append(stream) }
                }
            }
            streams.finish(start: 0)
            let all = begun.withLock { $0 }
            #expect(all.count == 17)
            for stream in all {
                let counts = await counts(stream)
                #expect(counts.last == 4 * changes)
                #expect(counts == counts.sorted() && Set(counts).count == counts.count)
            }
        }
    }
}
