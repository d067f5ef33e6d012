import CloudKit
import CloudKitTesting
import CloudWire
import Seams
import Testing
import Yap

@testable import YapCloudKit

/// 119. Random writes, lost requests, lost answers, other devices' writes and relaunches; then the network is whole.
@Suite struct RandomUploadTests {
    @Test("119. in the end the server has what the device has, and nothing waits", arguments: 1...80)
    func inTheEndTheServerHasWhatTheDeviceHas(seed: Int) throws {
        let cloud = TestCloud(seed: UInt64(seed))
        // Both forms, with folding and without.
        let device = try HandledDevice(
            cloud, storage: seed % 2 == 0 ? .keysOnly : .values, folds: seed % 4 < 2)
        let random = SeededRandomSource(seed: UInt64(seed))
        let keys = (1...4).map(String.init)
        for step in 0..<60 {
            cloud.networkFault =
                switch random.next(in: 0..<4) {
                case 0: { _ in .loseRequest }
                case 1: { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
                default: nil
                }
            let key = keys[random.next(in: 0..<keys.count)]
            switch random.next(in: 0..<10) {
            case 0: try device.remove(key)
            case 1: try device.relaunch()
            case 2:
                try device.write { transaction, _ in
                    try transaction.removeObject(forKey: key, inCollection: "todos")
                    try transaction.setObject(Todo(title: "new \(step)"), forKey: key, inCollection: "todos")
                }
            case 3: device.cloudKit.suspend()
            case 4, 5: device.scheduler.runUntilQuiet()
            case 6:
                cloud.clock.advance(bySeconds: 30)
                device.upload()
            default:
                let title = "t\(step)"
                try device.write { transaction, _ in
                    if try transaction.hasObject(forKey: key, inCollection: "todos") {
                        try transaction.edit(key) {
                            $0.title = title
                            $0.note = step % 3 == 0 ? nil : title
                        }
                    } else {
                        try transaction.setObject(Todo(title: title), forKey: key, inCollection: "todos")
                    }
                }
            }
        }
        cloud.networkFault = nil
        cloud.clock.advance(bySeconds: 1000)
        #expect(device.upload() == .idle, "seed \(seed)")
        #expect(try device.queue().isEmpty, "seed \(seed)")
        for key in keys {
            let todo = try device.todo(key)
            let server = device.server(key)
            #expect((todo == nil) == (server == nil), "seed \(seed), \(key)")
            #expect(server.map { $0["title"] == todo?.title } ?? true, "seed \(seed), \(key)")
            #expect(try device.tag(key) == server?.recordChangeTag, "seed \(seed), \(key)")
        }
    }
}
