import CloudStore
import Foundation
import SQLiteTestSupport
import Testing

/// `yap backup` and `yap restore` as processes, beside a server that runs.
@Suite struct BackupCommandTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func done(_ line: String) async throws -> YapProcess.Ended {
        let ended = try await YapProcess.shell(line, in: folder)
        #expect(ended.code == 0, "\(line): \(ended.errors)")
        return ended
    }

    @Test func aBackupOfARunningServerIsATarArchiveWithRightChecksums() async throws {
        _ = try await done("yap init --container \(Self.todo) && yap account create ann")
        let server = try await ServeProcess(in: folder)
        _ = try await done("yap backup b.tar --json")
        #expect(try await server.end() == 0)
        let names = try await done("tar tf b.tar").output.split(separator: "\n")
        #expect(names == ["FORMAT", "control.sqlite", "SHA256SUMS"])
        let sums = try await done("mkdir out && tar xf b.tar -C out && cd out && sha256sum -c SHA256SUMS")
        #expect(sums.output.contains("control.sqlite: OK"))
        _ = try await done("yap restore b.tar --data back")
        #expect(try await done("yap account list --data back").output.contains("ann"))
        let restored = try await ServeProcess(in: folder, ["--data", "back"])
        #expect(try await restored.end() == 0)
        let again = try await YapProcess.run(["backup", "b.tar"], in: folder)
        #expect(again.code == 4 && again.errors.contains("b.tar exists already"))
        let full = try await YapProcess.run(["restore", "b.tar", "--data", "back"], in: folder)
        #expect(full.code == 4 && full.errors.contains("isn't empty"))
    }

    @Test func aBackupHoldsTheSettingsAndARestoreSaysWhatItDoesNotHold() async throws {
        _ = try await done("yap init --container \(Self.todo)")
        let settings =
            #"{"port": 9, "tlsCertificate": "c.pem", "tlsKey": "k.pem", "limits": {"itemsMax": 7}}"#
        try Data(settings.utf8).write(to: URL(filePath: folder.file("yap-data/yap.json")))
        #expect(try await done("yap backup b.tar").output.contains("settings"))
        #expect(try await done("tar tf b.tar").output.contains("yap.json\n"))
        try Data().write(to: URL(filePath: folder.file("c.pem")))
        let restored = try await YapProcess.shell("yap restore b.tar --data back", in: folder)
        #expect(restored.code == 0 && restored.output.contains("settings"))
        #expect(try String(contentsOfFile: folder.file("back/yap.json"), encoding: .utf8) == settings)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("back/yap.json"))
        #expect(mode[.posixPermissions] as? Int == 0o600)
        #expect(restored.errors.contains("no archive holds certificates, private keys"))
        #expect(restored.errors.contains("tlsKey in yap.json names k.pem, which doesn't exist"))
        #expect(!restored.errors.contains("c.pem"), "that one is there")
        let json = try await done("yap restore b.tar --data again --json").output
        #expect(json.contains(#""settings":true"#))
        #expect(json.contains(#"{"setting":"tlsKey","path":"k.pem","isThere":false}"#))
        let config = try await done("yap serve --data back --print-config").output
        #expect(config.contains(/limits\.itemsMax +7/))
    }

    @Test func aRestoredFolderIsLogged() async throws {
        _ = try await done("yap init --container \(Self.todo)")
        func serve(endingWith signal: Int32 = SIGTERM) async throws -> Bool {
            let server = try await ServeProcess(in: folder)
            #expect(try await server.end(with: signal) == (signal == SIGKILL ? 128 + SIGKILL : 0))
            return try server.log.contains("folder was put back")
        }
        #expect(try await !serve())
        _ = try await done("cp -a yap-data cold")
        #expect(try await !serve(endingWith: SIGKILL))
        #expect(try await !serve(), "killed and started again")
        _ = try await done("rm -r yap-data && cp -a cold yap-data")
        #expect(try await serve())
        #expect(try await !serve(), "told once")
        #expect(FileManager.default.fileExists(atPath: folder.file("yap-data.witness")))
    }

    /// A limit on the size of files is as good as a full disk, at each of many sizes.
    @Test func aDiskThatIsFullLeavesNothingHalf() async throws {
        _ = try await done("yap init --container \(Self.todo)")
        let data = DataFolder(path: folder.file("yap-data"))
        let store = try data.storePath(container: Self.todo, environment: "production", makesFolders: true)
        try SQLiteCloudStore(path: store).close()
        let assets = try data.assetsPath(container: Self.todo, environment: "production")
        for number in 10..<40 {
            try FileManager.default.createDirectory(
                atPath: "\(assets)/\(number)", withIntermediateDirectories: true)
            try Data(repeating: 7, count: 10_000).write(to: URL(filePath: "\(assets)/\(number)/\(number)"))
        }
        _ = try await done("yap backup whole.tar")
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: folder.file("whole.tar"))[.size] as? Int)
        // Below 64 KB not even the control file could be opened.
        for kilobytes in stride(from: 64, to: size / 1024, by: 32) {
            let line = "trap '' XFSZ; ulimit -f \(kilobytes); yap backup b.tar"
            let backup = try await YapProcess.shell(line, in: folder)
            #expect(backup.code == 1 && !backup.errors.isEmpty, "\(kilobytes) KB")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
        }
        for kilobytes in [1, 4, 9, 16, 32, 40] {
            let line = "trap '' XFSZ; ulimit -f \(kilobytes); yap restore whole.tar --data back"
            let restore = try await YapProcess.shell(line, in: folder)
            #expect(restore.code == 1, "\(kilobytes) KB: \(restore.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
        }
        _ = try await done("yap restore whole.tar --data back && yap backup b.tar")
    }

    /// Killed at many moments: nothing stays held, and the next backup clears away what the others left.
    @Test func aKilledBackupHoldsNothingUpAndTheNextOneClearsUpAfterIt() async throws {
        _ = try await done("yap init --container \(Self.todo)")
        let data = DataFolder(path: folder.file("yap-data"))
        let store = try data.storePath(container: Self.todo, environment: "production", makesFolders: true)
        try SQLiteCloudStore(path: store).close()
        let assets = try data.assetsPath(container: Self.todo, environment: "production")
        for number in 10..<40 {
            try FileManager.default.createDirectory(
                atPath: "\(assets)/\(number)", withIntermediateDirectories: true)
            let name = "\(assets)/\(number)/" + String(repeating: "\(number)", count: 31)
            try Data(repeating: 7, count: 300_000).write(to: URL(filePath: name))
        }
        var leftCount = 0
        // Each waits until there is a draft of its own, and so many bytes in it.
        for kilobytes in [0, 1, 60, 400, 2_000, 5_000] {
            let line = """
                yap backup b.tar & id=$!
                until [ -e b.tar.part-$id ] && [ $(stat -c %s b.tar.part-$id) -ge \(kilobytes * 1024) ] \
                    || ! kill -0 $id 2>/dev/null; do :; done
                kill -9 $id; wait $id
                ls | grep -c part- || true
                """
            let killed = try await YapProcess.shell(line, in: folder)
            if killed.output != "0\n" { leftCount += 1 }
            #expect(try data.holdForCollection() != nil, "\(kilobytes) KB")
            try? FileManager.default.removeItem(atPath: folder.file("b.tar"))
        }
        #expect(leftCount > 0, "some were killed in the middle")
        _ = try await done("yap backup b.tar")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.contains("part-") } && names.contains("b.tar"))
        _ = try await done("yap restore b.tar --data back")
    }
}
