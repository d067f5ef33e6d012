import CloudServer
import CloudService
import CloudWire
import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a server is to be run, and where each setting comes from.
struct ServeSettings {
    /// Who has said what a setting is; a later one goes before an earlier one.
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

    /// One setting: what it is called, and where it goes.
    struct Setting: Sendable {
        enum Place: Sendable {
            case number(any WritableKeyPath<ServeSettings, Int> & Sendable)
            case longNumber(any WritableKeyPath<ServeSettings, Int64> & Sendable)
            case text(any WritableKeyPath<ServeSettings, String> & Sendable)
            case optionalText(any WritableKeyPath<ServeSettings, String?> & Sendable)
            case flag(any WritableKeyPath<ServeSettings, Bool> & Sendable)
        }

        let name: String
        /// The option of `yap serve` that sets it.
        var option: String?
        let place: Place
        var range: ClosedRange<Int64> = 1...Int64.max
    }

    static let fileName = "yap.json"
    static let fileBytesMax = 1 << 20

    var options = CloudServerOptions()
    var tlsCertificate: String?
    var tlsKey: String?
    private(set) var origins: [String: Origin] = [:]

    init() {
        options.http.port = ServeCommand.portDefault
    }

    /// Takes what a file says.
    ///
    /// - Throws: `Failure.failed` with the path, the line, and what is wrong there.
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
                try set(setting.name, setting.value, from: .file(path))
            } catch Failure.usage(let reason) {
                let line = SettingsDocument.line(ofByte: setting.byteOffset, in: bytes)
                throw Failure.failed("\(path):\(line): \(reason)")
            }
        }
    }

    /// Takes what the command line says.
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

    /// The options of the server.
    ///
    /// - Throws: `Failure.usage` when a certificate has no key, or a key no certificate.
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

    /// All settings as they are: name, value, and where it comes from.
    var effective: [(name: String, value: JSON, origin: Origin)] {
        Self.all.map { setting in
            let value: JSON =
                switch setting.place {
                case .number(let path): .integer(Int64(self[keyPath: path]))
                case .longNumber(let path): .integer(self[keyPath: path])
                case .text(let path): .string(self[keyPath: path])
                case .optionalText(let path): .text(self[keyPath: path])
                case .flag(let path): .bool(self[keyPath: path])
                }
            return (setting.name, value, origins[setting.name] ?? .ownDefault)
        }
    }

    private mutating func set(_ name: String, text: String, from origin: Origin) throws {
        guard let setting = Self.all.first(where: { $0.name == name }) else { throw Self.unknown(name) }
        switch setting.place {
        case .number, .longNumber:
            guard let number = Int64(text) else {
                throw Failure.usage("\(Self.shown(setting)) takes a whole number, not \"\(text)\"")
            }
            try set(name, .integer(number), from: origin)
        case .flag: try set(name, .bool(text.isEmpty || text == "true"), from: origin)
        case .text, .optionalText: try set(name, .string(text), from: origin)
        }
    }

    private mutating func set(_ name: String, _ value: JSONValue, from origin: Origin) throws {
        guard let setting = Self.all.first(where: { $0.name == name }) else { throw Self.unknown(name) }
        switch (setting.place, value) {
        case (.number(let path), .integer(let number)) where setting.range.contains(number):
            self[keyPath: path] = Int(clamping: number)
        case (.longNumber(let path), .integer(let number)) where setting.range.contains(number):
            self[keyPath: path] = number
        case (.number, _), (.longNumber, _):
            let upper = setting.range.upperBound == .max ? "" : " to \(setting.range.upperBound)"
            throw Failure.usage(
                "\(Self.shown(setting)) takes a whole number from \(setting.range.lowerBound)\(upper)")
        case (.text(let path), .string(let text)): self[keyPath: path] = text
        case (.optionalText(let path), .string(let text)): self[keyPath: path] = text
        case (.optionalText(let path), .null): self[keyPath: path] = nil
        case (.text, _), (.optionalText, _): throw Failure.usage("\(Self.shown(setting)) takes text")
        case (.flag(let path), .bool(let isOn)): self[keyPath: path] = isOn
        case (.flag, _): throw Failure.usage("\(Self.shown(setting)) takes true or false")
        }
        origins[name] = origin
    }

    private static func shown(_ setting: Setting) -> String {
        setting.option.map { "--\($0) (\(setting.name))" } ?? setting.name
    }

    private static func unknown(_ name: String) -> Failure {
        .usage("there is no setting \"\(name)\"; yap serve --print-config lists them")
    }
}

extension ServeSettings {
    /// Every setting, in the order in which they are printed.
    static let all: [Setting] = server + rates + limits

