import Foundation
import Yap

/// The ten-field model of the lines, as that of the other benchmarks.
struct Note: Codable, Sendable {
    var identifier: UUID
    var title: String
    var body: String
    var isDone: Bool
    var priority: Int
    var estimateHours: Double
    var created: Date
    var modified: Date
    var project: String?
    var tags: [String]
}

/// What both sides write and read: the same keys, the same objects, the same order. The objects are those of the other
/// benchmarks; the keys are drawn by another generator, since theirs belongs to the main package.
struct Rows: Sendable {
    static let collection = "notes"

    let keys: [String]
    let notes: [Note]
    /// The keys in the order in which they are read: not the one in which they were written.
    let readKeys: [String]

    init(count: Int, words: Words? = nil) {
        var random = SplitMix(state: 1)
        var words = words
        let keys = (0..<count).map { _ in random.uuid() }
        self.keys = keys
        notes = keys.enumerated().map { number, key in
            var note = Self.note(number, key: key)
            if let text = words?.text() { note.body = text }
            return note
        }
        readKeys = keys.shuffled(using: &random)
    }

    private static func note(_ number: Int, key: String) -> Note {
        let day = number % 28 + 1
        let seconds = Double(number)
        return Note(
            identifier: UUID(uuidString: key) ?? UUID(), title: "Note number \(number)",
            body: "Two dozen eggs from the farm, and the bill of the \(day)th.", isDone: number % 3 == 0,
            priority: number % 7 - 3, estimateHours: Double(number % 40) / 4,
            created: Date(timeIntervalSinceReferenceDate: 800_000_000 + seconds),
            modified: Date(timeIntervalSinceReferenceDate: 801_000_000.25 + seconds),
            project: number % 2 == 0 ? "household" : nil, tags: ["home", "food"])
    }
}

/// Texts of 12 words out of 4,000, for the searches.
struct Words: Sendable {
    private var random = SplitMix(state: 8)
    private let vocabulary: [String]

    init() {
        var random = SplitMix(state: 9)
        vocabulary = (0..<4_000).map { _ in
            String((0..<7).map { _ in Character(UnicodeScalar(UInt8.random(in: 97...122, using: &random))) })
        }
    }

    mutating func word() -> String { vocabulary.randomElement(using: &random) ?? "" }
    mutating func text() -> String { (0..<12).map { _ in word() }.joined(separator: " ") }
}

/// A generator with a seed: https://prng.di.unimi.it/splitmix64.c
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// A lower case UUID, as the other benchmarks have for keys.
    mutating func uuid() -> String {
        let hex = [next(), next()].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        var text = ""
        for (place, digit) in hex.enumerated() {
            if [8, 12, 16, 20].contains(place) { text += "-" }
            text.append(digit)
        }
        return text
    }
}

struct MissingRow: Error {
    let key: String
}

/// Keeps the compiler from leaving out what nobody looks at.
@inline(never)
func consume(_ note: Note) {}
