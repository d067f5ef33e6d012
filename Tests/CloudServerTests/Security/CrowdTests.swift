import CloudService
import CloudStore
import CloudWire
import Foundation
import System
import Testing
import Waiting

@testable import CloudServer

/// Who takes all that there is of something, and whether others find room.
@Suite struct CrowdTests {
    @Test func anUploadWithoutAValidAddressTakesNoPlace() async throws {
        try await withAssetServer(configure: { $0.assets.uploadsMax = 2 }) { server, _ in
            let client = try AssetClient(port: server.port)
            let target = "/asset/1/\(RawDevice.container)/development/upload?t=guessed"
            let strangers = try (0..<4).map { _ in try RawConnection(port: server.port) }
            for stranger in strangers {
                try stranger.send(
                    "POST \(target) HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
                #expect(try stranger.receive().status == 100, "the body is waited for")
            }
            _ = try client.upload([1, 2, 3])
            for stranger in strangers {
                try stranger.send("123456789")
                #expect(try stranger.receive().status == 404)
            }
        }
    }

    @Test func whoSendsManyFilesAtATimeLeavesRoomForAnothers() async throws {
        try await withAssetServer(configure: {
            $0.assets.uploadsMax = 4
            $0.trustsForwardedFor = true
        }) { server, files in
            let ada = try AssetClient(port: server.port)
            let target = try ada.uploadTarget()
            var slow: [RawConnection] = []
            for count in 1...2 {
                let connection = try RawConnection(port: server.port)
                try connection.send(
                    "POST \(target) HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.\(count)\r\n"
                        + "Content-Length: 9999\r\n\r\n123")
                slow.append(connection)
                try Polling.waitUntil { files.unfinished.count == count }
            }
            let refused = try ada.send([1], to: target)
            #expect(refused.status == 503 && refused.header("Retry-After") != nil)
            _ = try AssetClient(port: server.port, token: "bob").upload([1, 2, 3])
            slow = []
            try Polling.waitUntil { files.unfinished.isEmpty }
            #expect(try ada.send([1], to: target).status == 200)
        }
    }

    @Test func whoFetchesManyFilesAtATimeLeavesRoomForOtherAddresses() async throws {
        try await withAssetServer(configure: {
            $0.assets.downloadsMax = 16
            $0.trustsForwardedFor = true
        }) { server, _ in
            let client = try AssetClient(port: server.port)
            _ = try client.save(client.upload(AssetClient.bytes(16 << 20)))
            let url = try #require(try client.lookUp().downloadURL)
            let target = try client.target(url).replacingOccurrences(of: "${f}", with: "f")
            func peer(_ address: String) -> [(name: String, value: String)] {
                [(name: "X-Forwarded-For", value: address)]
            }
            // They don't read, so the file is on its way.
            let slow = try (0..<2).map { _ in try RawConnection(port: server.port) }
            for connection in slow {
                try connection.sendRequest("GET", target, headers: peer("192.0.2.1"))
                #expect(connection.hasInput(seconds: 20))
            }
            let part = [(name: "Range", value: "bytes=0-9")]
            let refused = try client.fetch(url, headers: peer("192.0.2.1") + part)
            #expect(refused.status == 503 && refused.header("Retry-After") != nil)
            #expect(String(decoding: refused.body, as: UTF8.self).contains("your network"))
            #expect(try client.fetch(url, headers: peer("192.0.2.2") + part).status == 206)
            withExtendedLifetime(slow) {}
        }
    }

    @Test func oneNetworkWithManyAccountsLeavesRoomForFilesOfOthers() async throws {
        try await withAssetServer(configure: {
            $0.assets.uploadsMax = 8
            $0.trustsForwardedFor = true
        }) { server, files in
            let ada = try AssetClient(port: server.port)
            let bob = try AssetClient(port: server.port, token: "bob")
            let slow = try RawConnection(port: server.port)
            try slow.send(
                "POST \(try ada.uploadTarget()) HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 2001:db8::1\r\n"
                    + "Content-Length: 9999\r\n\r\n123")
            try Polling.waitUntil { files.unfinished.count == 1 }
            let target = try bob.uploadTarget()
            func send(from address: String) throws -> RawResponse {
                try bob.send([1], to: target, headers: [(name: "X-Forwarded-For", value: address)])
            }
            #expect(try send(from: "2001:db8::2").status == 503, "the same network of 64 bits")
            #expect(try send(from: "2001:db8:0:1::2").status == 200)
            withExtendedLifetime(slow) {}
        }
    }

    @Test func elevenNetworksDontHoldAllThatThereIs() {
        var places = FairCount(max: 1_024, sharesCount: 8)
        for network in 0..<11 {
            while places.begin("\(network)") {}
        }
        let isRoom = places.begin("another")
        #expect(isRoom)
        var networksCount = 11
        while places.begin("\(networksCount)") {
            while places.begin("\(networksCount)") {}
            networksCount += 1
        }
        #expect(networksCount > 40)
    }

    @Test func whoGuessesAtDevicesTokensIsCounted() async throws {
        var rates = ServiceRates.unlimited
        rates.address = ServiceRates.Rate(perSecond: 1, burst: 3)
        let service = CloudService(
            store: MemoryCloudStore(), clock: ManualTimeSource(milliseconds: 1_800_000_000_000),
            random: SystemRandomSource(),
            users: ["ada": ServiceUser(userRecordName: "_ada")], rates: rates)
        try await onThread {
            var options = CloudServerOptions()
            options.courierHoldMilliseconds = 3_000
            let server = CloudServer(service, options: options)
            defer { server.stop() }
            try server.start()
            let device = try RawDevice(port: server.port, token: "ada", clientID: "phone")
            let created = try device.post(
                "tokens/create", module: "device",
                TokensCreateRequest(apnsEnvironment: .development, clientID: "phone"))
            let token = try TokensResponse(json: created.body).apnsToken
            let connection = try RawConnection(port: server.port)
            func poll(_ token: String) throws -> RawResponse {
                try connection.exchange(
                    "GET", "/device/1/\(RawDevice.container)/development/courier?token=\(token)")
            }
            for _ in 0..<3 { #expect(try poll("guessed").status == 404) }
            let refused = try poll("guessed")
            #expect(refused.status == 429 && refused.header("Retry-After") != nil)
            #expect(try poll(token).status == 200, "a device's own poll is not the address's")
        }
    }

}
