import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// Files without a server: what a receipt is good for, who may fetch, what is collected, and the quota.
@Suite struct AssetServiceTests {
    let files: MemoryAssetStore
    let service: TestService

    init() throws {
        service = TestService()
        files = try #require(service.service.transfers.tickets.files as? MemoryAssetStore)
        try service.zones(.create)
    }

    private func ticket(_ url: String) throws -> String {
        String(try #require(url.split(separator: "?t=").last))
    }

    private func token(
        _ name: String? = "a", type: String? = "item", zone: ZoneID? = TestService.zone,
        database: String = "private",
        user: String = "ada"
    ) throws -> AssetsUploadResponse.Token {
        let request = AssetsUploadRequest(
            tokens: [.init(fieldName: "photo", recordType: type, recordName: name)], zoneID: zone)
        return try #require(
            try service.ask(
                "assets/upload", request, as: AssetsUploadResponse.self, database: database, token: user
            )
            .tokens.first)
    }

    private func begin(_ name: String) throws -> AssetUpload {
        try service.service.beginUpload(ticket: ticket(token(name).url))
    }

    private func send(_ bytes: [UInt8], to url: String) throws -> Asset {
        let upload = try service.service.beginUpload(ticket: ticket(url))
        try upload.write(bytes)
        return try upload.finish().singleFile
    }

    private func upload(
        _ bytes: [UInt8] = [1, 2, 3], _ name: String? = "a", type: String? = "item",
        zone: ZoneID? = TestService.zone,
        database: String = "private", user: String = "ada"
    ) throws -> Asset {
        try send(bytes, to: token(name, type: type, zone: zone, database: database, user: user).url)
    }

    private func save(
        _ asset: Asset, _ name: String = "a", type: String = "item", field: String = "photo",
        zone: ZoneID? = TestService.zone, database: String = "private", user: String = "ada"
    ) throws -> RecordResult {
        try service.modify(
            [operation(.forceUpdate, name, type: type, [field: Field(.asset(asset))])], zone: zone,
            atomic: false,
            database: database, token: user)[0]
    }

    private func told(_ result: RecordResult, field: String = "photo") throws -> Asset {
        guard case .asset(let asset) = result.record?.fields[field]?.value else {
            throw try #require(result.error)
        }
        return asset
    }

    private func fetch(_ asset: Asset) throws -> [UInt8] {
        let url = try #require(asset.downloadURL)
        let parts = url.split(separator: "/")
        let file = try service.service.openAsset(
            checksum: String(parts[parts.count - 2]), ticket: ticket(url))
        return try file.read(at: 0, bytesMax: 1 << 20)
    }

    @Test func aNamedWriteThatIsRepeatedWithAnotherUploadOfItsFileIsDoneOnce() throws {
        func save(_ asset: Asset) throws -> WireResponse {
            let create = operation(.create, "a", type: "item", ["photo": Field(.asset(asset))])
            let message = RecordsModifyRequest(operations: [create], zoneID: TestService.zone)
            var request = service.request("records/modify", try message.json(extras: true))
            request.headers.append((WireHeader.operation, "op"))
            return service.service.respond(to: request)
        }
        let first = try upload()
        let answer = try save(first)
        #expect(answer.status == 200)
        service.clock.advance(bySeconds: 60)
        let second = try upload()
        #expect(first.receipt != second.receipt && first.fileChecksum == second.fileChecksum)
        #expect(try save(second).body == answer.body)
        #expect(try service.changes().records.count == 1)
        let other = try save(try upload([4]))
        #expect(other.status == 400, "another file is another write")
    }

    @Test func aReceiptIsGoodForItsRecordItsFieldAndItsUserAlone() throws {
        let receipt = try upload()
        let other = ZoneID(zoneName: "other")
        try service.zones(.create, [other])
        try service.zones(.create, token: "bob")
        let refused = [
            try save(receipt, "b"), try save(receipt, type: "other"), try save(receipt, field: "other"),
            try save(receipt, zone: other), try save(receipt, user: "bob"),
            try save(receipt, zone: nil, database: "public"),
        ]
        #expect(refused.map(\.summary) == Array(repeating: "BAD_REQUEST", count: refused.count))
        #expect(refused.allSatisfy { $0.error?.reason?.contains("field '") ?? false })
        #expect(try fetch(told(save(receipt))) == [1, 2, 3])
        // It may be used again as long as it lasts, as a repeated save does.
        #expect(try fetch(told(save(receipt))) == [1, 2, 3])
        // Without a name in the upload, the record may have any.
        let free = try token(nil, type: nil)
        #expect(!free.recordName.isEmpty)
        #expect(try fetch(told(save(send([4], to: free.url), "any", type: "whatever"))) == [4])
    }

