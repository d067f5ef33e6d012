import Foundation

/// The working copy that the tests were built from.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The text of a file, or nil when there is none; the path is relative to the root.
    static func text(of path: String) -> String? {
        try? String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Every Swift file below the folders, sorted by path.
    static func swiftFiles(in folders: [String]) -> [SourceFile] {
        var files = [SourceFile]()
        for folder in folders {
            let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let name = names?.nextObject() as? String {
                guard name.hasSuffix(".swift"), let text = text(of: "\(folder)/\(name)") else { continue }
                files.append(SourceFile(path: "\(folder)/\(name)", text: text))
            }
        }
        return files.sorted { $0.path < $1.path }
    }

    /// The names of the folders that lie directly in `folder`, sorted.
    static func folders(in folder: String) -> [String] {
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
        return names.filter { name in
            var isFolder: ObjCBool = false
            let path = root.appending(path: "\(folder)/\(name)").path
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
        }.sorted()
    }
}
