import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import Testing

@testable import CloudService

/// The rows of a deleted zone go in steps. Until they are gone they lie on the disk.
@Suite struct ClearedQuotaTests {
    private let folder: TemporaryFolder
    private let path: String
    private static let bytesMax: Int64 = 4 << 20

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
    }

    private func service(clearedZonesMax: Int = 1_000) throws -> TestService {
        var limits = ServiceLimits()
        limits.assets.privateBytesMax = Self.bytesMax
        limits.clearing.zonesMax = clearedZonesMax
        return TestService(store: try SQLiteCloudStore(path: path), limits: limits)
    }

    /// Saves until something is refused.
    private func fill(_ service: TestService) throws -> ServerErrorCode {
        let text = Field(.bytes([UInt8](repeating: 7, count: 200_000)))
        for number in 0..<100 {
            do {
                let result = try service.modify([operation(.create, "r\(number)", ["text": text])])
                if case .error(let error) = result[0] { return error.serverErrorCode }
            } catch let error as WireError {
                return error.serverErrorCode
            }
        }
        Issue.record("nothing was refused")
        return .internalError
    }

    private func cleared(_ service: TestService) throws -> StoredSize? {
        let key = UsageKey(scope: .privateDatabase, user: "_ada")
        var wanted = StoreLoad()
        wanted.clearedOf = [key]
        return try service.service.store.read { try $0.load(wanted).cleared[key] }
    }

    @Test func aFullQuotaCanBeFilledAgainAtOnceWhenItsZoneIsDeleted() throws {
        let service = try service()
        try service.zones(.create)
        #expect(try fill(service) == .quotaExceeded)
        try service.zones(.delete)
        try service.zones(.create)
        #expect(try fill(service) == .quotaExceeded)
    }

    @Test func whoDeletesAndFillsZonesFasterThanTheirRowsGoHasTwiceTheQuotaOnTheDiskAtMost() throws {
        let service = try service()
        var codes: [ServerErrorCode] = []
        for _ in 0..<8 {
            try service.zones(.create)
            codes.append(try fill(service))
            try service.zones(.delete)
        }
        #expect(codes.prefix(2) == [.quotaExceeded, .quotaExceeded])
        #expect(codes.dropFirst(2).allSatisfy { $0 == .tryAgainLater })
        let pages = try Connection(path: path).withStatement("PRAGMA page_count") {
            try $0.step() ? $0.int64(at: 0) : .max
        }
        #expect(pages * 4_096 < 2 * Self.bytesMax * 5 / 4, "\(pages) pages")
        // What only makes room isn't kept waiting, nor is anybody else.
        try service.zones(.create)
        #expect(try service.modify([operation(.forceDelete, "none", type: nil)]).summaries == ["deleted"])
        try service.zones(.create, token: "bob")
        #expect(try service.modify([operation(.create, "his")], token: "bob").summaries == ["saved"])
        while try service.service.keepUp() {}
        #expect(try cleared(service) == StoredSize())
        #expect(try fill(service) == .quotaExceeded)
    }

    /// Each save counts them.
    @Test func whoHasManyDeletedZonesOnTheDiskWaitsHoweverSmallTheyAre() throws {
        let service = try service(clearedZonesMax: 3)
        for _ in 0..<3 {
            try service.zones(.create)
            #expect(try service.modify([operation(.create, "a")]).summaries == ["saved"])
            try service.zones(.delete)
        }
        try service.zones(.create)
        let refused = #expect(throws: WireError.self) { try service.modify([operation(.create, "a")]) }
        #expect(refused?.serverErrorCode == .tryAgainLater)
        #expect(try cleared(service)?.zones == 3)
        while try service.service.keepUp() {}
        #expect(try service.modify([operation(.create, "a")]).summaries == ["saved"])
    }
}
