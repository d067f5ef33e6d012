import CloudServer
import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import Testing
import Waiting

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct StopTests {
    @Test func aServerThatStopsAnswersWhatIsUnderWayAndTakesNoMore() async throws {
        try await onThread {
            let server = try TestServer()
            let port = server.port
            let device = try RawDevice(port: port, token: "ada")
            try device.makeZone("todos")
            let connection = try RawConnection(port: port)
            let body = try ZonesListRequest().json()
            // Half a request is under way when the stop begins.
            try connection.send(
                "POST \(device.target("private/zones/list")) HTTP/1.1\r\nHost: x\r\n"
                    + "Content-Length: \(body.count)\r\n\r\n")
            try connection.send(Array(body.prefix(1)))
            // The server has read the head when a later request of another connection is answered.
            #expect(try device.post("private/zones/list", ZonesListRequest()).status == 200)
            let stopped = DispatchSemaphore(value: 0)
            Thread {
                server.stop()
                stopped.signal()
            }.start()
            try Polling.waitUntil { (try? RawConnection(port: port)) == nil }
            try connection.send(Array(body.dropFirst(1)))
            let response = try connection.receive()
            #expect(response.status == 200 || response.status == 503)
            #expect(response.header("Connection") == "close")
            #expect(stopped.wait(timeout: .now() + 20) == .success)
        }
    }

    @Test func afterTheStopAllIsInOneFile() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let server = try ServerProcess(folder: folder.path)
            defer { server.end() }
            let device = try RawDevice(port: try server.port(), token: folder.tokens[0])
            try device.makeZone("todos")
            for index in 0..<20 {
                let operation = RecordOperation(
                    operationType: .create, record: RawDevice.record("r\(index)", Int64(index)))
                #expect(try device.modify([operation], zone: "todos").status == 200)
            }
            server.signal(SIGTERM)
            // An idle connection doesn't hold up the stop: the grace would be 10 seconds.
            #expect(server.ends(withinSeconds: 9.5))
            #expect(server.wait() == 0)
            let path = try folder.dataFolder.storePath(
                container: RawDevice.container, environment: "development")
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        }
    }

    @Test func aServerThatIsStoppedTwiceWaitsTwice() async throws {
        try await onThread {
            let server = try TestServer()
            try onThreads(4) { _ in server.stop() }
            #expect((try? RawConnection(port: server.port)) == nil)
        }
    }
}
