import CloudKit
import CloudKitTesting
import CloudWire
import System
import TestSeed
import Testing
import Yap

@testable import YapCloudKit

/// Ready rules of models: of two devices that both change a list or a counter, neither loses.
@Suite struct ReadyRulesTests {
    typealias Device = CloudModelTests.Device

    struct Page: CloudModel, Equatable {
        var tags: [String] = []
        var readers: Set<String> = []
        var steps: [String] = []
        var visits = 0
        var small: Int8 = 0
        var minutes = 0.0

        static let recordType = "page"
        static let fields = CloudFields<Page> {
            $0.field(\.tags).mergedAsSet()
            $0.field(\.readers).mergedAsSet()
            $0.field(\.steps).mergedInOrder()
            $0.field(\.visits).summed()
            $0.field(\.small).summed()
            $0.field(\.minutes).summed()
        }
    }

    let cloud = TestCloud()

    private func device() throws -> Device {
        try Device(cloud, .model(Page.self, collection: "items")) {
            $0.register(Page.self, inCollection: "items")
        }
    }

    private func edit(_ device: Device, _ change: (inout Page) -> Void) throws {
        var page = try device.object(Page.self, "1") ?? Page()
        change(&page)
        try device.write { try $0.setObject(page, forKey: "1", inCollection: "items") }
    }

    /// What both devices have after each has changed the same page while it was offline.
    private func merged(
        _ begin: (inout Page) -> Void, _ here: (inout Page) -> Void, _ there: (inout Page) -> Void
    ) throws -> Page {
        let (phone, laptop) = (try device(), try device())
        try edit(phone, begin)
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
        try edit(phone, here)
        try edit(laptop, there)
        for device in [laptop, phone, laptop, phone] { device.sync.syncNowInline() }
        let page = try #require(try phone.object(Page.self, "1"))
        #expect(try laptop.object(Page.self, "1") == page)
        #expect(phone.sync.currentStatus.state == .idle && laptop.sync.currentStatus.state == .idle)
        return page
    }

    @Test func ofTwoDevicesThatEachAddAndRemoveATagBothCount() throws {
        let page = try merged(
            { $0.tags = ["old", "both"] }, { $0.tags = ["both", "phone"] },
            { $0.tags = ["old", "both", "laptop"] })
        #expect(Set(page.tags) == ["both", "phone", "laptop"])
        #expect(page.tags.count == 3)
    }

    @Test func aSetIsAFieldAndMergesAsOne() throws {
        let page = try merged(
            { $0.readers = ["ada", "ben"] }, { $0.readers = ["ada", "ben", "cleo"] },
            { $0.readers = ["ben", "dan"] })
        #expect(page.readers == ["ben", "cleo", "dan"])
    }

    @Test func theLastElementsThatTwoDevicesRemoveAreBothGone() throws {
        let page = try merged({ $0.tags = ["a", "b"] }, { $0.tags = ["a"] }, { $0.tags = ["b"] })
        #expect(page.tags.isEmpty)
    }

    @Test func aListThatTwoDevicesChangeKeepsItsOrder() throws {
        let page = try merged(
            { $0.steps = ["wash", "peel", "cook"] }, { $0.steps = ["wash", "peel", "cut", "cook"] },
            { $0.steps = ["buy", "wash", "cook", "eat"] })
        #expect(page.steps == ["buy", "wash", "cut", "cook", "eat"])
    }

    @Test func anElementThatBothDevicesAddStandsThereOnce() throws {
        let page = try merged(
            { $0.steps = ["wash"] }, { $0.steps = ["wash", "eat"] }, { $0.steps = ["wash", "eat"] })
        #expect(page.steps == ["wash", "eat"])
    }

    @Test func incrementsOfBothDevicesCount() throws {
        let page = try merged(
            {
                $0.visits = 10
                $0.minutes = 1
            },
            {
                $0.visits += 3
                $0.minutes += 0.5
            },
            {
                $0.visits -= 1
                $0.minutes += 2
            })
        #expect(page.visits == 12)
        #expect(page.minutes == 3.5)
    }

