import CloudService
import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// What an operator can choose where Apple's documents leave a choice.
@Suite struct SettingsTests {
    private func cloud(_ change: (inout ServiceSettings) -> Void) -> TestService {
        var settings = ServiceSettings()
        change(&settings)
        let clock = ManualTimeSource()
        let service = CloudService(
            store: MemoryCloudStore(), clock: clock, random: SeededRandomSource(seed: 1),
            container: TestService.container, users: ["ada": TestService.ada], settings: settings)
        return TestService(service: service, clock: clock)
    }

    private let batch = #"""
        {"operations":[{"operationType":"create","record":{"recordName":"a","recordType":"todo"}},
        {"operationType":"update","record":{"recordName":"b","recordType":"todo","recordChangeTag":"x"}}],
        "zoneID":{"zoneName":"todos"}}
        """#

    @Test func aFailedAtomicBatchCanBeAnErrorAsAWhole() throws {
        let cloud = cloud { $0.atomicFailureIsError = true }
        try cloud.zones(.create)
        let plain = cloud.service.respond(
            to: cloud.request("records/modify", Array(batch.utf8), extras: false))
        let error = try WireError(json: plain.body)
        #expect(plain.status == 400 && error.serverErrorCode == .atomicError)
        #expect(error.reason?.contains("b: NOT_FOUND") == true)
        // Our own clients always get an error for each operation.
        let ours = cloud.service.respond(to: cloud.request("records/modify", Array(batch.utf8)))
        #expect(ours.status == 200)
        #expect(try cloud.lookup(["a"]).summaries == ["NOT_FOUND"])
        let alone = try cloud.modify(
            [operation(.update, "b", tag: "x"), operation(.create, "c")], atomic: false)
        #expect(alone.summaries == ["NOT_FOUND", "saved"])
    }

    @Test func aBatchThatDoesNotSayCanBeEachForItself() throws {
        let usual = cloud { _ in }
        try usual.zones(.create)
        #expect(
            try usual.modify([operation(.create, "a"), operation(.update, "b", tag: "x")]).summaries
                == ["ATOMIC_ERROR", "NOT_FOUND"])
        let cloud = cloud { $0.atomicDefault = .never }
        try cloud.zones(.create)
        #expect(
            try cloud.modify([operation(.create, "a"), operation(.update, "b", tag: "x")]).summaries
                == ["saved", "NOT_FOUND"])
        #expect(
            try cloud.modify([operation(.create, "c"), operation(.update, "b", tag: "x")], atomic: true)
                .summaries
                == ["ATOMIC_ERROR", "NOT_FOUND"])
    }

    @Test func aZoneThatIsThereCanBeAnError() throws {
        let cloud = cloud { $0.existingZone = .error }
        let zone = ZoneOperation(operationType: .create, zone: WireZone(zoneID: TestService.zone))
        func create(extras: Bool) throws -> [ZoneResult] {
            try cloud.ask(
                "zones/modify", ZonesModifyRequest(operations: [zone]), as: ZonesModifyResponse.self,
                extras: extras
            ).zones
        }
        guard case .zone = try create(extras: false)[0],
            case .error(let error) = try create(extras: false)[0],
            case .zone = try create(extras: true)[0]
        else {
            Issue.record("the second creation is no error, or ours is one")
            return
        }
        #expect(error.serverErrorCode == .exists && error.zoneID == TestService.zone)
    }

    @Test func thePublicDatabaseCanHaveAppleFrameworksNumberInAPush() throws {
        func payload(_ number: Int64) -> PushPayload {
            var cause = PushCause(kind: .query, database: .public, subscriptionID: "s")
            cause.databaseNumber = number
            return PushPayload(ck: PushCloudPart(cause: cause))
        }
        var settings = ServiceSettings()
        #expect(settings.numbered(payload(0)) == payload(0))
        settings.databaseNumbers = .publicIs1
        #expect(settings.numbered(payload(0)) == payload(1))
        #expect(settings.numbered(payload(2)) == payload(2))
    }

    @Test func aDeleteCanBeMadeToNameItsTag() throws {
        let cloud = cloud { $0.deletesNeedTag = true }
        try cloud.zones(.create)
        let saved = try #require(try cloud.modify([operation(.create, "a")])[0].record)
        #expect(try cloud.modify([operation(.delete, "a")]).summaries == ["BAD_REQUEST"])
        #expect(
            try cloud.modify([operation(.delete, "a", tag: saved.recordChangeTag)]).summaries == ["deleted"])
    }
}
