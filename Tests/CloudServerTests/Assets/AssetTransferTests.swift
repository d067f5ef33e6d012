import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing
import Waiting

@testable import CloudServer

/// Files over a real server.
@Suite struct AssetTransferTests {
    @Test(arguments: ["private", "public"], [0, 1, 70_000])
    func aFileIsSentSavedAndFetched(_ database: String, _ count: Int) async throws {
        try await withAssetServer { server, files in
            let client = try AssetClient(port: server.port, database: database)
            let bytes = AssetClient.bytes(count)
            let sent = try client.upload(bytes)
            #expect(sent.size == Int64(count) && sent.receipt != nil && sent.downloadURL == nil)
            #expect(Data(base64Encoded: sent.fileChecksum ?? "")?.count == 21)
            #expect((sent.wrappingKey != nil) == (database == "private"))
            #expect((sent.referenceChecksum != nil) == (database == "private"))
            guard case .record(let saved) = try client.save(sent) else { throw Failure("not saved") }
            let told = try client.lookUp()
            #expect(saved.fields["photo"]?.value == .asset(told), "a save answers what a lookup does")
            #expect(told.receipt == nil && told.size == sent.size && told.fileChecksum == sent.fileChecksum)
            let url = try #require(told.downloadURL)
            #expect(url.contains("/${f}?"))
            let asItIs = try RawConnection(port: server.port).exchange("GET", client.target(url))
            #expect(asItIs.status == 200 && asItIs.body == bytes)
            for name in ["${f}", "a photo.jpg"] {
                let asked = url.replacingOccurrences(
                    of: "${f}", with: name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
                let response = try client.fetch(asked)
                #expect(response.status == 200 && response.body == bytes)
                #expect(response.header("X-Content-Type-Options") == "nosniff")
                #expect(response.header("Content-Security-Policy") == "default-src 'none'; sandbox")
                let disposition = response.header("Content-Disposition")
                #expect(
                    disposition
                        == (name == "${f}"
                            ? "attachment"
                            : "attachment; filename=\"a photo.jpg\"; filename*=UTF-8''a%20photo.jpg"))
            }
            #expect(files.unfinished == [])
        }
    }

