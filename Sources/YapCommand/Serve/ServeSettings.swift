import CloudServer
import CloudService
import CloudStore
import CloudWire
import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Settings of a server, and the source of each.
struct ServeSettings {
    /// Source of a setting. A later source overrides an earlier one.
    enum Origin: Equatable {
        case ownDefault
        case file(String)
        case commandLine

        var text: String {
            switch self {
            case .ownDefault: "default"
            case .file(let path): path
            case .commandLine: "command line"
            }
        }
    }

    static let fileBytesMax = 1 << 20

    var options = CloudServerOptions()
    var signInLengths = SignInLengths()
    var witness: String?
    var tlsCertificate: String?
    var tlsKey: String?
    private(set) var origins: [String: Origin] = [:]

    init() {
        options.http.port = ServeCommand.portDefault
    }

    /// Reads a settings file.
    ///
    /// - Throws: `Failure.failed` if it can't be read, or is invalid.
    mutating func read(fileAt path: String) throws {
        let reader = try LineReader(path, lineBytesMax: Self.fileBytesMax)
        var bytes: [UInt8] = []
        while let line = try reader.next() { bytes += line + [0x0A] }
        try read(file: path, bytes)
    }

    /// Returns the settings in a data folder, for commands that work beside its server.
    static func kept(in folder: DataFolder) throws -> ServeSettings {
        var settings = ServeSettings()
        if let path = path(in: folder) { try settings.read(fileAt: path) }
        return settings
    }

    /// Returns the path of the settings file in a data folder, if it exists.
    static func path(in folder: DataFolder) -> String? {
        access(folder.settingsPath, F_OK) == 0 ? folder.settingsPath : nil
    }

    /// Reads a settings file.
    ///
    /// - Throws: `Failure.failed` with the path, the line, and the mistake.
    mutating func read(file path: String, _ bytes: [UInt8]) throws {
        let document: SettingsDocument
        do {
            document = try SettingsDocument(json: bytes)
        } catch {
            let line = SettingsDocument.line(ofByte: error.byteOffset, in: bytes)
            throw Failure.failed("\(path):\(line): \(error.reason)")
        }
        for setting in document.settings {
            do {
                try set(Self.setting(named: setting.name), setting.value, from: .file(path))
            } catch Failure.usage(let reason) {
                let line = SettingsDocument.line(ofByte: setting.byteOffset, in: bytes)
                throw Failure.failed("\(path):\(line): \(reason)")
            }
        }
    }

    /// Reads the options of the command line.
    ///
    /// - Throws: `Failure.usage`.
    mutating func read(_ invocation: Invocation) throws {
        for setting in Self.all {
            guard let option = setting.option, invocation.has(option) else { continue }
            try set(setting.name, text: invocation.value(option) ?? "", from: .commandLine)
        }
        for text in invocation.values("set") {
            guard let sign = text.firstIndex(of: "=") else {
                throw Failure.usage("--set takes NAME=VALUE, not \"\(text)\"")
            }
            try set(String(text[..<sign]), text: String(text[text.index(after: sign)...]), from: .commandLine)
        }
    }

    /// Returns the options of the server.
    ///
    /// - Throws: `Failure.usage` if a certificate has no key, or a key no certificate.
    func serverOptions() throws -> CloudServerOptions {
        var options = options
        switch (tlsCertificate, tlsKey) {
        case (nil, nil): break
        case (let certificate?, let key?):
            options.http.tls = HTTPServerTLSOptions(certificatePath: certificate, privateKeyPath: key)
        default: throw Failure.usage("--tls-certificate and --tls-key go together")
        }
        return options
    }

    /// All effective settings, and the source of each.
    var effective: [(setting: Setting, value: JSON, origin: Origin)] {
        Self.all.map { ($0, $0.place.value(in: self), origins[$0.name] ?? .ownDefault) }
    }

    private mutating func set(_ name: String, text: String, from origin: Origin) throws {
        let setting = try Self.setting(named: name)
        switch setting.place {
        case .number, .longNumber:
            guard let number = Int64(text) else { throw setting.refusal(of: "\"\(text)\"") }
            try set(setting, .integer(number), from: origin)
        case .flag where text.isEmpty || text == "true": try set(setting, .bool(true), from: origin)
        case .flag where text == "false": try set(setting, .bool(false), from: origin)
        case .flag: throw setting.refusal(of: "\"\(text)\"")
        case .text, .optionalText, .choice: try set(setting, .string(text), from: origin)
        }
    }

    private mutating func set(_ setting: Setting, _ value: JSONValue, from origin: Origin) throws {
        switch (setting.place, value) {
        case (.number(let path), .integer(let number)) where setting.range.contains(number):
            self[keyPath: path] = Int(clamping: number)
        case (.longNumber(let path), .integer(let number)) where setting.range.contains(number):
            self[keyPath: path] = number
        case (.text(let path), .string(let text)): self[keyPath: path] = text
        case (.optionalText(let path), .string(let text)): self[keyPath: path] = text
        case (.optionalText(let path), .null): self[keyPath: path] = nil
        case (.flag(let path), .bool(let isOn)): self[keyPath: path] = isOn
        case (.choice(let choice), .string(let text)) where choice.names.contains(text):
            choice.set(&self, text)
        default: throw setting.refusal(of: Self.shown(value))
        }
        origins[setting.name] = origin
    }

    private static func setting(named name: String) throws -> Setting {
        guard let setting = all.first(where: { $0.name == name }) else {
            let nearest = Nearest.sorted(all.map(\.name), to: name).first
            throw Failure.usage(
                "there is no setting \"\(name)\"; the nearest is \(nearest ?? "none"), and yap serve "
                    + "--print-config lists them all")
        }
        return setting
    }

    private static func shown(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let isOn): "\(isOn)"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): JSON.string(text).text
        case .array: "an array"
        case .object: "an object"
        }
    }
}
