import CloudWire
import Foundation
import YapCloudKit

/// An object with values at the edges of their types: zeros of both signs, empty and absent ones, times between
/// milliseconds, texts without a character and with many.
package struct Sample: Codable, Sendable {
    package var text = ""
    package var number = 0.0
    package var note: String?
    package var words: [String]?
    package var numbers: [Double] = []
    package var bytes: Data?
    package var time: Date?
    package var long = ""

    package init() {}
}

extension Sample: CloudModel {
    package static let recordType = "sample"
    package static let fields = CloudFields<Sample> {
        $0.field(\.text)
        $0.field(\.number)
        $0.field(\.note)
        $0.field(\.words)
        $0.field(\.numbers)
        $0.field(\.bytes)
        $0.field(\.time)
        $0.field(\.long)
    }
}

extension Sample {
    /// The fields that aren't the text.
    static let edgeFields = ["number", "note", "words", "numbers", "bytes", "time", "long"]

    /// Gives a field a value that other edits may give it too.
    mutating func change(_ field: String, to value: Int) {
        switch field {
        case "number": number = Self.numbers[value % Self.numbers.count]
        case "note": note = [nil, "", "\u{0}", " ", "e\u{301}", "\u{e9}"][value % 6]
        case "words": words = [nil, [], [""], ["", ""], ["a", ""]][value % 5]
        case "numbers": numbers = [[], [0], [-0.0], [-0.0, 0], [0, -0.0]][value % 5]
        case "bytes":
            bytes = [nil, Data(), Data([0]), Data([0, 0]), Data(repeating: 255, count: 1_000)][value % 5]
        case "time":
            time = [nil, Self.time(value, 0), Self.time(value, 0.0004), Self.time(value, 0.0006)][value % 4]
        default: long = ["", "a", Self.long, Self.long + "b"][value % 4]
        }
    }

    private static let numbers = [
        0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude, .leastNormalMagnitude, 0.1, 1 / 3,
        9_007_199_254_740_992, 1e300,
    ]
    private static let long = String(repeating: "\u{1f642}x\"\\", count: 4_000)

    /// A time before or after 1970, and so much later.
    private static func time(_ value: Int, _ seconds: Double) -> Date {
        Date(timeIntervalSince1970: Double(value % 3 - 1) * 1_000_000 + seconds)
    }

    /// A sample with a value in each of its fields.
    init(value: Int) {
        self.init()
        for (place, field) in Self.edgeFields.enumerated() { change(field, to: value / (place + 1)) }
    }

    /// The values beside the text, by field, spelled out.
    var edges: [String: String] {
        // An empty list is no value in the cloud.
        let list = words.flatMap { $0.isEmpty ? nil : $0 }
        return [
            "number": "\(number.bitPattern)", "note": note.map { $0.spelledOut + "." },
            "words": list.map { $0.map(\.spelledOut).description },
            "numbers": numbers.isEmpty ? nil : numbers.map(\.bitPattern).description,
            "bytes": bytes.map { Array($0).description }, "time": time.map { "\(Self.milliseconds($0))" },
            "long": long.isEmpty ? "" : "\(long.utf8.count) bytes, \(FNV1a.hash(long))",
        ].compactMapValues(\.self)
    }

    private static func milliseconds(_ time: Date) -> Int64 {
        Int64((time.timeIntervalSince1970 * 1_000).rounded())
    }

    /// What the server has of it.
    init(_ fields: [String: Field]) {
        if case .string(let value)? = fields["text"]?.value { text = value }
        if case .double(let value)? = fields["number"]?.value { number = value }
        if case .string(let value)? = fields["note"]?.value { note = value }
        if case .bytes(let value)? = fields["bytes"]?.value { bytes = Data(value) }
        if case .string(let value)? = fields["long"]?.value { long = value }
        if case .timestamp(let value)? = fields["time"]?.value {
            time = Date(timeIntervalSince1970: Double(value) / 1_000)
        }
        if case .list(_, let list)? = fields["words"]?.value {
            words = list.compactMap { if case .string(let word) = $0 { word } else { nil } }
        }
        if case .list(_, let list)? = fields["numbers"]?.value {
            numbers = list.compactMap { if case .double(let number) = $0 { number } else { nil } }
        }
    }
}

extension FNV1a {
    fileprivate static func hash(_ text: String) -> String {
        var hash = FNV1a(seed: 0)
        hash.add(text)
        return String(hash.hash, radix: 16)
    }
}
