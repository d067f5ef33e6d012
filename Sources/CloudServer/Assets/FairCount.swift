/// Counts places of a limited number by owner. One owner may take a share of the free places, so that the next one
/// finds room.
struct FairCount {
    private let max: Int
    private let sharesCount: Int
    private var all = 0
    private var own: [String: Int] = [:]

    /// - Parameter sharesCount: an owner may take the free places divided by this number. With 1, one owner has up to a
    ///   half and two have two thirds. With 8, only many owners together use up all places.
    init(max: Int, sharesCount: Int = 1) {
        self.max = max
        self.sharesCount = sharesCount
    }

    /// Takes a place for `owner`. Returns false if there is none.
    mutating func begin(_ owner: String) -> Bool {
        let mine = own[owner] ?? 0
        guard all < max, mine == 0 || mine <= (max - all - 1) / sharesCount else { return false }
        all += 1
        own[owner] = mine + 1
        return true
    }

    /// Releases a place.
    mutating func end(_ owner: String) {
        guard let mine = own[owner] else { return }
        all -= 1
        own[owner] = mine > 1 ? mine - 1 : nil
    }
}
