/// Counts what may be had so many times at once, so that whoever takes many leaves some: one has half at most, two have
/// two thirds, and who comes next finds room.
struct FairCount {
    private let max: Int
    private var all = 0
    private var own: [String: Int] = [:]

    init(max: Int) {
        self.max = max
    }

    /// Takes one for `owner`; false when there is none for them.
    mutating func begin(_ owner: String) -> Bool {
        let mine = own[owner] ?? 0
        guard all < max, mine == 0 || mine < max - all else { return false }
        all += 1
        own[owner] = mine + 1
        return true
    }

    /// Gives one back.
    mutating func end(_ owner: String) {
        guard let mine = own[owner] else { return }
        all -= 1
        own[owner] = mine > 1 ? mine - 1 : nil
    }
}
