import Foundation
import ProcessSupport
import System

/// Runs the demo in a temporary folder, which it removes again, with every process that it started.
/// - Returns: Whether everything was as it should be.
func runDemo(_ arguments: DemoArguments) async throws -> Bool {
    let folder = FileManager.default.temporaryDirectory.appending(path: "yap-demo-\(UUID().uuidString)")
    let cleanup = Cleanup(folder: folder, keepsFolder: arguments.keepsFolder)
    let programs = try DemoArguments.programs()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var isRight = false
    do {
        isRight = try await Demo(arguments, folder: folder.path, programs: programs).run()
    } catch {
        print("\nThe demo stopped: \(error)")
    }
    cleanup.run()
    return isRight
}

do {
    exit(try await runDemo(DemoArguments(Array(CommandLine.arguments.dropFirst()))) ? 0 : 1)
} catch {
    print("\(error)")
    exit(2)
}