    @Test func everyResponseHasTheFilesAddress() async throws {
        try await withAssetServer { server, _ in
            let client = try AssetClient(port: server.port)
            try client.device.makeZone("z")
            let zone = ZoneID(zoneName: "z")
            var request = AssetsUploadRequest(tokens: [.init(fieldName: "photo", recordName: "a")])
            request.zoneID = zone
            let response = try client.device.post("private/assets/upload", request)
            let url = try AssetsUploadResponse(json: response.body).tokens[0].url
            let sent = try AssetUploadedResponse(
                json: client.send([1, 2, 3], to: client.target(url)).body
            ).singleFile
            let record = WireRecord(
                recordName: "a", recordType: "item",
                fields: ["photo": Field(.asset(sent)), "title": Field(.string("x"))])
            let operation = RecordOperation(operationType: .create, record: record)
            func told(_ response: RawResponse) throws -> Asset {
                #expect(response.status == 200, "\(response.text)")
                #expect(!response.text.contains("receipt"))
                let object = try JSONSerialization.jsonObject(with: Data(response.body))
                let fields = try #require(find("photo", in: object) as? [String: Any])
                let value = try JSONSerialization.data(withJSONObject: try #require(fields["value"]))
                return try AssetUploadedResponse(
                    json: Array(#"{"singleFile":"#.utf8) + Array(value) + [UInt8(ascii: "}")]
                ).singleFile
            }
            let name = [(name: WireHeader.client, value: "1"), (name: WireHeader.operation, value: "op1")]
            let modify = RecordsModifyRequest(operations: [operation], zoneID: zone)
            let answers = [
                try client.device.post("private/records/modify", modify, headers: name),
                // The kept answer of a repeated write.
                try client.device.post("private/records/modify", modify, headers: name),
                // The server's record in a conflict.
                try client.device.post(
                    "private/records/modify", modify, headers: [(name: WireHeader.client, value: "1")]),
                try client.device.post(
                    "private/records/lookup",
                    RecordsLookupRequest(records: [.init(recordName: "a")], zoneID: zone)),
                try client.device.post(
                    "private/records/lookup",
                    RecordsLookupRequest(
                        records: [.init(recordName: "a")], zoneID: zone, desiredKeys: ["photo"])),
                try client.device.post(
                    "private/changes/zone", ChangesZoneRequest(zones: [.init(zoneID: zone)])),
            ]
            for (index, answer) in answers.enumerated() {
                let asset = try told(answer)
                #expect(asset.fileChecksum == sent.fileChecksum, "answer \(index)")
                let url = try #require(asset.downloadURL, "answer \(index): \(answer.text)")
                #expect(try client.fetch(url).body == [1, 2, 3], "answer \(index)")
            }
        }
    }

    private static let plainTypes: [String?] = [
        nil, "application/octet-stream", "application/x-www-form-urlencoded", "text/plain; charset=utf-8",
    ]

    @Test func uploadsOfAnyTypeAreAcceptedAndAFormByItsOnePart() async throws {
        try await withAssetServer { server, files in
            let client = try AssetClient(port: server.port)
            let target = try client.uploadTarget()
            let bytes = AssetClient.bytes(200_000)
            let expected = try client.upload(bytes).fileChecksum
            for type in Self.plainTypes {
                let headers = type.map { [(name: "Content-Type", value: $0)] } ?? []
                let response = try client.send(bytes, to: target, headers: headers)
                #expect(response.status == 200, "\(response.text)")
                #expect(try AssetUploadedResponse(json: response.body).singleFile.fileChecksum == expected)
            }
            let form = AssetClient.form(bytes)
            let type = [(name: "Content-Type", value: form.contentType)]
            let taken = try client.send(form.body, to: target, headers: type)
            #expect(try AssetUploadedResponse(json: taken.body).singleFile.fileChecksum == expected)
            let refused = [
                AssetClient.form(bytes, name: "file").body, Array(form.body.dropLast(4)),
                Array(form.body.dropFirst()),
                [],
            ]
            for body in refused {
                let response = try client.send(body, to: target, headers: type)
                #expect(try WireError(json: response.body).serverErrorCode == .badRequest)
            }
            #expect(files.unfinished == [])
            #expect(try files.files(after: nil, filesMax: 10).count == 1)
        }
    }

    @Test func partsOfAFileAreFetchedAndOnlyThose() async throws {
        try await withAssetServer { server, _ in
            let client = try AssetClient(port: server.port)
            let bytes = AssetClient.bytes(100_000)
            _ = try client.save(client.upload(bytes))
            let url = try #require(try client.lookUp().downloadURL)
            func fetch(_ range: String, _ condition: String? = nil) throws -> RawResponse {
                let condition = condition.map { [(name: "If-Range", value: $0)] } ?? []
                return try client.fetch(url, headers: [(name: "Range", value: range)] + condition)
            }
            let whole = try client.fetch(url)
            let tag = try #require(whole.header("ETag"))
            let parts: [(String, String, Range<Int>)] = [
                ("bytes=0-0", "bytes 0-0/100000", 0..<1),
                ("bytes=10-99999", "bytes 10-99999/100000", 10..<100_000),
                ("bytes=99999-200000", "bytes 99999-99999/100000", 99_999..<100_000),
                ("bytes=500-", "bytes 500-99999/100000", 500..<100_000),
                ("bytes=-7", "bytes 99993-99999/100000", 99_993..<100_000),
                ("bytes=-200000", "bytes 0-99999/100000", 0..<100_000),
            ]
            for (range, answered, places) in parts {
                for condition in [nil, tag] {
                    let response = try fetch(range, condition)
                    #expect(
                        response.status == 206 && response.header("Content-Range") == answered, "\(range)")
                    #expect(response.body == Array(bytes[places]), "\(range)")
                }
                let changed = try fetch(range, "\"another\"")
                #expect(changed.status == 200 && changed.body == bytes)
            }
            for range in ["bytes=5-2", "bytes=a-b", "bytes=1-2,4-5", "lines=1-2", "bytes=-", "bytes=1--2"] {
                let response = try fetch(range)
                #expect(response.status == 200 && response.body == bytes, "\(range)")
            }
            for range in ["bytes=100000-", "bytes=100000-100001", "bytes=-0"] {
                let response = try fetch(range)
                #expect(response.status == 416, "\(range)")
                #expect(response.header("Content-Range") == "bytes */100000")
            }
            let known = try client.fetch(url, headers: [(name: "If-None-Match", value: tag)])
            #expect(known.status == 304 && known.body == [])
        }
    }

    @Test func whatIsCutTooLargeOrTooLateLeavesNothing() async throws {
        var limits = ServiceLimits()
        limits.assets.fileBytesMax = 300_000
        try await withAssetServer(limits: limits) { server, files in
            let client = try AssetClient(port: server.port)
            let target = try client.uploadTarget()
            let large = try client.send(AssetClient.bytes(330_000), to: target)
            #expect(large.status == 400 && large.text.contains("LimitExceeded"))
            // Sent in chunks, nothing says so before.
            let connection = try RawConnection(port: server.port)
            try connection.send("POST \(target) HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let piece = AssetClient.bytes(100_000)
            for _ in 0..<4 {
                try? connection.send("\(String(piece.count, radix: 16))\r\n")
                try? connection.send(piece + [0x0D, 0x0A])
            }
            #expect(try connection.receive().text.contains("LimitExceeded"))
            // The client leaves in the middle.
            do {
                let leaving = try RawConnection(port: server.port)
                try leaving.send("POST \(target) HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n")
                try leaving.send(piece)
            }
            for path in [
                target.replacingOccurrences(of: "?t=", with: "?t=A"), "\(target)x", "/asset/1/x/y/upload",
            ] {
                let response = try client.send([1], to: path)
                #expect(response.status == 404, "\(path)")
            }
            // The line in the log comes when the exchange is over, and the file is gone soon after.
            _ = try server.log.line {
                $0["ending"] as? String == "clientLeft" && $0["operation"] as? String == "asset/upload"
            }
            _ = try client.upload([1, 2, 3])
            try Polling.waitUntil { files.unfinished.isEmpty }
            #expect(try files.files(after: nil, filesMax: 10).count == 1)
        }
    }

    @Test func aFullDiskIsAnErrorThatSaysWhenToTryAgainAndLeavesNothing() async throws {
        let isFull = Lock(false)
        let calls = FileCalls { step, _ in step == .write && isFull.withLock { $0 } ? ENOSPC : nil }
        try await withAssetServer(calls: calls) { server, files in
            let client = try AssetClient(port: server.port)
            let target = try client.uploadTarget()
            isFull.withLock { $0 = true }
            let response = try client.send(AssetClient.bytes(200_000), to: target)
            #expect(response.status == 503 && response.header("Retry-After") != nil)
            #expect(!response.text.contains(files.path), "where it lies is the operator's business")
            #expect(files.unfinished == [])
            isFull.withLock { $0 = false }
            #expect(try client.send(AssetClient.bytes(200_000), to: target).status == 200)
        }
    }

    @Test func pagesOfAnyOriginMaySendAndFetch() async throws {
        try await withAssetServer { server, _ in
            let client = try AssetClient(port: server.port)
            let origin = [(name: "Origin", value: "https://app.example.com")]
            let target = try client.uploadTarget()
            let sent = try client.send([1, 2, 3], to: target, headers: origin)
            #expect(sent.header("Access-Control-Allow-Origin") == "https://app.example.com")
            let refused = try client.send([1], to: "\(target)x", headers: origin)
            #expect(refused.header("Access-Control-Allow-Origin") == "https://app.example.com")
            _ = try client.save(AssetUploadedResponse(json: sent.body).singleFile)
            let fetched = try client.fetch(#require(client.lookUp().downloadURL), headers: origin)
            #expect(fetched.header("Access-Control-Allow-Origin") == "https://app.example.com")
            let line = try server.log.line { $0["operation"] as? String == "asset/file" }
            #expect(!"\(line)".contains("t="), "the log has no ticket")
        }
    }

    @Test func aHeadResponseHasTheSizeAndNoBody() async throws {
        try await withAssetServer { server, _ in
            let client = try AssetClient(port: server.port)
            _ = try client.save(client.upload(AssetClient.bytes(5_000)))
            let target = try client.target(try #require(try client.lookUp().downloadURL))
            let connection = try RawConnection(port: server.port)
            let path = target.replacingOccurrences(of: "${f}", with: "f")
            try connection.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let text = String(decoding: try connection.receiveUntilClosed(), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(text.contains("Content-Length: 5000\r\n") && text.hasSuffix("\r\n\r\n"))
        }
    }
}

private func find(_ key: String, in tree: Any) -> Any? {
    if let members = tree as? [String: Any] {
        return members[key] ?? members.values.lazy.compactMap { find(key, in: $0) }.first
    }
    return (tree as? [Any])?.lazy.compactMap { find(key, in: $0) }.first
}
