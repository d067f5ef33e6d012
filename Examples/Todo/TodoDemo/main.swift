import Foundation

/// Runs the demo in a temporary folder.
/// - Returns: Whether everything was as it should be.
func runDemo(_ arguments: DemoArguments) async throws -> Bool {
    let folder = FileManager.default.temporaryDirectory.appending(path: "yap-demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let demo = try Demo(arguments, folder: folder)
    var isRight = false
    do {
        isRight = try await demo.run()
    } catch {
        print("\nThe demo stopped: \(error)")
    }
    if arguments.keepsFolder {
        print("The databases are in \(folder.path)\n")
    } else {
        try FileManager.default.removeItem(at: folder)
    }
    withExtendedLifetime(demo) {}
    return isRight
}

do {
    exit(try await runDemo(DemoArguments(Array(CommandLine.arguments.dropFirst()))) ? 0 : 1)
} catch {
    print("\(error)")
    exit(2)
}
