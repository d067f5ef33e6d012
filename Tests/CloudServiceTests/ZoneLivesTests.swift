import Testing

@testable import CloudService

@Suite struct ZoneLivesTests {
    @Test func anEarlierLifeIsKnownUpToTheLimitAndNoOther() {
        for first in [1, 2, .max, 0x0123_4567_89AB_CDEF] as [UInt64] {
            var epoch = first
            for _ in 1...ZoneLives.livesBehindMax {
                epoch = ZoneLives.epoch(after: epoch)
                #expect(epoch != FeedPosition.epochBeforeTheFirst)
                #expect(ZoneLives.isEarlier(first, than: epoch))
                #expect(!ZoneLives.isEarlier(epoch, than: first))
            }
            #expect(!ZoneLives.isEarlier(first, than: first))
            #expect(!ZoneLives.isEarlier(first, than: ZoneLives.epoch(after: epoch)), "one life too many")
        }
    }
}
