import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

/// `/health` and `/metrics`, and what the server says when it can't write.
@Suite struct StatusTests {
    @Test(arguments: ["/metrics", "/yap/1/metrics"]) func metricsAreInPrometheussFormatAndAnonymous(
        _ path: String
    ) async throws {
        let folder = try ServerFolder(accounts: ["ada", "bob"])
        try await onThread {
            let control = try ControlStore(path: folder.dataFolder.controlPath)
            var options = CloudServerOptions()
            options.servesMetrics = true
            let server = try CloudServer(
                dataFolder: folder.dataFolder, control: control,
                accounts: ControlAccounts(control, isDevelopmentForEveryone: true),
                signIn: SignInCheck(control, isDevelopmentForEveryone: true), options: options)
            try server.start()
            defer { server.stop() }
            for (number, token) in folder.tokens.enumerated() {
                let device = try RawDevice(port: server.port, token: token, clientID: "tablet-\(number)")
                try device.makeZone("zone-of-\(number)")
                let save = RecordOperation(operationType: .create, record: RawDevice.record("r", 1))
                #expect(try device.modify([save], zone: "zone-of-\(number)").status == 200)
            }
            let connection = try RawConnection(port: server.port)
            for number in 0..<50 { _ = try connection.exchange("GET", "/made/up/\(number)") }
            let odd = "/database/1/\(RawDevice.container)/development/private/records/rob%22"
            #expect(try connection.exchange("GET", odd).status == 404)
            let response = try connection.exchange("GET", path)
            #expect(response.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
            let found = try Exposition(response.text)
            func requests(_ operation: String, _ status: Int) -> Double? {
                found.value("yap_requests_total", ["operation": operation, "status": "\(status)"])
            }
            #expect(requests("records/modify", 200) == 2)
            #expect(requests("zones/modify", 200) == 2)
            #expect(requests("other", 404) == 51, "nothing that a client makes up becomes a label")
            #expect(
                found.value("yap_request_duration_seconds_count", ["operation": "records/modify"]) == 2)
            #expect(found.value("yap_request_errors_total", ["code": "NOT_FOUND"]) == 51)
            #expect(found.value("yap_write_group_requests_count") == 4)
            #expect(found.value("yap_disk_writable") == 1)
            #expect(found.value("yap_environments_open") == 1)
            let store = ["container": RawDevice.container, "environment": "development", "file": "store"]
            #expect(try #require(found.value("yap_store_file_bytes", store)) > 0)
            for name in [
                "yap_connections_open", "yap_request_bytes_total", "yap_response_bytes_total",
                "yap_disk_free_bytes", "process_resident_memory_bytes", "process_open_fds", "process_max_fds",
                "process_cpu_seconds_total", "process_start_time_seconds",
            ] {
                #expect(try #require(found.value(name), "\(name)") > 0, "\(name)")
            }
            for word in ["ada", "bob", "zone-of", "tablet", "_"] {
                let labels = found.families.values.flatMap(\.samples).flatMap(\.labels.values)
                #expect(!labels.contains { $0.contains(word) && $0 != "NOT_FOUND" }, "\(word)")
            }
        }
    }

    @Test func labelsAreEscapedAndNumbersAreWhole() throws {
        var text = MetricsText()
        text.family("a_bytes", .gauge, "One \\ two\nthree.")
        text.sample("a_bytes", [("l", "q\"b\\n\nend")], 3)
        text.sample("a_bytes", [("l", "other")], 0.25)
        #expect(
            text.text == """
                # HELP a_bytes One \\\\ two\\nthree.
                # TYPE a_bytes gauge
                a_bytes{l="q\\"b\\\\n\\nend"} 3
                a_bytes{l="other"} 0.25

                """)
        #expect(throws: Never.self) { try Exposition(text.text) }
    }

    /// A server over a store whose disk can be filled. What the probe says is the disk's too.
    private final class FullDisk: Sendable {
        let folder: TemporaryFolder
        let vfs = FaultVFS()
        let log = KeptLog()
        let server: CloudServer
        let trouble = Lock<DiskTrouble?>(nil)

        init(checkpointFrames: Int32 = 1000) throws {
            folder = try TemporaryFolder()
            var open = OpenOptions()
            open.vfsName = vfs.name
            open.checkpointFrames = checkpointFrames
            let store = try SQLiteCloudStore(path: folder.file("store.sqlite"), options: open)
            var options = CloudServerOptions()
            options.log = log
            options.servesMetrics = true
            let container = CloudService.Container(identifier: RawDevice.container)
            let trouble = trouble
            server = CloudServer(
                options: options, onlyContainer: container, signIn: nil,
                probe: { isSuspect in isSuspect ? trouble.withLock { $0 } : nil }
            ) { container, watch in
                let watched: any CloudStore = watch.map { WatchedStore(store: store, watch: $0) } ?? store
                return OpenedService(
                    service: CloudService(
                        store: watched, clock: SystemTimeSource(), random: SystemRandomSource(),
                        container: container,
                        users: ["ada": ServiceUser(userRecordName: "_ada")]), close: { store.close() })
            }
            try server.start()
        }

        func save(_ name: String, _ device: RawDevice) throws -> RawResponse {
            var record = RawDevice.record(name, 1)
            record.fields["text"] = Field(.string(String(repeating: "x", count: 20_000)))
            return try device.modify([RecordOperation(operationType: .create, record: record)], zone: "z")
        }

        func events() throws -> [String] { try log.lines().compactMap { $0["event"] as? String } }
    }

    @Test func aFullDiskIsSaidOnceShownByHealthAndOverWhenThereIsRoom() async throws {
        try await onThread {
            let disk = try FullDisk()
            defer { disk.server.stop() }
            let device = try RawDevice(port: disk.server.port, token: "ada")
            let probe = try RawConnection(port: disk.server.port)
            func health() throws -> RawResponse { try probe.exchange("GET", "/health") }
            try device.makeZone("z")
            #expect(try disk.save("before", device).status == 200)
            #expect(try health().text == #"{"status":"ok"}"#)
            disk.vfs.limitGrowth(toBytes: 0)
            disk.trouble.withLock { $0 = .full }
            for number in 0..<5 { #expect(try disk.save("lost-\(number)", device).status == 503) }
            let failing = try health()
            #expect(failing.status == 503)
            #expect(failing.text == #"{"status":"failing","reason":"disk full"}"#)
            #expect(try probe.exchange("GET", "/yap/1/health").status == 503)
            #expect(try probe.exchange("GET", "/health/live").status == 200)
            #expect(try device.lookup(["before"], zone: "z").count == 1, "reads are answered")
            _ = try disk.log.line { $0["event"] as? String == "disk full" }
            disk.vfs.disarm()
            disk.trouble.withLock { $0 = nil }
            // Nobody has to write for it to be found out.
            #expect(try health().text == #"{"status":"ok"}"#)
            #expect(try disk.save("after", device).status == 200)
            _ = try disk.log.line { $0["event"] as? String == "disk can be written again" }
            #expect(try disk.events() == ["disk full", "disk can be written again"])
        }
    }

    @Test func aFailingCheckpointIsLoggedOnceCountedAndShownByHealthUntilOneSucceeds() async throws {
        try await onThread {
            let disk = try FullDisk(checkpointFrames: 20)
            defer { disk.server.stop() }
            let device = try RawDevice(port: disk.server.port, token: "ada")
            let probe = try RawConnection(port: disk.server.port)
            func health() throws -> RawResponse { try probe.exchange("GET", "/health") }
            func metric(_ name: String) throws -> Double? {
                try Exposition(try probe.exchange("GET", "/metrics").text).value(name)
            }
            try device.makeZone("z")
            #expect(try metric("yap_checkpoints_failing") == 0)
            // A checkpoint ends with it, and no commit needs it.
            disk.vfs.arm(.truncate, at: 1, .sticky)
            for number in 0..<20 { #expect(try disk.save("kept-\(number)", device).status == 200) }
            let failing = try health()
            #expect(failing.status == 503)
            #expect(failing.text == #"{"status":"failing","reason":"checkpoint failing"}"#)
            #expect(try metric("yap_checkpoints_failing") == 1)
            #expect(try metric("yap_disk_writable") == 1)
            let line = try disk.log.line { $0["event"] as? String == "checkpoint failing" }
            #expect((line["error"] as? String)?.contains("store.sqlite") == true)
            disk.vfs.disarm()
            // Nobody has to write for it to be tried again.
            #expect(try health().text == #"{"status":"ok"}"#)
            #expect(try metric("yap_checkpoints_failing") == 0)
            _ = try disk.log.line { $0["event"] as? String == "checkpoint fails no longer" }
            #expect(try disk.events() == ["checkpoint failing", "checkpoint fails no longer"])
        }
    }

    @Test func aFolderThatCanBeWrittenIsNoTroubleAndOneThatCannotIs() throws {
        let folder = try TemporaryFolder()
        #expect(DiskProbe.trouble(of: folder.path, isSuspect: true) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "nothing is left")
        #expect(DiskProbe.trouble(of: folder.file("absent"), isSuspect: false) != nil)
        #expect(try #require(DiskProbe.freeBytes(of: folder.path)) > 0)
    }

    /// A full disk would let the blocks of a left file be written again.
    @Test func theProbeNeedsNewBlocksThoughAKilledProcessLeftItsFile() throws {
        let folder = try TemporaryFolder()
        let probe = folder.file(".probe-\(getpid())")
        let left = [UInt8](repeating: 1, count: 300_000)
        try Data(left).write(to: URL(filePath: probe))
        // A second name, under which the file's size is seen when the probe has removed it.
        try FileManager.default.linkItem(atPath: probe, toPath: folder.file("left"))
        #expect(DiskProbe.trouble(of: folder.path, isSuspect: true) == nil)
        #expect(try Folders.names(in: folder.path) == ["left"])
        let bytes = try Data(contentsOf: URL(filePath: folder.file("left")))
        #expect(bytes.count < left.count && !bytes.contains(1))
    }
}
