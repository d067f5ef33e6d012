/// The kind of an entry in a backup archive, recognized by its name. `docs/DISK_FORMAT.md` describes the layout.
enum BackupEntry: Hashable {
    case format
    case control
    /// The operator's settings (`yap.json`).
    case settings
    case store(container: String, environment: String)
    case asset(container: String, environment: String, name: String)
    case sums

    /// Version 1 had no settings.
    static let formatVersion = 2
    static let formatBytesMax: Int64 = 4096

    /// Reads the name of an entry. Other names are rejected, so no entry can be written outside the folder.
    init?(_ name: String) {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1:
            switch name {
            case "FORMAT": self = .format
            case "control.sqlite": self = .control
            case DataFolder.settingsName: self = .settings
            case "SHA256SUMS": self = .sums
            default: return nil
            }
        case 3:
            guard let environment = Self.environment(parts[2], ".sqlite") else { return nil }
            self = .store(container: parts[1], environment: environment)
        case 5:
            guard let environment = Self.environment(parts[2], ".assets"),
                Self.isAsset(folder: parts[3], name: parts[4])
            else { return nil }
            self = .asset(
                container: parts[1], environment: environment, name: "\(parts[3])/\(parts[4])")
        default: return nil
        }
        guard parts.count == 1 || parts[0] == "containers" && Self.isContainer(parts[1]) else { return nil }
    }

    var name: String {
        switch self {
        case .format: "FORMAT"
        case .control: "control.sqlite"
        case .settings: DataFolder.settingsName
        case .sums: "SHA256SUMS"
        case .store(let container, let environment): "containers/\(container)/\(environment).sqlite"
        case .asset(let container, let environment, let name):
            "containers/\(container)/\(environment).assets/\(name)"
        }
    }

    static func isContainer(_ name: String) -> Bool {
        (try? ControlNames.checkContainer(name)) != nil
    }

    /// Files of records are in folders of two hexadecimal digits. Unfinished uploads aren't.
    static func isAsset(folder: String, name: String) -> Bool {
        func isHex(_ text: String) -> Bool {
            text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
        return folder.utf8.count == 2 && isHex(folder) && (1...128).contains(name.utf8.count) && isHex(name)
    }

    private static func environment(_ name: String, _ ending: String) -> String? {
        ["development", "production"].first { name == $0 + ending }
    }
}
