import System

/// What is drawn from a seed: everything in a run follows from it.
struct Draw {
    private let random: SeededRandomSource

    init(seed: UInt64) { random = SeededRandomSource(seed: seed) }

    func number(_ range: Range<Int>) -> Int { random.next(in: range) }
    func bits() -> UInt64 { random.next() }
    /// True once in `count` times.
    func once(in count: Int) -> Bool { number(0..<count) == 0 }
    /// One of a list that is not empty.
    func one<Element>(of elements: [Element]) -> Element { elements[number(0..<elements.count)] }
    /// So many elements, each made anew.
    func some<Element>(_ count: Range<Int>, _ make: () -> Element) -> [Element] {
        (0..<number(count)).map { _ in make() }
    }
}
