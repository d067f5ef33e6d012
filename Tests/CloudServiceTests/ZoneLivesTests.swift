import Testing

@testable import CloudService

@Suite struct ZoneLivesTests {
    @Test func anEarlierLifeIsKnownUpToTheLimitAndNoOther() {
        for first in [1, 2, .max, 0x0123_4567_89AB_CDEF] as [UInt64] {
            var epoch = first
            for _ in 1...ZoneEpochs.livesBehindMax {
                epoch = ZoneEpochs.epoch(after: epoch)
                #expect(epoch != FeedPosition.epochBeforeTheFirst)
                #expect(ZoneEpochs.isEarlier(first, than: epoch))
                #expect(!ZoneEpochs.isEarlier(epoch, than: first))
            }
            #expect(!ZoneEpochs.isEarlier(first, than: first))
            #expect(!ZoneEpochs.isEarlier(first, than: ZoneEpochs.epoch(after: epoch)), "one life too many")
        }
    }
}
