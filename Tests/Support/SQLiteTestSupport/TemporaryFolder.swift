import Foundation
import System

/// A new folder, removed with all it holds when it goes.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let path: String

    /// Makes it under the system's temporary folder.
    public init() throws {
        path = NSTemporaryDirectory() + "yap-" + SystemRandomSource().nextUUID()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        // A server whose data folder this was leaves its witness beside it.
        try? FileManager.default.removeItem(atPath: path + ".witness")
    }

    /// The path of `name` inside.
    public func file(_ name: String) -> String {
        path + "/" + name
    }
}
