import Foundation

/// A folder that goes with its last owner.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(component: "yap-guide-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
