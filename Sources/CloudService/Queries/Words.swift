import Foundation

/// Splits texts into the words of a search index.
enum Words {
    /// Maximum bytes of a word. Longer words are truncated.
    static let wordBytesMax = 64
    /// Maximum indexed words of a field. Further words aren't found.
    static let wordsMax = 1_000
    /// Maximum bytes of a word before folding. Up to `wordBytesMax` of them are kept.
    private static let writtenBytesMax = 4 * wordBytesMax

    /// Returns the distinct words of `texts`: sequences of letters and digits, case-folded and in one normal form
    /// (NFC). Marks above and below letters are removed in Latin, Greek and Cyrillic, and so are the points of
    /// Arabic and Hebrew. In other scripts marks distinguish words. Each Chinese and Japanese character is a word.
    static func of(_ texts: some Sequence<String>) -> Set<String> {
        var words = Set<String>()
        for text in texts where words.count < wordsMax {
            add(wordsOf: text, to: &words)
        }
        return words
    }

    /// Returns the words of one text, sorted.
    static func of(_ text: String) -> [String] {
        of(CollectionOfOne(text)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func add(wordsOf text: String, to words: inout Set<String>) {
        var word = WrittenWord()
        func end() {
            guard let text = word.take(), words.count < wordsMax else { return }
            words.insert(text)
        }
        var isAfterSign = false
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                // Most text is ASCII, and Unicode's tables are ten times slower.
                if isAfterSign { end() }
                isAfterSign = false
                if let letter = asciiLetter(scalar) {
                    word.append(letter)
                } else {
                    end()
                    if words.count >= wordsMax { return }
                }
                continue
            }
            let category = scalar.properties.generalCategory
            if category == .nonspacingMark {
                word.append(mark: scalar)
                continue
            }
            if isAfterSign { end() }
            isAfterSign = isSign(scalar)
            if isAfterSign { end() }
            if isAfterSign || category.isOfWords { word.append(scalar) } else { end() }
            if words.count >= wordsMax { return }
        }
        end()
    }

    /// The word that is being read, before folding. Stored as bytes, since appending to a string is twenty
    /// times slower.
    private struct WrittenWord {
        private var bytes: [UInt8] = []
        /// True if the bytes are already folded.
        private var isFolded = true

        mutating func append(_ letter: UInt8) {
            if bytes.count < writtenBytesMax { bytes.append(letter) }
        }

        mutating func append(_ scalar: Unicode.Scalar) {
            if let plain = plainLetters[scalar] {
                for letter in plain.utf8 { append(letter) }
                return
            }
            guard bytes.count + UTF8.width(scalar) <= writtenBytesMax else { return }
            bytes.append(contentsOf: String(scalar).utf8)
            isFolded = false
        }

        /// Appends a mark to the previous letter. Ignored at the beginning of a word.
        mutating func append(mark: Unicode.Scalar) {
            if !bytes.isEmpty { append(mark) }
        }

        /// Returns the word and begins another, or returns nil if there is none.
        mutating func take() -> String? {
            guard !bytes.isEmpty else { return nil }
            let written = String(decoding: bytes, as: UTF8.self)
            let word = isFolded ? written : folded(written)
            bytes.removeAll(keepingCapacity: true)
            isFolded = true
            return word.isEmpty ? nil : cut(word)
        }
    }

    /// Returns the word truncated at a scalar boundary.
    private static func cut(_ word: String) -> String {
        guard word.utf8.count > wordBytesMax else { return word }
        var kept = String.UnicodeScalarView()
        var bytesCount = 0
        for scalar in word.unicodeScalars {
            bytesCount += UTF8.width(scalar)
            guard bytesCount <= wordBytesMax else { break }
            kept.append(scalar)
        }
        return String(kept)
    }

    /// Returns the lower-case letter or digit, or nil for a separator.
    private static func asciiLetter(_ scalar: Unicode.Scalar) -> UInt8? {
        switch scalar {
        case "a"..."z", "0"..."9": UInt8(scalar.value)
        case "A"..."Z": UInt8(scalar.value) | 0x20
        default: nil
        }
    }

    /// Returns a word case-folded and in one normal form, without the removable marks.
    private static func folded(_ word: String) -> String {
        var letters = String.UnicodeScalarView()
        var losesMarks = true
        for scalar in word.decomposedStringWithCanonicalMapping.unicodeScalars {
            if scalar.properties.generalCategory == .nonspacingMark {
                if !losesMarks, !isPoint(scalar) { letters.append(scalar) }
                continue
            }
            losesMarks = hasFoldedMarks(scalar)
            // Full case folding, except for letters without case in one direction: a final sigma becomes a
            // sigma.
            for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                for lower in upper.properties.lowercaseMapping.unicodeScalars {
                    if let plain = plainLetters[lower] {
                        letters.append(contentsOf: plain.unicodeScalars)
                    } else if lower.properties.generalCategory != .nonspacingMark || !losesMarks {
                        letters.append(lower)
                    }
                }
            }
        }
        return String(letters).precomposedStringWithCanonicalMapping
    }

    /// Returns true if marks don't distinguish letters in this script.
    private static func hasFoldedMarks(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Latin, Greek and Cyrillic, and their further blocks.
        case 0x0000...0x052F, 0x1C80...0x1C8F, 0x1D00...0x1DBF, 0x1E00...0x1FFF, 0x2C60...0x2C7F,
            0x2DE0...0x2DFF,
            0xA640...0xA69F, 0xA720...0xA7FF, 0xAB30...0xAB6F:
            true
        default: false
        }
    }

    /// Returns true for a point of Hebrew or Arabic, which is often omitted in writing.
    private static func isPoint(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0591...0x05C7, 0x0610...0x061A, 0x064B...0x0652, 0x0656...0x065F, 0x0670, 0x06D6...0x06ED: true
        default: false
        }
    }

    /// Characters of scripts without spaces between words.
    private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3041...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x2_0000...0x3_FFFF: true
        default: false
        }
    }

    /// Lower-case Latin letters with an accent, and their base letters. The standard library can't decompose
    /// letters.
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
