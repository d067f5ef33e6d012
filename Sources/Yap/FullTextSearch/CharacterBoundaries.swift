/// Extends ranges of a text to whole characters. Visits each byte up to twice, regardless of the length of the
/// characters.
struct CharacterBoundaries {
    private let text: String
    /// A character, or an empty range where a character begins. Nothing before it is visited again.
    private var character: Range<String.Index>
    /// Number of visited bytes and characters.
    private(set) var stepsCount = 0

    init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        self.text = text
        character = text.startIndex..<text.startIndex
    }

    /// Returns the characters that contain a range.
    ///
    /// - Parameter bytes: A range of UTF-8 bytes. Ranges are passed in ascending order and don't overlap.
    mutating func widened(_ bytes: Range<Int>) -> Range<String.Index> {
        let lower = text.utf8.index(text.startIndex, offsetBy: bytes.lowerBound)
        let upper = text.utf8.index(text.startIndex, offsetBy: bytes.upperBound)
        move(to: lower)
        while character.upperBound <= lower, character.upperBound < text.endIndex { next() }
        let start = character.contains(lower) ? character.lowerBound : lower
        guard upper > start else { return start..<max(start, upper) }
        move(to: upper)
        while character.upperBound < upper { next() }
        return start..<(upper == character.lowerBound ? upper : character.upperBound)
    }

    private mutating func next() {
        stepsCount += 1
        character = character.upperBound..<text.index(after: character.upperBound)
    }

    /// Skips characters up to the last certain boundary before an index, which is between two ASCII characters.
    private mutating func move(to index: String.Index) {
        var place = index
        while place > character.upperBound, place < text.endIndex {
            stepsCount += 1
            let before = text.utf8.index(before: place)
            let (left, right) = (text.utf8[before], text.utf8[place])
            let isLineBreak = left == UInt8(ascii: "\r") && right == UInt8(ascii: "\n")
            if left < 0x80, right < 0x80, !isLineBreak {
                character = place..<place
                return
            }
            place = before
        }
    }
}
