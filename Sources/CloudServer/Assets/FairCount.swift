/// Counts the places that owners hold of a limited number. One owner has a share of what the others leave, so that the
/// next one finds room.
struct FairCount {
    private let max: Int
    private let sharesCount: Int
    private var all = 0
    private var own: [String: Int] = [:]

    /// - Parameter sharesCount: an owner may have this part of what is left for all. With 1, one has half at most and
    ///   two have two thirds; with 8 it takes many to leave none.
    init(max: Int, sharesCount: Int = 1) {
        self.max = max
        self.sharesCount = sharesCount
    }

    /// Takes one for `owner`; false when there is none for them.
    mutating func begin(_ owner: String) -> Bool {
        let mine = own[owner] ?? 0
        guard all < max, mine == 0 || mine <= (max - all - 1) / sharesCount else { return false }
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
