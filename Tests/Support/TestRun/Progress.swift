/// Decides when a line says how far the run is: at each tenth, and once a minute in between.
package struct Progress: Sendable {
    static let secondsBetween = 60.0
    static let linesMax = 60

    private var tenth = 0
    private var lastAt: Double
    private let start: Double
    private var count = 0

    package init(at now: Double) { (lastAt, start) = (now, now) }

    package mutating func line(ended: Int, of all: Int, at now: Double) -> String? {
        let reached = all == 0 ? 0 : ended * 10 / all
        let isDue = reached > tenth || now - lastAt >= Self.secondsBetween
        guard isDue, count < Self.linesMax else { return nil }
        (tenth, lastAt, count) = (reached, now, count + 1)
        return "\(ended) of \(all) tests, \(Text.seconds(now - start))"
    }
}
