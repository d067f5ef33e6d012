import CloudKit
import CloudKitTesting
import Foundation
import Testing

#if swift(>=6)
    let languageMode = "6"
#else
    let languageMode = "5"
#endif

/// A cloud, and two devices of one user, with places of their own for what an app keeps.
final class Home: @unchecked Sendable {
    // Constants only; UserDefaults locks for itself.

    let cloud: TestCloud
    let phone: TestDevice
    let laptop: TestDevice
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("GuideApp-\(UUID())")
    private var suites: [(String, UserDefaults)] = []

    init(_ cloud: TestCloud = TestCloud()) throws {
        self.cloud = cloud
        phone = cloud.device(user: "ada")
        laptop = cloud.device(user: "ada")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        for (name, defaults) in suites { defaults.removePersistentDomain(forName: name) }
        try? FileManager.default.removeItem(at: folder)
    }

    func defaults() throws -> UserDefaults {
        let name = "GuideApp-\(UUID())"
        let defaults = try #require(UserDefaults(suiteName: name))
        suites.append((name, defaults))
        return defaults
    }

    /// The app on `device`.
    func recipes(_ device: TestDevice) throws -> RecipeCloud {
        let defaults = try defaults()
        return device.asDefault { RecipeCloud(defaults: defaults) }
    }

    func book(_ device: TestDevice, _ name: String = "soup") throws -> RecipeBook {
        RecipeBook(cloud: try recipes(device), name: name, folder: folder)
    }

    /// The files that the app left behind.
    var leftovers: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }
}

/// Waits for what a block is called with.
func heard<Value: Sendable>(_ begin: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
    await withCheckedContinuation { continuation in begin { continuation.resume(returning: $0) } }
}

/// Waits for the error that a completion handler is called with; nil when it went well.
func outcome(_ begin: (@escaping @Sendable (Error?) -> Void) -> Void) async -> CKError? {
    await withCheckedContinuation { continuation in
        begin { error in
            if let error, !(error is CKError) { Issue.record("\(error) is no error of the cloud") }
            continuation.resume(returning: error as? CKError)
        }
    }
}
