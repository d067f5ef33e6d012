import Foundation
import TestRun

/// The program with all tests.
struct TestBundle {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let path: String
    let files: RunFiles

    /// The bundle that was built with this program.
    static func find() throws -> String {
        let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        guard let name = names.first(where: { $0.hasSuffix("PackageTests.xctest") }) else {
            throw Failure(description: "no tests in \(folder)")
        }
        return "\(folder)/\(name)"
    }

    func list() throws -> [TestID] {
        let output = files.temporary("list")
        let child = try start(["--list-tests", "--verbose"], output: output)
        guard child.waitForEnd(seconds: 60) else {
            ProcessTable.end([child.id], patience: 0)
            throw Failure(description: "the tests could not be listed within a minute")
        }
        return RunFiles.text(of: output).split(whereSeparator: \.isNewline).compactMap { TestID(String($0)) }
    }

    func start(_ arguments: [String], output: String) throws -> ChildProcess {
        try ChildProcess([path, "--testing-library", "swift-testing"] + arguments, output: output)
    }
}
