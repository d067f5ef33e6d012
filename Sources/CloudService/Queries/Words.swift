/// The words of a text, as a search finds them.
enum Words {
    /// Bytes of a word; what is longer is cut.
    static let wordBytesMax = 64
    /// Words of a field by which it is found; those beyond are not.
    static let wordsMax = 1_000

    /// The different words of `texts`: letters and digits in a row, in lower case, the accents of Latin letters left
    /// off. Each sign of Chinese and Japanese is a word.
    static func of(_ texts: some Sequence<String>) -> Set<String> {
        var words = Set<String>()
        for text in texts where words.count < wordsMax {
            add(wordsOf: text, to: &words)
        }
        return words
    }

    /// The words of one text, sorted.
    static func of(_ text: String) -> [String] {
        of(CollectionOfOne(text)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func add(wordsOf text: String, to words: inout Set<String>) {
        var word = Word()
        func end() {
            guard let text = word.take(), words.count < wordsMax else { return }
            words.insert(text)
        }
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                // Most text is ASCII, and Unicode's tables take ten times as long.
                if let letter = asciiLetter(scalar) { word.append(letter) } else { end() }
            } else if isWordItself(scalar) {
                end()
                word.append(scalar)
                end()
            } else if scalar.properties.generalCategory.isOfWords {
                append(scalar, to: &word)
            } else if scalar.properties.generalCategory != .nonspacingMark {
                end()
            }
            if words.count >= wordsMax { return }
        }
        end()
    }

    /// The word that is being read, as far as it counts. Its bytes: to append to a text costs twenty times as much.
    private struct Word {
        private var bytes: [UInt8] = []
        private var isFull = false

        mutating func append(_ letter: UInt8) {
            guard !isFull else { return }
            if bytes.count < wordBytesMax { bytes.append(letter) } else { isFull = true }
        }

        mutating func append(_ scalar: Unicode.Scalar) {
            isFull = isFull || bytes.count + UTF8.width(scalar) > wordBytesMax
            if !isFull { bytes.append(contentsOf: String(scalar).utf8) }
        }

        /// The word, after which another begins; nil when there is none.
        mutating func take() -> String? {
            guard !bytes.isEmpty else { return nil }
            defer {
                bytes.removeAll(keepingCapacity: true)
                isFull = false
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// A letter of a word in lower case, or a digit; nil for what stands between words.
    private static func asciiLetter(_ scalar: Unicode.Scalar) -> UInt8? {
        switch scalar {
        case "a"..."z", "0"..."9": UInt8(scalar.value)
        case "A"..."Z": UInt8(scalar.value) | 0x20
        default: nil
        }
    }

    private static func append(_ scalar: Unicode.Scalar, to word: inout Word) {
        for lower in scalar.properties.lowercaseMapping.unicodeScalars {
            if let plain = plainLetters[lower] {
                for letter in plain.utf8 { word.append(letter) }
            } else if lower.properties.generalCategory != .nonspacingMark {
                word.append(lower)
            }
        }
    }

    /// Scripts that leave no space between words.
    private static func isWordItself(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3041...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x2_0000...0x3_FFFF: true
        default: false
        }
    }

    /// Lower-case Latin letters with an accent, and those without in their place. The standard library takes no letter
    /// apart.
    private static let plainLetters: [Unicode.Scalar: String] = {
        let groups: [(plain: String, letters: String)] = [
            ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"), ("ae", "æǣǽ"), ("b", "ḃḅḇ"), ("c", "çćĉċčḉ"),
            ("d", "ďđḋḍḏḑḓð"),
            ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"), ("f", "ḟ"), ("g", "ĝğġģǧǵḡ"), ("h", "ĥħȟḣḥḧḩḫẖ"),
            ("i", "ìíîïĩīĭįıǐȉȋḭḯỉị"), ("j", "ĵǰ"), ("k", "ķǩḱḳḵ"), ("l", "ĺļľŀłḷḹḻḽ"), ("m", "ḿṁṃ"),
            ("n", "ñńņňŉǹṅṇṉṋ"), ("o", "òóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"), ("oe", "œ"), ("p", "ṕṗ"),
            ("r", "ŕŗřȑȓṙṛṝṟ"), ("s", "śŝşšșṡṣṥṧṩ"), ("ss", "ß"), ("t", "ţťŧțṫṭṯṱẗ"),
            ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"), ("v", "ṽṿ"), ("w", "ŵẁẃẅẇẉẘ"), ("x", "ẋẍ"),
            ("y", "ýÿŷȳẏẙỳỵỷỹ"),
            ("z", "źżžẑẓẕ"),
        ]
        var plainLetters: [Unicode.Scalar: String] = [:]
        for group in groups {
            for letter in group.letters.unicodeScalars where letter.value > 0x7F {
                plainLetters[letter] = group.plain
            }
        }
        return plainLetters
    }()
}

extension Unicode.GeneralCategory {
    fileprivate var isOfWords: Bool {
        switch self {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber,
            .letterNumber, .otherNumber, .spacingMark:
            true
        default: false
        }
    }
}