    @Test func noSaveTakesAFileWithoutAReceipt() throws {
        let receipt = try upload()
        var forged: [Asset] = []
        for place in [0, 10, 50] {
            var text = Array(try #require(receipt.receipt).utf8)
            text[place] = text[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            var asset = receipt
            asset.receipt = String(decoding: text, as: UTF8.self)
            forged.append(asset)
        }
        var without = receipt
        without.receipt = nil
        var otherSize = receipt
        otherSize.size = 4
        var otherSum = receipt
        otherSum.fileChecksum = "AQ=="
        let use = try #require(files.files(after: nil, filesMax: 1).first)
        // The stored form, which nobody outside may send.
        let stored = StoredAsset(digest: use.digest, bytes: use.bytes).kept
        var address = receipt
        address.receipt = try ticket(token().url)
        for asset in forged + [without, otherSize, otherSum, stored, address] {
            #expect(try save(asset).summary == "BAD_REQUEST")
        }
        _ = try told(save(receipt))
        // The record has it now: what was fetched is sent back, in the same field, and by whoever may write there.
        #expect(try fetch(told(save(without))) == [1, 2, 3])
        #expect(try save(without, "b").summary == "BAD_REQUEST")
        #expect(try save(without, field: "other").summary == "BAD_REQUEST")
        let list = Field(.list(.assetList, [.asset(without)]))
        #expect(
            try service.modify([operation(.forceUpdate, "a", type: "item", ["list": list])], atomic: false)
                .summaries
                == ["BAD_REQUEST"])
    }

    @Test func filesComeInLists() throws {
        let both = try [upload([1]), upload([2])]
        let list = Field(.list(.assetList, both.map { .asset($0) }))
        let saved = try service.modify([operation(.create, "a", type: "item", ["photo": list])])
        guard case .list(_, let elements) = saved[0].record?.fields["photo"]?.value else {
            throw try #require(saved[0].error)
        }
        let told = elements.compactMap { if case .asset(let asset) = $0 { asset } else { nil } }
        #expect(try told.map { try fetch($0) } == [[1], [2]])
        #expect(told.allSatisfy { $0.receipt == nil })
    }

    @Test func addressesAndReceiptsExpire() throws {
        let url = try token().url
        let early = try send([1, 2, 3], to: url)
        service.clock.advance(bySeconds: 15 * 60 - 1)
        let receipt = try send([1, 2, 3], to: url)
        service.clock.advance(bySeconds: 1)
        #expect(throws: WireError.self) { try send([1, 2, 3], to: url) }
        service.clock.advance(bySeconds: 86_400 - 2)
        #expect(try save(early).summary == "BAD_REQUEST")
        let told = try told(save(receipt))
        #expect(try fetch(told) == [1, 2, 3])
        service.clock.advance(bySeconds: 4 * 3_600 - 1)
        #expect(try fetch(told) == [1, 2, 3])
        service.clock.advance(bySeconds: 3_601)
        #expect(throws: WireError.self) { try fetch(told) }
    }

    @Test func anAddressLeadsToAFileOnlyWhileARecordOfThatDatabaseHoldsIt() throws {
        let told = try told(save(upload()))
        try service.zones(.create, token: "bob")
        let bobs = try self.told(save(upload(user: "bob"), user: "bob"))
        #expect(bobs.downloadURL != told.downloadURL)
        #expect(try fetch(told) == [1, 2, 3])
        try service.modify([operation(.forceDelete, "a", type: nil)])
        #expect(throws: WireError.self, "Bob's record holds the same bytes, and that is nobody's business") {
            try fetch(told)
        }
        #expect(try fetch(bobs) == [1, 2, 3])
        #expect(throws: WireError.self) {
            try service.service.openAsset(checksum: "AAAA", ticket: ticket(#require(bobs.downloadURL)))
        }
    }

    @Test func aFileIsGivenToAnotherRecordWithoutBeingSentAgain() throws {
        _ = try told(save(upload()))
        let request = AssetsRereferenceRequest(
            assets: [
                .init(recordName: "a", fieldName: "photo"), .init(recordName: "a", fieldName: "none"),
                .init(recordName: "none", fieldName: "photo"),
            ], zoneID: TestService.zone)
        let results = try service.ask("assets/rereference", request, as: AssetsRereferenceResponse.self)
            .assets
        guard case .asset(let asset) = results[0], case .error(let noField) = results[1],
            case .error(let noRecord) = results[2]
        else { throw try #require(nil as WireError?, "\(results)") }
        #expect(noField.serverErrorCode == .badRequest && noRecord.serverErrorCode == .notFound)
        #expect(noRecord.recordName == "none")
        #expect(try fetch(told(save(asset, "b"))) == [1, 2, 3])
        // Nobody else's.
        try service.zones(.create, token: "bob")
        let bobs = try service.ask(
            "assets/rereference", request, as: AssetsRereferenceResponse.self, token: "bob"
        ).assets
        #expect(bobs.allSatisfy { if case .error = $0 { true } else { false } })
        #expect(try save(asset, "b", user: "bob").summary == "BAD_REQUEST")
    }

    @Test func unusedFilesAreCollectedOnceTheirReceiptHasExpired() throws {
        let limits = ServiceLimits().assets
        let kept = try upload([1])
        _ = try told(save(kept))
        _ = try upload([2])
        let deleted = try upload([3], "gone")
        _ = try told(save(deleted, "gone"))
        let renewed = try upload([4], "renewed")
        _ = try told(save(renewed, "renewed"))
        try service.modify([operation(.forceDelete, "gone", type: nil)])
        func sizes() -> [Int64] { files.files(after: nil, filesMax: 10).map(\.bytes) }
        service.clock.advance(
            bySeconds: Double(limits.receiptMilliseconds + limits.unusedMilliseconds) / 1_000)
        while try service.service.collectUnusedFiles() {}
        #expect(sizes().count == 4, "a moment too early")
        service.clock.advance(bySeconds: 1)
        // A new receipt keeps the file, also when its record goes.
        _ = try service.ask(
            "assets/rereference",
            AssetsRereferenceRequest(
                assets: [.init(recordName: "renewed", fieldName: "photo")], zoneID: TestService.zone),
            as: AssetsRereferenceResponse.self)
        try service.modify([operation(.forceDelete, "renewed", type: nil)])
        _ = try service.service.keepUp()
        #expect(sizes().count == 2)
        #expect(try fetch(told(service.lookup(["a"])[0])) == [1])
    }

    @Test func unsavedUploadsCannotFillTheDisk() throws {
        var limits = ServiceLimits()
        limits.assets.unsavedBytesMax = 10
        let service = AssetServiceTests(limits)
        for byte in 0..<4 { _ = try service.upload([UInt8](repeating: UInt8(byte), count: 3), "r\(byte)") }
        let error = try #require(throws: WireError.self) { try service.upload([9], "more") }
        #expect(error.serverErrorCode == .quotaExceeded)
        try service.service.zones(.create, token: "bob")
        _ = try service.upload([1], user: "bob")
        service.service.clock.advance(bySeconds: 90_001)
        let receipt = try service.upload([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        #expect(throws: WireError.self) { try service.upload([9], "more") }
        _ = try told(service.save(receipt))
        _ = try service.upload([9], "more")
    }

    @Test func whatIsBeingSentCountsToo() throws {
        var limits = ServiceLimits()
        limits.assets.unsavedBytesMax = 10
        let service = AssetServiceTests(limits)
        let uploads = try (0..<4).map { try service.begin("r\($0)") }
        for upload in uploads[..<2] { try upload.write([1, 2, 3, 4, 5]) }
        #expect(throws: WireError.self) { try uploads[2].write([1]) }
        #expect(throws: WireError.self) { try service.upload([9], "more") }
        // One that is given up counts no more, however it ends.
        uploads[0].cancel()
        uploads[0].cancel()
        try uploads[3].write([1, 2, 3])
        _ = try uploads[3].finish()
        _ = try uploads[1].finish()
        var last: AssetUpload? = try service.begin("r5")
        try last?.write([1])
        #expect(try service.upload([9], "more").size == 1)
        #expect(throws: WireError.self) { try service.upload([9], "much more") }
        // So does one that nobody has any more.
        last = nil
        #expect(try service.upload([8], "much more").size == 1)
    }

    /// Files that no record can be saved with any more stand in no upload's way, and one may be larger than the limit.
    @Test func aLongUploadIsHeldUpOnlyByWhatCanStillBeSaved() throws {
        var limits = ServiceLimits()
        limits.assets.unsavedBytesMax = 10
        let service = AssetServiceTests(limits)
        _ = try service.upload([UInt8](repeating: 1, count: 9))
        service.service.clock.advance(bySeconds: 90_001)
        let upload = try service.begin("long")
        for byte in 0..<30 { try upload.write([UInt8(byte)]) }
        #expect(try upload.finish().singleFile.size == 30)
        #expect(throws: WireError.self) { try service.upload([9], "more") }
    }

    @Test func savingAndDeletingRepeatedlyCannotFillTheDiskEither() throws {
        var limits = ServiceLimits()
        limits.assets.unsavedBytesMax = 10
        let service = AssetServiceTests(limits)
        func savedAndDeleted(_ byte: UInt8) throws {
            _ = try told(service.save(service.upload([byte, 1, 2, 3, 4, 5])))
            try service.service.modify([operation(.forceDelete, "a", type: nil)])
        }
        try savedAndDeleted(1)
        try savedAndDeleted(2)
        let error = try #require(throws: WireError.self) { try service.upload([3]) }
        #expect(error.serverErrorCode == .quotaExceeded)
        // What was collected since counts no more.
        service.service.clock.advance(bySeconds: 100_000)
        for byte in 4..<9 {
            _ = try told(service.save(service.upload([UInt8(byte), 1, 2, 3, 4, 5], "r\(byte)"), "r\(byte)"))
        }
    }

    private init(_ limits: ServiceLimits) {
        service = TestService(limits: limits)
        files =
            service.service.transfers.tickets.files as? MemoryAssetStore
            ?? MemoryAssetStore(clock: ManualTimeSource())
        _ = try? service.zones(.create)
    }

    @Test func aFileBeyondTheLimitIsRefusedAndNothingOfItIsLeft() throws {
        var limits = ServiceLimits()
        limits.assets.fileBytesMax = 10
        let service = AssetServiceTests(limits)
        #expect(try service.upload([UInt8](repeating: 1, count: 10)).size == 10)
        let error = try #require(throws: WireError.self) {
            try service.upload([UInt8](repeating: 1, count: 11))
        }
        #expect(error.ckErrorCode == 27)
        #expect(service.files.files(after: nil, filesMax: 10).count == 1)
    }

    // MARK: The quota

    /// Bytes have no index entries, which would count too.
    private func bytes(_ count: Int) -> [String: Field] {
        ["data": Field(.bytes([UInt8](repeating: 1, count: count)))]
    }

    @Test func beyondTheQuotaSavesAreRefusedAndDeletesWork() throws {
        var limits = ServiceLimits()
        limits.assets.privateBytesMax = 1_000
        limits.assets.rowBytes = 0
        let test = AssetServiceTests(limits)
        let service = test.service
        let zone = TestService.zone
        func modify(_ operations: [RecordOperation], atomic: Bool) throws -> [String] {
            try service.modify(operations, zone: zone, atomic: atomic).summaries
        }
        #expect(
            try modify(
                [operation(.create, "a", bytes(400)), operation(.create, "b", bytes(400))], atomic: false)
                == ["saved", "saved"])
        #expect(
            try modify(
                [operation(.create, "c", bytes(300)), operation(.create, "d", bytes(10))], atomic: false)
                == ["QUOTA_EXCEEDED", "saved"], "each for itself")
        #expect(
            try modify(
                [operation(.create, "e", bytes(10)), operation(.create, "c", bytes(300))], atomic: true)
                == ["ATOMIC_ERROR", "QUOTA_EXCEEDED"])
        // What frees makes room in the same batch, wherever it stands.
        #expect(
            try modify(
                [operation(.create, "c", bytes(300)), operation(.forceDelete, "a", type: nil)], atomic: true)
                == ["saved", "deleted"])
        #expect(try modify([operation(.forceUpdate, "b", bytes(401))], atomic: true) == ["saved"])
        #expect(try modify([operation(.forceUpdate, "b", bytes(900))], atomic: true) == ["QUOTA_EXCEEDED"])
        #expect(try modify([operation(.forceUpdate, "b", bytes(1))], atomic: true) == ["saved"])
        // A file counts too.
        let small = try test.upload([UInt8](repeating: 1, count: 200), "f")
        let large = try test.upload([UInt8](repeating: 2, count: 900), "g")
        #expect(try test.save(large, "g").summary == "QUOTA_EXCEEDED")
        #expect(try test.save(small, "f").summary == "saved")
        #expect(try test.save(large, "f").summary == "BAD_REQUEST")
        // Another user has a quota of their own.
        try service.zones(.create, token: "bob")
        #expect(
            try service.modify([operation(.create, "a", bytes(900))], token: "bob").summaries == ["saved"])
    }

    @Test func whatAnAtomicZoneWillNotDoMakesNoRoomElsewhere() throws {
        var limits = ServiceLimits()
        limits.assets.privateBytesMax = 1_000
        limits.assets.rowBytes = 0
        let service = AssetServiceTests(limits).service
        #expect(try service.modify([operation(.create, "a", bytes(850))]).summaries == ["saved"])
        var elsewhere = operation(.create, "b", bytes(850))
        elsewhere.record.zoneID = ZoneID()
        let operations = [operation(.forceDelete, "a", type: nil), operation(.update, "gone"), elsewhere]
        #expect(
            try service.modify(operations, atomic: true).summaries == [
                "ATOMIC_ERROR", "NOT_FOUND", "QUOTA_EXCEEDED",
            ])
        // Nor does it take any.
        let others = [operation(.create, "c", bytes(90)), operation(.update, "gone"), elsewhere]
        #expect(try service.modify([operation(.forceDelete, "a", type: nil)]).summaries == ["deleted"])
        #expect(
            try service.modify(others, atomic: true).summaries == ["ATOMIC_ERROR", "NOT_FOUND", "saved"])
    }

    @Test func whoIsBeyondTheQuotaAlreadyMayStillShrinkAndDelete() throws {
        let store = MemoryCloudStore()
        let before = TestService(store: store)
        try before.zones(.create)
        try before.modify([operation(.create, "a", bytes(400)), operation(.create, "b", bytes(400))])
        var limits = ServiceLimits()
        limits.assets.privateBytesMax = 100
        limits.assets.rowBytes = 0
        let service = TestService(store: store, limits: limits)
        #expect(try service.modify([operation(.forceUpdate, "a", bytes(399))]).summaries == ["saved"])
        #expect(
            try service.modify([operation(.forceUpdate, "a", bytes(400))]).summaries == ["QUOTA_EXCEEDED"])
        #expect(try service.modify([operation(.forceDelete, "a", type: nil)]).summaries == ["deleted"])
        #expect(try service.modify([operation(.create, "c", bytes(1))]).summaries == ["QUOTA_EXCEEDED"])
    }

    @Test func thePublicDatabaseGrowsWithItsUsers() throws {
        var limits = ServiceLimits()
        limits.assets.publicBytesBase = 500
        limits.assets.rowBytes = 0
        limits.assets.publicBytesPerUser = 300
        let service = TestService(limits: limits)
        func save(_ name: String, _ count: Int, user: String = "ada") throws -> [String] {
            try service.modify(
                [operation(.create, name, bytes(count))], zone: nil, database: "public", token: user
            ).summaries
        }
        #expect(try save("a", 400) == ["saved"])
        #expect(try save("b", 200, user: "bob") == ["QUOTA_EXCEEDED"], "it is one for all")
        try service.zones(.create, token: "bob")
        #expect(
            try service.modify([operation(.create, "mine", bytes(1))], token: "bob").summaries == ["saved"])
        service.clock.advance(bySeconds: 61)
        #expect(try save("b", 200, user: "bob") == ["saved"])
        #expect(try save("c", 200) == ["QUOTA_EXCEEDED"])
        #expect(
            try service.modify(
                [operation(.forceDelete, "a", type: nil)], zone: nil, database: "public"
            ).summaries == ["deleted"])
        #expect(try save("c", 200) == ["saved"])
    }
}
