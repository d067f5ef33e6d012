import Foundation

/// The files of a run.
struct RunFiles {
    let folder: String
    /// The output of all tests.
    let log: String
    private let temporaryFolder: String

    init() throws {
        folder = FileManager.default.currentDirectoryPath + "/.build"
        log = folder + "/test.log"
        temporaryFolder = folder + "/test-run.\(getpid())"
        try FileManager.default.createDirectory(atPath: temporaryFolder, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: log))
    }

    func temporary(_ name: String) -> String { "\(temporaryFolder)/\(name)" }

    func log(_ text: String, under title: String) {
        guard let file = FileHandle(forWritingAtPath: log) else { return }
        file.seekToEndOfFile()
        file.write(Data("==== \(title)\n\(text)\n".utf8))
    }

    func removeTemporary() {
        try? FileManager.default.removeItem(atPath: temporaryFolder)
    }

    static func text(of path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}
