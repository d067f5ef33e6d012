import Foundation
import Yap

/// The files of a device's albums.
extension Device {
    /// The folder of the files.
    private var filesPath: String { path + "-cloudKit.files" }
    /// Where files are copied that are no `CloudFile`s.
    private var stagingPath: String { path + "-cloudKit.assets" }
    /// The framework's cache.
    var cachePath: String { path + ".cache" }

    // MARK: The person

    /// An edit that copies a file from another album as one that names the file. What a field of an album had already
    /// is left out: each value of the run is of one edit.
    func withFilesOfOthers(
        _ edit: KeyedEdit, _ app: any DeviceApp, _ transaction: YapDatabaseReadTransaction
    ) throws -> KeyedEdit {
        guard case .change(let fields, let value, let clears) = edit.edit else { return edit }
        var edit = edit
        let named = try fields.compactMap { field -> String? in
            let parts = field.split(separator: "<")
            guard parts.count == 2 else { return field }
            let source = parts[1].split(separator: ".").map { String($0) }
            let album = try source.first.flatMap { try app.read($0, transaction) }
            guard let file = source.last == "photo" ? album?.photo : album?.scan else { return nil }
            let copy = fileValue(edit.key, String(parts[0]), file)
            return world.ledger.isKnown(copy) ? nil : "\(parts[0])=\(file)"
        }
        edit.edit = .change(fields: named, value: value, clears: clears)
        return edit
    }

    func addFiles(of edits: [KeyedEdit], _ earlier: [Todo?], _ app: any DeviceApp) throws {
        for (edit, before) in zip(edits, earlier) {
            guard let file = edit.file(before: before) else { continue }
            let added = try app.addFile(file.bytes)
            if added != file.text { world.violated("\(file.text) was added as \(added)") }
            world.files[file.text] = file.bytes
        }
    }

    /// Writes down of which files of an album the bytes are here.
    func noteFiles(of key: String, _ todo: Todo?, _ app: any DeviceApp) throws {
        guard key.hasPrefix(Keys.album), let todo else { return }
        for (field, file) in [("photo", todo.photo), ("scan", todo.scan)] {
            guard let file, try app.bytes(ofFile: file) != nil else { continue }
            filesAtCommits.insert(fileValue(key, field, file))
        }
    }

    private func fileValue(_ key: String, _ field: String, _ file: String) -> Ledger.Value {
        Ledger.Value(record: World.ledgerKey(key, user: adoptedUser), field: field, value: file)
    }

    /// Takes files out of albums that are nowhere any more, as a person does whose change waits for one.
    func giveUpFiles(onServer: [String: Todo]) throws {
        guard let app else { return }
        for (key, todo) in try app.todos().sorted(by: { $0.key < $1.key }) where key.hasPrefix(Keys.album) {
            let files = [
                ("photo", todo.photo, onServer[key]?.photo), ("scan", todo.scan, onServer[key]?.scan),
            ]
            for (field, file, known) in files {
                guard let file, file != known, app.isNowhere(file: file, of: key) else { continue }
                world.note(self, "gives up \(key).\(field) = \(file)")
                let value = fileValue(key, field, file)
                if filesAtCommits.contains(value) { world.lostFile("device \(index) lost \(value)") }
                world.ledger.dropped(device: index, value, rule: "is nowhere")
                try commit([
                    KeyedEdit(key: key, edit: .change(fields: [field + "-"], value: 0, clears: false))
                ])
            }
            let here = todo.pages.filter { !app.isNowhere(file: $0, of: key) }
            guard here != todo.pages, todo.pages != onServer[key]?.pages else { continue }
            let pages = todo.pages.joined(separator: " ")
            world.note(self, "gives up \(key).pages = \(pages)")
            world.ledger.dropped(device: index, fileValue(key, "pages", pages), rule: "is nowhere")
            let field = "pages=" + here.joined(separator: " ")
            try commit([KeyedEdit(key: key, edit: .change(fields: [field], value: 0, clears: false))])
        }
    }

    // MARK: The machine

    /// Whether the process is to end while a file is written.
    func diesOverFile() -> Bool {
        guard isDeathPlanned else { return false }
        filesCount += 1
        return world.draws.happens(perMille: 300, "device \(index) dies over file \(filesCount)")
    }

    /// Starts the app again, with files that are a day older.
    func letADayPass(emptiesCache: Bool) throws {
        guard app != nil else { return }
        world.note(self, "starts again a day later")
        try end()
        makeFilesOlder()
        if emptiesCache { try? FileManager.default.removeItem(atPath: cachePath) }
        try start()
    }

    private static let daySeconds = 90_000
    private static let hourSeconds = 3_600

    func makeFilesOlder() {
        for name in fileNames { makeOlder(name, seconds: Self.daySeconds) }
    }

    /// A file that is stored again is younger than its mark, though the disk's clock has stood still.
    func makeMarksOlder() {
        for name in fileNames where name.hasSuffix(".unused") { makeOlder(name, seconds: Self.hourSeconds) }
    }

    private func makeOlder(_ name: String, seconds: Int) {
        let path = filesPath + "/" + name
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let date = attributes[.modificationDate] as? Date
        else { return }
        let older = date.addingTimeInterval(-Double(seconds))
        try? FileManager.default.setAttributes([.modificationDate: older], ofItemAtPath: path)
    }

    // MARK: The demands

    /// The files in the folder, by name, and what else is there.
    private var fileNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: filesPath)) ?? []).filter { $0 != ".lock" }
            .sorted()
    }

    /// What is wrong with the files of a device that is idle.
    func wrongFiles() throws -> [String] {
        guard let app else { return ["device \(index) doesn't run"] }
        for _ in 0..<3 {
            makeFilesOlder()
            try app.removeUnusedFiles()
        }
        var wrong: [String] = []
        var used: Set<String> = []
        for (key, todo) in try app.todos().sorted(by: { $0.key < $1.key }) {
            for file in todo.files {
                used.insert(String(file.dropFirst("cloudfile:".count)))
                guard try app.bytes(ofFile: file) != world.files[file] else { continue }
                wrong.append("device \(index) doesn't have \(file) of \(key)")
            }
        }
        wrong += fileNames.filter { !used.contains($0) }.map { "device \(index) still has \($0)" }
        let staged = (try? FileManager.default.contentsOfDirectory(atPath: stagingPath)) ?? []
        return wrong + staged.map { "device \(index) still has the copy \($0)" }
    }
}
