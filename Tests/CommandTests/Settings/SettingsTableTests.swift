import CloudServer
import CloudService
import Foundation
import Testing

@testable import YapCommand

/// The table of settings: whole, each leading where it says, refused with what is allowed, and in the document.
@Suite struct SettingsTableTests {
    /// What has no setting, and why.
    private static let without = ["limits.querySearch", "limits.clearing", "limits.assets"]

    private static func names(_ prefix: String, _ value: Any) -> [String] {
        Mirror(reflecting: value).children.compactMap { $0.label.map { prefix + $0 } }
    }

    @Test func whateverTheServiceLimitsIsASetting() {
        let wanted =
            Self.names("limits.", ServiceLimits()) + Self.names("limits.", AssetLimits())
            + Self.names("groups.", GroupLimits()) + Self.names("protocol.", ServiceSettings())
            + Self.names("", AssetTransferOptions())
            + Self.names("rates.", ServiceRates()).flatMap { ["\($0)PerSecond", "\($0)Burst"] }
        let names = ServeSettings.all.map(\.name)
        #expect(Set(wanted).subtracting(names).sorted() == Self.without.sorted())
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: ServeSettings.all.map(\.name)) func aSettingSetsWhatItSaysAndNothingElse(
        _ name: String
    ) throws {
        let setting = try #require(ServeSettings.all.first { $0.name == name })
        let before = ServeSettings()
        for value in try Self.otherValues(setting) {
            var after = ServeSettings()
            try after.read(file: "a.json", Self.file(name, value))
            let changed = zip(before.effective, after.effective).filter { $0.value.text != $1.value.text }
            #expect(changed.map { $0.1.setting.name } == [name])
            #expect(changed.map { $0.1.value.text } == [value] && changed.first?.1.origin == .file("a.json"))
            // Under its own name in what the server is made of.
            let last = name.split(separator: ".").last.map(String.init) ?? ""
            let options = try after.serverOptions()
            let others: [Any] = [
                options.limits, options.limits.assets, options.groupLimits, options.settings, options.assets,
            ]
            let holders = name.hasPrefix("history.") ? [options.history] : others
            for held in holders.compactMap({ Mirror(reflecting: $0).descendant(last) }) {
                guard name.contains(".") || setting.unit != .none else { continue }
                guard !name.hasPrefix("groups.") || held is Int || held is Int64 else { continue }
                #expect("\(held)" == value.filter { $0 != "\"" })
            }
        }
    }

    /// Values that are allowed and not the default, as they stand in a file.
    private static func otherValues(_ setting: ServeSettings.Setting) throws -> [String] {
        let usual = setting.place.value(in: ServeSettings()).text
        let values: [String] =
            switch setting.place {
            case .number, .longNumber:
                [setting.range.lowerBound + 1, setting.range.upperBound].map { "\($0)" }
            case .flag: ["true", "false"]
            case .choice(let choice): choice.names.map { "\"\($0)\"" }
            case .text: ["\"::1\""]
            // A certificate needs its key: what goes together is tried in ServeTests.
            case .optionalText: setting.name.hasPrefix("tls") ? [] : ["\"x\""]
            }
        return values.filter { $0 != usual }
    }

    @Test(arguments: ServeSettings.all.map(\.name)) func aBadValueIsRefusedWithTheLineAndWhatIsAllowed(
        _ name: String
    ) throws {
        let setting = try #require(ServeSettings.all.first { $0.name == name })
        var bad = ["[1]", "1.5", "99999999999999999"]
        switch setting.place {
        case .number, .longNumber: bad += ["\(setting.range.lowerBound - 1)", "true", "\"5\"", "null"]
        case .flag: bad += ["1", "\"true\""]
        case .choice: bad += ["\"other\"", "true"]
        case .text, .optionalText: bad += ["true"]
        }
        for value in bad {
            var settings = ServeSettings()
            let error = #expect(throws: Failure.self) {
                try settings.read(file: "a.json", Array("{\n\n".utf8) + Self.file(name, value).dropFirst())
            }
            guard case .failed(let reason)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.hasPrefix("a.json:3: ") && reason.contains(name), "\(reason)")
            #expect(reason.contains(" takes \(setting.allowed), not "), "\(reason)")
        }
    }

    private static func file(_ name: String, _ value: String) -> [UInt8] {
        let parts = name.split(separator: ".")
        guard parts.count == 2 else { return Array("{\"\(name)\": \(value)}".utf8) }
        return Array("{\"\(parts[0])\": {\"\(parts[1])\": \(value)}}".utf8)
    }

    // MARK: - `YAP_TABLES=write swift test --filter SettingsTableTests` writes the document's table anew.

    private static let header = "| setting | default | unit, or what it takes | what it is |"

    private static var table: String {
        let usual = ServeSettings()
        let rows = ServeSettings.all.map { setting in
            let option = setting.option.map { ", `--\($0)`" } ?? ""
            let value = setting.place.value(in: usual).text
            return "| `\(setting.name)`\(option) | `\(value)` | \(setting.unitText) | \(setting.what) |"
        }
        return ([header, "|---|---|---|---|"] + rows).joined(separator: "\n") + "\n"
    }

    @Test func theDocumentHasTheTable() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/OPERATING.md").standardized
        var text = try String(contentsOf: file, encoding: .utf8)
        if ProcessInfo.processInfo.environment["YAP_TABLES"] == "write" {
            let start = try #require(text.range(of: Self.header)).lowerBound
            let end = text[start...].range(of: "\n\n")?.lowerBound ?? text.endIndex
            text.replaceSubrange(start..<end, with: Self.table.dropLast())
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(text.contains(Self.table))
    }
}