    private static let server: [Setting] = [
        Setting(name: "host", option: "host", place: .text(\.options.http.host)),
        Setting(name: "port", option: "port", place: .number(\.options.http.port), range: 0...65_535),
        Setting(name: "publicURL", option: "public-url", place: .optionalText(\.options.publicURL)),
        Setting(name: "tlsCertificate", option: "tls-certificate", place: .optionalText(\.tlsCertificate)),
        Setting(name: "tlsKey", option: "tls-key", place: .optionalText(\.tlsKey)),
        Setting(
            name: "trustForwardedFor", option: "trust-forwarded-for",
            place: .flag(\.options.trustsForwardedFor)),
        Setting(name: "metrics", option: "metrics", place: .flag(\.options.servesMetrics)),
        Setting(name: "connectionsMax", place: .number(\.options.http.connectionsMax)),
        Setting(name: "environmentsOpenMax", place: .number(\.options.environmentsOpenMax)),
        Setting(name: "signInsWaitingMax", place: .number(\.options.signInsWaitingMax)),
        Setting(name: "courierPollsMax", place: .number(\.options.courierPollsMax)),
        Setting(name: "courierHoldMilliseconds", place: .longNumber(\.options.courierHoldMilliseconds)),
        Setting(name: "graceMilliseconds", place: .number(\.options.graceMilliseconds), range: 0...3_600_000),
        Setting(name: "logLinesMax", place: .number(\.options.logLinesMax)),
        Setting(name: "uploadsMax", place: .number(\.options.assets.uploadsMax)),
        Setting(name: "downloadsMax", place: .number(\.options.assets.downloadsMax)),
        Setting(
            name: "uploadMillisecondsMax", place: .longNumber(\.options.assets.uploadMillisecondsMax)),
    ]

    private static let limits: [Setting] = [
        Setting(name: "limits.bodyBytesMax", place: .number(\.options.limits.bodyBytesMax)),
        Setting(name: "limits.recordBytesMax", place: .number(\.options.limits.recordBytesMax)),
        Setting(name: "limits.nameBytesMax", place: .number(\.options.limits.nameBytesMax), range: 1...255),
        Setting(name: "limits.itemsMax", place: .number(\.options.limits.itemsMax)),
        Setting(name: "limits.itemsWithExtrasMax", place: .number(\.options.limits.itemsWithExtrasMax)),
        Setting(name: "limits.answerBytesMax", place: .number(\.options.limits.answerBytesMax)),
        Setting(name: "limits.desiredNamesMax", place: .number(\.options.limits.desiredNamesMax)),
        Setting(name: "limits.cascadeRecordsMax", place: .number(\.options.limits.cascadeRecordsMax)),
        Setting(name: "limits.recordTypesMax", place: .number(\.options.limits.recordTypesMax)),
        Setting(name: "limits.schemaFieldsMax", place: .number(\.options.limits.schemaFieldsMax)),
        Setting(
            name: "limits.deleteSelfReferencesMax", place: .number(\.options.limits.deleteSelfReferencesMax)),
        Setting(name: "limits.dependantsMax", place: .number(\.options.limits.dependantsMax)),
        Setting(name: "limits.queryTermsMax", place: .number(\.options.limits.queryTermsMax)),
        Setting(name: "limits.queryValuesMax", place: .number(\.options.limits.queryValuesMax)),
        Setting(name: "limits.subscriptionsMax", place: .number(\.options.limits.subscriptionsMax)),
        Setting(name: "limits.subscriptionBytesMax", place: .number(\.options.limits.subscriptionBytesMax)),
        Setting(name: "limits.devicesMax", place: .number(\.options.limits.devicesMax)),
        Setting(name: "limits.deviceMilliseconds", place: .longNumber(\.options.limits.deviceMilliseconds)),
        Setting(name: "limits.pushMilliseconds", place: .longNumber(\.options.limits.pushMilliseconds)),
        Setting(name: "limits.operationIDBytesMax", place: .number(\.options.limits.operationIDBytesMax)),
        Setting(name: "limits.fileBytesMax", place: .longNumber(\.options.limits.assets.fileBytesMax)),
        Setting(
            name: "limits.unsavedBytesMax", place: .longNumber(\.options.limits.assets.unsavedBytesMax)),
        Setting(
            name: "limits.privateBytesMax", place: .longNumber(\.options.limits.assets.privateBytesMax)),
        Setting(
            name: "limits.publicBytesBase", place: .longNumber(\.options.limits.assets.publicBytesBase)),
        Setting(
            name: "limits.publicBytesPerUser", place: .longNumber(\.options.limits.assets.publicBytesPerUser)),
        Setting(name: "limits.answerMilliseconds", place: .longNumber(\.options.limits.answerMilliseconds)),
    ]
}
