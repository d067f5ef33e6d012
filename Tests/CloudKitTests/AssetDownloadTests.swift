import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import HTTPClient
import System
import Testing

/// Files that come in while others do, half, too long, or not at all.
@Suite struct AssetDownloadTests {
    private let folder: Folder
    private let photo = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 2) }
    private var cacheURL: URL { URL(fileURLWithPath: folder.path + "/cache") }

    init() throws { folder = try Folder() }

    private func database(
        _ transport: any Transport, execution: Execution = .inline, bytesMax: Int64 = 1 << 30,
        kind: ServerKind = .yap
    ) -> CKDatabase {
        var connection = CloudConnection(transport: transport, execution: execution, webAuthToken: "t")
        connection.serverKind = kind
        connection.assetCache = AssetCache(folder: cacheURL, bytesMax: bytesMax)
        return CKContainer(identifier: "iCloud.test", connection: connection).privateCloudDatabase
    }

    /// Begins to fetch the record.
    private func fetch(
        _ database: CKDatabase, _ handling: AssetHandling? = nil
    ) -> Collected<Result<CKRecord, any Error>> {
        let results = Collected<Result<CKRecord, any Error>>()
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "1")])
        if let handling { operation.assetHandling = { _, _, _, _ in handling } }
        operation.perRecordResultBlock = { results.append($1) }
        operation.fetchRecordsResultBlock = {
            if case .failure(let error) = $0 { results.append(.failure(error)) }
        }
        database.add(operation)
        return results
    }

    private func file(_ result: Result<CKRecord, any Error>?) throws -> [UInt8]? {
        let asset = try result?.get()["photo"] as? CKAsset
        return try asset?.fileURL.map { [UInt8](try Data(contentsOf: $0)) }
    }

    @Test func twoConcurrentDownloadsOfOneFileBothGetItWhole() throws {
        let transport = HeldDownloads(bytes: photo)
        let first = fetch(database(transport)), second = fetch(database(transport))
        let downloads = transport.downloads
        try #require(downloads.count == 2)
        try downloads[0].sink.take(photo[..<4_000])
        try downloads[1].sink.take(photo[..<7_000])
        try downloads[0].sink.take(photo[4_000...])
        downloads[0].end(.success(WireResponse(status: 200)))
        #expect(try file(first.all.first) == photo)
        // The first one's file is in its place: what still comes to the second doesn't touch it.
        try downloads[1].sink.take(photo[7_000...])
        #expect(try file(first.all.first) == photo)
        downloads[1].end(.success(WireResponse(status: 200)))
        #expect(try file(second.all.first) == photo && file(first.all.first) == photo)
        #expect(try FileManager.default.contentsOfDirectory(atPath: cacheURL.path).count == 1)
    }

    @Test func whoComesSecondLeavesNothingWhenItIsCut() throws {
        let transport = HeldDownloads(bytes: photo)
        let first = fetch(database(transport)), second = fetch(database(transport))
        for (index, count) in [4_000, 7_000].enumerated() {
            let download = try #require(transport.downloads.dropFirst(index).first)
            try download.sink.take(photo[..<count])
            download.end(.failure(CKError(.networkFailure)))
        }
        transport.forget()
        #expect(first.all.map(\.code) == [.networkFailure] && second.all.map(\.code) == [.networkFailure])
        let left = try FileManager.default.contentsOfDirectory(atPath: cacheURL.path)
        #expect(left.count == 1, "only what the first got is gone on with: \(left)")
    }

    @Test func aFailedDownloadIsContinuedThoughTheTransportStillHoldsItsWriter() throws {
        let transport = HeldDownloads(bytes: photo)
        let first = fetch(database(transport))
        try transport.downloads[0].sink.take(photo[..<5_000])
        transport.downloads[0].end(.failure(CKError(.networkFailure)))
        #expect(first.all.map(\.code) == [.networkFailure])
        _ = fetch(database(transport))
        #expect(transport.downloads.map(\.range) == [nil, "bytes=5000-"])
    }

    @Test func aRecordComesWithoutAFileThatMayBeMissing() throws {
        let transport = HeldDownloads(bytes: photo)
        let results = fetch(database(transport), .optional)
        transport.downloads[0].end(.success(WireResponse(status: 404)))
        let asset = try #require(results.all[0].get()["photo"] as? CKAsset)
        #expect(asset.fileURL == nil && asset.serverFile?.sizeBytes == Int64(photo.count))
        // Without a network nothing is known of the file.
        let offline = fetch(database(transport), .optional)
        transport.downloads[1].end(.failure(CKError(.networkFailure)))
        #expect(offline.all.map(\.code) == [.networkFailure])
    }

    @Test func aFileThatIsLeftIsNotFetched() throws {
        let transport = HeldDownloads(bytes: photo)
        let results = fetch(database(transport), .left)
        #expect(transport.downloads.isEmpty)
        let asset = try #require(results.all[0].get()["photo"] as? CKAsset)
        #expect(asset.fileURL == nil && asset.serverFile != nil)
    }

    @Test func aServerThatIsTooBusyForAFileIsTriedAgainLater() throws {
        let transport = HeldDownloads(bytes: photo)
        let results = fetch(database(transport))
        transport.downloads[0].end(.success(WireResponse(status: 503)))
        #expect(results.all.map(\.code) == [.serviceUnavailable])
        let optional = fetch(database(transport), .optional)
        transport.downloads[1].end(.success(WireResponse(status: 503)))
        #expect(optional.all.map(\.code) == [.serviceUnavailable])
    }

    @Test func filesOfAnotherServerAreAlwaysFetchedAndHaveNoChecksumToCompare() throws {
        let transport = HeldDownloads(bytes: photo)
        let results = fetch(database(transport, kind: .apple), .left)
        let download = try #require(transport.downloads.first)
        try download.sink.take(photo)
        download.end(.success(WireResponse(status: 200)))
        let asset = try #require(results.all[0].get()["photo"] as? CKAsset)
        #expect(asset.fileURL != nil && asset.serverFile == nil)
    }

    @Test func aFileThatIsNotWholeAnyMoreIsFetchedAnew() throws {
        let transport = HeldDownloads(bytes: photo)
        let first = fetch(database(transport))
        try transport.downloads[0].sink.take(photo)
        transport.downloads[0].end(.success(WireResponse(status: 200)))
        let url = try #require((try first.all[0].get()["photo"] as? CKAsset)?.fileURL)
        // As a power failure leaves it that came soon after.
        try Data().write(to: url)
        let second = fetch(database(transport))
        try #require(transport.downloads.count == 2)
        try transport.downloads[1].sink.take(photo)
        transport.downloads[1].end(.success(WireResponse(status: 200)))
        #expect(try file(second.all.first) == photo)
    }

    @Test func aServerThatSendsMoreThanTheFileHasDoesNotFillTheDisk() throws {
        let transport = HeldDownloads(bytes: photo)
        let results = fetch(database(transport))
        let download = try #require(transport.downloads.first)
        try download.sink.take(photo)
        #expect(throws: CKError.self) { try download.sink.take([0]) }
        download.end(.failure(CKError(.internalError, "what a client makes of it")))
        #expect(results.all.map(\.code) == [.assetNotAvailable])
        #expect(try FileManager.default.contentsOfDirectory(atPath: cacheURL.path).isEmpty)
    }

    @Test func theFolderIsNotLookedThroughForEachSmallFile() throws {
        let transport = HeldDownloads(bytes: photo)
        let database = database(transport, bytesMax: 1 << 20)
        func fetchAnew(_ count: Int) throws {
            for _ in 0..<count {
                let before = transport.downloads.count
                let results = fetch(database)
                let download = try #require(transport.downloads.dropFirst(before).first)
                try download.sink.take(photo)
                download.end(.success(WireResponse(status: 200)))
                let url = try #require((try results.all[0].get()["photo"] as? CKAsset)?.fileURL)
                try FileManager.default.removeItem(at: url)
            }
        }
        try fetchAnew(1)
        let old = cacheURL.appendingPathComponent("old")
        try Data(count: 2 << 20).write(to: old)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: old.path)
        try fetchAnew(5)
        #expect(FileManager.default.fileExists(atPath: old.path))
        try fetchAnew(2)
        #expect(!FileManager.default.fileExists(atPath: old.path))
    }

    // MARK: Over HTTP

    /// A server that answers every other request with the record, and those between as the test says.
    private func server(_ answers: [[UInt8]]) throws -> RawAnswers {
        let url = Lock("")
        let photo = photo
        let server = try RawAnswers { number in
            guard number.isMultiple(of: 2) else { return .bytes(answers[min(number / 2, answers.count - 1)]) }
            return .bytes(
                RawAnswers.http("200 OK", HeldDownloads.record(of: photo, url: url.withLock { $0 } + "/f")))
        }
        url.withLock { $0 = server.url }
        return server
    }

    private func codes(
        _ server: RawAnswers, count: Int, kind: ServerKind = .yap
    ) async -> [CKError.Code?] {
        let transport = HTTPTransport(
            serverURL: server.url, client: HTTPClients.client(authoritiesFile: nil))
        let database = database(transport, execution: .threads, kind: kind)
        var codes: [CKError.Code?] = []
        for _ in 0..<count {
            do {
                let record = try await database.record(for: CKRecord.ID(recordName: "1"))
                #expect(try file(.success(record)) == photo)
                codes.append(nil)
            } catch {
                codes.append((error as? CKError)?.code)
            }
        }
        return codes
    }

    private func whole(_ status: String) -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\nContent-Length: \(photo.count)\r\n\r\n".utf8) + photo
    }

    @Test func whatAnErrorSaysIsNoPartOfTheFile() async throws {
        let cut = whole("500 Broken").dropLast(5_000)
        let server = try server([Array(cut), whole("200 OK")])
        #expect(await codes(server, count: 2) == [.serverResponseLost, nil])
    }

    @Test func theWholeFileIsTakenWhereAPartOfItWasAskedFor() async throws {
        let server = try server([whole("200 OK").dropLast(5_000), whole("200 OK")])
        #expect(await codes(server, count: 2) == [.serverResponseLost, nil])
    }

    /// Five thousand bytes of the file from `begin` on, said to be `range`.
    private func part(from begin: Int, as range: String?) -> [UInt8] {
        let range = range.map { "Content-Range: \($0)\r\n" } ?? ""
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Length: 5000\r\n\(range)\r\n"
        return Array(head.utf8) + photo[begin..<(begin + 5_000)]
    }

    @Test(arguments: [ServerKind.yap, .apple]) func theMissingPartIsDownloaded(kind: ServerKind) async throws
    {
        for range in ["bytes 5000-9999/10000", "Bytes 5000-9999/*"] {
            let server = try server([whole("200 OK").dropLast(5_000), part(from: 5_000, as: range)])
            #expect(await codes(server, count: 2, kind: kind) == [.serverResponseLost, nil])
            try FileManager.default.removeItem(at: cacheURL)
        }
    }

    @Test(arguments: [
        "bytes 0-4999/10000", "bytes 4999-9998/10000", "bytes 5000-9999/10001", "items 5000-9999/10000", nil,
    ]) func anotherPartThanTheMissingOneIsNotTaken(range: String?) async throws {
        // Of Apple's files there is no checksum that could be looked at here.
        for isCut in [false, true] {
            let other = part(from: 0, as: range).dropLast(isCut ? 2_000 : 0)
            let server = try server([whole("200 OK").dropLast(5_000), Array(other), whole("200 OK")])
            #expect(
                await codes(server, count: 3, kind: .apple) == [.serverResponseLost, .networkFailure, nil])
            try FileManager.default.removeItem(at: cacheURL)
        }
    }

    @Test func whatTheServerSaysOfAFileIsInItsRecordsError() async throws {
        let json = #"{"serverErrorCode": "NOT_FOUND", "reason": "the ticket is over"}"#
        let server = try server([RawAnswers.http("404 Not Found", json)])
        let transport = HTTPTransport(
            serverURL: server.url, client: HTTPClients.client(authoritiesFile: nil))
        do {
            _ = try await database(transport, execution: .threads).record(for: CKRecord.ID(recordName: "1"))
            Issue.record("a file came")
        } catch {
            #expect((error as? CKError)?.code == .assetNotAvailable)
            #expect((error as? CKError)?.localizedDescription.contains("the ticket is over") == true)
        }
    }

    // MARK: What is told of it

    private func filled() async throws -> TwoDevices {
        let devices = try await TwoDevices()
        for name in ["1", "2", "3"] {
            let record = devices.record(name, title: name)
            if name == "2" {
                let url = URL(fileURLWithPath: folder.path + "/photo")
                try Data(photo).write(to: url)
                record["photo"] = CKAsset(fileURL: url)
            }
            try await devices.phone.save(record)
        }
        return devices
    }

    @Test func noTokenIsReportedAfterARecordWithALostFile() async throws {
        let devices = try await filled()
        devices.cloud.fail(.downloadAsset, with: .networkFailure)
        let recorder = BlockRecorder(.new)
        func changes() -> CKFetchRecordZoneChangesOperation {
            let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [devices.zoneID])
            recorder.set(operation)
            devices.laptop.add(operation)
            return operation
        }
        _ = changes()
        #expect(recorder.said.all.last == "completion" && recorder.said.all.contains("result 4"))
        #expect(recorder.said.all.filter { $0.contains("token") || $0.hasPrefix("zone") }.isEmpty)
        let count = recorder.said.all.count
        _ = changes()
        let said = recorder.said.all.dropFirst(count)
        #expect(said.contains("result 0") && said.filter { $0.hasPrefix("changed ") }.count == 3)
    }

    @available(*, deprecated)
    @Test func theOlderBlocksReportARecordWithoutItsFile() async throws {
        let devices = try await filled()
        devices.cloud.fail(.downloadAsset, with: .unknownItem)
        let ends = Collected<CKError>()
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [devices.zoneID])
        operation.fetchRecordZoneChangesCompletionBlock = {
            if let error = $0 as? CKError { ends.append(error) }
        }
        devices.laptop.add(operation)
        #expect(ends.all.map(\.code) == [.partialFailure])
        let error = ends.all.first?.partialErrorsByItemID?[devices.id("2")] as? CKError
        #expect(error?.code == .assetNotAvailable)
    }

    @Test func whenTheNetworkFailsNoFurtherFileIsTried() async throws {
        let devices = try await TwoDevices()
        var records: [CKRecord] = []
        for name in ["1", "2", "3"] {
            let url = URL(fileURLWithPath: folder.path + "/" + name)
            try Data(name.utf8).write(to: url)
            records.append(devices.record(name))
            records.last?["photo"] = CKAsset(fileURL: url)
        }
        for _ in records { devices.cloud.fail(.uploadAsset, with: .networkFailure) }
        #expect(
            await codeThrown { try await devices.phone.modifyRecords(saving: records, deleting: []) }
                == .networkFailure)
        #expect(
            devices.cloud.requestCount(.uploadAsset) == 1 && devices.cloud.requestCount(.modifyRecords) == 0)
    }
}