    @Test("166. two equal increments are two") func equalIncrementsOfBothDevicesCount() throws {
        let page = try merged(
            {
                $0.visits = 10
                $0.tags = ["old"]
            },
            {
                $0.visits += 1
                $0.minutes += 0.5
                $0.tags = ["new"]
            },
            {
                $0.visits += 1
                $0.minutes += 0.5
                $0.tags = ["new"]
            })
        #expect(page.visits == 12 && page.minutes == 1 && page.tags == ["new"])
    }

    @Test("166. also when the increment is sent before the other one is heard of")
    func anEqualIncrementThatMeetsAConflictCounts() throws {
        let (phone, laptop) = (try device(), try device())
        try edit(phone) { $0.visits = 10 }
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
        try edit(laptop) { $0.visits += 1 }
        laptop.sync.syncNowInline()
        try edit(phone) { $0.visits += 1 }
        let sent = cloud.requestCount(.modifyRecords)
        _ = phone.scheduler.run(stepsMax: 10_000)
        #expect(cloud.requestCount(.modifyRecords) == sent + 2, "the first met a conflict")
        for device in [phone, laptop] { #expect(device.sync.syncNowInline().state == .idle) }
        #expect(try phone.object(Page.self, "1")?.visits == 12)
        #expect(try laptop.object(Page.self, "1")?.visits == 12)
    }

    @Test("167. an increment with a lost response counts once, with any concurrent changes")
    func anIncrementWhoseAnswerWasLostCountsOnce() throws {
        let (phone, laptop) = (try device(), try device())
        try edit(phone) { $0.visits = 10 }
        phone.sync.syncNowInline()
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
        try edit(phone) { $0.visits += 1 }
        phone.sync.syncNowInline()
        cloud.networkFault = nil
        laptop.sync.syncNowInline()
        try edit(laptop) { $0.visits += 1 }
        laptop.sync.syncNowInline()
        phone.sync.networkMayBeBack()
        for device in [phone, laptop] { #expect(device.sync.syncNowInline().state == .idle) }
        #expect(try phone.object(Page.self, "1")?.visits == 12)
        #expect(try laptop.object(Page.self, "1")?.visits == 12)
    }

    @Test func aSumThatIsTooLargeEndsAtTheLargestNumber() throws {
        let page = try merged({ $0.small = 100 }, { $0.small = 127 }, { $0.small = 120 })
        #expect(page.small == 127)
        let negative = try merged({ $0.small = -100 }, { $0.small = -128 }, { $0.small = -120 })
        #expect(negative.small == -128)
    }

    /// Whatever two lists become of one, the merged list has what either added, and nothing that either removed.
    @Test func randomListsLoseNothing() {
        let random = SeededRandomSource(seed: TestSeed.value)
        let rule = OrderedRule()
        for _ in 0..<2_000 {
            let base = (0..<random.next(in: 0..<6)).map { "b\($0)" }
            func changed(_ mark: String) -> [String] {
                var list = base.filter { _ in random.next(in: 0..<4) > 0 }
                for number in 0..<random.next(in: 0..<4) {
                    list.insert("\(mark)\(number)", at: random.next(in: 0..<(list.count + 1)))
                }
                return list
            }
            let (local, remote) = (changed("l"), changed("r"))
            let kept = base.filter { local.contains($0) && remote.contains($0) }
            let wanted = Set(kept + (local + remote).filter { !base.contains($0) })
            let list = rule.merge(base, local, remote)
            #expect(
                Set(list) == wanted && list.count == wanted.count,
                "\(random.seed): \(base) \(local) \(remote)")
            #expect(
                list.filter { remote.contains($0) } == remote.filter { list.contains($0) }, "\(random.seed)")
        }
    }
}

/// The rule for ordered lists as a model has it.
private struct OrderedRule {
    struct Lists: CloudModel {
        var list: [String] = []
        static let recordType = "lists"
        static let fields = CloudFields<Lists> { $0.field(\.list).mergedInOrder() }
    }

    func merge(_ base: [String], _ local: [String], _ remote: [String]) -> [String] {
        func field(_ list: [String]) throws -> Field {
            try #require(try Lists.fields.fields(of: Lists(list: list))["list"])
        }
        do {
            let merged = try Lists.fields.entries[0].merge?(
                try field(base), try field(local), try field(remote))
            var model = Lists()
            Lists.fields.entries[0].write(&model, merged?.field, Lists())
            return model.list
        } catch {
            Issue.record(error)
            return []
        }
    }
}
