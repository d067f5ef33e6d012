import CloudKit
import CloudKitTesting
import CloudWire
import System
import Testing
import Yap

@testable import YapCloudKit

/// 119. Random writes, lost requests, lost answers, other devices' writes and relaunches; then the network is whole.
/// The seed also draws how failures are dealt with, what the queue stores, and whether it folds.
@Suite struct RandomUploadTests {
    /// What an app does about its failures: it brings in what the server has, and resumes.
    private func recover(_ device: HandledDevice, _ keys: [String]) throws {
        for key in keys {
            guard let record = device.server(key), try device.tag(key) != record.recordChangeTag else {
                continue
            }
            try device.merge(record)
        }
    }

    private func settle(_ device: HandledDevice, _ keys: [String]) throws -> CloudSyncStatus {
        for _ in 0..<100 {
            device.cloud.clock.advance(bySeconds: 1000)
            if device.upload().state == .idle { break }
            try recover(device, keys)
        }
        return device.cloudKit.status
    }

    @Test(
        "119 (both, either storage, folding or not). the server ends with the last values, and nothing is pending",
        arguments: 1...120)
    func inTheEndTheServerHasWhatTheDeviceHas(seed: Int) throws {
        let cloud = TestCloud(seed: UInt64(seed))
        let random = SeededRandomSource(seed: UInt64(seed))
        let isApp = random.next(in: 0..<2) == 0
        let device = try HandledDevice(
            cloud, storage: random.next(in: 0..<2) == 0 ? .keysOnly : .values,
            failures: isApp ? .app : .automatic, folds: random.next(in: 0..<2) == 0)
        let keys = (1...4).map(String.init)
        var written: [String: Todo] = [:]
        for step in 0..<60 {
            cloud.networkFault =
                switch random.next(in: 0..<4) {
                case 0: { _ in .loseRequest }
                case 1: { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
                default: nil
                }
            let key = keys[random.next(in: 0..<keys.count)]
            switch random.next(in: 0..<10) {
            case 0:
                try device.remove(key)
                written[key] = nil
            case 1: try device.relaunch()
            case 2:
                try device.write { transaction, _ in
                    try transaction.removeObject(forKey: key, inCollection: "todos")
                    try transaction.setObject(Todo(title: "new \(step)"), forKey: key, inCollection: "todos")
                }
                written[key] = Todo(title: "new \(step)")
            case 3: device.cloudKit.suspend()
            case 4, 5: device.scheduler.runUntilQuiet()
            case 6:
                cloud.clock.advance(bySeconds: 30)
                if isApp { try recover(device, keys) }
                device.upload()
            default:
                var todo = written[key] ?? Todo()
                todo.title = "t\(step)"
                todo.note = step % 3 == 0 ? nil : "t\(step)"
                try device.set(todo, key)
                written[key] = todo
            }
            let isEmpty = try device.queue().isEmpty
            let status = device.cloudKit.status
            #expect(isEmpty || status.state != .idle, "seed \(seed), step \(step)")
        }
        cloud.networkFault = nil
        #expect(try settle(device, keys).state == .idle, "seed \(seed)")
        #expect(try device.queue().isEmpty, "seed \(seed)")
        for key in keys {
            #expect(try device.todo(key) == written[key], "seed \(seed), \(key)")
            let server = device.server(key)
            #expect((written[key] == nil) == (server == nil), "seed \(seed), \(key)")
            #expect(server.map { $0["title"] == written[key]?.title } ?? true, "seed \(seed), \(key)")
            #expect(server.map { $0["note"] == written[key]?.note } ?? true, "seed \(seed), \(key)")
            #expect(try device.tag(key) == server?.recordChangeTag, "seed \(seed), \(key)")
        }
    }
}
