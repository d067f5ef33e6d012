extension ServeSettings {
    /// One setting: its name, where it is stored, its values and its description.
    struct Setting: Sendable {
        enum Place: Sendable {
            case number(any WritableKeyPath<ServeSettings, Int> & Sendable)
            case longNumber(any WritableKeyPath<ServeSettings, Int64> & Sendable)
            case text(any WritableKeyPath<ServeSettings, String> & Sendable)
            case optionalText(any WritableKeyPath<ServeSettings, String?> & Sendable)
            case flag(any WritableKeyPath<ServeSettings, Bool> & Sendable)
            case choice(Choice)
        }

        /// One of several names.
        struct Choice: Sendable {
            let names: [String]
            let get: @Sendable (ServeSettings) -> String
            let set: @Sendable (inout ServeSettings, String) -> Void
        }

        /// Unit of a number. Each has a maximum, so that the sum of two settings can't overflow.
        enum Unit: String, Sendable {
            case none = ""
            case count = "number"
            case bytes
            case milliseconds
            case perSecond = "a second"

            fileprivate var max: Int64 {
                switch self {
                case .none, .count, .perSecond: 1_000_000
                case .bytes: 1 << 50
                // A hundred years.
                case .milliseconds: 36_525 * 86_400_000
                }
            }
        }

        let name: String
        /// The option of `yap serve` that sets it.
        let option: String?
        let unit: Unit
        let place: Place
        let range: ClosedRange<Int64>
        let what: String

        init(
            _ name: String, option: String? = nil, _ unit: Unit, _ place: Place,
            from lower: Int64 = 1, to upper: Int64? = nil, _ what: String
        ) {
            self.name = name
            self.option = option
            self.unit = unit
            self.place = place
            range = lower...(upper ?? unit.max)
            self.what = what
        }

        /// Creates a setting that isn't a number.
        init(_ name: String, option: String? = nil, _ place: Place, _ what: String) {
            self.init(name, option: option, .none, place, what)
        }
    }
}

extension ServeSettings.Setting {
    /// Description of the allowed values.
    var allowed: String {
        switch place {
        case .number, .longNumber: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .text: "text"
        case .optionalText: "text or null"
        case .flag: "true or false"
        case .choice(let choice): choice.names.map { "\"\($0)\"" }.joined(separator: " or ")
        }
    }

    /// Unit of a number, or the allowed values.
    var unitText: String { unit == .none ? allowed : unit.rawValue }

    func refusal(of value: String) -> Failure {
        let shown = option.map { "--\($0) (\(name))" } ?? name
        return .usage("\(shown) takes \(allowed), not \(value)")
    }
}

extension ServeSettings.Setting.Place {
    static func choice<Answer>(
        _ path: any WritableKeyPath<ServeSettings, Answer> & Sendable
    ) -> Self where Answer: RawRepresentable<String> & CaseIterable & SendableMetatype {
        .choice(
            ServeSettings.Setting.Choice(
                names: Answer.allCases.map(\.rawValue), get: { $0[keyPath: path].rawValue },
                set: { settings, name in
                    if let answer = Answer(rawValue: name) { settings[keyPath: path] = answer }
                }))
    }

    func value(in settings: ServeSettings) -> JSON {
        switch self {
        case .number(let path): .integer(Int64(settings[keyPath: path]))
        case .longNumber(let path): .integer(settings[keyPath: path])
        case .text(let path): .string(settings[keyPath: path])
        case .optionalText(let path): .text(settings[keyPath: path])
        case .flag(let path): .bool(settings[keyPath: path])
        case .choice(let choice): .string(choice.get(settings))
        }
    }
}
